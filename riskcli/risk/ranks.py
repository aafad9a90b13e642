"""How uncertain a rank is: the ranks that the tests of every pair of runs leave open.

A run is compared with each of the r - 1 others, corrected by Holm's method over these: at best it
stands below those that are significantly above it, at worst above those significantly below. The
interval holds the run's true rank with probability 1 - gamma at least (Mogstad, Romano, Shaikh and
Wilhelm 2024), for each run by itself; a run whose interval begins at 1 may be the best.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, Mask
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.rounding import NO_DIFFERENCE, NO_VARIANCE

_CELLS_AT_ONCE = 4_000_000


def rank_intervals(values: Floats, deviations: Floats, gamma: float) -> tuple[Floats, Floats]:
    """The best and the worst rank of each run; NaN for a run without a value.

    `deviations` by run and topic: SE^2 of a difference = sum (d_i - d_j)^2 / (c (c - 1)).
    """
    runs, topics = deviations.shape
    low, high = np.full((2, runs), np.nan)
    if topics < LEAST_TOPICS:
        return low, high
    present = np.isfinite(values)
    known, spread = values[present], deviations[present]
    count = len(known)
    squares = np.einsum("ij,ij->i", spread, spread)
    noise = NO_DIFFERENCE * float(np.abs(spread).max(initial=0.0))
    at_once = max(1, _CELLS_AT_ONCE // max(count, 1))
    above, below = np.zeros((2, count))
    for start in range(0, count, at_once):
        rows = slice(start, start + at_once)
        size = squares[rows, None] + squares
        variance = size - 2 * (spread[rows] @ spread.T)
        variance = np.where(variance <= NO_VARIANCE * size, 0.0, variance) / (topics * (topics - 1))
        difference = known - known[rows, None]
        t = _sizes_of_t(difference, np.sqrt(variance), noise)
        apart = _told_apart(t, topics, gamma)
        above[rows] = (apart & (difference > 0)).sum(axis=1)
        below[rows] = (apart & (difference < 0)).sum(axis=1)
    low[present], high[present] = 1 + above, count - below
    return low, high


def _sizes_of_t(difference: Floats, error: Floats, noise: float) -> Floats:
    """|t|; -1 where there is no test: of a run with itself, or where only the error is rounding."""
    t: Floats = np.where(np.abs(difference) <= noise, 0.0, -1.0)
    np.divide(np.abs(difference), error, out=t, where=error > noise)
    return t


def _told_apart(t: Floats, topics: int, gamma: float) -> Mask:
    """Which comparisons of each row are significant by Holm's method over the row."""
    others = t.shape[1] - 1
    if others < 1:
        return np.zeros(t.shape, dtype=bool)
    ordered = -np.sort(-t, axis=1)[:, :others]
    critical = stdtrit(topics - 1, 1 - gamma / (2 * np.arange(others, 0, -1)))
    steps = np.logical_and.accumulate(ordered > critical, axis=1).sum(axis=1)
    least = np.where(steps > 0, ordered[np.arange(len(t)), np.maximum(steps - 1, 0)], np.inf)
    return np.asarray(t >= least[:, None])
