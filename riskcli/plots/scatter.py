"""Points that bear names: shared by the figures in which a run is a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Note, counted, listed
from riskcli.plots.labels import Frame, Placed, beside, shortened
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, RULE, values

_MANY = 20
_SHORTER = 0.9
"""A leader ends a little before its name."""
KINDS: Mapping[str, tuple[str, str]] = {
    "run": ("circle", COLOURS[0]),
    "brought out": ("square", COLOURS[3]),
    "baseline": ("diamond", COLOURS[1]),
    "virtual": ("triangle-up", COLOURS[2]),
}
"""Shape and colour of each kind of point."""


def named_points(
    request: Request,
    names: Sequence[str],
    kinds: Sequence[str],
    points: Floats,
    frame: Frame,
    x_title: str,
    y_title: str,
) -> list[Any]:
    """The points as marks, with as many names as find room; the rest is counted in a note."""
    rows = [
        {"name": name, "kind": kind, "x": float(at[0]), "y": float(at[1])}
        for name, kind, at in zip(names, kinds, points, strict=True)
    ]
    axis = alt.Axis(tickCount=7)
    used = [kind for kind in KINDS if kind in kinds]
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(domain=list(frame.x), nice=False), axis=axis)
    y = alt.Y("y:Q", title=y_title, scale=alt.Scale(domain=list(frame.y), nice=False), axis=axis)
    shape = alt.Shape(
        "kind:N",
        scale=alt.Scale(domain=used, range=[KINDS[kind][0] for kind in used]),
        legend=alt.Legend(title=None, orient="bottom") if len(used) > 1 else None,
    )
    colour = alt.Color(
        "kind:N", scale=alt.Scale(domain=used, range=[KINDS[kind][1] for kind in used])
    )
    marks = alt.Chart(values(rows)).mark_point(filled=True, size=48, opacity=0.9)
    layers: list[Any] = [
        marks.encode(x=x, y=y, shape=shape, color=colour, tooltip=["name:N", "x:Q", "y:Q"])
    ]
    return layers + _label_layers(request, names, kinds, points, frame)


def _label_layers(
    request: Request, names: Sequence[str], kinds: Sequence[str], points: Floats, frame: Frame
) -> list[Any]:
    """What is not an ordinary run is named first."""
    order = sorted(range(len(names)), key=lambda i: (kinds[i] == "run", i))
    shown = [shortened(names[i], 22) for i in order]
    placed = beside(shown, points[order], frame, sum(kind != "run" for kind in kinds))
    if len(placed) < len(names):
        named = {one.point for one in placed}
        missing = [shown[i] for i in range(len(names)) if i not in named]
        note = (
            f"{counted(len(missing), 'point')} without a name, for want of room: "
            f"{listed(missing)}; --width and --height give more"
        )
        request.notes.append(Note("unnamed-points", note, False))
    layers = _leaders([one for one in placed if one.far], points[order], frame)
    for align in ("left", "right", "center"):
        rows = [
            _label_row(one, shown, points[order], frame) for one in placed if one.align == align
        ]
        if rows:
            layers += texts(rows, align)
    return layers


def _leaders(placed: Sequence[Placed], points: Floats, frame: Frame) -> list[Any]:
    """A thin line from each point to its name, where that stands away from it."""
    if not placed:
        return []
    at = frame.pixels(points)
    rows = [
        {"x": float(at[one.point, 0]), "y": frame.height - float(at[one.point, 1]),
         "x2": float(at[one.point, 0]) + one.dx * _SHORTER,
         "y2": frame.height - float(at[one.point, 1]) + one.dy * _SHORTER}
        for one in placed
    ]  # fmt: skip
    mark = alt.Chart(values(rows)).mark_rule(color=RULE, strokeWidth=0.7)
    x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
    return [mark.encode(x=x, y=y, x2="x2:Q", y2="y2:Q")]


def texts(rows: Sequence[dict[str, Any]], align: str = "left") -> list[Any]:
    """Words at places in pixels, on a margin of white that parts them from lines below."""
    index = {
        "x": alt.X("px:Q", scale=None, axis=None),
        "y": alt.Y("py:Q", scale=None, axis=None),
        "text": "shown:N",
    }
    chart = alt.Chart(values(rows))
    kind = {"align": align, "baseline": "middle", "fontSize": 10.5}
    return [
        chart.mark_text(**kind, stroke="white", strokeWidth=3, strokeJoin="round").encode(**index),
        chart.mark_text(**kind, color="#111111").encode(**index),
    ]


def _label_row(
    placed: Placed, shown: Sequence[str], points: Floats, frame: Frame
) -> dict[str, Any]:
    at = frame.pixels(points[placed.point][None, :])[0]
    return {
        "shown": shown[placed.point],
        "px": float(at[0] + placed.dx),
        "py": float(frame.height - at[1] + placed.dy),
    }


def kinds_of(request: Request, members: Sequence[int]) -> list[str]:
    """What each run of the matrix is in the figure."""
    chosen = set(request.chosen(len(request.matrix.runs))) if request.runs else set()
    return [
        "baseline" if row in members else "brought out" if row in chosen else "run"
        for row in range(len(request.matrix.runs))
    ]


def sized(request: Request) -> tuple[int, int]:
    """Width and height: larger where there are many runs to name."""
    return request.panel(760, 560) if len(request.matrix.runs) > _MANY else request.panel(520, 390)


def same_scale(points: Floats, width: float, height: float) -> Frame:
    """A frame in which a unit is as long across as upwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, span = (low + high) / 2, np.maximum(high - low, 1e-9) * 1.16
    unit = max(span[0] / width, span[1] / height)
    reach = np.array([width, height]) * unit / 2
    (left, bottom), (right, top) = middle - reach, middle + reach
    return Frame((float(left), float(right)), (float(bottom), float(top)), width, height)
