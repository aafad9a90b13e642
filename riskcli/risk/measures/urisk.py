"""URisk = Reward − (1 + α) Risk: gains less losses against a baseline, by topic.

(1/c) [Σ_{δ>0} δ + (1 + α) Σ_{δ<0} δ], δ_q = x_q − b_q (SIGIR'12, Eq. 4; SIGIR'14, Eq. 4; SIGIR'16,
Eq. 1).
"""

import numpy as np

from riskcli.core.arrays import Counts, Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import break_evens, swaps_of_lines
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.measure import MeasureColumn, RiskMeasure
from riskcli.risk.weights import by_weight, weighed

_COUNTS = ("wins", "ties", "losses")


def urisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'14, Eq. 4."""
    return comparison.paired.moments.urisk(1 + alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Estimate:
    """Its parts: counts, reward and risk; and its interval."""
    paired = comparison.paired
    low, high = inference.urisk_interval(alpha)
    parts: dict[str, Floats | Counts] = {
        **{name: getattr(paired, name) for name in _COUNTS},
        "losses20": comparison.losses20,
        "reward": paired.reward,
        "risk": paired.risk,
        "urisk_se": paired.urisk_se(alpha),
        "reward_risk_ratio": _ratio(paired.reward, paired.risk),
        "win_loss_ratio": _ratio(paired.wins, paired.losses),
    }
    off_baseline = comparison.off_baseline
    return Estimate(
        urisk(comparison, alpha),
        low=off_baseline(low),
        high=off_baseline(high),
        extra={name: off_baseline(cells) for name, cells in parts.items()},
    )


def _ratio(over: Floats | Counts, under: Floats | Counts) -> Floats:
    """Over / under; infinite where only `under` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(over, under))


def contributions(comparison: Comparison, alpha: float) -> Floats:
    """w of each topic: its gain, or its loss 1 + alpha times."""
    return weighed(comparison.paired.weighted(alpha), comparison.weights)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """Reward and risk, and the weight of the latter."""
    paired, weights = comparison.paired, comparison.weights
    return [
        (by_weight("Reward, mean gain over all topics", weights), float(paired.reward[row])),
        (by_weight("Risk, mean loss over all topics", weights), float(paired.risk[row])),
        ("1 + α", 1 + alpha),
        ("URisk = Reward - (1 + α) Risk", float(urisk(comparison, alpha)[row])),
    ]


MEASURE = RiskMeasure(
    id="urisk",
    values=urisk,
    details=details,
    fields=("low", "high"),
    columns=(
        *(MeasureColumn(name, "count") for name in (*_COUNTS, "losses20")),
        MeasureColumn("reward", "number"),
        MeasureColumn("risk", "number"),
        MeasureColumn("urisk_se", "number", averages=False),
        MeasureColumn("reward_risk_ratio", "number"),
        MeasureColumn("win_loss_ratio", "number"),
    ),
    paired=True,
    contributions=contributions,
    steps=steps,
    swaps=lambda compared, pairs, span: swaps_of_lines(
        compared.paired.reward, compared.paired.risk, pairs, span
    ),
    turns=break_evens,
)
