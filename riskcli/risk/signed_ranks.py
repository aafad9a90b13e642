"""Wilcoxon's signed rank test of δ: whether it is symmetric about 0, which is not about its mean.

Topics without a difference are dropped, as Wilcoxon (1945) did; equal sizes share their mean rank.
"""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from riskcli.core.arrays import Floats, divided
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.rounding import NO_DIFFERENCE

_MOST_EXACT = 50
"""Of so many differences the distribution is exact, ties or not; of more it is normal."""


def wilcoxon_p(scores: Floats, baseline: Floats) -> Floats:
    """The two-sided p-value of each run (row); NaN below 3 topics.

    Differences and ties are told to a relative 1e-12 of a run's highest score.
    """
    if scores.shape[1] < LEAST_TOPICS:
        return np.full(len(scores), np.nan)
    largest = np.maximum(np.abs(scores), np.abs(baseline)).max(axis=1, keepdims=True)
    delta = np.rint(divided(scores - baseline, largest * NO_DIFFERENCE))
    delta = np.take_along_axis(delta, np.argsort(np.abs(delta), axis=1), 1)
    ranks, tied = _ranks(np.abs(delta))
    count = np.count_nonzero(delta, axis=1)
    ranks -= (delta.shape[1] - count)[:, None]
    off_center = np.abs((ranks * np.sign(delta)).sum(axis=1)) / 2
    ties = np.where(delta != 0, tied**2 - 1.0, 0.0).sum(axis=1)
    variance = (count * (count + 1.0) * (2 * count + 1) - ties / 2) / 24
    p = 2 * ndtr(-divided(off_center, np.sqrt(variance)))
    for row in np.flatnonzero(count <= _MOST_EXACT):
        halves = np.rint(2 * ranks[row, delta[row] != 0]).astype(int)
        least = halves.sum() / 2 - 2 * off_center[row]
        p[row] = min(1.0, 2 * _chances(tuple(halves.tolist()))[round(least)])
    return np.asarray(p)


def _ranks(rising: Floats) -> tuple[Floats, Floats]:
    """The mean rank of each number of a row, and how many are equal to it."""
    places = np.broadcast_to(np.arange(rising.shape[1]), rising.shape)
    new = np.diff(rising, axis=1, prepend=-1.0) > 0
    old = np.diff(rising, axis=1, append=np.inf) > 0
    first = np.maximum.accumulate(np.where(new, places, 0), axis=1)
    last = np.where(old, places, rising.shape[1])[:, ::-1]
    last = np.minimum.accumulate(last, axis=1)[:, ::-1]
    return (first + last) / 2 + 1, last - first + 1.0


@lru_cache(maxsize=1000)
def _chances(ranks: tuple[int, ...]) -> Floats:
    """How probably the ranks above 0 add up to 0, 1, ... at most, each sign being a coin's.

    Of twice the ranks, which are whole numbers where ties share a mean rank.
    """
    ways = np.ones(1)
    for rank in ranks:
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    return np.asarray(np.cumsum(ways / 2.0 ** len(ranks)))
