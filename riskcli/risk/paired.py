"""Runs against a baseline, topic by topic: what URisk and TRisk are made of.

Notation of Dinçer, Macdonald and Ounis (SIGIR'14): delta_q = x_q - b_q, and w_q is delta_q with
losses counted 1 + alpha times. All sums here are free of alpha, so any number of its values costs
one pass over the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Paired:
    """Every run of a matrix (rows) against one baseline, over the same topics (columns)."""

    scores: Floats
    baseline: Floats

    @cached_property
    def delta(self) -> Floats:
        """x_q - b_q."""
        return np.asarray(self.scores - self.baseline)

    @property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @cached_property
    def wins(self) -> Counts:
        """Topics with delta > 0."""
        return np.asarray(np.count_nonzero(self.delta > 0, axis=1))

    @cached_property
    def losses(self) -> Counts:
        """Topics with delta < 0."""
        return np.asarray(np.count_nonzero(self.delta < 0, axis=1))

    @cached_property
    def ties(self) -> Counts:
        """Topics with delta = 0."""
        return self.topics - self.wins - self.losses

    @cached_property
    def losses20(self) -> Counts:
        """Topics that lose more than a fifth of a baseline score above 0."""
        lost = (self.baseline > 0) & (self.delta < -0.2 * self.baseline)
        return np.asarray(np.count_nonzero(lost, axis=1))

    @cached_property
    def reward(self) -> Floats:
        """The mean gain, (1/c) sum max(0, delta) (SIGIR'14, Eq. 2)."""
        return np.asarray(np.maximum(self.delta, 0).mean(axis=1))

    @cached_property
    def risk(self) -> Floats:
        """The mean loss, (1/c) sum max(0, -delta) (SIGIR'14, Eq. 1)."""
        return np.asarray(np.maximum(-self.delta, 0).mean(axis=1))

    @cached_property
    def spread(self) -> tuple[Floats, Floats, Floats]:
        """Sample variances of gains and of losses, and their covariance (divisor c - 1)."""
        gain, loss = np.maximum(self.delta, 0), np.maximum(-self.delta, 0)
        gain -= self.reward[:, None]
        loss -= self.risk[:, None]
        degrees = self.topics - 1
        return (
            np.einsum("ij,ij->i", gain, gain) / degrees,
            np.einsum("ij,ij->i", loss, loss) / degrees,
            np.einsum("ij,ij->i", gain, loss) / degrees,
        )

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Runs whose delta is the same on every topic, but for rounding of the scores."""
        spread = self.delta.max(axis=1) - self.delta.min(axis=1)
        size = np.maximum(np.abs(self.scores).max(axis=1), np.abs(self.baseline).max())
        return np.asarray(spread <= _ROUNDING * size)

    def urisk(self, alpha: float) -> Floats:
        """URisk = Reward - (1 + alpha) Risk (SIGIR'14, Eq. 4)."""
        return self.reward - (1 + alpha) * self.risk

    def urisk_se(self, alpha: float) -> Floats:
        """s_w / sqrt(c), the standard error of URisk (SIGIR'14, Eq. 12, divisor c - 1)."""
        if self.topics < 2:
            return np.full(len(self.scores), np.nan)
        gains, losses, both = self.spread
        weight = 1 + alpha
        variance = gains - 2 * weight * both + weight**2 * losses
        variance[self.constant] = 0.0
        return np.asarray(np.sqrt(variance / self.topics))

    def trisk(self, alpha: float) -> Floats:
        """TRisk = URisk / SE(URisk) (SIGIR'14, Eq. 10); 0 for a run equal to the baseline."""
        return ratio_to_error(self.urisk(alpha), self.urisk_se(alpha))

    def weighted(self, alpha: float | Floats) -> Floats:
        """w, run by topic; each cell may have an alpha of its own."""
        return np.where(self.delta < 0, (1 + alpha) * self.delta, self.delta)


def ratio_to_error(estimate: Floats, error: Floats) -> Floats:
    """Estimate / error; 0 where both are 0, infinite where only the error is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimate / error
    t[(error == 0) & (estimate == 0)] = 0.0
    return t


def two_sided_p(t: Floats, degrees: int) -> Floats:
    """The two-sided p-value of Student's t; NaN without degrees of freedom."""
    if degrees < 1:
        return np.full(np.shape(t), np.nan)
    return np.asarray(2 * stdtr(degrees, -np.abs(t)))
