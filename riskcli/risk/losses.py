"""How differences count: linear (losses 1 + alpha times), or by a smooth cubic s(x).

Benham, Moffat and Culpepper (ECIR'20, section 4) draw a cubic through (-1, -2), (0, 0), (1, 1) and
the two fences of a box plot of the differences, which are to count next to nothing (0.05). Then
w = s(delta) and z = s(x - e) / sqrt(e); no alpha applies. `SmoothPaired` and `SmoothPopulation`
take the places of the linear classes and ignore the alpha that those take.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats, divided, in_units, row_blocks
from riskcli.core.choices import Loss
from riskcli.core.messages import UsageError
from riskcli.risk.paired import Moments, Paired
from riskcli.risk.population import (
    Departures,
    Population,
    departure,
    root_of_expected,
    shares_without_each,
)
from riskcli.risk.weights import degrees, leveraged, mean, weighed

LINEAR: Loss = "linear"
SMOOTH: Loss = "smooth"
SMOOTH_FIT: Loss = "smooth:fit"
FALLING_LOSS = "the fitted loss falls somewhere, so that a larger gain counts for less there"
_AT_FENCES = 0.05
_WHISKER = 1.5


@dataclass(frozen=True)
class Cubic:
    """s(x) = cube x^3 + square x^2 + slope x: what a difference of x counts for."""

    cube: float
    square: float
    slope: float

    def __call__(self, x: Floats) -> Floats:
        """s(x)."""
        return np.asarray(((self.cube * x + self.square) * x + self.slope) * x)

    def slope_at(self, x: Floats) -> Floats:
        """s'(x)."""
        return np.asarray((3 * self.cube * x + 2 * self.square) * x + self.slope)

    @property
    def rises(self) -> bool:
        """Whether a larger difference counts for more everywhere in [-1, 1]."""
        lowest = -self.square / (3 * self.cube) if self.cube else 0.0
        x = np.clip([-1.0, lowest, 1.0], -1, 1)
        return bool(self.slope_at(x).min() >= 0)


PUBLISHED = Cubic(1.38426, -0.51659, 0.11578)
"""ECIR'20, section 4."""


def through_fences(low: float, high: float) -> Cubic:
    """The least-squares cubic through the five points, its intercept dropped afterwards."""
    if not -1 < low < 0 < high < 1:
        raise UsageError(
            f"the differences to the baseline have their fences at {low:g} and {high:g}; a smooth "
            "loss is fitted between -1 and 0, and 0 and 1: take --loss smooth"
        )
    x = np.array([-1.0, low, 0.0, high, 1.0])
    y = np.array([-2.0, -_AT_FENCES, 0.0, _AT_FENCES, 1.0])
    solution, *_ = np.linalg.lstsq(np.vander(x, 4), y, rcond=None)
    cube, square, slope, _ = solution.tolist()
    return Cubic(cube, square, slope)


def fences(differences: Floats) -> tuple[float, float]:
    """The outermost values that a box plot takes for ordinary: 1.5 quartile ranges out."""
    if not differences.size:
        raise UsageError("smooth:fit needs differences to a baseline, and there is no other run")
    first, third = np.quantile(differences, [0.25, 0.75])
    reach = _WHISKER * (third - first)
    return float(first - reach), float(third + reach)


# Risk under a smooth loss (ECIR'20): w = s(delta), z = s(x - e) / sqrt(e). No alpha applies.
#
# The classes here stand in where the linear ones stand; the alpha that those take is ignored.


_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class SmoothPaired(Paired):
    """Runs against a baseline, each difference counted s(delta)."""

    smooth: Cubic

    def weighted(self, alpha: float | Floats) -> Floats:  # noqa: ARG002
        """w = s(delta), run by topic."""
        return self.smooth(self.delta)

    @cached_property
    def moments(self) -> Moments:
        """The mean and the variance of w, the same at any weight."""
        w, unit = in_units(self.weighted(0.0))
        means, nothing = mean(w, self.weights), np.zeros(len(w))
        variance = np.full(len(w), np.nan)
        if self.topics > 1:
            spread = leveraged(w - means[:, None], self.weights)
            squares = (spread**2).sum(axis=1) / (self.topics - 1)
            variance = np.where(self.constant, 0.0, squares)
        quadratic = np.stack([variance, nothing, nothing], axis=1)
        freedom = degrees(self.topics, self.weights)
        return Moments(self.topics, means, nothing, quadratic, unit, freedom)


@dataclass(frozen=True)
class SmoothPopulation(Population):
    """Runs against their population, each departure from expectation counted s(x - e)."""

    smooth: Cubic

    @property
    def z(self) -> Floats:
        """z = s(x - e) / sqrt(e), 0 where e = 0 (ECIR'20, Eq. 14)."""
        return self._z(self.scores, self.share[:, None], self.topic_totals)

    @cached_property
    def departures(self) -> Departures:
        """The sum of z, the same at any weight."""
        above, below = self.sums_of_z
        return Departures(above - below, np.zeros_like(below), self.mean, self.topics)

    def _z(self, scores: Floats, share: Floats, totals: Floats) -> Floats:
        counted = self.smooth(departure(scores, share * totals))
        return divided(counted, root_of_expected(share, totals))

    @property
    def sums_without_each(self) -> tuple[Floats, Floats]:
        """The sums of z, by run and topic left out; they are none of two parts.

        The prefix sums of the linear loss do not carry over: this computes all of z again for
        every topic left out, some topics at a time.
        """
        sums = np.zeros_like(self.scores)
        totals = np.broadcast_to(self.topic_totals, self.scores.shape)
        for row, x in enumerate(self.scores):
            share = shares_without_each(
                weighed(x, self.weights), weighed(totals[row], self.weights)
            )
            for some in row_blocks(self.topics, self.topics, _CELLS_AT_ONCE):
                z = weighed(self._z(x, share[some, None], totals[row]), self.weights)
                np.fill_diagonal(z[:, some], 0.0)
                above, below = np.maximum(z, 0).sum(axis=1), np.maximum(-z, 0).sum(axis=1)
                sums[row, some] = above - below
        return sums, np.zeros_like(sums)
