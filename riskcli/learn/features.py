"""Documents with features and grades: LETOR's format (SVMlight with qid), CSV and Parquet.

    2 qid:10 1:0.03 2:0.66 3:NULL ... #docid = GX029-35-5894638 inc = 1 prob = 0.086622

Feature numbers start with 1; one that a line leaves out is 0, NULL or nan is missing. Lines of a
query need not lie together. Documents without an id are called `<qid>-<n>`, counted within the
query. CSV and Parquet have columns `topic` (or qid), `grade` (label, relevance) and, if they like,
`docno` (docid); every other column is a feature.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.errors import InputError, UsageError, nearest
from riskcli.core.notes import Note, counted
from riskcli.learn.queries import Ints
from riskcli.trec.findings import number, whole_number
from riskcli.trec.source import Source

TOPIC, GRADE, DOCNO = ("topic", "qid", "query"), ("grade", "label", "relevance"), ("docno", "docid")
_COMMENT = re.compile(rb"#[^\n]*")
_DOCID = re.compile(rb"#\s*docid\s*=\s*(\S+)", re.IGNORECASE)
_ALONE = re.compile(rb"#\s*(\S+)\s*$")
_MISSING = ("null", "nan", "na")
_HIGHEST_FEATURE = 1_000_000
_PARQUET_MAGIC = b"PAR1"


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

    @cached_property
    def query_of(self) -> Ints:
        """The query of each document."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

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

    def dataset(self, **given: Any) -> Any:
        """What LightGBM trains on; `given` are further arguments of its Dataset."""
        from riskcli.learn.lightgbm import lightgbm

        return lightgbm().Dataset(self.values, self.grades, group=self.sizes, **given)

    def widened(self, names: Sequence[str]) -> Features:
        """The same with these features: those that no line of this file has are 0."""
        if self.names == tuple(names):
            return self
        unknown = [name for name in self.names if name not in names]
        if unknown:
            raise UsageError(f"{self.path}: unknown feature {unknown[0]!r}")
        values = np.zeros((len(self.values), len(names)))
        values[:, [names.index(name) for name in self.names]] = self.values
        return replace(self, values=values, names=tuple(names))

    def taken(self, queries: Sequence[int]) -> Features:
        """Some of the queries, in that order."""
        ends = np.cumsum(self.sizes)
        rows = [np.arange(ends[query] - self.sizes[query], ends[query]) for query in queries]
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
class _Lines:
    """Some lines of a file, in its order; a docno is empty where a line has none."""

    topics: Sequence[str]
    grades: Sequence[int] | Ints
    docnos: Sequence[str]
    values: Floats


def read_features(path: Path | str) -> Features:
    """Read a file of features, whatever its format; wrong lines are told by number."""
    path = Path(path)
    source = Source(path)
    if source.start.startswith(_PARQUET_MAGIC):
        return _from_table(path, source.text())
    if not source.start.strip():
        raise InputError(path, "empty-file", "no document in this file")
    first = source.start.lstrip().split(b"\n", 1)[0]
    if b"," in first and b"qid:" not in first:
        return _from_csv(path, source.text())
    lines_before, parts = 0, []
    for text in source.pieces():
        part = _quick(text)
        parts.append(_closely(path, text, lines_before) if part is None else part)
        lines_before += text.count(b"\n")
    return _gathered(path, [part for part in parts if len(part.topics)])


