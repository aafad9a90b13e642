"""TRisk: URisk as a t statistic, so that it can be tested."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, swaps_of_trisk
from riskcli.risk.inference import Inference
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import urisk
from riskcli.risk.paired import two_sided_p
from riskcli.risk.turns import significance

Floats = NDArray[np.float64]


def trisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'14, Eq. 10."""
    return comparison.weighed.trisk(alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Mapping[str, Floats]:
    """The two-sided p-value with c - 1 degrees of freedom."""
    p = two_sided_p(trisk(comparison, alpha), inference.degrees)
    return {"trisk_p": comparison.off_baseline(p)}


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """URisk and what it is divided by."""
    return [
        *urisk.steps(comparison, alpha, row),
        ("SE(URisk) = s_w / √c", float(comparison.weighed.urisk_se(alpha)[row])),
        ("TRisk = URisk / SE(URisk)", float(trisk(comparison, alpha)[row])),
    ]


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """Roots of a quartic."""
    return swaps_of_trisk(comparison.paired, pairs, span)


MEASURE = RiskMeasure(
    id="trisk",
    title="TRisk",
    summary="URisk over its standard error, Student's t with c - 1 degrees of freedom",
    formula="URisk / (s_w / √c), w_q = δ_q or (1 + α) δ_q where δ_q < 0",
    source="SIGIR'14, Eq. 10 and 12; SIGIR'16, Eq. 2",
    reading=(
        "Far above 0: gains outweigh losses, each counted 1 + α times; far below 0: they are "
        "outweighed. For α > 0 two equal systems have a negative TRisk: it does not say that "
        "they differ."
    ),
    place=2,
    values=trisk,
    details=details,
    paired=True,
    contributions=urisk.contributions,
    steps=steps,
    swaps=swaps,
    turns=significance,
    decimals=2,
)
