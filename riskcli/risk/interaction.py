"""Whether differences to a baseline depend on the group of the topic: one test for all runs.

Of each run the means of its differences in the groups are compared as Welch (1951) does, each
weighed by its own variance, so that a group with large differences does not pass for another mean.
The statistic is the largest over runs; its distribution is that under shuffled labels of topics.
"""

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats, Mask, Rows, divided, row_blocks
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE, above_rounding
from riskcli.risk.shuffles import canonical_order

LEAST_GROUP = 10
"""Groups of fewer topics are not tested."""
SHUFFLES = 1_999
_CELLS_AT_ONCE = 4_000_000
_MUCH = 10_000_000_000
"""Shuffles times groups times cells; for more there are the fewest shuffles."""
_FEWEST = 999


@dataclass(frozen=True)
class Interaction:
    """The test of run x group: its p-value, and of each run the statistic."""

    p: float
    statistic: Floats
    shuffles: int


def interaction(
    delta: Floats, groups: Rows, seed: int, weights: Floats | None = None
) -> Interaction | None:
    """Of differences by run and topic, and the group of each topic as a number from 0 on.

    Only groups of ten topics or more are compared; None where there are not two of them. Neither
    the order of runs and topics nor the numbers of the groups change the p-value.
    """
    sizes = np.bincount(groups)
    large = np.flatnonzero(sizes >= LEAST_GROUP)
    if len(large) < 2:
        return None
    kept = np.isin(groups, large)
    delta, groups = delta[:, kept], groups[kept]
    weights = np.ones(len(groups)) if weights is None else weights[kept]
    size = float(np.abs(delta).max(initial=0.0))
    delta = np.where(np.abs(delta) <= NO_DIFFERENCE * size, 0.0, delta) / (size or 1.0)
    order = canonical_order(delta.T, weights)
    delta, weights, groups = delta[:, order], weights[order], groups[order]
    sums = _Sums.of(delta, weights)
    observed = sums.statistics((groups == large[:, None])[None])[0]
    labels = np.repeat(np.arange(len(large)), np.sort(sizes[large]))
    shuffles = SHUFFLES if SHUFFLES * len(large) * delta.size <= _MUCH else _FEWEST
    least = observed.max() * (1 - EQUAL_STATISTIC)
    generator, reached = np.random.Generator(np.random.SFC64(seed)), 0
    for some in row_blocks(shuffles, len(large) * sum(delta.shape), _CELLS_AT_ONCE):
        replicates = np.broadcast_to(labels, (some.stop - some.start, len(labels)))
        shuffled = generator.permuted(replicates, axis=1)
        members = shuffled[:, None, :] == np.arange(len(large))[:, None]
        reached += int((sums.statistics(members).max(axis=1) >= least).sum())
    return Interaction((reached + 1) / (shuffles + 1), observed, shuffles)


@dataclass(frozen=True)
class _Sums:
    """What the statistic is made of: by topic, columns whose sums over a group it needs."""

    columns: Floats
    spread: Floats
    """The variance of each run's differences over all topics."""

    @classmethod
    def of(cls, delta: Floats, weights: Floats) -> "_Sums":
        weighted, squares = weights * delta, weights**2
        parts = [weights[None], squares[None], weighted, squares * delta, weighted**2]
        of_all = np.einsum("rc,rc->r", delta, delta)
        spread = above_rounding(of_all - delta.shape[1] * delta.mean(axis=1) ** 2, of_all)
        return cls(np.concatenate(parts).T, spread / (delta.shape[1] - 1))

    def statistics(self, members: Mask) -> Floats:
        """By replicate and run, of who is in which group (replicate, group, topic)."""
        counts = members.sum(axis=2)[..., None]
        flat = members.reshape(-1, members.shape[2]).astype(np.float64) @ self.columns
        sums = flat.reshape(*members.shape[:2], -1)
        total, squares, rest = sums[..., :1], sums[..., 1:2], sums[..., 2:]
        first, second, third = np.split(rest, 3, axis=2)
        means = first / total
        within = above_rounding(third - 2 * means * second + means**2 * squares, third)
        # One topic more, of the spread over all: a group without any spread is not infinitely sure.
        variance = (within + self.spread * squares / counts) / total**2
        sure = divided(1.0, variance)
        centre = divided((sure * means).sum(axis=1), sure.sum(axis=1))[:, None]
        found: Floats = (sure * (means - centre) ** 2).sum(axis=1)
        return found