def _quick(text: bytes) -> _Lines | None:
    """Lines of which each has every feature, in order; None asks for a close look."""
    comments = [line for line in text.split(b"\n") if line.strip()]
    bare = _COMMENT.sub(b"", text)
    count = len(comments)
    if bare.count(b"qid:") != count or not count:
        return None
    spaced = bare.replace(b"qid:", b"").replace(b":", b" ").replace(b"NULL", b"nan")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(spaced.decode("ascii"), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    if len(numbers) % count or bare.count(b":") != count * (len(numbers) // count // 2):
        return None
    table = numbers.reshape(count, -1)
    grades, qids, ids, values = table[:, 0], table[:, 1], table[:, 2::2], table[:, 3::2]
    if ids.shape != values.shape or not (ids == np.arange(1, ids.shape[1] + 1)).all():
        return None
    whole = (grades == np.floor(grades)) & (qids == np.floor(qids)) & (np.abs(qids) < 2**52)
    if not whole.all() or np.isinf(values).any():
        return None
    names = re.findall(rb"qid:(\S+)", bare)
    if len(names) != count:
        return None
    try:
        docnos = [_docno(line) for line in comments]
    except UnicodeDecodeError:
        return None
    topics = [name.decode() for name in names]
    return _Lines(topics, grades.astype(np.int64), docnos, np.ascontiguousarray(values))


def _docno(line: bytes) -> str:
    """The document's id in a line's comment, or nothing."""
    match = _DOCID.search(line) or _ALONE.search(line)
    return match[1].decode() if match else ""


def _closely(path: Path, text: bytes, lines_before: int) -> _Lines:
    """Read line by line: slower, but it says where the trouble is, if there is any."""
    topics, grades, docnos = [], [], []
    rows: list[dict[int, float]] = []
    for line, raw in enumerate(text.split(b"\n"), start=lines_before + 1):
        bare = _COMMENT.sub(b"", raw)
        if not bare.strip():
            continue
        try:
            grade, topic, pairs = _line(path, line, bare.decode())
            docno = _docno(raw)
        except UnicodeDecodeError as error:
            raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error
        grades.append(grade)
        topics.append(topic)
        docnos.append(docno)
        rows.append(pairs)
    values = np.zeros((len(rows), max((max(row, default=0) for row in rows), default=0)))
    for place, row in enumerate(rows):
        values[place, [feature - 1 for feature in row]] = list(row.values())
    return _Lines(topics, grades, docnos, values)


def _line(path: Path, line: int, text: str) -> tuple[int, str, dict[int, float]]:
    grade_text, *parts = text.split()
    grade = _grade(path, line, grade_text)
    if not parts or not parts[0].startswith("qid:") or parts[0] == "qid:":
        shown = parts[0] if parts else "nothing"
        message = f"after the grade stands {shown!r}, expected qid:<query>"
        raise InputError(path, "bad-feature", message, line)
    pairs: dict[int, float] = {}
    for part in parts[1:]:
        name, _, text = part.partition(":")
        feature = whole_number(name)
        if feature is None or not 1 <= feature <= _HIGHEST_FEATURE:
            message = f"found {part!r}, expected <feature>:<value> with a feature from 1"
            raise InputError(path, "bad-feature", message, line)
        if feature in pairs:
            raise InputError(path, "bad-feature", f"feature {feature} is given twice", line)
        pairs[feature] = _value(path, line, f"feature {feature}", text)
    return grade, parts[0].removeprefix("qid:"), pairs


def _grade(path: Path, line: int | None, text: str) -> int:
    value = number(text)
    if value is None or value != int(value):
        message = f"the grade is {text!r}, expected a whole number"
        raise InputError(path, "bad-grade", message, line)
    return int(value)


def _value(path: Path, line: int | None, name: str, text: str) -> float:
    if text.lower() in _MISSING:
        return float("nan")
    value = number(text)
    if value is None:
        message = f"{name} is {text!r}, expected a finite number, or NULL where it is missing"
        raise InputError(path, "bad-feature", message, line)
    return value


def _from_csv(path: Path, text: bytes) -> Features:
    try:
        reader = csv.reader(io.StringIO(text.decode(), newline=""))
        header = next(reader)
        places = _places(path, header)
        topics, grades, docnos, rows = [], [], [], []
        for row in reader:
            if not row:
                continue
            line = reader.line_num
            if len(row) != len(header):
                message = f"found {len(row)} fields, the first line has {len(header)}"
                raise InputError(path, "column-count", message, line)
            topics.append(row[places.topic])
            grades.append(_grade(path, line, row[places.grade]))
            docnos.append("" if places.docno is None else row[places.docno])
            rows.append([
                _value(path, line, header[place], row[place] or "nan") for place in places.features
            ])  # fmt: skip
    except UnicodeDecodeError as error:
        raise InputError(path, "encoding", "this file is not UTF-8 text") from error
    except csv.Error as error:
        raise InputError(path, "column-count", str(error), reader.line_num) from error
    if not rows:
        raise InputError(path, "empty-file", "no document in this file")
    lines = _Lines(topics, grades, docnos, np.array(rows, dtype=np.float64))
    return _gathered(path, [lines], [header[place] for place in places.features])


def _from_table(path: Path, text: bytes) -> Features:
    import pyarrow as pa
    from pyarrow import compute, parquet

    try:
        table = parquet.ParquetFile(pa.BufferReader(text)).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(path, "bad-parquet", str(error)) from error
    header = table.column_names
    places = _places(path, header)
    if not table.num_rows:
        raise InputError(path, "empty-file", "no document in this file")
    topics = _strings(path, table, places.topic)
    docnos = [""] * len(topics) if places.docno is None else _strings(path, table, places.docno)
    grades = [_grade(path, None, str(grade)) for grade in table.column(places.grade).to_pylist()]
    columns = []
    for place in places.features:
        try:
            cells = table.column(place).cast("double")
        except (pa.ArrowException, NotImplementedError) as error:
            raise InputError(path, "bad-feature", f"{header[place]} is not numeric") from error
        columns.append(compute.fill_null(cells, float("nan")).to_numpy())
    values = np.column_stack(columns)
    if np.isinf(values).any():
        raise InputError(path, "bad-feature", "a feature is infinite, expected finite numbers")
    names = [header[place] for place in places.features]
    return _gathered(path, [_Lines(topics, grades, docnos, values)], names)


def _strings(path: Path, table: Any, place: int) -> list[str]:
    column = table.column(place)
    if column.null_count:
        raise InputError(path, "bad-feature", f"{table.column_names[place]} is empty somewhere")
    return [str(value) for value in column.to_pylist()]


@dataclass(frozen=True)
class _Places:
    topic: int
    grade: int
    docno: int | None
    features: list[int]


def _places(path: Path, header: Sequence[str]) -> _Places:
    """Which column is what."""
    lowered = [name.strip().lower() for name in header]

    def place(known: tuple[str, ...]) -> int | None:
        return next((lowered.index(name) for name in known if name in lowered), None)

    topic, grade, docno = place(TOPIC), place(GRADE), place(DOCNO)
    if topic is None or grade is None:
        expected = "topic" if topic is None else "grade"
        message = f"no column is called {expected!r}; there are {', '.join(header[:8])}"
        raise InputError(path, "bad-feature", message, 1)
    features = [number for number in range(len(header)) if number not in (topic, grade, docno)]
    if not features:
        raise InputError(path, "bad-feature", "no column is a feature", 1)
    return _Places(topic, grade, docno, features)


def _gathered(path: Path, parts: Sequence[_Lines], names: Sequence[str] | None = None) -> Features:
    """All lines, those of a query together, with an id for every document."""
    if not parts:
        raise InputError(path, "empty-file", "no document in this file")
    width = max(part.values.shape[1] for part in parts)
    values = np.concatenate([_as_wide(part.values, width) for part in parts])
    lines = [topic for part in parts for topic in part.topics]
    grades = np.concatenate([np.asarray(part.grades, dtype=np.int64) for part in parts])
    docnos = [docno for part in parts for docno in part.docnos]
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(topic, len(known)) for topic in lines])
    notes = []
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        codes, values, grades = codes[order], values[order], grades[order]
        docnos = [docnos[line] for line in order.tolist()]
        message = f"{path.name}: lines of a query do not lie together; they were brought together"
        notes.append(Note("queries-apart", message, False))
    topics = tuple(known)
    sizes = np.bincount(codes, minlength=len(topics))
    _check_names(path, "query", topics)
    _check_names(path, "document id", [docno for docno in docnos if docno])
    named, unnamed = _named(path, topics, sizes, docnos)
    if unnamed:
        message = f"{path.name}: {counted(unnamed, 'document')} without an id, called <qid>-<n>"
        notes.append(Note("documents-without-id", message, False))
    columns = names or [str(number) for number in range(1, width + 1)]
    return Features(path, topics, sizes, grades, tuple(named), values, tuple(columns), tuple(notes))


