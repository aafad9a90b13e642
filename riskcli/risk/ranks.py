"""Which runs a column tells apart, and the ranks that this leaves open.

One set of statements a column: marks, ranks, letters and "may be best" are all read from it.

- Every pair of runs is compared by the jackknife's t, corrected by Holm's method over all pairs.
- Where the column has marks against one of its runs, the marks are what is said of that run, and a
  run above it is above one below it. The pairs besides are then tested at a tenth of gamma: so a
  table with any false statement stays as rare as one with a false mark (measured in
  `docs/appendix-calibration.md`).

A run's best rank is 1 + the runs significantly above it, its worst r - those significantly below.
As all statements hold together with probability 1 - gamma, so do all intervals (simultaneous sets:
Mogstad, Romano, Shaikh and Wilhelm 2024). A run whose interval begins at 1 may be best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, Mask, Rows, divided, row_blocks, units
from riskcli.risk.estimate import Estimate, adjust, flags
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.rounding import NO_DIFFERENCE, NO_VARIANCE

BESIDE_MARKS = 0.1
"""The share of gamma at which pairs are tested beside marks against one of the runs."""
_CELLS_AT_ONCE = 100_000
_MOST_IN_ALL_STEPS = 2_000
"""Of more runs, the first two of Holm's steps are taken: the others change next to nothing."""


@dataclass(frozen=True)
class MarksAgainst:
    """What a column says of each run against `row`, one of them: 1 above, -1 below, 0 neither."""

    row: int
    sides: Floats

    @classmethod
    def of(cls, estimate: Estimate, row: int | None, gamma: float) -> "MarksAgainst | None":
        """By Holm's method; None where the column is not about a run, or has no tests.

        Differences that are measured in other populations than the values may have another sign;
        then ranks, which are of the values, do not follow.
        """
        if row is None or estimate.p is None:
            return None
        adjusted, _ = adjust(estimate.p, "holm")
        flag = flags(estimate.effect, adjusted, gamma)
        sides = (flag == "better") * 1.0 - (flag == "worse")
        with np.errstate(invalid="ignore"):
            order = np.sign(estimate.value - estimate.value[row])
        return cls(row, np.where(sides == order, sides, 0.0))


class Stacked(NamedTuple):
    """Statistics by row of `values`, whose deviations are sums of `parts`, each by run and topic.

    Each has its own weights of the parts; the products of the parts are computed once for all.
    SE^2 of a difference = sum (d_i - d_j)^2 / (c (c - 1)).
    """

    values: Floats
    parts: Sequence[Floats]
    weights: Floats


def rank_intervals(
    values: Floats,
    deviations: Floats,
    gamma: float,
    marks: MarksAgainst | None = None,
    tested: Mask | None = None,
    degrees: float | None = None,
) -> tuple[Floats, Floats]:
    """The best and the worst rank of each run; NaN for a run that is not tested.

    `deviations` by run and topic: SE^2 of a difference = sum (d_i - d_j)^2 / (c (c - 1)), with
    `degrees` of freedom (None: c - 1).
    """
    one = Stacked(values[None], [deviations], np.ones((1, 1)))
    return rank_intervals_of_parts(one, gamma, [marks], tested, degrees)[0]


def rank_intervals_of_parts(
    statistics: Stacked,
    gamma: float,
    marks: Sequence[MarksAgainst | None],
    tested: Mask | None = None,
    degrees: float | None = None,
) -> list[tuple[Floats, Floats]]:
    """The same for several statistics."""
    values, topics = statistics.values, statistics.parts[0].shape[1]
    low, high = np.full((2, *values.shape), np.nan)
    tested = np.ones(values.shape[1], dtype=np.bool_) if tested is None else tested
    if topics >= LEAST_TOPICS and np.count_nonzero(tested) > 1:
        freedom = topics - 1 if degrees is None else degrees
        family = _Family.of(statistics, gamma, marks, tested, freedom)
        higher, lower = family.counts()
        low[:, tested] = 1 + higher[:, tested]
        high[:, tested] = len(tested) - lower[:, tested]
    return list(zip(low, high, strict=True))


def ranks_left_open(runs: int, above: Rows, below: Rows) -> tuple[Floats, Floats]:
    """The same from pairs of runs, the first of which is significantly above the second."""
    higher, lower = (np.bincount(ends, minlength=runs) for ends in (below, above))
    return np.asarray(1.0 + higher), np.asarray(float(runs) - lower)


