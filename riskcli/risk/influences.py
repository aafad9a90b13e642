"""Statistics of many shuffled matrices: each run's difference to a mean over runs, and its error.

Cells are by replicate, topic and run, and all is computed at once: a statistic's influence is a
sum of a few parts, whose sums of squares serve every statistic at every alpha.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from riskcli.core.arrays import Floats, Mask, divided, units
from riskcli.risk.jackknife import Statistic
from riskcli.risk.losses import Cubic
from riskcli.risk.population import Departures, departure, root_of_expected
from riskcli.risk.rounding import EXPECTED, above_rounding
from riskcli.risk.weights import Weights, deviations, mean, weighed


class Average(NamedTuple):
    """A mean over runs: its values by replicate and statistic, and the topics' influences on it."""

    values: Floats
    influence: Floats
    """By replicate, topic and statistic."""


@dataclass(frozen=True)
class Influences:
    """The statistics of runs, and how each topic weighs in them.

    A statistic's influence is that of its gradient: what it changes with the mean times x - mean,
    and with ZRisk/c times the influence on that, which is w-fold z - ZRisk/c - h (x - e)/m (see
    `jackknife.influence`). So all is a sum of x, z, z above 0 and e/m - 1, each less its mean over
    topics: of `weights` (by replicate, statistic and run) times `parts`.
    """

    values: Floats
    parts: Sequence[Floats]
    weights: Sequence[Floats]

    @classmethod
    def of(
        cls,
        cells: Floats,
        totals: Floats,
        keys: Sequence[tuple[Statistic, float]],
        smooth: Cubic | None,
        weights_of_topics: Weights = None,
    ) -> Self:
        """Of runs within topic totals: the same for all of a replicate, or each its own."""
        many, topics, runs = cells.shape
        basis = _Basis.of(cells, totals, smooth, weights_of_topics)
        departures = basis.departures
        per_mean = divided(basis.unit, departures.mean, basis.present)
        values = np.empty((many, len(keys), runs))
        weights = np.empty((len(basis.parts), many, len(keys), runs))
        for k, (statistic, alpha) in enumerate(keys):
            w = 1 + alpha
            values[:, k] = statistic.tested(departures, alpha)
            by_mean, by_zeta = statistic.gradient(departures.mean, departures.zrisk(w) / topics)
            slope = by_zeta * (basis.slope_above + w * basis.slope_below)
            slope = np.where(basis.present, slope, 0.0)
            weights[0, :, k] = slope
            weights[1, :, k] = by_mean * basis.unit - slope * per_mean
            weights[2, :, k] = by_zeta * w if smooth is None else by_zeta
            if smooth is None:
                weights[3, :, k] = by_zeta * (1 - w)
        return cls(values, basis.parts, list(weights))

    def averaged(self, weights: Floats | None = None) -> Average:
        """The mean over these runs, of which each weighs so much."""
        many, topics, runs = self.parts[1].shape
        shares = np.full(runs, 1 / runs) if weights is None else weights / weights.sum()
        influence = np.zeros((many, topics, self.values.shape[1]))
        for part, weight in zip(self.parts, self.weights, strict=True):
            shared = weight * shares
            if part.shape[2] == 1:
                influence += part * shared.sum(axis=2)[:, None]
            else:
                influence += part @ shared.swapaxes(1, 2)
        influence -= influence.mean(axis=1, keepdims=True)
        return Average(np.average(self.values, axis=2, weights=weights), influence)

    def differences(self, reference: Average) -> tuple[Floats, Floats]:
        """Each run's to the reference, and the errors of these."""
        topics = self.parts[1].shape[1]
        own, size = self._sums_of_squares()
        across = reference.influence.swapaxes(1, 2)
        both = sum(w * (across @ part) for w, part in zip(self.weights, self.parts, strict=True))
        shared = np.einsum("mcs,mcs->ms", reference.influence, reference.influence)[:, :, None]
        variance = above_rounding(own - 2 * both + shared, size + shared)
        difference = self.values - reference.values[:, :, None]
        return difference, np.sqrt(variance / (topics * (topics - 1)))

    def _sums_of_squares(self) -> tuple[Floats, Floats]:
        """Of each influence over topics, and the size of what was added up for it."""
        topics = self.parts[1].shape[1]
        means = [part.mean(axis=1)[:, None] for part in self.parts]
        own, size = np.zeros((2, *self.values.shape))
        for i, part in enumerate(self.parts):
            for j in range(i + 1):
                sums = np.einsum("mcr,mcr->mr", part, self.parts[j])[:, None]
                centred = sums - topics * means[i] * means[j]
                term = (1 if i == j else 2) * self.weights[i] * self.weights[j] * centred
                own += term
                size += np.abs(term)
        return own, size


