"""The test against virtual baselines: runs shuffled within topics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import ALL, Floats, Mask, Rows, row_blocks, units
from riskcli.risk.influences import Influences
from riskcli.risk.jackknife import Statistic, critical_value
from riskcli.risk.losses import Cubic
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE, above_rounding
from riskcli.risk.weights import Weights, column, deviations, mean

_CELLS_AT_ONCE = 60_000

Key = tuple[Statistic, float] | None
"""A statistic at an alpha; None: the mean."""
Measured = Callable[[Floats, Rows | slice], tuple[Floats, Floats]]
"""Differences and errors by replicate, key and run, of cells by replicate, topic and run."""


@dataclass(frozen=True)
class ShuffleTest:
    """Differences of all runs, their errors, and the sizes of t that shuffled runs reach."""

    difference: Floats
    error: Floats
    shuffled: Floats
    """|t| by shuffle and run."""
    noise: float | Floats
    """Differences and errors up to this are rounding."""
    kinds: tuple[Rows, Rows] | None = None
    """Of which kind each run is, and each column of `shuffled`: those of a kind are alike when
    shuffled. None: all are, and there is a column for each run."""

    @cached_property
    def t(self) -> Floats:
        """|t|: 0 for a run that is equal to what it is compared with, NaN if only its SE is 0."""
        t = np.abs(_t(self.difference, self.error, self.noise))
        return np.where(np.isinf(t), np.nan, t)

    @cached_property
    def _kinds(self) -> tuple[Rows, Rows]:
        if self.kinds is not None:
            return self.kinds
        return np.zeros(len(self.t), dtype=np.intp), np.zeros(self.shuffled.shape[1], dtype=np.intp)

    @cached_property
    def p(self) -> Floats:
        """Of each run alone."""
        of_run, of_column = self._kinds
        p = np.full(len(self.t), np.nan)
        for kind in np.unique(of_run):
            rows = (of_run == kind) & ~np.isnan(self.t)
            pooled = np.sort(self.shuffled[:, of_column == kind], axis=None)
            least = self.t[rows] * (1 - EQUAL_STATISTIC)
            reached = pooled.size - np.searchsorted(pooled, least, side="left")
            p[rows] = (reached + 1) / (pooled.size + 1)
        return p

    def critical(self, gamma: float) -> Floats:
        """By run the |t| above which p is below gamma; infinite where no t would be enough."""
        of_run, of_column = self._kinds
        kinds, which = np.unique(of_run, return_inverse=True)
        columns = (self.shuffled[:, of_column == kind] for kind in kinds)
        return np.array([critical_value(each.ravel(), gamma) for each in columns])[which]

    def step_down(self, tested: Mask) -> Floats:
        """p corrected for the number of `tested` runs; NaN for the others."""
        rows = np.flatnonzero(tested & ~np.isnan(self.t))
        adjusted = np.full(len(self.t), np.nan)
        order = rows[np.argsort(-self.t[rows], kind="stable")]
        columns = self._columns_of(order[::-1])
        largest = np.maximum.accumulate(self.shuffled[:, columns], axis=1)[:, ::-1]
        reached = (largest >= self.t[order] * (1 - EQUAL_STATISTIC)).sum(axis=0)
        shares = (reached + 1) / (len(self.shuffled) + 1)
        adjusted[order] = np.maximum(np.maximum.accumulate(shares), self.p[order])
        return adjusted

    def _columns_of(self, rows: Rows) -> Rows:
        """A column of its kind for each of these runs, the next one each time.

        Runs of a kind are alike when shuffled: any k of them have the largest t of k. More runs
        than columns are copies of each other, which are shuffled as one.
        """
        of_run, of_column = self._kinds
        columns = np.empty(len(rows), dtype=np.intp)
        for kind in np.unique(of_run[rows]):
            ours, free = of_run[rows] == kind, np.flatnonzero(of_column == kind)
            columns[ours] = free[np.minimum(np.arange(np.count_nonzero(ours)), len(free) - 1)]
        return columns


@dataclass(frozen=True)
class Shuffled:
    """What is tested of runs that are shuffled within topics.

    `measured` gives differences and errors by replicate, key and run, of cells by replicate, topic
    and run; the topics are those of the rows that it is told. Differences and errors up to `noise`
    are rounding. The order of the topics depends on the scores alone (`cells`, then `totals`): so
    the same scores have the same p-values in whatever order runs and topics come.
    """

    scores: Floats
    keys: Sequence[Key]
    measured: Measured
    noise: float
    order: Rows
    unit: float = 1.0
    """What differences and errors are in, where `measured` works with cells other than scores."""

    @cached_property
    def cells(self) -> Floats:
        """The scores of each topic, in the canonical order."""
        return np.sort(self.scores.T, axis=1)[self.order]

    def sizes_of_t(self, shuffled: Floats) -> Floats:
        """|t| by replicate, key and run."""
        return np.abs(_t(*self.measured(shuffled, self.order), self.noise))

    def tests(self, shuffled: Floats) -> dict[Key, ShuffleTest]:
        """The test of each key, given the |t| of shuffled runs."""
        difference, error = self.measured(self.scores.T[None], ALL)
        return {
            key: ShuffleTest(
                self.unit * difference[0, k], self.unit * error[0, k], shuffled[:, k],
                self.unit * self.noise,
            )
            for k, key in enumerate(self.keys)
        }  # fmt: skip


def of_means(scores: Floats, baseline: Floats, weights: Weights = None) -> Shuffled:
    """Each run's mean against that of a virtual baseline (which no shuffle changes)."""

    def measured(cells: Floats, topics: Rows | slice) -> tuple[Floats, Floats]:
        return means_and_errors(cells - baseline[topics, None], column(weights, topics))

    unit = root_unit(scores) ** 2
    scores, baseline = scores / unit, baseline / unit
    noise = NO_DIFFERENCE * float(np.abs(scores).max(initial=0.0))
    order = canonical_order((scores - baseline).T, baseline, weights)
    return Shuffled(scores, [None], measured, noise, order, unit)


