"""Doubts about a run that can be read: unjudged, repeated, badly ranked or badly named."""

import hashlib
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Mask
from riskcli.effectiveness.ranking import by_topic_and_score
from riskcli.scores.matrix import answers_nothing
from riskcli.trec.arrow import Texts, Words, pair_hashes
from riskcli.trec.fields import Table
from riskcli.trec.findings import Described, Finding, Tally, whole_number
from riskcli.trec.names import file_name
from riskcli.trec.runs import Run


def ranking_digests(run: Run) -> dict[str, str]:
    """A digest of each topic's ranking: the same documents in the same order have the same one.

    Scores and lines do not matter; the order of documents whose scores tie in single
    precision does not count.
    """
    order, scores, codes = by_topic_and_score(run, "single")
    hashes = pair_hashes(Texts.of_strings(run.topics).hashes(), run.topic_codes, run.docnos)[order]
    tied = (codes[1:] == codes[:-1]) & (scores[1:] == scores[:-1])
    _sort_ties(hashes, tied)
    starts = np.searchsorted(codes, np.arange(len(run.topics) + 1)).tolist()
    return {
        topic: _digest(hashes[start:end], tied[start : end - 1])
        for topic, start, end in zip(run.topics, starts[:-1], starts[1:], strict=True)
    }


def _digest(hashes: Words, tied: Mask) -> str:
    digest = hashlib.sha256(hashes.tobytes())
    digest.update(tied.tobytes())
    return digest.hexdigest()[:16]


def nearest_before(runs: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int, int, int]]:
    """For each run but the first the earlier one that ranks most alike, the first of those.

    Gives both places, on how many topics they differ, and how many topics either answers.
    """
    topics = {topic: column for column, topic in enumerate({t: None for run in runs for t in run})}
    cells = np.zeros((len(runs), len(topics)), dtype=np.uint64)  # 0: no answer
    for row, run in enumerate(runs):
        cells[row, [topics[topic] for topic in run]] = [int(digest, 16) for digest in run.values()]
        if row:
            differing = (cells[:row] != cells[row]).sum(axis=1)
            first = int(differing.argmin())
            either = int(((cells[first] != 0) | (cells[row] != 0)).sum())
            yield row, first, int(differing[first]), either


def _sort_ties(hashes: Words, tied: Mask) -> None:
    """Sort the hashes of documents that tie; `tied` says which tie with their predecessor."""
    member = np.concatenate([[False], tied]) | np.concatenate([tied, [False]])
    group = np.concatenate([[0], np.cumsum(~tied)])
    places = np.flatnonzero(member)
    hashes[places] = hashes[places][np.lexsort((hashes[places], group[places]))]


# What looks wrong in a run that can be read: remarks for its author, found on whole columns.
#
# Nothing here changes a score: trec_eval ignores the rank column, and so do we.


Places = NDArray[np.intp]
MAX_DOCS = 1000
"""The documents a topic that TREC's tracks take."""


@dataclass(frozen=True)
class Columns:
    """A run with the columns that are not used for scoring, and its line numbers."""

    tally: Tally
    table: Table
    lines: Sequence[int | None]
    """The number in the file of each line of the table; None where it has none."""

    @cached_property
    def run(self) -> Run:
        """The columns that are used for scoring."""
        return Run.of_table(self.tally.path, self.table)

    def topic(self, place: int) -> str:
        """The topic of a line."""
        code: int = self.run.topic_codes[place].item()
        return self.run.topics[code]

    def docno(self, place: int) -> str:
        """The document of a line."""
        return self.run.docnos.take(np.array([place])).as_strings()[0]

    def doubt(self, code: str, places: Sequence[int], message: Callable[[int], str]) -> None:
        """Count the lines at these places."""
        self.tally.add_all(code, places, lambda place: (self.lines[place], message(place)))

    def doubt_pairs(
        self, code: str, first: Places, second: Places, message: Callable[[int, int], str]
    ) -> None:
        """Count pairs of lines, in the order of the second one."""
        order = np.argsort(second, kind="stable")
        pairs: Any = np.column_stack((first, second))[order]

        def describe(pair: Places) -> Described:
            earlier, later = pair.tolist()
            return self.lines[later], message(earlier, later)

        self.tally.add_all(code, pairs, describe)


