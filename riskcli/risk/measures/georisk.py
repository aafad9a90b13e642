"""GeoRisk: mean effectiveness and ZRisk in one figure."""

from __future__ import annotations

from scipy.special import ndtr

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, swaps_of_georisk
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Jackknife, Statistic
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import zrisk
from riskcli.risk.population import Departures, georisk_slopes

STATISTIC = Statistic(
    Departures.georisk,
    lambda influence: (influence.georisk, influence.on_georisk),
    georisk_slopes,
)


def georisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'16, Eq. 7, with the square root (the printed root "c" is a slip of typesetting)."""
    return comparison.population.georisk(alpha)


def details(_comparison: Comparison, alpha: float, inference: Inference) -> Estimate:
    """Interval, difference to the baseline and its test."""
    return inference.of_statistic(STATISTIC, alpha)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """Effectiveness, and ZRisk turned into a probability."""
    population = comparison.population
    zeta = float(population.zrisk(alpha)[row]) / comparison.topics
    return [
        *zrisk.steps(comparison, alpha, row),
        ("S / c, the mean score", float(population.mean[row])),
        ("Φ(ZRisk / c)", float(ndtr(zeta))),
        ("GeoRisk = √(S/c · Φ(ZRisk/c))", float(georisk(comparison, alpha)[row])),
    ]


def deviations(comparison: Comparison, alpha: float) -> Floats:
    """The jackknife's."""
    return Jackknife(comparison).deviations(STATISTIC, alpha)


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """By halving intervals."""
    return swaps_of_georisk(comparison.population.departures, pairs, span)


MEASURE = RiskMeasure(
    id="georisk",
    title="GeoRisk",
    summary="geometric mean of effectiveness and of ZRisk turned into a probability",
    formula="√( (S_i / c) · Φ(ZRisk_i / c) )",
    source="SIGIR'16, Eq. 7",
    reading="Higher is better: effective and close to, or above, the expected profile.",
    position=4,
    values=georisk,
    details=details,
    fields={
        "value": "GeoRisk: mean effectiveness and ZRisk in one figure",
        "low": None,
        "high": None,
        "difference": None,
        "difference_low": None,
        "difference_high": None,
        "p": None,
        "rank_low": None,
        "rank_high": None,
    },
    headline=True,
    statistic=STATISTIC,
    claim=zrisk.claim,
    nonnegative=True,
    contributions=zrisk.contributions,
    steps=steps,
    swaps=swaps,
    deviations=deviations,
)
