"""The studentised label-swap test of a difference in ZRisk/c or GeoRisk between two runs.

Under the null hypothesis that the two runs are exchangeable, swapping their scores on any topic
changes nothing; the topic totals stay. The statistic is the difference over its influence-function
error, recomputed in every replicate; p = (count + 1) / (B + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.influence import influence, influence_error
from riskcli.risk.jackknife import Statistic
from riskcli.risk.options import Significance
from riskcli.risk.rounding import EQUAL_STATISTIC

_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class SwapTest:
    """A difference tested: its p-value, its error, and the |t| above which p is below gamma."""

    p: float
    error: float
    critical: float


def swap_tests(
    run: Floats,
    baseline: Floats,
    topic_totals: Floats,
    grand_total: float,
    alpha: float,
    plan: Significance,
    statistics: Sequence[Statistic],
) -> list[SwapTest]:
    """The test of each statistic for one run against a baseline run of its matrix."""

    def studentised(first: Floats, second: Floats) -> list[tuple[Floats, Floats]]:
        one, other = (influence(x, topic_totals, grand_total, alpha) for x in (first, second))
        chosen = ((each.influences(one), each.influences(other)) for each in statistics)
        return [_t_and_error(x[0] - y[0], x[1] - y[1]) for x, y in chosen]

    differ = run != baseline
    if not differ.any():
        return [SwapTest(1.0, 0.0, float("inf"))] * len(statistics)
    observed = studentised(run[None], baseline[None])
    replicates: list[list[Floats]] = [[] for _ in statistics]
    generator = np.random.default_rng(plan.seed)
    at_once = max(1, _CELLS_AT_ONCE // len(run))
    for start in range(0, plan.swaps, at_once):
        many = min(at_once, plan.swaps - start)
        swapped = (generator.random((many, len(run))) < 0.5) & differ
        swaps = studentised(np.where(swapped, baseline, run), np.where(swapped, run, baseline))
        for number, (t, _) in enumerate(swaps):
            replicates[number].append(np.abs(t))
    return [
        _tested(float(t[0]), float(error[0]), np.concatenate(each), plan.gamma)
        for (t, error), each in zip(observed, replicates, strict=True)
    ]


def _tested(t: float, error: float, replicates: Floats, gamma: float) -> SwapTest:
    count = np.count_nonzero(replicates >= abs(t) * (1 - EQUAL_STATISTIC))
    p = (int(count) + 1) / (len(replicates) + 1)
    return SwapTest(p, error, critical_value(replicates, gamma))


def critical_value(replicates: Floats, gamma: float) -> float:
    """The |t| above which (count + 1) / (replicates + 1) is below gamma; infinite if there is none.

    `replicates` are the |t| of resampling, a replicate each.
    """
    allowed = int(np.ceil(gamma * (replicates.size + 1))) - 2
    if allowed < 0:
        return float("inf")
    last = replicates.size - 1 - allowed
    return float(np.partition(replicates, last)[last] / (1 - EQUAL_STATISTIC))


def _t_and_error(difference: Floats, influences: Floats) -> tuple[Floats, Floats]:
    error = influence_error(influences)
    t = np.divide(difference, error, out=np.full_like(difference, np.inf), where=error > 0)
    t[(error == 0) & (difference == 0)] = 0.0
    return t, error