def note_doubts(columns: Columns, max_docs: int) -> None:
    """Count all that looks wrong."""
    _note_ranks(columns)
    _note_single_precision_ties(columns)
    _note_long_topics(columns, max_docs)
    _note_tags(columns)
    _note_second_column(columns)
    _note_mangled(columns)


def _note_ranks(columns: Columns) -> None:
    ranks = columns.table.whole_numbers("rank")
    if ranks is not None:
        taken = np.arange(len(ranks))
    else:
        texts = columns.table.texts("rank").as_strings()
        numbers = [whole_number(text) for text in texts]
        columns.doubt(
            "bad-rank",
            [place for place, rank in enumerate(numbers) if rank is None],
            lambda i: f"the rank (4th column) is {texts[i]!r}, expected a whole number",
        )
        ranks = np.array([rank or 0 for rank in numbers], dtype=np.int64)
        taken = np.flatnonzero([rank is not None for rank in numbers])
    if len(taken) < len(ranks) or not _in_order(columns.run, ranks):
        _note_rank_order(columns, ranks, taken)


def _in_order(run: Run, ranks: NDArray[np.int64]) -> bool:
    """Whether the lines of each topic are adjacent, by rising ranks and falling scores."""
    codes, scores = run.topic_codes, run.scores
    same = codes[1:] == codes[:-1]
    falling = (ranks[1:] > ranks[:-1]) & (scores[1:] <= scores[:-1])
    return bool(np.all((codes[1:] > codes[:-1]) | (same & falling)))


def _note_rank_order(columns: Columns, ranks: NDArray[np.int64], taken: Places) -> None:
    codes, scores, lines = columns.run.topic_codes, columns.run.scores, columns.lines
    order = taken[np.lexsort((-scores[taken], ranks[taken], codes[taken]))]
    before, after = order[:-1], order[1:]
    same_topic = codes[before] == codes[after]
    again = same_topic & (ranks[before] == ranks[after])
    rising = same_topic & (ranks[before] < ranks[after]) & (scores[before] < scores[after])
    columns.doubt_pairs(
        "rank-order",
        before[rising],
        after[rising],
        lambda first, second: (
            f"topic {columns.topic(second)}: document {columns.docno(second)} at rank "
            f"{ranks[second]} has score {float(scores[second])!r}, above the "
            f"{float(scores[first])!r} of rank {ranks[first]} on line {lines[first]}"
        ),
    )
    columns.doubt_pairs(
        "duplicate-rank",
        *_by_line(before[again], after[again]),
        lambda first, second: (
            f"topic {columns.topic(second)} has rank {ranks[second]} already on line {lines[first]}"
        ),
    )


def _by_line(some: Places, others: Places) -> tuple[Places, Places]:
    """The earlier and the later line of each pair."""
    return np.minimum(some, others), np.maximum(some, others)


def _note_single_precision_ties(columns: Columns) -> None:
    lines, scores = columns.lines, columns.run.scores
    order, ordered, codes = by_topic_and_score(columns.run, "double")
    with np.errstate(over="ignore"):
        single = ordered.astype(np.float32)
    tied = (single[1:] == single[:-1]) & (ordered[1:] != ordered[:-1]) & (codes[1:] == codes[:-1])
    pairs = _by_line(order[:-1][tied], order[1:][tied])
    if not tied.any():
        return
    first, second = (int(some[np.argmin(pairs[1])]) for some in pairs)
    message = (
        f"{tied.sum():,} pairs of scores differ but tie in single precision, as in trec_eval 9: "
        f"topic {columns.topic(second)} has {float(scores[first])!r} (line {lines[first]}) and "
        f"{float(scores[second])!r}"
    )
    columns.doubt("single-precision-tie", [second], lambda _: message)


def _note_long_topics(columns: Columns, max_docs: int) -> None:
    codes = columns.run.topic_codes
    counts = np.bincount(codes, minlength=len(columns.run.topics))

    def describe(topic: int) -> Described:
        first_beyond = int(np.flatnonzero(codes == topic)[max_docs])
        name = columns.run.topics[topic]
        message = f"topic {name} has {counts[topic]:,} documents, more than {max_docs:,}"
        return columns.lines[first_beyond], message

    long = np.flatnonzero(counts > max_docs).tolist()
    columns.tally.add_all("too-many-documents", long, describe)


