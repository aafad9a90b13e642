"""Which topics a run's risk comes from: the exploratory analysis of SIGIR'14, section 5."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from riskcli.core.arrays import Flags, Floats, divided
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import flags
from riskcli.risk.measures import zrisk
from riskcli.risk.weights import leveraged, weighed


def exploratory(
    comparison: Comparison, alpha: float, gamma: float
) -> tuple[dict[str, NDArray[Any]], float]:
    """By run (row) and topic (column), and the critical value of TR and TJ.

    TR (Eq. 21) is w, times the topic's weight, over its standard deviation; TJ (Eq. 23) is how much
    the topic moves URisk, standardised: NaN where w is the same on all topics. The flag is `better`
    or `worse` where either lies beyond the critical value. `zrisk_part` is what the topic adds to
    ZRisk, its share that over the sum of all parts' sizes: NaN where a score is below 0.
    """
    topics = comparison.topics
    paired = comparison.paired
    w = paired.weighted(alpha)
    deviation = paired.urisk_se(alpha)[:, None] * np.sqrt(topics)
    tr, tj, critical = np.full_like(w, np.nan), np.full_like(w, np.nan), float("nan")
    if topics > 1:
        tr = divided(weighed(w, comparison.weights), deviation, otherwise=np.nan)
        # URisk - URisk without q is (w_q - URisk) / (c - 1), and SE_J is deviation / sqrt(c).
        moved = w - paired.urisk(alpha)[:, None]
        moved = leveraged(moved, comparison.weights) * np.sqrt(topics / (topics - 1))
        tj = divided(moved, deviation, otherwise=np.nan)
        critical = float(stdtrit(comparison.degrees, 1 - gamma / 2))
    baseline_scores = np.broadcast_to(comparison.baseline.scores, w.shape)
    expected, z, part, share = _in_population(comparison, alpha)
    found: dict[str, NDArray[Any]] = {
        "score": comparison.scores, "baseline_score": baseline_scores, "delta": paired.delta,
        "w": w, "tr": tr, "tj": tj, "flag": _flags(tr, tj, critical),
        "expected": expected, "z": z, "zrisk_part": part, "zrisk_share": share,
    }  # fmt: skip
    if comparison.weights is not None:
        found["weight"] = np.broadcast_to(comparison.weights, w.shape)
    return found, critical


def _flags(tr: Floats, tj: Floats, critical: float) -> Flags:
    """The side of TR, or of TJ where that alone is beyond the critical value."""
    # `flags` asks whether its second argument is below its third.
    by_tr, by_tj = (flags(t, -np.abs(t), -critical) for t in (tr, tj))
    return np.where(by_tr == "", by_tj, by_tr)


def _in_population(comparison: Comparison, alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Expected scores, z, parts of ZRisk and their shares."""
    if comparison.has_negative:
        undefined = np.full_like(comparison.scores, np.nan)
        return undefined, undefined, undefined, undefined
    part = zrisk.contributions(comparison, alpha)
    share = divided(part, np.abs(part).sum(axis=1, keepdims=True))
    return comparison.population.expected, comparison.population.z, part, share
