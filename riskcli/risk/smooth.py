"""Risk under a smooth loss (ECIR'20): w = s(delta), z = s(x - e) / sqrt(e). No alpha applies.

The classes here stand in where the linear ones stand; the alpha that those take is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.losses import Cubic
from riskcli.risk.paired import Moments, Paired
from riskcli.risk.population import (
    Departures,
    Population,
    departure,
    over_root,
    shares_without_each,
)

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
        w = self.weighted(0.0)
        nothing = np.zeros(len(w))
        variance = np.full(len(w), np.nan)
        if self.topics > 1:
            variance = np.where(self.constant, 0.0, w.var(axis=1, ddof=1))
        quadratic = np.stack([variance, nothing, nothing], axis=1)
        return Moments(self.topics, w.mean(axis=1), nothing, quadratic)


@dataclass(frozen=True)
class SmoothPopulation(Population):
    """Runs against their population, each departure from expectation counted s(x - e)."""

    smooth: Cubic

    @property
    def z(self) -> Floats:
        """z = s(x - e) / sqrt(e), 0 where e = 0 (ECIR'20, Eq. 14)."""
        return self._z(self.scores, self.expected)

    @cached_property
    def departures(self) -> Departures:
        """The sum of z, the same at any weight."""
        above, below = self.sums_of_z
        return Departures(above - below, np.zeros_like(below), self.mean, self.topics)

    def _z(self, scores: Floats, expected: Floats) -> Floats:
        return over_root(self.smooth(departure(scores, expected)), expected)

    @cached_property
    def sums_without_each(self) -> Floats:
        """The sums of z, by run and topic left out.

        The prefix sums of the linear loss do not carry over: this computes all of z again for
        every topic left out, some topics at a time.
        """
        sums = np.zeros_like(self.scores)
        totals = np.broadcast_to(self.topic_totals, self.scores.shape)
        grand = np.broadcast_to(self.grand_total, (len(self.scores),))
        at_once = max(1, _CELLS_AT_ONCE // self.topics)
        for row, x in enumerate(self.scores):
            share = shares_without_each(x, totals[row], np.asarray(grand[row]))
            for start in range(0, self.topics, at_once):
                left_out = np.arange(start, min(start + at_once, self.topics))
                z = self._z(x, share[left_out, None] * totals[row])
                z[np.arange(len(left_out)), left_out] = 0.0
                above, below = np.maximum(z, 0).sum(axis=1), np.maximum(-z, 0).sum(axis=1)
                sums[row, left_out] = above - below
        return sums
