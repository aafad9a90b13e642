"""URisk: gains less losses against a baseline, losses counted 1 + alpha times."""

from __future__ import annotations

import numpy as np

from riskcli.core.arrays import Counts, Floats
from riskcli.risk.columns import Column
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, break_evens, swaps_of_lines
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.measure import RiskMeasure


def urisk(comparison: Comparison, alpha: float) -> Floats:
    """SIGIR'14, Eq. 4."""
    return comparison.paired.urisk(alpha)


def details(comparison: Comparison, alpha: float, inference: Inference) -> Estimate:
    """Its parts: counts, reward and risk; and its interval."""
    paired = comparison.paired
    values, error = paired.urisk(alpha), paired.urisk_se(alpha)
    low, high = inference.urisk_interval(alpha)
    parts: dict[str, Floats | Counts] = {
        "low": low,
        "high": high,
        "wins": paired.wins,
        "ties": paired.ties,
        "losses": paired.losses,
        "losses20": paired.losses20,
        "reward": paired.reward,
        "risk": paired.risk,
        "urisk_se": error,
        "reward_risk_ratio": _ratio(paired.reward, paired.risk),
        "win_loss_ratio": _ratio(paired.wins, paired.losses),
    }
    shown = dict(zip(parts, comparison.off_baseline(np.array(list(parts.values()))), strict=True))
    return Estimate(values, low=shown.pop("low"), high=shown.pop("high"), extra=shown)


def _ratio(over: Floats | Counts, under: Floats | Counts) -> Floats:
    """Over / under; infinite where only `under` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(over, under))


def contributions(comparison: Comparison, alpha: float) -> Floats:
    """w of each topic: its gain, or its loss 1 + alpha times."""
    return comparison.paired.weighted(alpha)


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
    position=1,
    values=urisk,
    details=details,
    fields={
        "value": "URisk: reward less (1 + alpha) risk",
        "low": "lower end of URisk's confidence interval; at alpha 5 it can hold the truth in as "
        "few as 81 % of samples of 25 topics, and in 70 % where the losses are one topic's",
        "high": "upper end of URisk's confidence interval",
    },
    columns=(
        Column("wins", "count", "topics on which the run exceeds the baseline"),
        Column("ties", "count", "topics on which the two are equal"),
        Column("losses", "count", "topics on which the run falls below the baseline"),
        Column("losses20", "count", "topics that lose more than 20 % of the baseline's score"),
        Column("reward", "number", "mean gain over the baseline, losses counted 0"),
        Column("risk", "number", "mean loss to the baseline, gains counted 0"),
        Column("urisk_se", "number", "standard error of URisk", averages=False),
        Column("reward_risk_ratio", "number", "reward over risk; empty where risk is 0"),
        Column("win_loss_ratio", "number", "wins over losses; empty where losses is 0"),
    ),
    paired=True,
    contributions=contributions,
    steps=steps,
    swaps=swaps,
    turns=break_evens,
)
