"""Differences to the baseline, one box per run: ECIR'20, Figure 1."""

from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, RULE, values
from riskcli.risk.losses import fences

ALL = "all runs"
_MOST = 50


def draw_box(request: Request) -> Any:
    """Quartiles and median; whiskers to the last value within 1.5 quartile ranges; mean."""
    comparison, matrix = request.comparison, request.matrix
    own = comparison.baseline.own_row
    delta = comparison.paired.delta
    rows = request.chosen(_MOST, without=own)
    everyone = np.delete(delta, own, axis=0) if own is not None else delta
    boxes = [summary(ALL, everyone.ravel())] + [
        summary(shortened(matrix.runs[row], 30), delta[row])
        for row in sorted(rows, key=lambda row: -float(delta[row].mean()))
    ]
    order = [box["run"] for box in boxes]
    outliers = [
        {"run": box["run"], "value": value} for box in boxes for value in box.pop("outliers")
    ]
    y = alt.Y("run:N", sort=order, title=None)
    name = f"difference in {matrix.measure} to {shortened(comparison.baseline.name)}"
    whole = alt.Chart(values(boxes))
    colour = alt.condition(alt.datum.run == ALL, alt.value("#e3d5bf"), alt.value("#bcd9ee"))
    layers = [
        alt.Chart(values([{}])).mark_rule(color=RULE, strokeDash=[4, 3]).encode(x=alt.datum(0)),
        whole.mark_rule(color="#333333").encode(x=alt.X("low:Q", title=name), x2="high:Q", y=y),
        whole.mark_bar(size=9, stroke="#333333", strokeWidth=0.8).encode(
            x="first:Q", x2="third:Q", y=y, color=colour
        ),
        whole.mark_tick(color="#111111", thickness=2, size=9).encode(x="median:Q", y=y),
        alt.Chart(values(outliers))
        .mark_point(size=9, color="#555555", strokeWidth=0.8, opacity=0.7)
        .encode(x="value:Q", y=y),
        whole.mark_point(
            shape="diamond", filled=True, fill=COLOURS[1], stroke="white", strokeWidth=0.7,
            size=42, opacity=1,
        ).encode(x="mean:Q", y=y),
    ]  # fmt: skip
    if not outliers:
        del layers[4]
    size = {"height": request.height} if request.height else {"height": alt.Step(16)}
    return alt.layer(*layers).properties(width=request.panel(460, 0)[0], **size)


def summary(name: str, delta: Floats) -> dict[str, Any]:
    """What a box shows."""
    first, median, third = (float(x) for x in np.quantile(delta, [0.25, 0.5, 0.75]))
    low, high = fences(delta)
    within = delta[(delta >= low) & (delta <= high)]
    outside = delta[(delta < low) | (delta > high)]
    return {
        "run": name, "low": float(within.min()), "high": float(within.max()),
        "first": first, "third": third, "median": median, "mean": float(delta.mean()),
        "outliers": np.unique(outside).tolist(),
    }  # fmt: skip
