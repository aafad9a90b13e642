"""Where a single run turns as alpha grows: its break-even, and the edges of significance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats, Mask
from riskcli.core.special import stdtrit
from riskcli.risk.crossings import Span, bisected, points_between
from riskcli.risk.paired import LEAST_TOPICS, Moments
from riskcli.risk.rounding import AT_THE_EDGE

_FLAGS = {-1.0: "worse", 0.0: "", 1.0: "better"}


@dataclass(frozen=True)
class Turn:
    """A run that is `before` below alpha and `after` above it, where its value is `value`."""

    alpha: float
    kind: str
    run: int
    value: float
    before: str
    after: str


def break_evens(moments: Moments, span: Span, _gamma: float, rows: Sequence[int]) -> list[Turn]:
    """Where reward and (1 + alpha) risk are equal: alpha = Gain / Risk."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = moments.reward / moments.risk
    return [
        Turn(float(t[row] - 1), "break-even", row, 0.0, "positive", "negative")
        for row in rows
        if span.holds(t[row])
    ]


def significance(moments: Moments, span: Span, gamma: float, rows: Sequence[int]) -> list[Turn]:
    """Where TRisk passes the critical value of either sign: roots of a quadratic."""
    if moments.topics < LEAST_TOPICS:
        return []
    critical = float(stdtrit(moments.topics - 1, 1 - gamma / 2))
    turns = []
    for row in rows:
        quadratic = moments.squared_urisk[row] - critical**2 * moments.squared_error[row]
        roots = np.roots(quadratic[::-1]) if quadratic.any() else np.zeros(0)
        t = points_between(np.array([root.real for root in roots]), span)
        value = moments.trisk(t, np.full(len(t), row))
        clear = np.abs(np.abs(value) - critical) > AT_THE_EDGE * critical
        t, value = t[clear], value[clear]
        state = np.where(np.abs(value) > critical, np.sign(value), 0.0)
        for i in np.flatnonzero(state[1:] != state[:-1]):
            turns.append(_passing(moments, row, t[i : i + 2], state[i:], critical))
    return turns


def _passing(moments: Moments, row: int, ends: Floats, states: Floats, critical: float) -> Turn:
    """The passage between two values of t that lie in different states."""
    outside = states[0] != 0
    rows = np.array([row])

    def still(t: Floats) -> Mask:
        return np.asarray((np.abs(moments.trisk(t, rows)) > critical) == outside)

    t = float(bisected(still, ends[:1], ends[1:])[0])
    side = float(states[0] if outside else states[1])
    before, after = (_FLAGS[float(state)] for state in states[:2])
    return Turn(t - 1, "significance", row, side * critical, before, after)
