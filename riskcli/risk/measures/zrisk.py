"""ZRisk: how far a run's profile over topics falls short of what its population leads to expect."""

from __future__ import annotations

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, swaps_of_lines
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Jackknife, Statistic
from riskcli.risk.measure import Claim, RiskMeasure
from riskcli.risk.population import Departures, shortfalls_weighted

STATISTIC = Statistic(
    Departures.zrisk,
    lambda influence: (influence.zeta, influence.on_zeta),
    lambda mean, zeta: (np.zeros_like(mean), np.ones_like(zeta)),
    per_topic=True,
)
"""Tested as ZRisk/c, a mean over topics; shown on ZRisk's own scale."""


def zrisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'16, Eq. 6."""
    return comparison.population.zrisk(alpha)


def details(_comparison: Comparison, alpha: float, inference: Inference) -> Estimate:
    """Interval, difference to the baseline and its test."""
    return inference.of_statistic(STATISTIC, alpha)


def claim(about: Claim) -> str:
    """The values differ, measured in the same matrix."""
    return f"they differ from those of {about.reference} ({about.test})."


def contributions(comparison: Comparison, alpha: float) -> Floats:
    """z of each topic, 1 + alpha times where it is below 0."""
    return shortfalls_weighted(comparison.population.z, alpha)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """The totals, and the sums of z above and below 0."""
    population, departures = comparison.population, comparison.population.departures
    return [
        ("S, the run's total", float(comparison.scores[row].sum())),
        (
            "N, the population's total",
            float(np.broadcast_to(population.grand_total, len(comparison.scores))[row]),
        ),
        ("sum of z above 0", float(departures.above[row])),
        ("sum of z below 0", -float(departures.below[row])),
        ("1 + α", 1 + alpha),
        ("ZRisk = above + (1 + α) below", float(population.zrisk(alpha)[row])),
    ]


def deviations(comparison: Comparison, alpha: float) -> Floats:
    """The jackknife's, on ZRisk's own scale."""
    return Jackknife(comparison).deviations(STATISTIC, alpha)


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """Lines in alpha."""
    departures = comparison.population.departures
    return swaps_of_lines(departures.above, departures.below, pairs, span)


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
    position=3,
    values=zrisk,
    details=details,
    fields={
        "value": "ZRisk: how far the profile exceeds or falls short of expectation",
        "low": None,
        "high": None,
        "difference": None,
        "difference_low": None,
        "difference_high": None,
        "p": None,
        "rank_low": None,
        "rank_high": None,
    },
    statistic=STATISTIC,
    claim=claim,
    nonnegative=True,
    decimals=3,
    contributions=contributions,
    steps=steps,
    swaps=swaps,
    deviations=deviations,
)
