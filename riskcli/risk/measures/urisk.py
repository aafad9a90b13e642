"""URisk: gains less losses against a baseline, losses counted 1 + alpha times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, swaps_of_lines
from riskcli.risk.inference import Inference
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.turns import break_evens

Floats = NDArray[np.float64]


def urisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'14, Eq. 4."""
    return comparison.weighed.urisk(alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Mapping[str, Floats]:
    """Its parts: counts, reward and risk; and its t interval."""
    paired = comparison.paired
    values, error = comparison.weighed.urisk(alpha), comparison.weighed.urisk_se(alpha)
    margin = inference.critical * error
    found: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {
        "wins": paired.wins,
        "ties": paired.ties,
        "losses": paired.losses,
        "losses20": paired.losses20,
        "reward": paired.reward,
        "risk": paired.risk,
        "urisk_lo": values - margin,
        "urisk_hi": values + margin,
        "urisk_se": error,
        "reward_risk_ratio": _ratio(paired.reward, paired.risk),
        "win_loss_ratio": _ratio(paired.wins, paired.losses),
    }
    return {name: comparison.off_baseline(column) for name, column in found.items()}


def _ratio(over: Floats | NDArray[np.int64], under: Floats | NDArray[np.int64]) -> Floats:
    """Over / under; infinite where only `under` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(over, under))


def contributions(comparison: Comparison, alpha: float) -> Floats:
    """w of each topic: its gain, or its loss 1 + alpha times."""
    return comparison.weighed.weighted(alpha)


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """Reward and risk, and the weight of the latter."""
    paired = comparison.paired
    return [
        ("Reward, mean gain over all topics", float(paired.reward[row])),
        ("Risk, mean loss over all topics", float(paired.risk[row])),
        ("1 + α", 1 + alpha),
        ("URisk = Reward - (1 + α) Risk", float(paired.urisk(alpha)[row])),
    ]


def swaps(comparison: Comparison, pairs: Pairs, span: Span) -> Swaps:
    """Lines in alpha."""
    return swaps_of_lines(comparison.paired.reward, comparison.paired.risk, pairs, span)


MEASURE = RiskMeasure(
    id="urisk",
    title="URisk",
    summary="reward less (1 + alpha) times risk, against the baseline",
    formula="(1/c) [Σ_{δ>0} δ + (1 + α) Σ_{δ<0} δ], δ_q = x_q − b_q",
    source="SIGIR'12, Eq. 4; SIGIR'14, Eq. 4; SIGIR'16, Eq. 1",
    reading=(
        "Above 0: the gains outweigh the losses, each counted 1 + α times. "
        "On the scale of the effectiveness measure; falls linearly with α."
    ),
    place=1,
    values=urisk,
    details=details,
    paired=True,
    contributions=contributions,
    steps=steps,
    swaps=swaps,
    turns=break_evens,
)