def _check_names(path: Path, kind: str, names: Sequence[str]) -> None:
    """Refuse what no run file can hold: tables may have such names, LETOR's lines cannot."""
    for name in names:
        if name.split() != [name] or "\0" in name:
            message = f"the {kind} {name!r} is empty or holds a blank: run files cannot hold it"
            raise InputError(path, "bad-name", message)


def _as_wide(values: Floats, width: int) -> Floats:
    missing = width - values.shape[1]
    return np.pad(values, ((0, 0), (0, missing))) if missing else values


def _named(
    path: Path, topics: Sequence[str], sizes: Ints, docnos: Sequence[str]
) -> tuple[list[str], int]:
    """An id for every document, distinct within its query."""
    named: list[str] = []
    unnamed = 0
    for topic, given in _by_query(topics, sizes, docnos):
        names = [docno or f"{topic}-{place}" for place, docno in enumerate(given, start=1)]
        unnamed += sum(not docno for docno in given)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            message = f"query {topic} has document {twice} twice"
            raise InputError(path, "duplicate-document", message)
        named += names
    return named, unnamed


def _by_query(
    topics: Sequence[str], sizes: Ints, items: Sequence[str]
) -> Iterator[tuple[str, Sequence[str]]]:
    start = 0
    for topic, size in zip(topics, sizes.tolist(), strict=True):
        yield topic, items[start : start + size]
        start += size
