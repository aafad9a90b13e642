"""The test against virtual baselines: runs shuffled within topics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats, Mask, Rows
from riskcli.core.messages import UsageError
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Significance
from riskcli.risk.jackknife import Statistic
from riskcli.risk.losses import Cubic
from riskcli.risk.resampling import (
    Keys,
    SwapTest,
    above_rounding,
    critical_value,
    risk_differences,
    swap_tests,
)
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE

_CELLS_AT_ONCE = 60_000


@dataclass(frozen=True)
class ShuffleTest:
    """Differences of all runs, their errors, and the sizes of t that shuffled runs reach."""

    difference: Floats
    error: Floats
    shuffled: Floats
    """|t| by shuffle and run."""
    noise: float
    """Differences and errors up to this are rounding."""

    @cached_property
    def t(self) -> Floats:
        """|t|: 0 for a run that is equal to what it is compared with, NaN if only its SE is 0."""
        t = np.abs(_t(self.difference, self.error, self.noise))
        return np.where(np.isinf(t), np.nan, t)

    @cached_property
    def p(self) -> Floats:
        """Of each run alone."""
        pooled = np.sort(self.shuffled, axis=None)
        reached = pooled.size - np.searchsorted(pooled, self.t * (1 - EQUAL_STATISTIC), side="left")
        return np.where(np.isnan(self.t), np.nan, (reached + 1) / (pooled.size + 1))

    def critical(self, gamma: float) -> float:
        """The |t| above which p is below gamma; infinite where no t would be enough."""
        return critical_value(self.shuffled.ravel(), gamma)

    def step_down(self, tested: Mask) -> Floats:
        """p corrected for the number of `tested` runs; NaN for the others."""
        rows = np.flatnonzero(tested & ~np.isnan(self.t))
        adjusted = np.full(len(self.t), np.nan)
        order = rows[np.argsort(-self.t[rows], kind="stable")]
        # Runs are alike when shuffled: any k of them have the largest t of k.
        largest = np.maximum.accumulate(self.shuffled[:, : len(rows)], axis=1)[:, ::-1]
        reached = (largest >= self.t[order] * (1 - EQUAL_STATISTIC)).sum(axis=0)
        shares = (reached + 1) / (len(self.shuffled) + 1)
        adjusted[order] = np.maximum(np.maximum.accumulate(shares), self.p[order])
        return adjusted


def shuffled_means(scores: Floats, baseline: Floats, shuffles: int, seed: int) -> ShuffleTest:
    """Each run's mean against that of a virtual baseline (which no shuffle changes)."""
    means = _Means(scores, baseline)
    return means.test(_replicates([means], shuffles, seed)[0])


def shuffled_statistics(
    scores: Floats,
    statistics: Sequence[Statistic],
    alphas: Sequence[float],
    shuffles: int,
    seed: int,
    smooth: Cubic | None = None,
) -> dict[tuple[Statistic, float], ShuffleTest]:
    """Each run's statistics against their means over all runs, at each alpha."""
    risks = _Risks(scores, _keys(statistics, alphas), smooth)
    return risks.tests(_replicates([risks], shuffles, seed)[0])


def shuffled_together(
    scores: Floats,
    baseline: Floats,
    statistics: Sequence[Statistic],
    alphas: Sequence[float],
    shuffles: int,
    seed: int,
    smooth: Cubic | None = None,
) -> tuple[ShuffleTest, dict[tuple[Statistic, float], ShuffleTest]]:
    """Both, from the same shuffles where both take the topics in the same order."""
    means, risks = _Means(scores, baseline), _Risks(scores, _keys(statistics, alphas), smooth)
    if np.array_equal(means.order, risks.order):
        of_means, of_risks = _replicates([means, risks], shuffles, seed)
    else:
        of_means, of_risks = (_replicates([each], shuffles, seed)[0] for each in (means, risks))
    return means.test(of_means), risks.tests(of_risks)


