"""ZRisk = Σ_{z>0} z + (1 + α) Σ_{z<0} z: how far a run's profile over topics falls short.

SIGIR'16, Eq. 5 and 6: z_q = (x_q − e_q)/√e_q, e_q = S_i T_q / N.
"""

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import swaps_of_lines
from riskcli.risk.jackknife import Statistic
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.population import shortfalls_weighted
from riskcli.risk.weights import by_weight, weighed

STATISTIC = Statistic(
    lambda _mean, zeta: zeta,
    lambda mean, zeta: (np.zeros_like(mean), np.ones_like(zeta)),
    per_topic=True,
)
"""Tested as ZRisk/c, a mean over topics; shown on ZRisk's own scale."""


def zrisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'16, Eq. 6."""
    return comparison.population.departures.zrisk(1 + alpha)


def contributions(comparison: Comparison, alpha: float) -> Floats:
    """z of each topic, 1 + alpha times where it is below 0."""
    weights = comparison.weights
    return weighed(shortfalls_weighted(comparison.population.z, alpha), weights)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """The totals, and the sums of z above and below 0."""
    population, departures = comparison.population, comparison.population.departures
    weights = comparison.weights
    total = weighed(comparison.scores[row], weights).sum()
    grand_totals = np.broadcast_to(population.grand_total, len(comparison.scores))
    return [
        (by_weight("S, the run's total", weights), float(total)),
        (by_weight("N, the population's total", weights), float(grand_totals[row])),
        (by_weight("sum of z above 0", weights), float(departures.above[row])),
        (by_weight("sum of z below 0", weights), -float(departures.below[row])),
        ("1 + α", 1 + alpha),
        ("ZRisk = above + (1 + α) below", float(zrisk(comparison, alpha)[row])),
    ]


MEASURE = RiskMeasure(
    id="zrisk",
    values=zrisk,
    statistic=STATISTIC,
    nonnegative=True,
    contributions=contributions,
    steps=steps,
    swaps=lambda compared, pairs, span: swaps_of_lines(
        compared.population.departures.above, compared.population.departures.below, pairs, span
    ),
)