def _note_tags(columns: Columns) -> None:
    tags, codes = columns.table.coded("tag")
    expected = file_name(columns.tally.path)
    if len(tags) > 1:
        columns.doubt(
            "mixed-tags",
            (np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(),
            lambda i: (
                f"the tag is {tags[codes[i]]!r} here and {tags[codes[i - 1]]!r} above: "
                "are these several runs in one file?"
            ),
        )
    elif tags[0] != expected:
        message = f"the tag is {tags[0]!r}, the file is named {expected!r}"
        columns.doubt("tag-name", [0], lambda _: message)


def _note_second_column(columns: Columns) -> None:
    texts, codes = columns.table.coded("q0")
    if texts != ["Q0"]:
        other = np.array([text != "Q0" for text in texts])
        columns.doubt(
            "not-q0",
            np.flatnonzero(other[codes]).tolist(),
            lambda i: f"the 2nd column is {texts[codes[i]]!r}, expected Q0",
        )


_MANGLED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\ufeff\ufffd]"
    "|[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac"  # UTF-8 read as Latin-1 or Windows-1252
    "|^[\"']|[\"',;]$"
    "|&(?:amp|lt|gt|quot|#\\d+);"
    r"|^\d+(?:\.\d+)?[eE]\+\d+$|^\d+\.0$"
    "|(?:\\.\\.\\.|\u2026)$"
    "|^(?:nan|NaN|None|null|NULL|#NAME\\?|#N/A)$"
)
_WHY = "traces of quoting, rounding, cutting or a wrong encoding"


def _note_mangled(columns: Columns) -> None:
    if _looks_clean(columns.run.docnos):
        return
    docnos = columns.run.docnos.as_strings()
    columns.doubt(
        "mangled-docno",
        [place for place, docno in enumerate(docnos) if _MANGLED.search(docno)],
        lambda i: f"document {docnos[i]!r} looks mangled ({_WHY})",
    )


_TELLING = (b'"', b"'", b"&", b"+")
_LAST = np.frombuffer(b"\"',;.", dtype=np.uint8)
_FIRST = np.frombuffer(b"nN#", dtype=np.uint8)
_LONGEST_LOST = len("#NAME?")


def _looks_clean(docnos: Texts) -> bool:
    """True only where no docno can be a mangled one: most runs need no closer look."""
    text = bytes(docnos.packed())
    seen = np.frombuffer(text, dtype=np.uint8)
    if seen.min() <= 0x20 or seen.max() >= 0x7F or any(sign in text for sign in _TELLING):
        return False
    sizes = docnos.end - docnos.start
    ends = np.cumsum(sizes)
    starts = ends - sizes
    last, last_but_one = seen[ends - 1], seen[np.maximum(ends - 2, 0)]
    decimal = (last == ord("0")) & (last_but_one == ord("."))
    lost = np.isin(seen[starts], _FIRST) & (sizes <= _LONGEST_LOST)
    return not (np.isin(last, _LAST) | decimal | lost).any()


def note_topics(columns: Columns, judged: Container[str], expected: Sequence[str]) -> None:
    """Count topics that are not `judged`, and those `expected` that the run does not answer."""
    tally, topics, codes = columns.tally, columns.run.topics, columns.run.topic_codes
    tally.add_all(
        "unknown-topic",
        [code for code, topic in enumerate(topics) if topic not in judged],
        lambda code: (
            columns.lines[int(np.argmax(codes == code))],
            f"topic {topics[code]} is not in the qrels",
        ),
    )
    answered = set(topics)
    missing = [topic for topic in expected if topic not in answered]
    if len(missing) == len(expected):
        message = answers_nothing(columns.run.tag or file_name(tally.path), expected)
        tally.add(Finding(tally.path, None, "no-topic-known", message))
    else:
        tally.add_all("missing-topic", missing, lambda topic: (None, f"no line for topic {topic}"))
