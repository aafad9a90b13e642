"""TRisk: URisk as a t statistic, so that it can be tested."""

from __future__ import annotations

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, significance, swaps_of_trisk
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.measure import Claim, RiskMeasure
from riskcli.risk.measures import urisk
from riskcli.risk.paired import two_sided_p


def trisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'14, Eq. 10."""
    return comparison.paired.trisk(alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Estimate:
    """The two-sided p-value with c - 1 degrees of freedom."""
    values = trisk(comparison, alpha)
    p = two_sided_p(values, inference.degrees)
    return Estimate(values, p=comparison.off_baseline(p))


def claim(about: Claim) -> str:
    """No test of a difference, where losses count more than once."""
    words = "gains outweigh, or are outweighed by, losses"
    if not about.alphas:
        return f"{words}, weighted by the smooth loss (t); {_EQUAL_TOO}."
    times = " or ".join(f"×{1 + alpha:g}" for alpha in about.alphas)
    if max(about.alphas) == 0:
        return f"{words} (t)."
    when = "" if min(about.alphas) > 0 else "where losses weigh more than gains, "
    return f"{words} weighted {times} (t); {when}{_EQUAL_TOO}."


_EQUAL_TOO = "even two equal systems tend to get ▼"


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """URisk and what it is divided by."""
    return [
        *urisk.steps(comparison, alpha, row),
        ("SE(URisk) = s_w / √c", float(comparison.paired.urisk_se(alpha)[row])),
        ("TRisk = URisk / SE(URisk)", float(trisk(comparison, alpha)[row])),
    ]


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """Roots of a quartic."""
    return swaps_of_trisk(comparison.paired.moments, pairs, span)


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
    position=2,
    values=trisk,
    details=details,
    fields={
        "value": "TRisk: URisk over its standard error",
        "p": "p-value of TRisk: gains and (1 + alpha)-fold losses balance",
    },
    value_is_t=True,
    claim=claim,
    paired=True,
    contributions=urisk.contributions,
    steps=steps,
    swaps=swaps,
    turns=significance,
    decimals=2,
)
