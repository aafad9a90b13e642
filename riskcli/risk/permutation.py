"""The test against virtual baselines: runs shuffled within topics.

If all runs were equal, their scores on a topic could change hands at random: the topic's scores
stay, and with them the virtual baseline, the topic totals and the grand total. Each shuffle gives
every run's t again: its difference to the baseline (mean) or to the mean over all runs (ZRisk/c and
GeoRisk), over the standard error from the influence functions. A run's p-value is the share of
shuffled t that reach its own, (count + 1) / (shuffles x runs + 1): under the null hypothesis every
run of a shuffle is alike. Corrected for the number of runs, its largest shuffled t counts, of the
runs that are not yet told apart (max-t, step-down; Westfall and Young 1993).

Of a run's t at weight w = 1 + alpha, all that depends on alpha is linear in w but for a few numbers
a run, so that any number of alphas shares the shuffles and one pass over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats, Mask
from riskcli.risk.jackknife import Statistic
from riskcli.risk.losses import Cubic
from riskcli.risk.population import Departures, departure, over_root
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE, NO_VARIANCE
from riskcli.risk.swap import critical_value

_CELLS_AT_ONCE = 100_000


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
    delta = (scores - baseline).T
    difference, error = _mean_and_error(delta[None])
    noise = NO_DIFFERENCE * float(np.abs(scores).max(initial=0.0))
    cells, _ = _canonical(delta, baseline)
    replicates = [
        np.abs(_t(*_mean_and_error(shuffled), noise))
        for shuffled in _shuffles(cells, shuffles, seed)
    ]
    return ShuffleTest(difference[0], error[0], np.concatenate(replicates), noise)


def shuffled_statistics(
    scores: Floats,
    statistics: Sequence[Statistic],
    alphas: Sequence[float],
    shuffles: int,
    seed: int,
    smooth: Cubic | None = None,
) -> dict[tuple[Statistic, float], ShuffleTest]:
    """Each run's statistics against their means over all runs, at each alpha."""
    keys = [(statistic, alpha) for statistic in statistics for alpha in alphas]

    def differences(cells: Floats, totals: Floats) -> tuple[Floats, Floats]:
        return _risk_differences(cells, totals, keys, smooth)

    noise = NO_DIFFERENCE * float(np.sqrt(scores.mean(axis=1).max()))
    difference, error = differences(scores.T[None], scores.sum(axis=0))
    cells, totals = _canonical(scores.T, scores.sum(axis=0))
    replicates = [
        np.abs(_t(*differences(shuffled, totals), noise))
        for shuffled in _shuffles(cells, shuffles, seed)
    ]
    together = np.concatenate(replicates)
    return {
        key: ShuffleTest(difference[0, k], error[0, k], together[:, k], noise)
        for k, key in enumerate(keys)
    }


