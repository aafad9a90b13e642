"""The test against virtual baselines: runs shuffled within topics.

If all runs were equal, their scores on a topic could change hands at random: the topic's scores
stay, and with them the virtual baseline, the topic totals and the grand total. Each shuffle gives
every run's t again: its difference to the baseline (mean) or to the mean over all runs (ZRisk/c and
GeoRisk), over the standard error from the influence functions. A run's p-value is the share of
shuffled t that reach its own, (count + 1) / (shuffles x runs + 1): under the null hypothesis every
run of a shuffle is alike. Corrected for the number of runs, its largest shuffled t counts, of the
runs that are not yet told apart (max-t, step-down; Westfall and Young 1993).

Of a run's t at weight w = 1 + alpha, all that depends on alpha is linear in w but for a few numbers
a run, so that any number of alphas shares the shuffles and one pass over them; so do the means,
where the baseline puts the topics in the same order (`@mean`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats, Mask, Rows
from riskcli.risk.jackknife import Statistic
from riskcli.risk.losses import Cubic
from riskcli.risk.population import Departures, departure, over_root
from riskcli.risk.rounding import EQUAL_STATISTIC, EXPECTED, NO_DIFFERENCE, NO_VARIANCE
from riskcli.risk.swap import critical_value

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


Keys = Sequence[tuple[Statistic, float]]


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
        self.observed = _risk_differences(scores.T[None], totals, keys, smooth)
        self.noise = NO_DIFFERENCE * float(np.sqrt(scores.mean(axis=1).max()))
        self.order = _canonical_order(scores.T, totals)
        self.cells = np.sort(scores.T, axis=1)[self.order]
        self._totals = totals[self.order]

    def sizes_of_t(self, shuffled: Floats) -> Floats:
        """|t| by replicate, key and run."""
        found = _risk_differences(shuffled, self._totals, self.keys, self._smooth)
        return np.abs(_t(*found, self.noise))

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
    found: list[list[Floats]] = [[] for _ in tests]
    for shuffled in _shuffles(tests[0].cells, shuffles, seed):
        for test, replicates in zip(tests, found, strict=True):
            replicates.append(test.sizes_of_t(shuffled))
    return [np.concatenate(replicates) for replicates in found]


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
    variance = _above_rounding(squares - topics * mean**2, squares)
    return mean, np.sqrt(variance / (topics * (topics - 1)))


def _risk_differences(
    scores: Floats, totals: Floats, keys: Keys, smooth: Cubic | None
) -> tuple[Floats, Floats]:
    """Differences to the mean over runs, and errors: by replicate, statistic and run.

    `scores` are by replicate, topic and run. A statistic's influence is that of its gradient:
    what it changes with the mean times x - mean, and with ZRisk/c times the influence on that,
    which is w-fold z - ZRisk/c - h (x - e)/m (see `influence`). With e/m the same for all runs of
    a topic, all is a sum of x, z above 0, z and e/m - 1, each less its mean over topics.
    """
    many, topics, runs = scores.shape
    basis = _Basis.of(scores, totals, smooth)
    departures = basis.departures
    per_mean = np.divide(1.0, departures.mean, out=np.zeros((many, runs)), where=basis.present)
    values = np.empty((many, len(keys), runs))
    weights = np.empty((len(basis.parts) + 1, many, len(keys), runs))
    for k, (statistic, alpha) in enumerate(keys):
        w = 1 + alpha
        values[:, k] = statistic.tested(departures, alpha)
        by_mean, by_zeta = statistic.gradient(departures.mean, departures.zrisk(w) / topics)
        slope = np.where(basis.present, by_zeta * (basis.slope_above + w * basis.slope_below), 0.0)
        weights[0, :, k] = by_mean - slope * per_mean
        weights[1, :, k] = by_zeta * w if smooth is None else by_zeta
        weights[-1, :, k] = slope
        if smooth is None:
            weights[2, :, k] = by_zeta * (1 - w)
    variance = basis.variance_about_mean(weights)
    difference = values - values.mean(axis=2, keepdims=True)
    return difference, np.sqrt(variance / (topics * (topics - 1)))


@dataclass(frozen=True)
class _Basis:
    """What the influences of all statistics are sums of, by replicate, topic and run.

    `parts` are x, z and (under the linear loss) z above 0, as they come; `profile` is e/m - 1, by
    topic. `slope_above` and `slope_below` are how the two parts of ZRisk/c change with ln m.
    """

    parts: Sequence[Floats]
    profile: Floats
    departures: Departures
    present: Mask
    slope_above: Floats
    slope_below: Floats

    @classmethod
    def of(cls, scores: Floats, totals: Floats, smooth: Cubic | None) -> _Basis:
        """Of shuffled runs."""
        topics = scores.shape[1]
        grand = float(totals.sum())
        per_mean = totals * (topics / grand if grand > 0 else 0.0)
        mean = scores.mean(axis=1)
        present, zeros = (mean > 0) & (grand > 0), np.zeros_like(mean)
        if smooth is not None:
            return cls._of_smooth(scores, per_mean, mean, present, smooth)
        root, root_mean = np.sqrt(per_mean), np.sqrt(mean)
        over_root_mean = np.divide(1.0, root_mean, out=zeros, where=present)
        z = scores * np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)[:, None]
        z *= over_root_mean[:, None]
        expected = root[:, None] * root_mean[:, None]
        z -= expected
        above = np.maximum(z, 0.0)
        # What is below 0 but for rounding is not: proportional runs have z = 0.
        is_above = (z >= -EXPECTED * float(expected.max(initial=0.0))).astype(np.float64)
        high, level = above.mean(axis=1), z.mean(axis=1)
        slope_above = high / 2 + root_mean * (root @ is_above) / topics
        slope_below = level / 2 + root_mean * root.mean() - slope_above
        departures = Departures(topics * high, topics * (high - level), mean, topics)
        return cls((scores, z, above), per_mean - 1, departures, present, slope_above, slope_below)

    @classmethod
    def _of_smooth(
        cls, scores: Floats, per_mean: Floats, mean: Floats, present: Mask, smooth: Cubic
    ) -> _Basis:
        expected = mean[:, None] * per_mean[:, None]
        departed = departure(scores, expected)
        z = over_root(smooth(departed), expected)
        slope = (smooth.slope_at(departed) * np.sqrt(expected) + z / 2).mean(axis=1)
        none, topics = np.zeros_like(mean), scores.shape[1]
        departures = Departures(z.sum(axis=1), none, mean, topics)
        return cls((scores, z), per_mean - 1, departures, present, slope, none)

    def variance_about_mean(self, weights: Floats) -> Floats:
        """Sums of squares over topics of each run's influence less the mean influence over runs.

        The influence of a statistic s is the sum of weights[k, :, s] times part k less its mean,
        run by run; the last weight is the profile's.
        """
        topics, runs = self.parts[0].shape[1:]
        profile, of_profile = self.profile, weights[-1]
        means = [part.mean(axis=1)[:, None] for part in self.parts]
        own = of_profile**2 * (profile @ profile)
        size = own.copy()
        average = profile[:, None] * of_profile.sum(axis=2)[:, None]
        for i, part in enumerate(self.parts):
            terms = [2 * weights[i] * of_profile * (profile @ part)[:, None]]
            for j in range(i + 1):
                sums = np.einsum("mcr,mcr->mr", part, self.parts[j])[:, None]
                terms.append(
                    (1 if i == j else 2) * weights[i] * weights[j]
                    * (sums - topics * means[i] * means[j])
                )  # fmt: skip
            own += sum(terms)
            size += sum(map(np.abs, terms))
            average += part @ weights[i].swapaxes(1, 2)
            average -= np.einsum("msr,mr->ms", weights[i], means[i][:, 0])[:, None]
        average /= runs
        across = average.swapaxes(1, 2)
        both = of_profile * (across @ profile)[:, :, None]
        for weight, part in zip(weights[:-1], self.parts, strict=True):
            both += weight * (across @ part)
        shared = np.einsum("mcs,mcs->ms", average, average)[:, :, None]
        return _above_rounding(own - 2 * both + shared, size + shared)


def _above_rounding(difference: Floats, size: Floats) -> Floats:
    """A difference of sums of squares, 0 where it is but rounding."""
    return np.where(difference <= NO_VARIANCE * size, 0.0, difference)


def _t(difference: Floats, error: Floats, noise: float) -> Floats:
    """Difference over error; 0 where both are rounding, infinite where only the error is 0."""
    small = np.abs(difference) <= noise
    t: Floats = np.where(small, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=t, where=(error > 0) & ~(small & (error <= noise)))
    return t