def _in_units_of(mean: Floats, cells: Floats) -> tuple[Floats, Floats]:
    """The cells in the unit of their run's mean, and these: 1 / m of a tiny mean is a number."""
    unit = units(mean[..., None])
    return (cells if (unit == 1).all() else cells / unit[:, None]), unit


@dataclass(frozen=True)
class _Basis:
    """What the influences of all statistics are sums of, by replicate, topic and run.

    `parts` are e/m - 1 (which runs of the same totals have in common), x (in the `unit` of its
    mean), z and (under the linear loss) z above 0, as they come. `slope_above` and `slope_below`
    are how the two parts of ZRisk/c change with ln m.
    """

    parts: Sequence[Floats]
    departures: Departures
    present: Mask
    slope_above: Floats
    slope_below: Floats
    unit: Floats

    @classmethod
    def of(
        cls, cells: Floats, totals: Floats, smooth: Cubic | None, weights: Weights = None
    ) -> Self:
        """Of shuffled runs."""
        topics = cells.shape[1]
        grand = weighed(totals, weights).sum(axis=1)
        per_mean = totals * divided(float(topics), grand)[:, None]
        means = mean(cells, weights, axis=1)
        present = (means > 0) & (grand > 0)
        if smooth is not None:
            return cls._of_smooth(cells, per_mean, means, present, smooth, weights)
        root, root_mean = np.sqrt(per_mean), np.sqrt(means)
        z = cells * divided(1.0, root)
        z *= divided(1.0, root_mean, present)[:, None]
        expected = root * root_mean[:, None]
        z -= expected
        above = np.maximum(z, 0.0)
        # What is below 0 but for rounding is not: proportional runs have z = 0.
        is_above = (z >= -EXPECTED * float(expected.max(initial=0.0))).astype(np.float64)
        high, level = mean(above, weights, axis=1), mean(z, weights, axis=1)
        of_root = np.einsum("mcr,mcr->mr", weighed(root, weights), is_above) / topics
        slope_above = high / 2 + root_mean * of_root
        slope_below = level / 2 + root_mean * mean(root, weights, axis=1) - slope_above
        departures = Departures(topics * high, topics * (high - level), means, topics)
        x, unit = _in_units_of(means, cells)
        parts = _deviating([per_mean - 1, x, z, above], weights)
        return cls(parts, departures, present, slope_above, slope_below, unit)

    @classmethod
    def _of_smooth(
        cls, cells: Floats, per_mean: Floats, means: Floats, present: Mask, smooth: Cubic,
        weights: Weights,
    ) -> Self:  # fmt: skip
        expected = means[:, None] * per_mean
        departed = departure(cells, expected)
        root = root_of_expected(means[:, None], per_mean)
        z = divided(smooth(departed), root)
        slope = mean(smooth.slope_at(departed) * root + z / 2, weights, axis=1)
        none = np.zeros_like(means)
        departures = Departures(weighed(z, weights).sum(axis=1), none, means, cells.shape[1])
        x, unit = _in_units_of(means, cells)
        parts = _deviating([per_mean - 1, x, z], weights)
        return cls(parts, departures, present, slope, none, unit)


def _deviating(parts: list[Floats], weights: Weights) -> list[Floats]:
    """What is summed over topics, as the jackknife has it where these have weights."""
    if weights is None:
        return parts
    return [deviations(part, weights, axis=1) for part in parts]
