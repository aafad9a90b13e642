"""TRisk = URisk / (s_w / √c): URisk as a t statistic, so that it can be tested.

SIGIR'14, Eq. 10 and 12; SIGIR'16, Eq. 2. w_q = δ_q, or (1 + α) δ_q where δ_q < 0.
"""

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import significance, swaps_of_trisk
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import urisk
from riskcli.risk.paired import two_sided_p


def trisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'14, Eq. 10."""
    return comparison.paired.moments.trisk(1 + alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Estimate:
    """The two-sided p-value with c - 1 degrees of freedom."""
    values = trisk(comparison, alpha)
    return Estimate(values, p=comparison.off_baseline(two_sided_p(values, inference.degrees)))


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """URisk and what it is divided by."""
    return [
        *urisk.steps(comparison, alpha, row),
        ("SE(URisk) = s_w / √c", float(comparison.paired.urisk_se(alpha)[row])),
        ("TRisk = URisk / SE(URisk)", float(trisk(comparison, alpha)[row])),
    ]


MEASURE = RiskMeasure(
    id="trisk",
    values=trisk,
    details=details,
    fields=("p",),
    value_is_t=True,
    paired=True,
    contributions=urisk.contributions,
    steps=steps,
    swaps=lambda compared, pairs, span: swaps_of_trisk(compared.paired.moments, pairs, span),
    turns=significance,
)