def _keys(statistics: Sequence[Statistic], alphas: Sequence[float]) -> Keys:
    return [(statistic, alpha) for statistic in statistics for alpha in alphas]


class _Means:
    """The differences of means to the baseline's, of shuffled runs."""

    def __init__(self, scores: Floats, baseline: Floats) -> None:
        delta = (scores - baseline).T
        self.observed = _mean_and_error(delta[None])
        self.noise = NO_DIFFERENCE * float(np.abs(scores).max(initial=0.0))
        self.order = _canonical_order(delta, baseline)
        self.cells = np.sort(scores.T, axis=1)[self.order]
        self._baseline = baseline[self.order, None]

    def sizes_of_t(self, shuffled: Floats) -> Floats:
        """|t| by replicate and run."""
        return np.abs(_t(*_mean_and_error(shuffled - self._baseline), self.noise))

    def test(self, shuffled: Floats) -> ShuffleTest:
        """The test, given what the shuffled runs reach."""
        difference, error = self.observed
        return ShuffleTest(difference[0], error[0], shuffled, self.noise)


class _Risks:
    """The differences of ZRisk/c or GeoRisk to the mean over runs, of shuffled runs."""

    def __init__(self, scores: Floats, keys: Keys, smooth: Cubic | None) -> None:
        totals = scores.sum(axis=0)
        self.keys, self._smooth = keys, smooth
        self.observed = risk_differences(scores.T[None], totals, keys, smooth)
        self.noise = NO_DIFFERENCE * float(np.sqrt(scores.mean(axis=1).max()))
        self.order = _canonical_order(scores.T, totals)
        self.cells = np.sort(scores.T, axis=1)[self.order]
        self._totals = totals[self.order]

    def sizes_of_t(self, shuffled: Floats) -> Floats:
        """|t| by replicate, key and run."""
        differences = risk_differences(shuffled, self._totals, self.keys, self._smooth)
        return np.abs(_t(*differences, self.noise))

    def tests(self, shuffled: Floats) -> dict[tuple[Statistic, float], ShuffleTest]:
        """The test of each key, given what the shuffled runs reach."""
        difference, error = self.observed
        return {
            key: ShuffleTest(difference[0, k], error[0, k], shuffled[:, k], self.noise)
            for k, key in enumerate(self.keys)
        }


def _replicates(tests: Sequence[_Means | _Risks], shuffles: int, seed: int) -> list[Floats]:
    """What the shuffled runs reach in each of the tests, which have the same cells."""
    if shuffles > 1 and tests[0].cells.shape[1] == 1:  # a single run is itself, however shuffled
        return [np.repeat(each, shuffles, axis=0) for each in _replicates(tests, 1, seed)]
    reached: list[list[Floats]] = [[] for _ in tests]
    for shuffled in _shuffles(tests[0].cells, shuffles, seed):
        for test, replicates in zip(tests, reached, strict=True):
            replicates.append(test.sizes_of_t(shuffled))
    return [np.concatenate(replicates) for replicates in reached]


def _canonical_order(cells: Floats, totals: Floats) -> Rows:
    """An order of the topics that depends on the scores alone.

    So the same scores have the same p-values in whatever order runs and topics come.
    """
    ordered = np.sort(cells, axis=1)
    return np.asarray(np.lexsort((*ordered.T, totals)))


