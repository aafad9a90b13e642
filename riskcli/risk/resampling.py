"""ZRisk/c and GeoRisk of many resampled matrices: labels swapped, or runs shuffled in topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats, Mask
from riskcli.risk.estimate import Significance
from riskcli.risk.jackknife import Statistic, influence, influence_error
from riskcli.risk.losses import Cubic
from riskcli.risk.population import Departures, departure, over_root
from riskcli.risk.rounding import EQUAL_STATISTIC, EXPECTED, NO_VARIANCE

_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class SwapTest:
    """A difference tested: its p-value, its error, and the |t| above which p is below gamma."""

    p: float
    error: float
    critical: float


def swap_tests(
    run: Floats,
    baseline: Floats,
    topic_totals: Floats,
    grand_total: float,
    alpha: float,
    plan: Significance,
    statistics: Sequence[Statistic],
) -> list[SwapTest]:
    """The test of each statistic for one run against a baseline run of its matrix."""

    def studentised(first: Floats, second: Floats) -> list[tuple[Floats, Floats]]:
        one, other = (influence(x, topic_totals, grand_total, alpha) for x in (first, second))
        chosen = ((each.influences(one), each.influences(other)) for each in statistics)
        return [_t_and_error(x[0] - y[0], x[1] - y[1]) for x, y in chosen]

    differ = run != baseline
    if not differ.any():
        return [SwapTest(1.0, 0.0, float("inf"))] * len(statistics)
    observed = studentised(run[None], baseline[None])
    replicates: list[list[Floats]] = [[] for _ in statistics]
    generator = np.random.default_rng(plan.seed)
    at_once = max(1, _CELLS_AT_ONCE // len(run))
    for start in range(0, plan.swaps, at_once):
        many = min(at_once, plan.swaps - start)
        swapped = (generator.random((many, len(run))) < 0.5) & differ
        swaps = studentised(np.where(swapped, baseline, run), np.where(swapped, run, baseline))
        for number, (t, _) in enumerate(swaps):
            replicates[number].append(np.abs(t))
    return [
        _tested(float(t[0]), float(error[0]), np.concatenate(each), plan.gamma)
        for (t, error), each in zip(observed, replicates, strict=True)
    ]


def _tested(t: float, error: float, replicates: Floats, gamma: float) -> SwapTest:
    count = np.count_nonzero(replicates >= abs(t) * (1 - EQUAL_STATISTIC))
    p = (int(count) + 1) / (len(replicates) + 1)
    return SwapTest(p, error, critical_value(replicates, gamma))


def critical_value(replicates: Floats, gamma: float) -> float:
    """The |t| above which (count + 1) / (replicates + 1) is below gamma; infinite if there is none.

    `replicates` are the |t| of resampling, a replicate each.
    """
    allowed = int(np.ceil(gamma * (replicates.size + 1))) - 2
    if allowed < 0:
        return float("inf")
    last = replicates.size - 1 - allowed
    return float(np.partition(replicates, last)[last] / (1 - EQUAL_STATISTIC))


def _t_and_error(difference: Floats, influences: Floats) -> tuple[Floats, Floats]:
    error = influence_error(influences)
    t = np.divide(difference, error, out=np.full_like(difference, np.inf), where=error > 0)
    t[(error == 0) & (difference == 0)] = 0.0
    return t, error


# ZRisk/c and GeoRisk of many shuffled matrices: differences to the mean, and their errors.


Keys = Sequence[tuple[Statistic, float]]
"""Statistics, each at an alpha."""


def risk_differences(
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
        return above_rounding(own - 2 * both + shared, size + shared)


def above_rounding(difference: Floats, size: Floats) -> Floats:
    """A difference of sums of squares, 0 where it is but rounding."""
    return np.where(difference <= NO_VARIANCE * size, 0.0, difference)
