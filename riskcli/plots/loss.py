"""What a difference counts for (ECIR'20, Figure 2): the linear loss beside the smooth one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.lines import run_lines
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, RULE, rule_at, values
from riskcli.risk.losses import PUBLISHED, fences


def draw(request: Request) -> Any:
    """l(x) and s(x), published or fitted; crosses at the points that s is fitted to."""
    comparison, alpha = request.comparison, request.alpha
    cubic = comparison.smooth or PUBLISHED
    x = np.linspace(-1, 1, 201)
    curves: dict[str, Callable[[Floats], Floats]] = {
        f"linear, 1 + α = {1 + alpha:g}": lambda d: np.where(d < 0, (1 + alpha) * d, d),
        "smooth": cubic,
    }
    names = list(curves)
    rows = [
        {"run": name, "x": float(a), "y": float(b)}
        for name, curve in curves.items()
        for a, b in zip(x, curve(x), strict=True)
    ]
    axes = (
        alt.X("x:Q", title="difference of scores", scale=alt.Scale(domain=[-1, 1], nice=False)),
        alt.Y("y:Q", title="what it counts for"),
    )
    layers = [rule_at(0.0, "x"), rule_at(0.0, "y"), *run_lines([], rows, names, *axes)]
    layers += [_crosses(request, axes), _names(curves, axes)]
    width, height = request.panel(420, 320)
    return alt.layer(*layers).properties(width=width, height=height)


def _crosses(request: Request, axes: tuple[Any, Any]) -> Any:
    """The five points: the ends, 0, and the fences (published, or of the differences at hand)."""
    low, high = (-0.241, 0.292)
    if request.options.loss == "smooth:fit":
        comparison = request.comparison
        own, delta = comparison.baseline.own_row, comparison.paired.delta
        low, high = fences(delta if own is None else np.delete(delta, own, axis=0))
    points = [(-1.0, -2.0), (low, -0.05), (0.0, 0.0), (high, 0.05), (1.0, 1.0)]
    rows = [{"x": x, "y": y} for x, y in points]
    mark = alt.Chart(values(rows)).mark_point(
        shape="cross", angle=45, size=90, color=RULE, filled=True
    )
    return mark.encode(x=axes[0], y=axes[1])


def _names(curves: dict[str, Callable[[Floats], Floats]], axes: tuple[Any, Any]) -> Any:
    """Each name beside its curve, where the two are far apart."""
    at = np.array([-0.8, -0.62])
    heights = [float(curve(at)[index]) for index, curve in enumerate(curves.values())]
    rows = [
        {"shown": name, "x": float(x), "y": y, "align": side, "colour": colour}
        for name, x, y, side, colour in zip(
            curves, at, heights, ("left", "right"), COLOURS, strict=False
        )
    ]
    layers = [
        alt.Chart(values([row]))
        .mark_text(align=row["align"], dx=9 if row["align"] == "left" else -9,
                   dy=9 if row["align"] == "left" else -5, fontSize=11, fontWeight="bold",
                   color=row["colour"])
        .encode(x=axes[0], y=axes[1], text="shown:N")
        for row in rows
    ]  # fmt: skip
    return alt.layer(*layers)
