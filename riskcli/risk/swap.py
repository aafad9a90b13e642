"""The studentised label-swap test of a difference in ZRisk/c or GeoRisk between two runs.

Under the null hypothesis that the two runs are exchangeable, swapping their scores on any topic
changes nothing; the topic totals stay. The statistic is the difference over its influence-function
error, recomputed in every replicate; p = (count + 1) / (B + 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.influence import Influence, influence, influence_error

Floats = NDArray[np.float64]

_CELLS_AT_ONCE = 2_000_000
_ROUNDING = 1e-10


def swap_p_values(
    run: Floats,
    baseline: Floats,
    topic_totals: Floats,
    grand_total: float,
    alpha: float,
    swaps: int,
    seed: int,
) -> dict[str, float]:
    """p-values of "zrisk" and "georisk" for one run against a baseline run of its matrix."""
    differ = run != baseline
    if not differ.any():
        return {"zrisk": 1.0, "georisk": 1.0}
    observed = _statistics(run[None], baseline[None], topic_totals, grand_total, alpha)
    generator = np.random.default_rng(seed)
    exceeded = {"zrisk": 0, "georisk": 0}
    at_once = max(1, _CELLS_AT_ONCE // len(run))
    for start in range(0, swaps, at_once):
        many = min(at_once, swaps - start)
        swapped = (generator.random((many, len(run))) < 0.5) & differ
        one = np.where(swapped, baseline, run)
        other = np.where(swapped, run, baseline)
        replicates = _statistics(one, other, topic_totals, grand_total, alpha)
        for name, values in replicates.items():
            bound = np.abs(observed[name]) * (1 - _ROUNDING)
            exceeded[name] += int(np.count_nonzero(np.abs(values) >= bound))
    return {name: (count + 1) / (swaps + 1) for name, count in exceeded.items()}


def _statistics(
    one: Floats, other: Floats, topic_totals: Floats, grand_total: float, alpha: float
) -> dict[str, Floats]:
    first = influence(one, topic_totals, grand_total, alpha)
    second = influence(other, topic_totals, grand_total, alpha)
    return {
        "zrisk": _studentised(first.zeta - second.zeta, first.on_zeta - second.on_zeta),
        "georisk": _georisk_statistic(first, second),
    }


def _georisk_statistic(first: Influence, second: Influence) -> Floats:
    return _studentised(first.georisk - second.georisk, first.on_georisk - second.on_georisk)


def _studentised(difference: Floats, influences: Floats) -> Floats:
    error = influence_error(influences)
    t = np.divide(difference, error, out=np.full_like(difference, np.inf), where=error > 0)
    t[(error == 0) & (difference == 0)] = 0.0
    return t
