"""Gain against risk: SIGIR'12, Figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import LETTER, LINE, Frame, shortened
from riskcli.plots.request import Request
from riskcli.plots.scatter import kinds_of, named_points, sized, texts
from riskcli.plots.style import COLOURS, values

_ALPHAS = (1.0, 5.0)
_LINES = ("break even", "proportional reduction")


def draw(request: Request) -> Any:
    """Runs as points, the baseline at the origin.

    Above a break-even line URisk is above 0. Above the proportional line a run has a better ratio
    of gain to risk than the run of the highest gain.
    """
    comparison, paired = request.comparison, request.comparison.paired
    risk, gain = paired.risk, paired.reward - paired.risk
    points = np.column_stack([risk, gain])
    width, height = sized(request)
    frame = Frame(_reach(risk), _reach(gain), width, height)
    alphas = request.options.alphas if request.ranged else _ALPHAS
    lines = _break_even(alphas, frame) + _proportional(points, frame)
    name = shortened(comparison.baseline.name)
    layers = named_points(
        request, request.matrix.runs, kinds_of(request, comparison.baseline.members), points, frame,
        f"risk: mean loss in {request.matrix.measure} to {name}", "gain: mean difference",
    )  # fmt: skip
    drawn = [_line_layer(lines), *_line_names(lines, frame), *layers]
    return alt.layer(*drawn).properties(width=width, height=height)


def _reach(values_: Floats) -> tuple[float, float]:
    low, high = min(0.0, float(values_.min())), max(0.0, float(values_.max()))
    room = 0.08 * (high - low or 1.0)
    return low - room, high + room


def _break_even(alphas: Sequence[float], frame: Frame) -> list[dict[str, Any]]:
    """gain = alpha risk, where URisk is 0."""
    return [_clipped(alpha, frame, _LINES[0], f"URisk = 0, α = {alpha:g}") for alpha in alphas]


def _proportional(points: Floats, frame: Frame) -> list[dict[str, Any]]:
    best = points[int(np.argmax(points[:, 1]))]
    if best[0] <= 0 or best[1] <= 0:
        return []
    return [_clipped(float(best[1] / best[0]), frame, _LINES[1], "proportional")]


def _clipped(slope: float, frame: Frame, kind: str, label: str) -> dict[str, Any]:
    """From the origin to the edge of the frame."""
    end = min(frame.x[1], frame.y[1] / slope) if slope > 0 else frame.x[1]
    return {"kind": kind, "label": label, "x": end, "y": slope * end}


def _line_layer(lines: Sequence[dict[str, Any]]) -> Any:
    rows = [
        {"kind": line["kind"], "label": line["label"], "x": at[0], "y": at[1]}
        for line in lines
        for at in ((0.0, 0.0), (line["x"], line["y"]))
    ]
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=list(_LINES), range=[[2, 3], [8, 3]]),
                          legend=alt.Legend(title=None, orient="bottom"))  # fmt: skip
    mark = alt.Chart(values(rows)).mark_line(color=COLOURS[7], strokeWidth=1.4)
    return mark.encode(x="x:Q", y="y:Q", strokeDash=dash, detail="label:N")


def _line_names(lines: Sequence[dict[str, Any]], frame: Frame) -> list[Any]:
    """Where each line leaves the frame: beside its right edge, or above it, clear of the last."""
    at = frame.pixels(np.array([[line["x"], line["y"]] for line in lines]))
    rows: list[dict[str, Any]] = []
    for line, (right, high) in zip(lines, at.tolist(), strict=True):
        row = {"shown": line["label"], "px": right + 3, "py": frame.height - high - 7}
        while any(_meet(row, other) for other in rows):
            row["py"] -= LINE
        rows.append(row)
    return texts(rows)


def _meet(one: dict[str, Any], other: dict[str, Any]) -> bool:
    wide = LETTER * max(len(one["shown"]), len(other["shown"]))
    return bool(abs(one["px"] - other["px"]) < wide and abs(one["py"] - other["py"]) < LINE)
