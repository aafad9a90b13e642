"""The studentised label-swap test of a difference in ZRisk/c or GeoRisk between two runs.

Under the null hypothesis that the two runs are exchangeable, swapping their scores on any topic
changes nothing; the topic totals stay. The statistic is the difference over its influence-function
error, recomputed in every replicate; p = (count + 1) / (B + 1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.influence import influence, influence_error
from riskcli.risk.jackknife import Statistic
from riskcli.risk.rounding import EQUAL_STATISTIC

_CELLS_AT_ONCE = 2_000_000


def swap_p_values(
    run: Floats,
    baseline: Floats,
    topic_totals: Floats,
    grand_total: float,
    alpha: float,
    swaps: int,
    seed: int,
    statistics: Sequence[Statistic],
) -> list[float]:
    """The p-value of each statistic for one run against a baseline run of its matrix."""

    def studentised(first: Floats, second: Floats) -> list[Floats]:
        one, other = (influence(x, topic_totals, grand_total, alpha) for x in (first, second))
        chosen = ((each.influences(one), each.influences(other)) for each in statistics)
        return [_over_error(x[0] - y[0], x[1] - y[1]) for x, y in chosen]

    differ = run != baseline
    if not differ.any():
        return [1.0] * len(statistics)
    bounds = [
        np.abs(observed) * (1 - EQUAL_STATISTIC)
        for observed in studentised(run[None], baseline[None])
    ]
    exceeded = [0] * len(statistics)
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // len(run))
    for start in range(0, swaps, at_once):
        many = min(at_once, swaps - start)
        swapped = (generator.random((many, len(run))) < 0.5) & differ
        replicates = studentised(np.where(swapped, baseline, run), np.where(swapped, run, baseline))
        for number, values in enumerate(replicates):
            exceeded[number] += int(np.count_nonzero(np.abs(values) >= bounds[number]))
    return [(count + 1) / (swaps + 1) for count in exceeded]


def _over_error(difference: Floats, influences: Floats) -> Floats:
    error = influence_error(influences)
    t = np.divide(difference, error, out=np.full_like(difference, np.inf), where=error > 0)
    t[(error == 0) & (difference == 0)] = 0.0
    return t
