"""The documents at the top of each run by topic: who they are, and how they are judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Counts, Mask, Rows
from riskcli.core.messages import UsageError, nearest
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.ranking import Top
from riskcli.effectiveness.unjudged import RankedPair
from riskcli.trec.arrow import Texts
from riskcli.trec.qrels import Qrels

_NONE = -1
"""In place of a document beyond the end of a ranking."""


@dataclass(frozen=True, repr=False)
class Documents:
    """The first documents of every run on every topic; one of a topic has a number of its own."""

    runs: Mapping[str, int]
    topics: Mapping[str, int]
    numbers: NDArray[np.int32]
    """By run, topic and rank."""
    docnos: Texts
    """The name of each document."""
    grades: NDArray[np.int64]
    """The grade of each, 0 where it is not judged; the last is that of no document."""
    judged: Mask
    judged_levels: Counts
    """By topic and grade from 1: how many of the judged documents have it, or a higher one."""
    max_grade: int
    """The highest grade that ERR knows."""

    @classmethod
    def of(
        cls, tops: Mapping[str, Top], topics: Sequence[str], qrels: Qrels, max_grade: int | None
    ) -> Self:
        """Of these runs, on these topics; no `max_grade` takes the highest of the judgements."""
        column = {topic: index for index, topic in enumerate(topics)}
        docnos = Texts.joined([top.docnos for top in tops.values()])
        of_topic = np.concatenate([_topic_of_each(top, column) for top in tops.values()])
        kept = np.flatnonzero(of_topic >= 0)
        number, first = _numbered(docnos.take(kept), of_topic[kept])
        numbers = np.full((len(tops), len(topics), _longest(tops)), _NONE, dtype=np.int32)
        run = np.repeat(np.arange(len(tops)), [len(top.docnos) for top in tops.values()])
        place = np.concatenate([_place_of_each(top) for top in tops.values()])
        numbers[run[kept], of_topic[kept], place[kept]] = number
        grades, judged = (
            np.append(np.concatenate([getattr(top, name) for top in tops.values()])[kept][first], 0)
            for name in ("grades", "judged")
        )
        highest = qrels.highest_grade
        return cls(
            {run: index for index, run in enumerate(tops)}, column, numbers,
            docnos.take(kept).take(first).copy(), grades, judged.astype(bool),
            _levels(qrels, topics), highest if max_grade is None else max_grade,
        )  # fmt: skip

    def renamed(self, shown: Mapping[str, str]) -> Self:
        """The same with other names for runs."""
        return replace(self, runs={shown.get(run, run): row for run, row in self.runs.items()})

    def ranking(self, run: str, topic: str) -> list[tuple[str, int | None]]:
        """The documents of a topic with their grades, the best first; None where not judged."""
        numbers = self._of(run, [topic])[0]
        numbers = numbers[numbers != _NONE]
        grades = [
            grade if judged else None
            for grade, judged in zip(
                self.grades[numbers].tolist(), self.judged[numbers].tolist(), strict=True
            )
        ]
        return list(zip(self.docnos.take(numbers).as_strings(), grades, strict=True))

    def named(
        self,
        runs: tuple[str, str],
        topics: Sequence[str],
        rows: Rows,
        ranks: tuple[Rows, Rows],
    ) -> list[str]:
        """The documents at these topics' ranks in the first run; in the second where that is -1."""
        first, second = (
            self._of(run, topics)[rows, np.maximum(at, 0)]
            for run, at in zip(runs, ranks, strict=True)
        )
        return self.docnos.take(np.where(ranks[0] >= 0, first, second)).as_strings()

    def levels(self, topics: Sequence[str]) -> Counts:
        """By topic and grade from 1: how many judged documents have at least that grade."""
        return self.judged_levels[[self.topics[topic] for topic in topics]]

    def ranked(self, run: str, topics: Sequence[str], depth: int | None = None) -> RankedGrades:
        """The grades of the first documents, as a measure that looks so deep sees them."""
        return self._graded(self._of(run, topics)[:, :depth])

    def pair(self, measure: Measure, run: str, baseline: str, topics: Sequence[str]) -> RankedPair:
        """Two runs as they are compared by a measure, document by document."""
        own, others = (self._of(name, topics)[:, : measure.cutoff] for name in (run, baseline))
        return self._paired(own, others, self.levels(topics), len(topics))

    def pairs(
        self, measure: Measure, runs: Sequence[str], baseline: str, topics: Sequence[str]
    ) -> RankedPair:
        """Each of the runs against the baseline, one after the other: a row a run and topic."""
        rows = [self._row(run) for run in runs]
        columns = [self.topics[topic] for topic in topics]
        own = self.numbers[np.ix_(rows, columns)][..., : measure.cutoff]
        others = self._of(baseline, topics)[:, : measure.cutoff]
        many = (len(runs), 1)
        return self._paired(
            own.reshape(len(rows) * len(columns), -1),
            np.tile(others, many),
            np.tile(self.levels(topics), many),
            len(columns),
        )

    def unjudged_elsewhere(
        self,
        measure: Measure,
        runs: Sequence[str],
        baseline: str,
        members: Sequence[str],
        topics: Sequence[str],
    ) -> Counts:
        """By run and topic: how many unjudged documents only others of the members have."""
        columns = [self.topics[topic] for topic in topics]
        of_members, own = (
            self.numbers[np.ix_([self._row(run) for run in each], columns)][..., : measure.cutoff]
            for each in (members, runs)
        )
        wanted = np.zeros(len(self.grades), dtype=np.bool_)
        wanted[of_members] = True
        wanted &= ~self.judged
        wanted[_NONE] = False
        by_topic = [np.unique(numbers) for numbers in of_members.swapaxes(0, 1)]
        in_all = np.array([np.count_nonzero(wanted[numbers]) for numbers in by_topic])
        theirs = self._of(baseline, topics)[:, : measure.cutoff]
        in_baseline = wanted[theirs].sum(axis=1)
        wanted[theirs] = False
        return np.asarray(in_all - in_baseline - wanted[own].sum(axis=2))

    def _row(self, run: str) -> int:
        if run not in self.runs:
            raise UsageError(
                f"no documents of {run!r}{nearest(run, self.runs)}: it has scores alone"
            )
        return self.runs[run]

    def _of(self, run: str, topics: Sequence[str]) -> NDArray[np.int32]:
        return self.numbers[self._row(run), [self.topics[topic] for topic in topics]]

    def _graded(self, numbers: NDArray[np.int32]) -> RankedGrades:
        counts = np.count_nonzero(numbers != _NONE, axis=1)
        return RankedGrades(self.grades[numbers], self.judged[numbers], counts, self.max_grade)

    def _paired(
        self, own: NDArray[np.int32], others: NDArray[np.int32], levels: Counts, stretch: int
    ) -> RankedPair:
        """A document's number says its topic, so one table of places serves a stretch of topics."""
        places = np.full(own.shape, -1, dtype=np.intp)
        table = np.full(len(self.grades), -1, dtype=np.intp)
        for first in range(0, len(others), stretch):
            some = slice(first, first + stretch)
            there = others[some]
            rank = np.broadcast_to(np.arange(there.shape[1]), there.shape)
            table[there] = rank
            table[_NONE] = -1
            places[some] = table[own[some]]
            table[there] = -1
        return RankedPair(self._graded(own), self._graded(others), places, levels)


