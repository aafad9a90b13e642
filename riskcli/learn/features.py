"""Documents with features and grades, query by query, and their rankings by scores.

Equal scores are ranked by falling document id, as trec_eval does; what is written to run files
never ties, not even in the single precision in which pytrec_eval holds scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from riskcli.core.arrays import Floats, divided
from riskcli.core.messages import InputError, Note, UsageError, counted, nearest
from riskcli.learn.lambdas import Ints
from riskcli.trec.findings import whole_number


@dataclass(frozen=True)
class Features:
    """Documents by query, the queries one after the other in the order of the file."""

    path: Path
    topics: tuple[str, ...]
    sizes: Ints
    grades: Ints
    docnos: tuple[str, ...]
    values: Floats
    names: tuple[str, ...]
    notes: tuple[Note, ...] = field(default=())
    sha256: str | None = None
    """The checksum of the file's bytes, taken while they were read."""

    @cached_property
    def query_of(self) -> Ints:
        """The query of each document."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def by_falling_name(self) -> Ints:
        """The documents by falling id (bytes), as trec_eval breaks ties."""
        order = np.argsort(np.array([name.encode() for name in self.docnos]), kind="stable")
        return order[::-1].astype(np.int64)

    @cached_property
    def starts(self) -> Ints:
        """The first document of each query."""
        return np.cumsum(self.sizes) - self.sizes

    def column(self, name: int | str) -> Floats:
        """A feature's values: by its number from 1, or by its name."""
        if isinstance(name, str) and name in self.names:
            return np.asarray(self.values[:, self.names.index(name)])
        position = name if isinstance(name, int) else whole_number(name)
        if position is None or not 1 <= position <= len(self.names):
            hint = nearest(str(name), self.names)
            raise UsageError(
                f"{self.path}: there is no feature {name!r}; it has {len(self.names)}{hint}"
            )
        return np.asarray(self.values[:, position - 1])

    def widened(self, names: Sequence[str]) -> Self:
        """The same with these features: those that no line of this file has are 0."""
        if self.names == tuple(names):
            return self
        unknown = [name for name in self.names if name not in names]
        if unknown:
            raise UsageError(f"{self.path}: unknown feature {unknown[0]!r}")
        values = np.zeros((len(self.values), len(names)))
        values[:, [names.index(name) for name in self.names]] = self.values
        return replace(self, values=values, names=tuple(names))

    def taken(self, queries: Sequence[int]) -> Self:
        """Some of the queries, in that order."""
        rows = [self.starts[query] + np.arange(self.sizes[query]) for query in queries]
        lines = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        return replace(
            self,
            topics=tuple(self.topics[query] for query in queries),
            sizes=self.sizes[list(queries)],
            grades=self.grades[lines],
            docnos=tuple(self.docnos[line] for line in lines.tolist()),
            values=self.values[lines],
        )


@dataclass(frozen=True)
class FeatureLines:
    """Some lines of a file, in its order; a docno is empty where a line has none."""

    numbers: Ints
    """Which lines of the file they are; rows, in a file without lines."""
    topics: Sequence[str]
    grades: Sequence[int] | Ints
    docnos: Sequence[str]
    values: Floats


def features_of_lines(
    path: Path, lines: Sequence[FeatureLines], names: Sequence[str] | None = None
) -> Features:
    """All lines, those of a query together, with an id for every document."""
    parts = [part for part in lines if len(part.topics)]
    if not parts:
        raise InputError(path, "empty-file", "no document in this file")
    width = max(part.values.shape[1] for part in parts)
    values = np.concatenate([padded(part.values, width) for part in parts])
    of_lines = [topic for part in parts for topic in part.topics]
    grades = np.concatenate([np.asarray(part.grades, dtype=np.int64) for part in parts])
    docnos = [docno for part in parts for docno in part.docnos]
    numbers = np.concatenate([part.numbers for part in parts])
    _check_names(path, "query", of_lines, numbers)
    _check_names(path, "document id", docnos, numbers, may_lack=True)
    code_of: dict[str, int] = {}
    codes = np.array([code_of.setdefault(topic, len(code_of)) for topic in of_lines])
    notes = []
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        codes, values, grades = codes[order], values[order], grades[order]
        docnos, numbers = [docnos[line] for line in order.tolist()], numbers[order]
        message = f"{path.name}: lines of a query are not contiguous; they were grouped"
        notes.append(Note("queries-apart", message, False))
    topics = tuple(code_of)
    sizes = np.bincount(codes, minlength=len(topics))
    named = _named(path, topics, sizes, docnos, numbers)
    if unnamed := docnos.count(""):
        message = f"{path.name}: {counted(unnamed, 'document')} without an id, called <qid>-<n>"
        notes.append(Note("documents-without-id", message, False))
    columns = names or [str(number) for number in range(1, width + 1)]
    return Features(path, topics, sizes, grades, tuple(named), values, tuple(columns), tuple(notes))


