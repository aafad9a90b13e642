"""How far a run's profile over topics departs from what a population of runs leads to expect.

Notation of Dinçer, Macdonald and Ounis (SIGIR'16): S_i row totals, T_j column totals, N grand
total of the population's matrix, e_ij = S_i T_j / N. The run itself belongs to its population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

_ROUNDING = 16 * np.finfo(np.float64).eps
"""A departure from expectation of this relative size is rounding: a proportional run has z = 0."""


@dataclass(frozen=True)
class Population:
    """The runs of a matrix, each measured against the totals of its population.

    `topic_totals` is T, one row for all runs or one row a run; `grand_total` is N, likewise.
    """

    scores: Floats
    topic_totals: Floats
    grand_total: Floats

    @classmethod
    def of_all(cls, scores: Floats) -> Population:
        """Every run of the matrix is measured against all of them."""
        totals = scores.sum(axis=0, keepdims=True)
        return cls(scores, totals, totals.sum(axis=1))

    @classmethod
    def of_baselines(cls, scores: Floats, members: Sequence[int]) -> Population:
        """Each run is measured against the member runs and itself; a member is not added twice."""
        added = scores.copy()
        added[list(members)] = 0.0
        totals = scores[list(members)].sum(axis=0) + added
        return cls(scores, totals, totals.sum(axis=1))

    @property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @cached_property
    def share(self) -> Floats:
        """S_i / N, the run's share of all the population's effectiveness."""
        run_totals = self.scores.sum(axis=1)
        present = self.grand_total > 0
        share: Floats = np.zeros_like(run_totals)
        np.divide(run_totals, self.grand_total, out=share, where=present)
        return share

    @property
    def expected(self) -> Floats:
        """e_ij = S_i T_j / N (SIGIR'16, Eq. 5)."""
        return np.asarray(self.share[:, None] * self.topic_totals)

    @property
    def z(self) -> Floats:
        """z_ij = (x_ij - e_ij) / sqrt(e_ij), 0 where e_ij = 0 (SIGIR'16, below Eq. 5)."""
        return standardised(self.scores, self.expected)

    @cached_property
    def _above_and_below(self) -> tuple[Floats, Floats]:
        z = self.z
        above = np.maximum(z, 0).sum(axis=1)
        return above, above - z.sum(axis=1)

    @property
    def above(self) -> Floats:
        """The sum of z over topics where the run exceeds its expectation."""
        return self._above_and_below[0]

    @property
    def below(self) -> Floats:
        """The sum of -z over topics where the run falls short."""
        return self._above_and_below[1]

    @property
    def mean(self) -> Floats:
        """S_i / c, the run's mean effectiveness."""
        return np.asarray(self.scores.mean(axis=1))

    def zrisk(self, alpha: float) -> Floats:
        """ZRisk = sum of z above 0 + (1 + alpha) times the sum of z below 0 (SIGIR'16, Eq. 6)."""
        return self.above - (1 + alpha) * self.below

    def georisk(self, alpha: float) -> Floats:
        """GeoRisk = sqrt(S_i / c * Phi(ZRisk_i / c)) (SIGIR'16, Eq. 7)."""
        return georisk_of(self.mean, self.zrisk(alpha) / self.topics)


def standardised(scores: Floats, expected: Floats) -> Floats:
    """z = (x - e) / sqrt(e), 0 where e = 0 (SIGIR'16, below Eq. 5)."""
    departure = without_rounding(scores - expected, expected)
    z: Floats = np.zeros_like(departure)
    np.divide(departure, np.sqrt(expected), out=z, where=expected > 0)
    return z


def shortfalls_weighted(z: Floats, alpha: float) -> Floats:
    """What each z adds to ZRisk: 1 + alpha times itself where it is below 0."""
    return np.where(z < 0, (1 + alpha) * z, z)


def georisk_of(mean: Floats, zeta: Floats) -> Floats:
    """GeoRisk from the mean score S_i / c and from ZRisk_i / c (SIGIR'16, Eq. 7)."""
    return np.asarray(np.sqrt(mean * ndtr(zeta)))


def without_rounding(departure: Floats, expected: Floats) -> Floats:
    """The departures from expectation, exactly 0 where they are no more than rounding."""
    departure[np.abs(departure) <= _ROUNDING * expected] = 0.0
    return departure
