"""Risk under a smooth loss (ECIR'20): w = s(delta), z = s(x - e) / sqrt(e). No alpha applies.

The classes here stand in where the linear ones stand; the alpha that those take is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.losses import Cubic
from riskcli.risk.paired import Paired
from riskcli.risk.population import Population, without_rounding

Floats = NDArray[np.float64]

_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class SmoothPaired(Paired):
    """Runs against a baseline, each difference counted s(delta)."""

    smooth: Cubic

    def weighted(self, alpha: float | Floats) -> Floats:  # noqa: ARG002
        """w = s(delta), run by topic."""
        return self.smooth(self.delta)

    def urisk(self, alpha: float) -> Floats:
        """The mean of w."""
        return np.asarray(self.weighted(alpha).mean(axis=1))

    def urisk_se(self, alpha: float) -> Floats:
        """The standard error of the mean of w."""
        if self.topics < 2:
            return np.full(len(self.scores), np.nan)
        error = self.weighted(alpha).std(axis=1, ddof=1) / np.sqrt(self.topics)
        return np.where(self.constant, 0.0, error)


@dataclass(frozen=True)
class SmoothPopulation(Population):
    """Runs against their population, each departure from expectation counted s(x - e)."""

    smooth: Cubic

    @property
    def z(self) -> Floats:
        """z = s(x - e) / sqrt(e), 0 where e = 0 (ECIR'20, Eq. 14)."""
        return self._z(self.scores, self.expected)

    def zrisk(self, alpha: float) -> Floats:  # noqa: ARG002
        """The sum of z."""
        return self.above - self.below

    def _z(self, scores: Floats, expected: Floats) -> Floats:
        counted = self.smooth(without_rounding(scores - expected, expected))
        z: Floats = np.zeros_like(counted)
        np.divide(counted, np.sqrt(expected), out=z, where=expected > 0)
        return z

    @cached_property
    def without_each(self) -> tuple[Floats, Floats]:
        """The sums of z above 0 and of -z below 0, by run and topic left out.

        The prefix sums of the linear loss do not carry over: this computes all of z again for
        every topic left out, some topics at a time.
        """
        above, below = np.zeros_like(self.scores), np.zeros_like(self.scores)
        totals = np.broadcast_to(self.topic_totals, self.scores.shape)
        grand = np.broadcast_to(self.grand_total, (len(self.scores),))
        at_once = max(1, _CELLS_AT_ONCE // self.topics)
        for row, x in enumerate(self.scores):
            share = _shares_without_each(x, totals[row], float(grand[row]))
            for start in range(0, self.topics, at_once):
                left_out = np.arange(start, min(start + at_once, self.topics))
                z = self._z(x, share[left_out, None] * totals[row])
                z[np.arange(len(left_out)), left_out] = 0.0
                above[row, left_out] = np.maximum(z, 0).sum(axis=1)
                below[row, left_out] = np.maximum(-z, 0).sum(axis=1)
        return above, below


def _shares_without_each(x: Floats, totals: Floats, grand: float) -> Floats:
    """(S - x_q) / (N - T_q), the run's share of what is left without topic q."""
    left = grand - totals
    shares: Floats = np.zeros_like(x)
    np.divide(np.maximum(x.sum() - x, 0.0), left, out=shares, where=left > 0)
    return shares
