"""The test against virtual baselines: runs shuffled within topics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from riskcli.core.arrays import ALL, Floats, Mask, Rows, divided, row_blocks, units
from riskcli.risk.jackknife import Statistic, critical_value
from riskcli.risk.losses import Cubic
from riskcli.risk.population import Departures, departure, root_of_expected
from riskcli.risk.rounding import EQUAL_STATISTIC, EXPECTED, NO_DIFFERENCE, above_rounding

_CELLS_AT_ONCE = 60_000

Key = tuple[Statistic, float] | None
"""A statistic at an alpha; None: the mean."""


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
    measured: Callable[[Floats, Rows | slice], tuple[Floats, Floats]]
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


def of_means(scores: Floats, baseline: Floats) -> Shuffled:
    """Each run's mean against that of a virtual baseline (which no shuffle changes)."""

    def measured(cells: Floats, topics: Rows | slice) -> tuple[Floats, Floats]:
        delta = cells - baseline[topics, None]
        mean = delta.mean(axis=1)
        squares = np.einsum("mcr,mcr->mr", delta, delta)
        variance = above_rounding(squares - len(baseline) * mean**2, squares)
        error = np.sqrt(variance / (len(baseline) * (len(baseline) - 1)))
        return mean[:, None], error[:, None]

    unit = _root_unit(scores) ** 2
    scores, baseline = scores / unit, baseline / unit
    noise = NO_DIFFERENCE * float(np.abs(scores).max(initial=0.0))
    order = _canonical_order((scores - baseline).T, baseline)
    return Shuffled(scores, [None], measured, noise, order, unit)


def of_statistics(
    scores: Floats, keys: Sequence[tuple[Statistic, float]], smooth: Cubic | None = None
) -> Shuffled:
    """Each run's statistics against their means over all runs."""
    # ZRisk and GeoRisk grow with the root of the scores, where losses are linear.
    root = _root_unit(scores) if smooth is None else 1.0
    scores = scores / root**2
    totals = scores.sum(axis=0)

    def measured(cells: Floats, topics: Rows | slice) -> tuple[Floats, Floats]:
        return _risk_differences(cells, totals[topics], keys, smooth)

    noise = NO_DIFFERENCE * float(np.sqrt(scores.mean(axis=1).max()))
    return Shuffled(scores, keys, measured, noise, _canonical_order(scores.T, totals), root)


def _root_unit(scores: Floats) -> float:
    """The unit of the roots of scores: 1 but where all are so small that no square is left."""
    return float(units(np.sqrt(np.abs(scores)).ravel()))


def shuffle_tests(each: Sequence[Shuffled], shuffles: int, seed: int) -> dict[Key, ShuffleTest]:
    """The tests; those that take the topics in the same order see the same shuffles, made once."""
    groups: dict[bytes, list[Shuffled]] = {}
    for one in each:
        groups.setdefault(one.order.tobytes() + one.scores.tobytes(), []).append(one)
    tests: dict[Key, ShuffleTest] = {}
    for alike in groups.values():
        for one, sizes in zip(alike, _replicates(alike, shuffles, seed), strict=True):
            tests |= one.tests(sizes)
    return tests


def _replicates(alike: Sequence[Shuffled], shuffles: int, seed: int) -> list[Floats]:
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


def _canonical_order(cells: Floats, totals: Floats) -> Rows:
    ordered = np.sort(cells, axis=1)
    return np.asarray(np.lexsort((*ordered.T, totals)))


def _t(difference: Floats, error: Floats, noise: float) -> Floats:
    """Difference over error; 0 where both are rounding, infinite where only the error is 0."""
    small = np.abs(difference) <= noise
    t: Floats = np.where(small, 0.0, np.copysign(np.inf, difference))
    np.divide(difference, error, out=t, where=(error > 0) & ~(small & (error <= noise)))
    return t


# ZRisk/c and GeoRisk of many shuffled matrices: differences to the mean, and their errors.