def _canonical(cells: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Topics by runs in an order that depends on the scores alone, and the totals likewise.

    So the same scores have the same p-values in whatever order runs and topics come.
    """
    ordered = np.sort(cells, axis=1)
    order = np.lexsort((*ordered.T, totals))
    return ordered[order], totals[order]


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
    variance = _above_rounding(squares - topics * mean**2, squares)
    return mean, np.sqrt(variance / (topics * (topics - 1)))


def _risk_differences(
    scores: Floats,
    totals: Floats,
    keys: Sequence[tuple[Statistic, float]],
    smooth: Cubic | None,
) -> tuple[Floats, Floats]:
    """Differences to the mean over runs, and errors: by replicate, statistic and run.

    `scores` are by replicate, topic and run. A statistic's influence is that of its gradient:
    what it changes with the mean times x - mean, and with ZRisk/c times the influence on that.
    """
    many, topics, runs = scores.shape
    parts, departures = _parts(scores, totals, smooth)
    shape = (many, len(keys), runs)
    values, made_of = np.empty(shape), np.zeros((many, len(keys), parts.shape[2], runs))
    for k, (statistic, alpha) in enumerate(keys):
        values[:, k] = statistic.tested(departures, alpha)
        zeta = departures.zrisk(1 + alpha) / topics
        by_mean, by_zeta = statistic.gradient(departures.mean, zeta)
        made_of[:, k, 0], made_of[:, k, 1] = by_mean, by_zeta
        made_of[:, k, 2] = by_zeta * (1 + alpha)
    variance = _variance_about_mean(parts, made_of)
    difference = values - values.mean(axis=2, keepdims=True)
    return difference, np.sqrt(variance / (topics * (topics - 1)))


def _parts(scores: Floats, totals: Floats, smooth: Cubic | None) -> tuple[Floats, Departures]:
    """By replicate, topic, part and run: x - mean, then the influences on the two parts of ZRisk/c.

    The parts are the sum of z above 0, and what is counted 1 + alpha times: that below 0.
    """
    many, topics, runs = scores.shape
    grand = float(totals.sum())
    mean = scores.mean(axis=1, keepdims=True)
    expected = mean * (topics / grand if grand > 0 else 0.0) * totals[:, None]
    root = np.sqrt(expected)
    departed = departure(scores, expected)
    relative = departed * np.divide(1.0, mean, out=np.zeros_like(mean), where=mean > 0)
    made = np.zeros((many, topics, 3, runs))
    np.subtract(scores, mean, out=made[:, :, 0])
    z = over_root(departed if smooth is None else smooth(departed), expected)
    level = z.mean(axis=1, keepdims=True)
    if smooth is None:
        above = np.maximum(z, 0.0)
        high = above.mean(axis=1, keepdims=True)
        slope_above = high / 2 + np.where(z >= 0, root, 0.0).mean(axis=1, keepdims=True)
        slope_below = level / 2 + root.mean(axis=1, keepdims=True) - slope_above
        made[:, :, 1] = above - high - slope_above * relative
        made[:, :, 2] = (z - above) - (level - high) - slope_below * relative
    else:
        high = level
        slope = (smooth.slope_at(departed) * root + z / 2).mean(axis=1, keepdims=True)
        made[:, :, 1] = z - level - slope * relative
    sums = (topics * high[:, 0], topics * (high - level)[:, 0])
    return made, Departures(*sums, mean[:, 0], topics)


def _variance_about_mean(parts: Floats, made_of: Floats) -> Floats:
    """Sums of squares over topics of each run's influence less the mean influence over runs.

    The influence of statistic s is the sum over k of made_of[s, k] parts[k], run by run.
    """
    many, topics, kinds, runs = parts.shape
    flat = parts.reshape(many, topics, kinds * runs)
    average = flat @ made_of.reshape(many, -1, kinds * runs).swapaxes(1, 2) / runs
    with_average = (average.swapaxes(1, 2) @ flat).reshape(made_of.shape)
    own = np.zeros_like(made_of[:, :, 0])
    for i in range(kinds):
        for j in range(i + 1):
            product = np.einsum("mcr,mcr->mr", parts[:, :, i], parts[:, :, j])[:, None]
            own += (1 if i == j else 2) * made_of[:, :, i] * made_of[:, :, j] * product
    shared = np.einsum("mcs,mcs->ms", average, average)[:, :, None]
    both = np.einsum("mskr,mskr->msr", made_of, with_average)
    return _above_rounding(own - 2 * both + shared, own + shared)


def _above_rounding(difference: Floats, size: Floats) -> Floats:
    """A difference of sums of squares, 0 where it is but rounding."""
    return np.where(difference <= NO_VARIANCE * size, 0.0, difference)


def _t(difference: Floats, error: Floats, noise: float) -> Floats:
    """Difference over error; 0 where both are rounding, infinite where only the error is 0."""
    small = np.abs(difference) <= noise
    t: Floats = np.where(small, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=t, where=(error > 0) & ~(small & (error <= noise)))
    return t
