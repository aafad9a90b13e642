"""Whether differences to a baseline depend on the group of the topic: one test for all runs.

Of each run the means of its differences in the groups are compared as Welch (1951) does, each
weighed by its own variance, so that a group with large differences does not pass for another mean.
The statistic is the largest over runs; its distribution is that under shuffled labels of topics.
"""

import numpy as np

from riskcli.core.arrays import Floats, Mask, Rows, divided, row_blocks
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE, above_rounding
from riskcli.risk.shuffles import canonical_order

LEAST_GROUP = 10
"""Groups of fewer topics are not tested."""
SHUFFLES = 1_999
_CELLS_AT_ONCE = 4_000_000


def interaction(delta: Floats, groups: Rows, seed: int, weights: Floats | None = None) -> float:
    """The p-value of differences by run and topic, and the group of each topic as a number.

    Only groups of ten topics or more are compared; NaN where there are not two of them. Neither
    the order of runs and topics nor the numbers of the groups change the p-value.
    """
    sizes = np.bincount(groups)
    large = np.flatnonzero(sizes >= LEAST_GROUP)
    if len(large) < 2:
        return float("nan")
    kept = np.isin(groups, large)
    delta, groups = delta[:, kept], groups[kept]
    weights = np.ones(len(groups)) if weights is None else weights[kept]
    size = float(np.abs(delta).max(initial=0.0))
    delta = np.where(np.abs(delta) <= NO_DIFFERENCE * size, 0.0, delta) / (size or 1.0)
    order = canonical_order(delta.T, weights)
    delta, weights, groups = delta[:, order], weights[order], groups[order]
    numbers = np.arange(len(large))[:, None]
    least = welch(delta, groups == large[numbers], weights).max() * (1 - EQUAL_STATISTIC)
    labels = np.repeat(numbers, np.sort(sizes[large]))
    generator, reached = np.random.Generator(np.random.SFC64(seed)), 0
    for some in row_blocks(SHUFFLES, len(large) * sum(delta.shape), _CELLS_AT_ONCE):
        shuffled = generator.permuted(np.tile(labels, (some.stop - some.start, 1)), axis=1)
        found = welch(delta, shuffled[:, None, :] == numbers, weights)
        reached += int((found.max(axis=1) >= least).sum())
    return (reached + 1) / (SHUFFLES + 1)


def welch(delta: Floats, members: Mask, weights: Floats) -> Floats:
    """The statistic of each run, of who is in which group (group, topic; of each shuffle)."""
    ones, squared, weighted = np.ones_like(weights), weights**2, weights * delta
    cells = np.vstack([ones, weights, squared, weighted, weights * weighted, weighted**2])
    sums = members.reshape(-1, len(weights)).astype(np.float64) @ cells.T
    sums = sums.reshape(*members.shape[:-1], -1)
    counts, total, squares = np.split(sums[..., :3], 3, axis=-1)
    first, second, third = np.split(sums[..., 3:], 3, axis=-1)
    means = first / total
    within = above_rounding(third - 2 * means * second + means**2 * squares, third)
    # One topic more, of the spread over all: a group without any spread is not infinitely sure.
    spread = above_rounding(delta.var(axis=1, ddof=1), (delta**2).mean(axis=1))
    sure = divided(total**2, within + spread * squares / counts)
    centre = divided((sure * means).sum(axis=-2), sure.sum(axis=-2))
    found: Floats = (sure * (means - centre[..., None, :]) ** 2).sum(axis=-2)
    return found