@dataclass(frozen=True)
class _Family:
    """All pairs of runs, by statistic, and what is said of some of them beforehand."""

    values: Floats
    parts: Sequence[Floats]
    weights: Floats
    gamma: float
    marks: Sequence[MarksAgainst | None]
    tested: Mask
    degrees: float

    @classmethod
    def of(
        cls, given: Stacked, gamma: float, marks: Sequence[MarksAgainst | None], tested: Mask,
        degrees: float,
    ) -> "_Family":  # fmt: skip
        """With tiny numbers in a unit of their own, so that no square is 0."""
        values, parts = given.values, given.parts
        unit = units(np.array([end for part in parts for end in (part.max(), part.min())]))
        if unit < 1:
            values, parts = values / unit, [part / unit for part in parts]
        return cls(values, parts, given.weights, gamma, marks, tested, degrees)

    def counts(self) -> tuple[Floats, Floats]:
        """By statistic and run: how many are significantly above it, and how many below.

        Holm's steps: the pairs that are told apart leave the family, until there are no more.
        """
        runs = int(np.count_nonzero(self.tested))
        pairs = np.full(len(self.values), runs * (runs - 1) // 2)
        steps = np.zeros_like(pairs)
        for step in range(int(pairs.max(initial=0)) + 1):
            higher, lower, found, untested = self._told_apart(pairs - steps)
            last = step == 1 and runs > _MOST_IN_ALL_STEPS
            if last or ((found == steps).all() and (step > 0 or not untested.any())):
                break
            pairs, steps = pairs - (untested if step == 0 else 0), found
        return higher, lower

    def _told_apart(self, left: Rows) -> tuple[Floats, Floats, Rows, Rows]:
        """At the critical values of so many pairs: the counts, those of pairs, and of no tests."""
        higher, lower = np.zeros((2, *self.values.shape))
        found, untested = np.zeros((2, len(self.values)), dtype=np.intp)
        critical = [self._squared_critical(k, int(many)) for k, many in enumerate(left)]
        for k, mine, ratio, difference in self._ratios():
            apart = np.isfinite(ratio) & (ratio > critical[k])
            found[k] += np.count_nonzero(apart)
            untested[k] += np.count_nonzero(np.isinf(ratio))
            above, below = self._joined(k, mine, apart & (difference > 0), apart & (difference < 0))
            higher[k, mine] += np.count_nonzero(above, axis=1)
            lower[k, mine] += np.count_nonzero(below, axis=1)
        return higher, lower, found // 2, untested // 2

    def _joined(self, k: int, mine: Rows, above: Mask, below: Mask) -> tuple[Mask, Mask]:
        """Which of the others are above, and below, each of some runs: by pairs, and by marks."""
        marks = self.marks[k]
        if marks is None:
            return above, below
        sides, row = marks.sides, marks.row
        own, at = sides[mine, None], mine == row
        above[:, row], below[:, row] = False, False
        above[at], below[at] = False, False
        # A run above the one that all are compared with is above each run below it.
        above |= (own < 0) & (sides > 0)
        below |= (own > 0) & (sides < 0)
        above[:, row], below[:, row] = sides[mine] < 0, sides[mine] > 0
        above[at], below[at] = sides > 0, sides < 0
        return above, below

    def _squared_critical(self, k: int, pairs: int) -> float:
        """The critical value of (difference)^2 / (sum of squared deviations) in so many pairs.

        t^2 = difference^2 c (c - 1) / sum of squares.
        """
        topics = self.parts[0].shape[1]
        gamma = self.gamma * (1.0 if self.marks[k] is None else BESIDE_MARKS)
        t = stdtrit(self.degrees, 1 - gamma / (2 * max(pairs, 1)))
        return float(t**2 / (topics * (topics - 1)))

    def _ratios(self) -> Iterator[tuple[int, Rows, Floats, Floats]]:
        """Some runs with all runs: (difference)^2 / (sum of squares), and the difference.

        It is infinite where a difference has a standard error of 0, which is no sample's, and 0
        beside a run without tests.
        """
        count, topics = self.parts[0].shape
        pairs = [(i, j) for i in range(len(self.parts)) for j in range(i + 1)]
        factors = [[(1 if i == j else 2) * w[i] * w[j] for i, j in pairs] for w in self.weights]
        own = [np.einsum("ij,ij->i", self.parts[i], self.parts[j]) for i, j in pairs]
        noises = _noise(self.parts, self.weights, row_blocks(count, topics))
        void = ~self.tested
        # In proportion to the matrix: scratch memory stays small, and few products of many runs
        # are much faster than many of few.
        for rows in row_blocks(count, count, max(_CELLS_AT_ONCE, self.parts[0].size // 8)):
            shared = [_products(self.parts[i], self.parts[j], rows) for i, j in pairs]
            each = enumerate(zip(self.values, factors, noises, strict=True))
            for k, (value, factor, noise) in each:
                squares = _combined(factor, own)
                for some in row_blocks(rows.stop - rows.start, count):
                    mine = np.arange(count)[rows][some]
                    size = squares[mine, None] + squares
                    variance = size - 2 * _combined(factor, [product[some] for product in shared])
                    known = variance > NO_VARIANCE * size
                    known &= variance > noise * (topics - 1) * topics
                    difference = value - value[mine, None]
                    squared = difference**2
                    ratio = divided(squared, variance, known)
                    ratio[~known & (squared > noise)] = np.inf
                    ratio[:, void], ratio[void[mine]] = 0.0, 0.0
                    yield k, mine, ratio, difference


def _noise(parts: Sequence[Floats], weights: Floats, blocks: Sequence[slice]) -> list[float]:
    """The squared errors that are rounding beside the largest deviation of each statistic."""
    largest = np.zeros(len(weights))
    for rows in blocks:
        for k, weight in enumerate(weights):
            spread = _combined(weight, [part[rows] for part in parts])
            largest[k] = max(largest[k], spread.max(), -spread.min())
    return [(NO_DIFFERENCE * each) ** 2 for each in largest.tolist()]


def _products(one: Floats, other: Floats, rows: slice) -> Floats:
    """Of some runs' deviations with every run's, the mean of both ways round."""
    product = one[rows] @ other.T
    return product if one is other else (product + other[rows] @ one.T) / 2


def _combined(weights: Sequence[float] | Floats, parts: Sequence[Floats]) -> Floats:
    """The weighted sum of parts."""
    total = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total += weight * part
    return np.asarray(total)
