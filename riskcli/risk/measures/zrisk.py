"""ZRisk: how far a run's profile over topics falls short of what its population leads to expect."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, swaps_of_lines
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Jackknife
from riskcli.risk.measure import RiskMeasure

Floats = NDArray[np.float64]


def zrisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'16, Eq. 6."""
    return comparison.crowd.zrisk(alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Mapping[str, Floats]:
    """Tested as ZRisk/c, a mean over topics; shown on ZRisk's own scale."""
    values = zrisk(comparison, alpha)
    return inference.population_columns("zrisk", alpha, values, scale=comparison.topics)


def contributions(comparison: Comparison, alpha: float) -> Floats:
    """z of each topic, 1 + alpha times where it is below 0."""
    z = comparison.crowd.z
    return np.where(z < 0, (1 + alpha) * z, z)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """The totals, and the sums of z above and below 0."""
    crowd = comparison.crowd
    return [
        ("S, the run's total", float(comparison.scores[row].sum())),
        (
            "N, the population's total",
            float(np.broadcast_to(crowd.grand_total, len(crowd.mean))[row]),
        ),
        ("sum of z above 0", float(crowd.above[row])),
        ("sum of z below 0", -float(crowd.below[row])),
        ("1 + α", 1 + alpha),
        ("ZRisk = above + (1 + α) below", float(crowd.zrisk(alpha)[row])),
    ]


def deviations(comparison: Comparison, alpha: float) -> Floats:
    """The jackknife's, on ZRisk's own scale."""
    return Jackknife(comparison).deviations("zrisk", alpha) * comparison.topics


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """Lines in alpha."""
    return swaps_of_lines(comparison.crowd.above, comparison.crowd.below, pairs, span)


MEASURE = RiskMeasure(
    id="zrisk",
    title="ZRisk",
    summary="standardised departures from the expected profile, shortfalls 1 + alpha times",
    formula="Σ_{z>0} z + (1 + α) Σ_{z<0} z, z_q = (x_q − e_q)/√e_q, e_q = S_i T_q / N",
    source="SIGIR'16, Eq. 5 and 6",
    reading=(
        "Higher is safer; 0 for a run proportional to its population. Says nothing of the level "
        "of effectiveness, and grows with the square root of the scale of the scores: a run at "
        "0.9 of another's scores can look less risky."
    ),
    place=3,
    values=zrisk,
    details=details,
    nonnegative=True,
    decimals=3,
    contributions=contributions,
    steps=steps,
    swaps=swaps,
    deviations=deviations,
)