def means_and_errors(delta: Floats, weights: Weights = None) -> tuple[Floats, Floats]:
    """The means over topics (the middle axis) and their errors, as of one key."""
    topics = delta.shape[1]
    if weights is not None:
        off, size = deviations(delta, weights, axis=1), ((weights * delta) ** 2).sum(axis=1)
        error = np.sqrt(above_rounding((off**2).sum(axis=1), size) / (topics * (topics - 1)))
        return mean(delta, weights, axis=1)[:, None], error[:, None]
    means = delta.mean(axis=1)
    squares = np.einsum("mcr,mcr->mr", delta, delta)
    variance = above_rounding(squares - topics * means**2, squares)
    return means[:, None], np.sqrt(variance / (topics * (topics - 1)))[:, None]


def of_statistics(
    scores: Floats,
    keys: Sequence[tuple[Statistic, float]],
    smooth: Cubic | None = None,
    weights: Weights = None,
) -> Shuffled:
    """Each run's statistics against their means over all runs."""
    # ZRisk and GeoRisk grow with the root of the scores, where losses are linear.
    root = root_unit(scores) if smooth is None else 1.0
    scores = scores / root**2
    totals = scores.sum(axis=0)

    def measured(cells: Floats, topics: Rows | slice) -> tuple[Floats, Floats]:
        of_topics = column(weights, topics)
        found = Influences.of(cells, totals[None, topics, None], keys, smooth, of_topics)
        return found.differences(found.averaged())

    noise = NO_DIFFERENCE * float(np.sqrt(scores.mean(axis=1).max()))
    return Shuffled(scores, keys, measured, noise, canonical_order(scores.T, totals, weights), root)


def root_unit(scores: Floats) -> float:
    """The unit of the roots of scores: 1 but where all are so small that no square is left."""
    return float(units(np.sqrt(np.abs(scores)).ravel()))


def shuffle_tests(
    each: Sequence[Shuffled], shuffles: int, seed: int | Sequence[int]
) -> dict[Key, ShuffleTest]:
    """The tests; those that take the topics in the same order see the same shuffles, made once."""
    groups: dict[bytes, list[Shuffled]] = {}
    for one in each:
        groups.setdefault(one.order.tobytes() + one.scores.tobytes(), []).append(one)
    tests: dict[Key, ShuffleTest] = {}
    for alike in groups.values():
        for one, sizes in zip(alike, _replicates(alike, shuffles, seed), strict=True):
            tests |= one.tests(sizes)
    return tests


def _replicates(
    alike: Sequence[Shuffled], shuffles: int, seed: int | Sequence[int]
) -> list[Floats]:
    """The |t| that the shuffled runs reach in each, which have the same cells."""
    cells = alike[0].cells
    if shuffles > 1 and cells.shape[1] == 1:  # a single run is itself, however shuffled
        return [np.repeat(each, shuffles, axis=0) for each in _replicates(alike, 1, seed)]
    generator = np.random.Generator(np.random.SFC64(seed))
    reached: list[list[Floats]] = [[] for _ in alike]
    for some in row_blocks(shuffles, cells.size, _CELLS_AT_ONCE):
        replicates = np.broadcast_to(cells, (some.stop - some.start, *cells.shape))
        shuffled = generator.permuted(replicates, axis=2)
        for one, sizes in zip(alike, reached, strict=True):
            sizes.append(one.sizes_of_t(shuffled))
    return [np.concatenate(sizes) for sizes in reached]


def canonical_order(cells: Floats, totals: Floats, weights: Weights = None) -> Rows:
    """Topics (rows) by their totals, then by their cells, in whatever order both come."""
    ordered = np.sort(cells, axis=1)
    least = () if weights is None else (weights,)
    return np.asarray(np.lexsort((*least, *ordered.T, totals)))


def _t(difference: Floats, error: Floats, noise: float | Floats) -> Floats:
    """Difference over error; 0 where both are rounding, infinite where only the error is 0."""
    small = np.abs(difference) <= noise
    t: Floats = np.where(small, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=t, where=(error > 0) & ~(small & (error <= noise)))
    return t
