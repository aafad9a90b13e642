"""The ranking that every measure of a run is computed on, equal to trec_eval's.

Score descending, then docno descending by bytes; the rank column of the file plays no part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Counts, Mask, Rows
from riskcli.core.choices import Precision
from riskcli.trec.arrow import Texts, Words
from riskcli.trec.runs import Run

Lines = NDArray[np.intp]


@dataclass(frozen=True)
class RankedLines:
    """The lines of a run, topic after topic, best first.

    `codes` says of each line which of the run's topics it is for, `places` where in that topic's
    ranking it is, 0 for the best; a topic begins at its `starts` and has `counts` documents.
    """

    lines: Lines
    codes: NDArray[np.int32]
    places: Lines
    starts: Lines
    counts: Lines

    @classmethod
    def of(cls, lines: Lines, codes: NDArray[np.int32], topics: int) -> "RankedLines":
        """The ranking of sorted lines, for so many topics."""
        starts = _starts(codes, topics)
        places = np.asarray(np.arange(len(lines)) - starts[codes])
        return cls(lines, codes, places, starts, np.diff(starts, append=len(lines)))


def rank(run: Run, depth: int | None, precision: Precision = "single") -> dict[str, list[str]]:
    """The first `depth` documents of each topic, best first (all of them where depth is None)."""
    ranking = ranked(run, depth, precision)
    names = run.docnos.take(ranking.lines).as_strings()
    bounds = zip(ranking.starts.tolist(), ranking.counts.tolist(), strict=True)
    return {
        topic: names[start : start + count]
        for topic, (start, count) in zip(run.topics, bounds, strict=True)
    }


def ranked(run: Run, depth: int | None, precision: Precision = "single") -> RankedLines:
    """The lines of the first `depth` documents of each topic (None: all of them).

    In single precision, as pytrec_eval holds them, scores tie that differ only beyond it.
    """
    lines, keys, codes = by_topic_and_score(run, precision)
    if depth is not None:
        deep_enough = _may_reach(depth, keys, codes, len(run.topics))
        lines, keys, codes = lines[deep_enough], keys[deep_enough], codes[deep_enough]
    _settle_ties(lines, keys, codes, run)
    ranking = RankedLines.of(lines, codes, len(run.topics))
    if depth is None:
        return ranking
    within = ranking.places < depth
    return RankedLines.of(lines[within], codes[within], len(run.topics))


def contenders(run: Run, depth: int | None, precision: Precision = "single") -> Run:
    """The lines that can be among the first `depth` of their topic, whatever else the run holds.

    The first `depth` of the run are those of its contenders.
    """
    if depth is None:
        return run
    lines, keys, codes = by_topic_and_score(run, precision)
    lines = lines[_may_reach(depth, keys, codes, len(run.topics))]
    return replace(
        run,
        topic_codes=run.topic_codes[lines],
        docnos=run.docnos.take(lines).copy(),
        scores=run.scores[lines],
    )


def _starts(codes: NDArray[np.int32], topics: int) -> Lines:
    """Where the lines of each topic begin, in order of their codes."""
    return np.searchsorted(codes, np.arange(topics, dtype=np.int32))


def by_topic_and_score(
    run: Run, precision: Precision
) -> tuple[NDArray[np.intp], NDArray[np.floating], NDArray[np.int32]]:
    """Line order by topic, then by falling score, with the scores and topics in that order."""
    codes, keys = run.topic_codes, run.scores
    if precision == "single":
        with np.errstate(over="ignore"):
            keys = run.scores.astype(np.float32)
    same_topic = codes[1:] == codes[:-1]
    if np.all((codes[1:] > codes[:-1]) | (same_topic & (keys[1:] <= keys[:-1]))):
        return np.arange(len(codes)), keys, codes
    order = np.lexsort((-keys, codes))
    return order, keys[order], codes[order]


def _may_reach(
    depth: int, keys: NDArray[np.floating], codes: NDArray[np.int32], topics: int
) -> NDArray[np.bool_]:
    """Which of the sorted lines may be among the first `depth`: with them, all that tie."""
    starts = _starts(codes, topics)
    counts = np.diff(starts, append=len(codes))
    last_within = starts + np.minimum(counts, depth) - 1
    return np.asarray(keys >= np.repeat(keys[last_within], counts))


def _settle_ties(
    lines: Lines, keys: NDArray[np.floating], codes: NDArray[np.int32], run: Run
) -> None:
    """Sort each group of equal scores by docno, highest first."""
    new_group = np.ones(len(lines) + 1, dtype=bool)
    new_group[1:-1] = (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1])
    bounds = np.flatnonzero(new_group)
    groups = np.flatnonzero(np.diff(bounds) > 1)
    for start, end in zip(bounds[groups].tolist(), bounds[groups + 1].tolist(), strict=True):
        group = lines[start:end]
        names = run.docnos.take(group).as_bytes()
        falling = sorted(range(end - start), key=names.__getitem__, reverse=True)
        lines[start:end] = group[falling]


# The first documents of a run by name: what scoring saw of its rankings.


@dataclass(frozen=True)
class Top:
    """The documents of the judged topics that a run answers, topic after topic, best first."""

    topics: tuple[str, ...]
    counts: Counts
    """How many documents each topic has here."""
    docnos: Texts
    grades: NDArray[np.int64]
    """0 where a document is not judged."""
    judged: Mask

    @classmethod
    def of(
        cls,
        topics: Sequence[str],
        rows: NDArray[np.intp],
        docnos: Texts,
        grades: NDArray[np.int64],
        judged: Mask,
    ) -> Self:
        """From the topic (its row) of each document."""
        counts = np.bincount(rows, minlength=len(topics))
        return cls(tuple(topics), counts, docnos, grades, judged)


# Which of the documents of a run are judged: found by hash, and only then compared.


_SLOTS = 8
"""Places of the table for each document: more of them would be further apart in memory."""
_HALF = np.uint64(32)


class JudgedDocuments:
    """All judged documents in one list, topic after topic, and a hash table for each topic."""

    def __init__(self, judgements: Mapping[str, Mapping[str, int]]) -> None:
        self.topics = {topic: index for index, topic in enumerate(judgements)}
        self.docnos = [docno for grades in judgements.values() for docno in grades]
        grades = [grade for grades in judgements.values() for grade in grades.values()]
        self.grades: Counts = np.array([*grades, 0], dtype=np.int64)
        """Their grades, and at the end 0: that of -1, which is not judged."""
        self._texts = Texts.of_strings(self.docnos)
        sizes = np.array([len(grades) for grades in judgements.values()], dtype=np.uint64)
        self.sizes = sizes.astype(np.intp)
        """How many documents of each topic are judged."""
        self._slots = _SLOTS * np.maximum(sizes, 1)  # no slot serves two topics
        self._first_slot = np.cumsum(self._slots) - self._slots
        hashes = self._texts.hashes()
        slot = self._slot(hashes, np.repeat(np.arange(len(sizes)), sizes.astype(np.intp)))
        self._order = np.argsort(slot, kind="stable").astype(np.int32)
        slot, self._hashes = slot[self._order], hashes[self._order]
        self._shared = np.append(slot[1:] == slot[:-1], False)
        """Whether the next document is of the same slot."""
        self._first = np.full(int(self._slots.sum()), -1, dtype=np.int32)
        self._first[slot[::-1]] = np.arange(len(slot), dtype=np.int32)[::-1]

    def find(self, docnos: Texts, lines: Rows, topics: Rows) -> Rows:
        """Where the document of each of these lines is in the list, for its topic; else -1."""
        # Hashing all texts in place is faster than copying some, unless these are few.
        most = 2 * len(lines) > len(docnos)
        hashes = docnos.hashes()[lines] if most else docnos.take(lines).hashes()
        indices = np.full(len(topics), -1, dtype=np.intp)
        rank = self._first[self._slot(hashes, topics)]
        pending = np.flatnonzero(rank >= 0)
        rank, wanted = rank[pending], hashes[pending]
        while len(pending):  # go on while the documents of a slot last
            hit = self._hashes[rank] == wanted
            index, document = self._order[rank[hit]], pending[hit]
            same = self._texts.take(index).equal(docnos.take(lines[document]))
            indices[document[same]] = index[same]
            hit[hit] = same
            on = np.flatnonzero(self._shared[rank] & ~hit)
            pending, rank, wanted = pending[on], rank[on] + 1, wanted[on]
        return indices

    def _slot(self, hashes: Words, topics: Rows) -> Rows:
        """Which place of its topic's table each hash belongs to."""
        within = (hashes >> _HALF) * self._slots[topics] >> _HALF
        return np.asarray(within + self._first_slot[topics], dtype=np.intp)
