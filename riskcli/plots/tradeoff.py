"""Gain against risk: SIGIR'12, Figure 2."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.output.display import shortened
from riskcli.plots.labels import LETTER, LINE, Frame, kinds_of, named_points, sized, texts
from riskcli.plots.request import Request
from riskcli.plots.style import RULE, values

_ALPHAS = (1.0, 5.0)
_DASHES = {"break even": [2, 3], "proportional reduction": [8, 3], "hull of the runs": [1, 0]}


def draw_tradeoff(request: Request) -> Any:
    """Runs as points, the baseline at the origin.

    Above a break-even line URisk is above 0. Above the proportional line a run has a better ratio
    of gain to risk than the run of the highest gain. The hull joins the runs that no mixture of
    others beats in both.
    """
    comparison, paired = request.comparison, request.comparison.paired
    risk, gain = paired.risk, paired.reward - paired.risk
    points = np.column_stack([risk, gain])
    width, height = sized(request)
    frame = Frame(_reach(risk), _reach(gain), width, height)
    alphas = request.options.alphas if request.ranged else _ALPHAS
    lines = [_clipped(a, frame, "break even", f"URisk = 0, α = {a:g}") for a in alphas]
    best_risk, best_gain = points[int(np.argmax(gain))].tolist()
    if best_risk > 0 and best_gain > 0:
        slope = best_gain / best_risk
        lines.append(_clipped(slope, frame, "proportional reduction", "proportional"))
    name = shortened(comparison.baseline.name)
    layers = named_points(
        request, request.matrix.runs, kinds_of(request, comparison.baseline.members), points, frame,
        f"risk: mean loss in {request.matrix.measure} to {name}", "gain: mean difference",
    )  # fmt: skip
    drawn = [_line_layer(lines, hull(points)), *_line_names(lines, frame), *layers]
    return alt.layer(*drawn).properties(width=width, height=height)


def _reach(values_: Floats) -> tuple[float, float]:
    low, high = min(0.0, float(values_.min())), max(0.0, float(values_.max()))
    room = 0.08 * (high - low or 1.0)
    return low - room, high + room


def _clipped(slope: float, frame: Frame, kind: str, label: str) -> dict[str, Any]:
    """From the origin to the edge of the frame."""
    end = min(frame.x[1], frame.y[1] / slope) if slope > 0 else frame.x[1]
    return {"kind": kind, "label": label, "x": end, "y": slope * end}


def hull(points: Floats) -> Floats:
    """The upper left hull of the points and the origin, by rising risk, up to the highest gain."""
    order = np.lexsort((-points[:, 1], points[:, 0]))
    kept: list[tuple[float, float]] = []
    for x, y in [(0.0, 0.0), *map(tuple, points[order].tolist())]:
        while len(kept) > 1 and _turns_left(kept[-2], kept[-1], (x, y)):
            kept.pop()
        kept.append((x, y))
    highest = int(np.argmax([y for _, y in kept]))
    return np.array(kept[: highest + 1])


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) >= 0


def _line_layer(lines: Sequence[dict[str, Any]], edge: Floats) -> Any:
    rows = [
        {"kind": line["kind"], "label": line["label"], "x": at[0], "y": at[1]}
        for line in lines
        for at in ((0.0, 0.0), (line["x"], line["y"]))
    ]
    if len(edge) > 1:
        label = "hull of the runs"
        rows += [{"kind": label, "label": label, "x": x, "y": y} for x, y in edge.tolist()]
    drawn = [kind for kind in _DASHES if any(row["kind"] == kind for row in rows)]
    legend = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=500)
    scale = alt.Scale(domain=drawn, range=[_DASHES[kind] for kind in drawn])
    dash = alt.StrokeDash("kind:N", scale=scale, legend=legend)
    mark = alt.Chart(values(rows)).mark_line(color=RULE, strokeWidth=1.2)
    return mark.encode(x="x:Q", y="y:Q", strokeDash=dash, detail="label:N", order="x:Q")


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