def _shuffles(cells: Floats, shuffles: int, seed: int) -> Iterator[Floats]:
    """The topics (rows of `cells`) each shuffled among the runs, in portions of replicates."""
    generator = np.random.Generator(np.random.SFC64(seed))
    at_once = max(1, _CELLS_AT_ONCE // max(cells.size, 1))
    for start in range(0, shuffles, at_once):
        many = min(at_once, shuffles - start)
        yield generator.permuted(np.broadcast_to(cells, (many, *cells.shape)), axis=2)


def _mean_and_error(delta: Floats) -> tuple[Floats, Floats]:
    """Of differences by replicate, topic and run."""
    topics = delta.shape[1]
    mean = delta.mean(axis=1)
    squares = np.einsum("mcr,mcr->mr", delta, delta)
    variance = above_rounding(squares - topics * mean**2, squares)
    return mean, np.sqrt(variance / (topics * (topics - 1)))


def _t(difference: Floats, error: Floats, noise: float) -> Floats:
    """Difference over error; 0 where both are rounding, infinite where only the error is 0."""
    small = np.abs(difference) <= noise
    t: Floats = np.where(small, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=t, where=(error > 0) & ~(small & (error <= noise)))
    return t


# The tests of a comparison that resample it: runs shuffled within topics, or swapped.


@dataclass(frozen=True)
class Resampled:
    """One resampling serves the statistics `together` and `alphas`; what is known is kept."""

    comparison: Comparison
    significance: Significance
    together: tuple[Statistic, ...]
    alphas: tuple[float, ...]

    @cached_property
    def of_means(self) -> ShuffleTest:
        """With that of the statistics `together`, which are asked for as well."""
        comparison, plan = self.comparison, self.significance
        scores, baseline = comparison.scores, comparison.baseline.scores
        if not self.together or not self.alphas or comparison.has_negative:
            return shuffled_means(scores, baseline, plan.number_of_shuffles, plan.seed)
        means, others = shuffled_together(
            scores,
            baseline,
            self.together,
            self.alphas,
            plan.number_of_shuffles,
            plan.seed,
            comparison.smooth,
        )
        self._shuffled.update(others)
        return means

    @cached_property
    def _shuffled(self) -> dict[tuple[Statistic, float], ShuffleTest]:
        """Cache of the tests by statistic and alpha."""
        return {}

    def by_shuffles(self, statistic: Statistic, alpha: float) -> ShuffleTest:
        """The shuffle test of a statistic, with all that are asked for as well."""
        if (statistic, alpha) not in self._shuffled:
            comparison, plan = self.comparison, self.significance
            self._shuffled.update(
                shuffled_statistics(
                    comparison.scores,
                    self.together if statistic in self.together else (statistic,),
                    self.alphas if alpha in self.alphas else (alpha,),
                    plan.number_of_shuffles,
                    plan.seed,
                    comparison.smooth,
                )
            )
        return self._shuffled[statistic, alpha]

    @cached_property
    def _swapped(self) -> dict[tuple[Statistic, float], list[SwapTest]]:
        """Cache of the tests by swaps, one for each run, by statistic and alpha."""
        return {}

    def by_swaps(self, statistic: Statistic, alpha: float) -> list[SwapTest]:
        """The swap test of every run against the baseline run, with the same swaps for each."""
        if (statistic, alpha) not in self._swapped:
            statistics = self.together if statistic in self.together else (statistic,)
            by_run = self._swap(alpha, statistics)
            for index, each in enumerate(statistics):
                self._swapped[each, alpha] = [tests[index] for tests in by_run]
        return self._swapped[statistic, alpha]

    def _swap(self, alpha: float, statistics: tuple[Statistic, ...]) -> list[list[SwapTest]]:
        """By run, then by statistic."""
        comparison = self.comparison
        if len(comparison.reference) != 1:
            raise UsageError("the swap test needs one run as the baseline")
        if comparison.smooth is not None:
            raise UsageError("the swap test supports the linear loss only; use the jackknife")
        baseline = comparison.scores[comparison.reference[0]]
        totals = np.broadcast_to(comparison.population.topic_totals, comparison.scores.shape)
        grand = np.broadcast_to(comparison.population.grand_total, (len(totals),))
        return [
            swap_tests(
                run, baseline, totals[row], float(grand[row]), alpha, self.significance, statistics
            )
            for row, run in enumerate(comparison.scores)
        ]