def _topic_of_each(top: Top, column: Mapping[str, int]) -> Rows:
    """Which of the topics each document is for; -1 for none."""
    return np.repeat([column.get(topic, -1) for topic in top.topics], top.counts).astype(np.intp)


def _place_of_each(top: Top) -> Rows:
    starts = np.cumsum(top.counts) - top.counts
    return np.asarray(np.arange(len(top.docnos)) - np.repeat(starts, top.counts))


def _longest(tops: Mapping[str, Top]) -> int:
    return max((int(top.counts.max(initial=0)) for top in tops.values()), default=0)


def _numbered(docnos: Texts, topics: Rows) -> tuple[NDArray[np.int32], Rows]:
    """A number for each document of a topic, and where each number comes first."""
    hashes = docnos.hashes()
    order = np.lexsort((hashes, topics))
    same = (hashes[order][1:] == hashes[order][:-1]) & (topics[order][1:] == topics[order][:-1])
    pairs = np.flatnonzero(same)
    equal = docnos.take(order[pairs]).equal(docnos.take(order[pairs + 1]))
    if equal.all():
        new = np.append(True, ~same)[: len(order)]
        number = np.empty(len(order), dtype=np.int32)
        number[order] = np.cumsum(new) - 1
        return number, order[new]
    # Two names have the same hash: by the names themselves.
    keys: dict[tuple[int, bytes], int] = {}
    named = zip(topics.tolist(), docnos.as_bytes(), strict=True)
    numbers = np.array([keys.setdefault(key, len(keys)) for key in named], dtype=np.int32)
    return numbers, np.unique(numbers, return_index=True)[1]


def _levels(qrels: Qrels, topics: Sequence[str]) -> Counts:
    """By topic and grade from 1: how many judged documents have at least that grade."""
    highest = max(qrels.highest_grade, 1)
    counts = np.zeros((len(topics), highest), dtype=np.int64)
    for row, topic in enumerate(topics):
        grades = np.fromiter(qrels.judgements.get(topic, {}).values(), dtype=np.int64)
        exactly = np.bincount(grades[grades > 0], minlength=highest + 1)[1:]
        counts[row] = exactly[::-1].cumsum()[::-1]
    return counts
