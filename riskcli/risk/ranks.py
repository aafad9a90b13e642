"""How uncertain a rank is: the ranks that the tests of every pair of runs leave open.

A run is compared with each of the r - 1 others, corrected by Holm's method over these: at best it
stands below those that are significantly above it, at worst above those significantly below. The
interval holds the run's true rank with probability 1 - gamma at least (Mogstad, Romano, Shaikh and
Wilhelm 2024), for each run by itself; a run whose interval begins at 1 may be the best.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, Mask, row_blocks
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.rounding import NO_DIFFERENCE, NO_VARIANCE

_CELLS_AT_ONCE = 100_000


def rank_intervals(values: Floats, deviations: Floats, gamma: float) -> tuple[Floats, Floats]:
    """The best and the worst rank of each run; NaN for a run without a value.

    `deviations` by run and topic: SE^2 of a difference = sum (d_i - d_j)^2 / (c (c - 1)).
    """
    return rank_intervals_of_parts(values[None], [deviations], [(1.0,)], gamma)[0]


def rank_intervals_of_parts(
    values: Floats, parts: Sequence[Floats], weights: Sequence[Sequence[float]], gamma: float
) -> list[tuple[Floats, Floats]]:
    """The same for several statistics, rows of `values`, whose deviations are sums of `parts`.

    Each has its own weights of the parts; the products of the parts are computed once for all.
    """
    topics = parts[0].shape[1]
    low, high = np.full((2, *values.shape), np.nan)
    if topics >= LEAST_TOPICS and values.size:
        low, high = _ranks_left_open(values, parts, np.array(weights), gamma)
    return list(zip(low, high, strict=True))


def _ranks_left_open(
    values: Floats, parts: Sequence[Floats], weights: Floats, gamma: float
) -> tuple[Floats, Floats]:
    """By statistic and run."""
    count, topics = parts[0].shape
    pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1)]
    factors = [[(1 if i == j else 2) * w[i] * w[j] for i, j in pairs] for w in weights]
    own = [np.einsum("ij,ij->i", parts[i], parts[j]) for i, j in pairs]
    low, high = np.ones_like(values), np.full_like(values, count)
    squared_critical = _squared_critical(count - 1, topics, gamma)
    # In proportion to the matrix: scratch memory stays small, and few products of many runs are
    # much faster than many of few.
    at_once = max(1, max(_CELLS_AT_ONCE, parts[0].size // 8) // count)
    blocks, blocks_of_portion = row_blocks(count, topics), row_blocks(min(at_once, count), count)
    noises = _noise(parts, weights, blocks)
    for start in range(0, count, at_once):
        rows = slice(start, start + at_once)
        shared = [_products(parts[i], parts[j], rows) for i, j in pairs]
        for k, (value, factor, noise) in enumerate(zip(values, factors, noises, strict=True)):
            squares = _combined(factor, own)
            for some in blocks_of_portion:
                mine = np.arange(count)[rows][some]
                size = squares[mine, None] + squares
                variance = size - 2 * _combined(factor, [product[some] for product in shared])
                known = (variance > NO_VARIANCE * size) & (variance > noise * (topics - 1) * topics)
                difference = value - value[mine, None]
                ratio: Floats = np.zeros_like(difference)
                np.divide(difference**2, variance, out=ratio, where=known)
                apart = _told_apart(ratio, squared_critical)
                above = difference > 0
                higher = np.count_nonzero(apart & above, axis=1)
                low[k, mine] += higher
                high[k, mine] -= np.count_nonzero(apart, axis=1) - higher
    return low, high


def _squared_critical(comparisons: int, topics: int, gamma: float) -> Floats:
    """Critical values of (difference)^2 / (sum of squared deviations), a step of Holm's each.

    t^2 = difference^2 c (c - 1) / sum of squares; where all steps are taken the last one stays.
    """
    if comparisons < 1:
        return np.array([np.inf])
    t = stdtrit(topics - 1, 1 - gamma / (2 * np.arange(comparisons, 0, -1)))
    return np.append(t**2, t[-1] ** 2) / (topics * (topics - 1))


def _noise(parts: Sequence[Floats], weights: Floats, blocks: Sequence[slice]) -> list[float]:
    """The squared errors that are rounding beside the largest deviation of each statistic."""
    largest = np.zeros(len(weights))
    for rows in blocks:
        for k, weight in enumerate(weights):
            spread = _combined(weight, [part[rows] for part in parts])
            largest[k] = max(largest[k], spread.max(), -spread.min())
    return [(NO_DIFFERENCE * each) ** 2 for each in largest.tolist()]


def _products(one: Floats, other: Floats, rows: slice) -> Floats:
    """Of some runs' deviations with every run's, the mean of both ways round."""
    product = one[rows] @ other.T
    return product if one is other else (product + other[rows] @ one.T) / 2


def _combined(weights: Sequence[float] | Floats, parts: Sequence[Floats]) -> Floats:
    """The weighted sum of parts."""
    total = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total += weight * part
    return np.asarray(total)


def _told_apart(ratio: Floats, squared_critical: Floats) -> Mask:
    """Which comparisons of each row are significant by Holm's method over the row.

    Those beyond the first critical value are; so are, while there are more, those beyond the
    critical value of the next step.
    """
    apart: Mask = np.asarray(ratio > squared_critical[0])
    count = np.count_nonzero(apart, axis=1)
    open_rows = np.flatnonzero(count)
    while len(open_rows):
        apart[open_rows] = ratio[open_rows] > squared_critical[count[open_rows], None]
        found = np.count_nonzero(apart[open_rows], axis=1)
        more = found > count[open_rows]
        count[open_rows] = found
        open_rows = open_rows[more]
    return apart
