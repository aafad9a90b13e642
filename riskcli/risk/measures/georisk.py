"""GeoRisk = √( (S_i / c) · Φ(ZRisk_i / c) ): mean effectiveness and ZRisk in one figure.

SIGIR'16, Eq. 7, with the square root (the printed root "c" is a slip of typesetting).
"""

from scipy.special import ndtr

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import swaps_of_georisk
from riskcli.risk.jackknife import Statistic
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import zrisk
from riskcli.risk.population import georisk_of, georisk_slopes

STATISTIC = Statistic(georisk_of, georisk_slopes)


def georisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'16, Eq. 7."""
    return comparison.population.departures.georisk(1 + alpha)


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


MEASURE = RiskMeasure(
    id="georisk",
    values=georisk,
    statistic=STATISTIC,
    nonnegative=True,
    contributions=zrisk.contributions,
    as_printed=lambda mean, zeta: -georisk_of(mean, -zeta),  # Eq. 8 to the letter
    steps=steps,
    swaps=lambda compared, pairs, span: swaps_of_georisk(
        compared.population.departures, pairs, span
    ),
)