def _risk_differences(
    scores: Floats, totals: Floats, keys: Sequence[tuple[Statistic, float]], smooth: Cubic | None
) -> tuple[Floats, Floats]:
    """Differences to the mean over runs, and errors: by replicate, statistic and run.

    `scores` are by replicate, topic and run. A statistic's influence is that of its gradient:
    what it changes with the mean times x - mean, and with ZRisk/c times the influence on that,
    which is w-fold z - ZRisk/c - h (x - e)/m (see `swaps.influence`). With e/m the same for all
    runs of a topic, all is a sum of x, z above 0, z and e/m - 1, each less its mean over topics.
    """
    many, topics, runs = scores.shape
    basis = _Basis.of(scores, totals, smooth)
    departures = basis.departures
    per_mean = divided(basis.unit, departures.mean, basis.present)
    values = np.empty((many, len(keys), runs))
    weights = np.empty((len(basis.parts) + 1, many, len(keys), runs))
    for k, (statistic, alpha) in enumerate(keys):
        w = 1 + alpha
        values[:, k] = statistic.tested(departures, alpha)
        by_mean, by_zeta = statistic.gradient(departures.mean, departures.zrisk(w) / topics)
        slope = np.where(basis.present, by_zeta * (basis.slope_above + w * basis.slope_below), 0.0)
        weights[0, :, k] = by_mean * basis.unit - slope * per_mean
        weights[1, :, k] = by_zeta * w if smooth is None else by_zeta
        weights[-1, :, k] = slope
        if smooth is None:
            weights[2, :, k] = by_zeta * (1 - w)
    variance = basis.variance_about_mean(weights)
    difference = values - values.mean(axis=2, keepdims=True)
    return difference, np.sqrt(variance / (topics * (topics - 1)))


def _in_units_of(mean: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """The scores in the unit of their run's mean, and these: 1 / m of a tiny mean is a number."""
    unit = units(mean[..., None])
    return (scores if (unit == 1).all() else scores / unit[:, None]), unit


@dataclass(frozen=True)
class _Basis:
    """What the influences of all statistics are sums of, by replicate, topic and run.

    `parts` are x (in the `unit` of its mean), z and (under the linear loss) z above 0, as they
    come; `profile` is e/m - 1, by topic. `slope_above` and `slope_below` are how the two parts of
    ZRisk/c change with ln m.
    """

    parts: Sequence[Floats]
    profile: Floats
    departures: Departures
    present: Mask
    slope_above: Floats
    slope_below: Floats
    unit: Floats

    @classmethod
    def of(cls, scores: Floats, totals: Floats, smooth: Cubic | None) -> Self:
        """Of shuffled runs."""
        topics = scores.shape[1]
        grand = float(totals.sum())
        per_mean = totals * (topics / grand if grand > 0 else 0.0)
        mean = scores.mean(axis=1)
        present = (mean > 0) & (grand > 0)
        if smooth is not None:
            return cls._of_smooth(scores, per_mean, mean, present, smooth)
        root, root_mean = np.sqrt(per_mean), np.sqrt(mean)
        z = scores * divided(1.0, root)[:, None]
        z *= divided(1.0, root_mean, present)[:, None]
        expected = root[:, None] * root_mean[:, None]
        z -= expected
        above = np.maximum(z, 0.0)
        # What is below 0 but for rounding is not: proportional runs have z = 0.
        is_above = (z >= -EXPECTED * float(expected.max(initial=0.0))).astype(np.float64)
        high, level = above.mean(axis=1), z.mean(axis=1)
        slope_above = high / 2 + root_mean * (root @ is_above) / topics
        slope_below = level / 2 + root_mean * root.mean() - slope_above
        departures = Departures(topics * high, topics * (high - level), mean, topics)
        x, unit = _in_units_of(mean, scores)
        slopes = slope_above, slope_below
        return cls((x, z, above), per_mean - 1, departures, present, *slopes, unit)

    @classmethod
    def _of_smooth(
        cls, scores: Floats, per_mean: Floats, mean: Floats, present: Mask, smooth: Cubic
    ) -> Self:
        expected = mean[:, None] * per_mean[:, None]
        departed = departure(scores, expected)
        root = root_of_expected(mean[:, None], per_mean[:, None])
        z = divided(smooth(departed), root)
        slope = (smooth.slope_at(departed) * root + z / 2).mean(axis=1)
        none = np.zeros_like(mean)
        departures = Departures(z.sum(axis=1), none, mean, scores.shape[1])
        x, unit = _in_units_of(mean, scores)
        return cls((x, z), per_mean - 1, departures, present, slope, none, unit)

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