def _check_names(
    path: Path, kind: str, names: Sequence[str], numbers: Ints, may_lack: bool = False
) -> None:
    """Refuse what no run file can hold: tables may have such names, LETOR's lines cannot."""
    bad = {name for name in set(names) if name.split() != [name] or "\0" in name}
    bad -= {""} if may_lack else set()
    if bad:
        first = next(index for index, name in enumerate(names) if name in bad)
        message = f"the {kind} {names[first]!r} is empty or holds a blank: run files cannot hold it"
        raise InputError(path, "bad-name", message, int(numbers[first]))


def padded(values: Floats, width: int) -> Floats:
    """The table with further columns, of which nothing is known but 0."""
    missing = width - values.shape[1]
    return np.pad(values, ((0, 0), (0, missing))) if missing else values


def _named(
    path: Path, topics: Sequence[str], sizes: Ints, docnos: Sequence[str], numbers: Ints
) -> list[str]:
    """An id for every document, distinct within its query."""
    named: list[str] = []
    for topic, size in zip(topics, sizes.tolist(), strict=True):
        start = len(named)
        given = docnos[start : start + size]
        names = [docno or f"{topic}-{place}" for place, docno in enumerate(given, start=1)]
        if len(set(names)) < size:
            _refuse_repeated(path, topic, names, numbers[start : start + size].tolist())
        named += names
    return named


def _refuse_repeated(path: Path, topic: str, names: Sequence[str], numbers: Sequence[int]) -> None:
    """Refuse a document that the query has already, at the first line where it comes again."""
    seen: dict[str, int] = {}
    for name, number in sorted(zip(names, numbers, strict=True), key=lambda pair: pair[1]):
        if name in seen:
            message = f"query {topic} has document {name} already on line {seen[name]}"
            raise InputError(path, "duplicate-document", message, number)
        seen[name] = number


def best_first(features: Features, scores: Floats) -> Ints:
    """The documents by query, then by falling score; missing scores (NaN) come last."""
    finite = np.nan_to_num(scores, nan=-np.inf)
    by_name = features.by_falling_name
    return np.asarray(by_name[np.lexsort((-finite[by_name], features.query_of[by_name]))])


def tie_free(features: Features, scores: Floats) -> Floats:
    """How many documents of its query each one is ranked above: scores without ties."""
    order = best_first(features, scores)
    ends = np.cumsum(features.sizes)
    places: Floats = np.empty(len(order))
    places[order] = ends[features.query_of[order]] - 1 - np.arange(len(order))
    return places


def standardised(features: Features, scores: Floats) -> Floats:
    """Scores with mean 0 and deviation 1 in every query; 0 where all of a query are equal."""
    means = np.add.reduceat(scores, features.starts) / features.sizes
    centred = scores - means[features.query_of]
    deviations = np.sqrt(np.add.reduceat(centred**2, features.starts) / features.sizes)
    return divided(centred, deviations[features.query_of])


def pooled_start(features: Features, baselines: Sequence[Floats]) -> Floats:
    """The standardised ranking of the baselines, their mean where there are several."""
    each = [standardised(features, places) for places in baselines]
    return np.asarray(sum(each) / len(each))


def run_lines(features: Features, scores: Floats, tag: str) -> Iterator[str]:
    """The lines of a TREC run, in single precision and without ties."""
    order = best_first(features, scores)
    with np.errstate(over="ignore"):
        falling = np.nan_to_num(scores, nan=-np.inf)[order].astype(np.float32)
    queries = features.query_of[order]
    written = _strictly_falling(falling, queries)
    for line, (document, query) in enumerate(zip(order.tolist(), queries.tolist(), strict=True)):
        rank = line - int(features.starts[query]) + 1
        name = features.docnos[document]
        yield f"{features.topics[query]} Q0 {name} {rank} {written[line]!s} {tag}\n"


def _strictly_falling(scores: np.ndarray, queries: Ints) -> list[np.float32]:
    """Each score, or the next lower number than the one above it where that is not above it."""
    highest = np.finfo(np.float32).max
    falling: list[np.float32] = []
    last_query, last = -1, np.float32(0)
    for query, score in zip(queries.tolist(), np.clip(scores, -highest / 2, highest), strict=True):
        if query == last_query and not score < last:
            score = np.nextafter(last, np.float32(-np.inf))
        falling.append(score)
        last_query, last = query, score
    return falling


def qrels_lines(features: Features) -> Iterator[str]:
    """The grades as TREC judgements."""
    for query, docno, grade in zip(
        features.query_of.tolist(), features.docnos, features.grades.tolist(), strict=True
    ):
        yield f"{features.topics[query]} 0 {docno} {grade}\n"
