"""GeoRisk: mean effectiveness and ZRisk in one figure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, swaps_of_georisk
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Jackknife
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import zrisk

Floats = NDArray[np.float64]


def georisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'16, Eq. 7, with the square root (the printed root "c" is a slip of typesetting)."""
    return comparison.crowd.georisk(alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Mapping[str, Floats]:
    """Interval, difference to the baseline and its test."""
    values = georisk(comparison, alpha)
    return inference.population_columns("georisk", alpha, values, scale=1.0)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """Effectiveness, and ZRisk turned into a probability."""
    crowd = comparison.crowd
    zeta = float(crowd.zrisk(alpha)[row]) / comparison.topics
    return [
        *zrisk.steps(comparison, alpha, row),
        ("S / c, the mean score", float(crowd.mean[row])),
        ("Φ(ZRisk / c)", float(ndtr(zeta))),
        ("GeoRisk = √(S/c · Φ(ZRisk/c))", float(georisk(comparison, alpha)[row])),
    ]


def deviations(comparison: Comparison, alpha: float) -> Floats:
    """The jackknife's."""
    return Jackknife(comparison).deviations("georisk", alpha)


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """By halving intervals."""
    return swaps_of_georisk(comparison.crowd, pairs, span)


MEASURE = RiskMeasure(
    id="georisk",
    title="GeoRisk",
    summary="geometric mean of effectiveness and of ZRisk turned into a probability",
    formula="√( (S_i / c) · Φ(ZRisk_i / c) )",
    source="SIGIR'16, Eq. 7",
    reading="Higher is better: effective and close to, or above, the expected profile.",
    place=4,
    values=georisk,
    details=details,
    nonnegative=True,
    contributions=zrisk.contributions,
    steps=steps,
    swaps=swaps,
    deviations=deviations,
)
