"""Two rankings a topic of which some documents are not judged, and what a way to bound them sees.

A way looks for the high end alone: the low end is the high end with run and baseline exchanged.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from riskcli.core.arrays import Counts, Floats, Mask, Rows
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.parts import relevant_of


@dataclass(frozen=True)
class RankedPair:
    """A run and its baseline, by topic (row) and rank (column).

    Rows are independent, so those of many runs may stand below each other. Columns beyond a
    measure's cutoff play no part; a topic that a run does not answer has no documents.
    """

    run: RankedGrades
    baseline: RankedGrades
    places: Rows
    """The rank, from 0, of each of the run's documents in the baseline's ranking; -1: nowhere."""
    levels: Counts
    """How many judged documents of the topic, in all, are of grade 1 or more, 2 or more, ... G.

    G, the number of columns, is the highest grade that an unjudged document may have (ERR: the
    `max_grade` of the rankings).
    """
    scores: Floats | None = None
    """The scores as judged, where they are known: the baseline's (row 0) and the run's (row 1).

    Bounds then hold their difference to the last digit.
    """


class End(NamedTuple):
    """The scores of every topic where the difference is highest."""

    baseline: Floats
    run: Floats
    exact: bool = True
    """Whether a completion reaches them; else no difference is above theirs."""


@dataclass(frozen=True)
class Side:
    """One of two rankings, down to the last rank that matters."""

    ranked: RankedGrades
    elsewhere: Rows
    """The rank of each document in the other ranking, -1 where it has none that matters."""

    @property
    def unjudged(self) -> Mask:
        """The documents that are not judged; none is beyond the end of a ranking."""
        there = np.arange(self.ranked.grades.shape[1]) < self.ranked.counts[:, None]
        return np.asarray(there & ~self.ranked.judged)

    @property
    def alone(self) -> Mask:
        """The unjudged documents that the other ranking lacks."""
        return np.asarray(self.unjudged & (self.elsewhere < 0))

    @property
    def shared(self) -> Mask:
        """The unjudged documents that the other ranking has, too."""
        return np.asarray(self.unjudged & (self.elsewhere >= 0))

    def gather(self, values: Floats) -> Floats:
        """What the other ranking has at each document's rank there, 0 where it has no such."""
        if not values.shape[1]:
            return np.zeros(self.elsewhere.shape)
        there = np.take_along_axis(values, np.maximum(self.elsewhere, 0), axis=1)
        return np.where(self.elsewhere >= 0, there, 0.0)


@dataclass(frozen=True)
class TwoSides:
    """Two rankings down to a measure's cutoff, and the judgements' levels."""

    run: Side
    baseline: Side
    levels: Counts

    @property
    def reversed(self) -> "TwoSides":
        """The same with run and baseline exchanged."""
        return TwoSides(self.baseline, self.run, self.levels)

    def relevant(self, relevance: int) -> Counts:
        """How many documents of each topic are judged relevant."""
        return relevant_of(self.levels, relevance)

    def counted(self, shown: Mask) -> Counts:
        """How many documents of each topic are among these."""
        return np.asarray(shown.sum(axis=1), dtype=np.int64)


def cut(pair: RankedPair, depth: int | None) -> RankedPair:
    """The pair down to that depth; a document below it in a ranking is not in it."""
    run, baseline = _cut(pair.run, depth), _cut(pair.baseline, depth)
    shape = run.grades.shape
    places = pair.places[:, : shape[1]]
    known = (places < baseline.counts[:, None]) & (np.arange(shape[1]) < run.counts[:, None])
    return replace(pair, run=run, baseline=baseline, places=np.where(known, places, -1))


def _cut(ranked: RankedGrades, depth: int | None) -> RankedGrades:
    longest = int(ranked.counts.max(initial=0))
    width = min(ranked.grades.shape[1], longest if depth is None else min(depth, longest))
    return replace(
        ranked,
        grades=ranked.grades[:, :width],
        judged=ranked.judged[:, :width],
        counts=np.minimum(ranked.counts, width),
    )


def rows_of(pair: RankedPair, rows: Rows | slice) -> TwoSides:
    """Some topics of a pair."""
    run, baseline = _rows_of(pair.run, rows), _rows_of(pair.baseline, rows)
    places = pair.places[rows]
    back = np.full(baseline.grades.shape, -1, dtype=np.intp)
    row, rank = np.nonzero(places >= 0)
    back[row, places[row, rank]] = rank
    return TwoSides(Side(run, places), Side(baseline, back), pair.levels[rows])


def _rows_of(ranked: RankedGrades, rows: Rows | slice) -> RankedGrades:
    return replace(
        ranked, grades=ranked.grades[rows], judged=ranked.judged[rows], counts=ranked.counts[rows]
    )
