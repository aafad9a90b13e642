"""Where a single run turns as alpha grows: its break-even, and the edges of significance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from riskcli.risk.crossings import Span, TRiskCurves, bisected, points_between
from riskcli.risk.paired import Paired

Floats = NDArray[np.float64]

_NEAR = 1e-9
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


def break_evens(paired: Paired, span: Span, _gamma: float, rows: Sequence[int]) -> list[Turn]:
    """Where reward and (1 + alpha) risk are equal: alpha = Gain / Risk."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = paired.reward / paired.risk
    return [
        Turn(float(t[row] - 1), "break-even", row, 0.0, "positive", "negative")
        for row in rows
        if span.holds(t[row])
    ]


def significance(paired: Paired, span: Span, gamma: float, rows: Sequence[int]) -> list[Turn]:
    """Where TRisk passes the critical value of either sign: roots of a quadratic."""
    if paired.topics < 2:
        return []
    curves = TRiskCurves(paired)
    critical = float(stdtrit(paired.topics - 1, 1 - gamma / 2))
    found = []
    for row in rows:
        quadratic = curves.numerator[row] - critical**2 * curves.variance[row]
        roots = np.roots(quadratic[::-1]) if quadratic.any() else np.zeros(0)
        t = points_between(np.array([root.real for root in roots]), span)
        value = curves.at(np.full(len(t), row), t)
        clear = np.abs(np.abs(value) - critical) > _NEAR * critical
        t, value = t[clear], value[clear]
        state = np.where(np.abs(value) > critical, np.sign(value), 0.0)
        for place in np.flatnonzero(state[1:] != state[:-1]):
            found.append(_passing(curves, row, t[place : place + 2], state[place:], critical))
    return found


def _passing(curves: TRiskCurves, row: int, ends: Floats, states: Floats, critical: float) -> Turn:
    """The passage between two values of t that lie in different states."""
    outside = states[0] != 0
    rows = np.array([row])

    def still(t: Floats) -> NDArray[np.bool_]:
        return np.asarray((np.abs(curves.at(rows, t)) > critical) == outside)

    t = float(bisected(still, ends[:1], ends[1:])[0])
    side = float(states[0] if outside else states[1])
    before, after = (_FLAGS[float(state)] for state in states[:2])
    return Turn(t - 1, "significance", row, side * critical, before, after)
