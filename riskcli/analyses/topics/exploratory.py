"""Which topics a run's risk comes from: the exploratory analysis of SIGIR'14, section 6."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Flags, Floats
from riskcli.core.special import stdtrit
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import flags
from riskcli.risk.measures import zrisk


@dataclass(frozen=True)
class TopicRisk:
    """By run (row) and topic (column). What a score below 0 leaves undefined is NaN."""

    w: Floats
    """The difference to the baseline as the loss counts it; its mean is URisk."""
    tr: Floats
    """w over its standard deviation (SIGIR'14, Eq. 21)."""
    tj: Floats
    """How much the topic moves URisk, standardised (SIGIR'14, Eq. 23)."""
    flag: Flags
    """`better` or `worse` where TR or TJ lies beyond the critical value."""
    expected: Floats
    z: Floats
    part: Floats
    """What the topic adds to ZRisk: z, counted 1 + alpha times below 0."""
    share: Floats
    """The part over the sum of all parts' sizes, with its sign."""
    critical: float


def exploratory(comparison: Comparison, alpha: float, gamma: float) -> TopicRisk:
    """Every run on every topic. TR and TJ are NaN where w is the same on all topics."""
    topics = comparison.topics
    paired = comparison.paired
    w = paired.weighted(alpha)
    deviation = paired.urisk_se(alpha)[:, None] * np.sqrt(topics)
    tr, tj = np.full_like(w, np.nan), np.full_like(w, np.nan)
    critical = float("nan")
    if topics > 1:
        varies = deviation > 0
        np.divide(w, deviation, out=tr, where=varies)
        # URisk - URisk without q is (w_q - URisk) / (c - 1), and SE_J is deviation / sqrt(c).
        moved = (w - paired.urisk(alpha)[:, None]) * np.sqrt(topics / (topics - 1))
        np.divide(moved, deviation, out=tj, where=varies)
        critical = float(stdtrit(topics - 1, 1 - gamma / 2))
    return TopicRisk(
        w, tr, tj, _flags(tr, tj, critical), *_in_population(comparison, alpha), critical
    )


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
    size = np.abs(part).sum(axis=1, keepdims=True)
    share: Floats = np.zeros_like(part)
    np.divide(part, size, out=share, where=size > 0)
    return comparison.population.expected, comparison.population.z, part, share
