"""Figures in which a run is a point that bears its name, placed so that none covers another.

Gain against risk (SIGIR'12, Figure 2), and the axes on which runs differ most (ECIR'14, Figures 1
and 2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt
import numpy as np

import riskcli.plots.style as style
from riskcli.analyses.baseline_bias import VIRTUAL_BASELINES, principal_components
from riskcli.core.arrays import Floats
from riskcli.core.messages import Note, UsageError, counted, listed
from riskcli.output.display import shortened
from riskcli.plots.request import Request
from riskcli.risk.comparison import VIRTUAL

LETTER = 6.1
_GAP = 6.0
_DOT = 4.0
_FEW = 40


Box: TypeAlias = tuple[float, float, float, float]
"""Left, low, right, high, in pixels from the lower left."""


@dataclass(frozen=True)
class Placed:
    """One label: which point's, how far from it in pixels, and how it is aligned."""

    point: int
    dx: float
    dy: float
    align: str
    far: bool = False
    """Whether it needs a line to its point."""


def beside(
    names: Sequence[str], points: Floats, frame: style.Frame, foremost: int = 0
) -> list[Placed]:
    """A place for each name, the first that is free, beside its point or as near as there is room.

    A name for which there is none is left out. Away from their points stand only the `foremost`
    names, and the others where points are few: many leaders are harder to read than none. Points
    come in order of importance.
    """
    at = frame.pixels(points)
    boxes: list[Box] = []
    found = []
    for index, name in enumerate(names):
        wide = LETTER * len(name)
        led = index < foremost or len(names) <= _FEW
        for far, clear, (dx, dy, align) in _OFFERS if led else _OFFERS[: len(_NEAR)]:
            left = at[index, 0] + dx - {"left": 0, "center": wide / 2, "right": wide}[align]
            low, high = (at[index, 1] + dy + half for half in (-style.LINE / 2, style.LINE / 2))
            box = (left, low, left + wide, high)
            if _free(box, boxes, at, index, frame) and (
                not clear or _leads_clear(at, index, (dx, dy), boxes)
            ):
                boxes.append(box)
                found.append(Placed(index, dx, -dy, align, far))
                break
    return found


_NEAR = (
    (_GAP, 0.0, "left"), (-_GAP, 0.0, "right"), (0.0, 11.0, "center"), (0.0, -11.0, "center"),
    (_GAP, 9.0, "left"), (_GAP, -9.0, "left"), (-_GAP, 9.0, "right"), (-_GAP, -9.0, "right"),
)  # fmt: skip
_FAR = tuple(
    (float(reach * np.cos(turn)), float(reach * np.sin(turn)),
     "left" if np.cos(turn) >= 0 else "right")
    for reach in (20, 32, 46, 64, 84, 110)
    for turn in np.arange(24) * np.pi / 12
)  # fmt: skip
_OFFERS = (
    *((False, False, near) for near in _NEAR),
    *((True, True, far) for far in _FAR),
    *((True, False, far) for far in _FAR),
)
"""Whether the name needs a line, whether that may pass no other point and name, and where it is."""


def _leads_clear(points: Floats, own: int, way: tuple[float, float], boxes: Sequence[Box]) -> bool:
    """Whether a line from the point that way passes no other point and no name."""
    along = points[own] + np.linspace(0.1, 0.95, 12)[:, None] * np.array(way)
    others = np.delete(points, own, axis=0)
    apart = np.hypot(*(along[:, None, :] - others[None, :, :]).transpose(2, 0, 1))
    if len(others) and apart.min() < _DOT:
        return False
    x, y = along.T
    return not any(
        ((x > left) & (x < right) & (y > low) & (y < high)).any()
        for left, low, right, high in boxes
    )


def _free(box: Box, boxes: Sequence[Box], points: Floats, own: int, frame: style.Frame) -> bool:
    left, low, right, high = box
    if left < 0 or right > frame.width or low < 0 or high > frame.height:
        return False
    if any(left < r and l < right and low < h and b < high for l, b, r, h in boxes):  # noqa: E741
        return False
    x, y = points[:, 0], points[:, 1]
    covered = (x > left - _DOT) & (x < right + _DOT) & (y > low - _DOT) & (y < high + _DOT)
    covered[own] = False
    return not covered.any()


_MANY = 20
_SHORTER = 0.9
"""A leader ends a little before its name."""
POINTS: Mapping[str, tuple[str, str]] = {
    "run": ("circle", style.COLOURS[0]),
    "brought out": ("square", style.COLOURS[3]),
    "baseline": ("diamond", style.COLOURS[1]),
    "virtual": ("triangle-up", style.COLOURS[2]),
}
"""Shape and colour of each kind of point."""


def named_points(
    request: Request,
    names: Sequence[str],
    kinds: Sequence[str],
    points: Floats,
    frame: style.Frame,
    x_title: str,
    y_title: str,
) -> list[Any]:
    """The points as marks, with as many names as find room; the rest is counted in a note."""
    rows = [
        {"name": name, "kind": kind, "x": float(at[0]), "y": float(at[1])}
        for name, kind, at in zip(names, kinds, points, strict=True)
    ]
    axis = alt.Axis(tickCount=7)
    used = [kind for kind in POINTS if kind in kinds]
    x = style.on_scale(alt.X, "x", x_title, frame.x, axis=axis)
    y = style.on_scale(alt.Y, "y", y_title, frame.y, axis=axis)
    shapes, shades = ([POINTS[kind][i] for kind in used] for i in (0, 1))
    legend = alt.Legend(title=None, orient="bottom") if len(used) > 1 else None
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=used, range=shapes), legend=legend)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=used, range=shades))
    marks = style.chart(rows).mark_point(filled=True, size=48, opacity=0.9)
    drawn = marks.encode(x=x, y=y, shape=shape, color=colour, tooltip=["name:N", "x:Q", "y:Q"])
    return [drawn, *_label_layers(request, names, kinds, points, frame)]


def _label_layers(
    request: Request, names: Sequence[str], kinds: Sequence[str], points: Floats, frame: style.Frame
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
    at = frame.pixels(points[order]) * [1, -1] + [0, frame.height]
    layers = _point_leaders([one for one in placed if one.far], at)
    for align in ("left", "right", "center"):
        rows = [
            {"shown": shown[one.point], "px": float(at[one.point, 0] + one.dx),
             "py": float(at[one.point, 1] + one.dy)}
            for one in placed if one.align == align
        ]  # fmt: skip
        layers += texts(rows, align) if rows else []
    return layers


def _point_leaders(placed: Sequence[Placed], at: Floats) -> list[Any]:
    """A thin line from each point to its name, where that stands away from it."""
    rows = [
        {"x": float(x), "y": float(y), "x2": float(x) + one.dx * _SHORTER,
         "y2": float(y) + one.dy * _SHORTER}
        for one in placed for x, y in [at[one.point]]
    ]  # fmt: skip
    mark = style.chart(rows).mark_rule(color=style.RULE, strokeWidth=0.7)
    x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
    return [mark.encode(x=x, y=y, x2="x2:Q", y2="y2:Q")] if rows else []


def texts(rows: Sequence[dict[str, Any]], align: str = "left") -> list[Any]:
    """Words at places in pixels."""
    place = {
        "x": alt.X("px:Q", scale=None, axis=None),
        "y": alt.Y("py:Q", scale=None, axis=None),
        "text": "shown:N",
    }
    return style.words_at(rows, place, align=align, baseline="middle")


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


def same_scale(points: Floats, width: float, height: float) -> style.Frame:
    """A frame in which a unit is as long across as upwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, span = (low + high) / 2, np.maximum(high - low, 1e-9) * 1.16
    unit = max(span[0] / width, span[1] / height)
    reach = np.array([width, height]) * unit / 2
    (left, bottom), (right, top) = middle - reach, middle + reach
    return style.Frame((float(left), float(right)), (float(bottom), float(top)), width, height)


# Gain against risk: SIGIR'12, Figure 2.


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
    ends = request.ends_of("x", _reach(risk)), request.ends_of("y", _reach(gain))
    frame = style.Frame(*ends, width, height)
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


def _clipped(slope: float, frame: style.Frame, kind: str, label: str) -> dict[str, Any]:
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
    mark = style.chart(rows).mark_line(color=style.RULE, strokeWidth=1.2)
    return mark.encode(x="x:Q", y="y:Q", strokeDash=dash, detail="label:N", order="x:Q")


def _line_names(lines: Sequence[dict[str, Any]], frame: style.Frame) -> list[Any]:
    """Where each line leaves the frame: beside its right edge, or above it, clear of the last."""
    at = frame.pixels(np.array([[line["x"], line["y"]] for line in lines]))
    rows: list[dict[str, Any]] = []
    for line, (right, high) in zip(lines, at.tolist(), strict=True):
        row = {"shown": line["label"], "px": right + 3, "py": frame.height - high - 7}
        while any(_meet(row, other) for other in rows):
            row["py"] -= style.LINE
        rows.append(row)
    return texts(rows)


def _meet(one: dict[str, Any], other: dict[str, Any]) -> bool:
    wide = LETTER * max(len(one["shown"]), len(other["shown"]))
    return bool(abs(one["px"] - other["px"]) < wide and abs(one["py"] - other["py"]) < style.LINE)


# Runs as points on the two axes on which they differ most: ECIR'14, Figures 1 and 2.


def draw_pca(request: Request) -> Any:
    """The runs, and the virtual baselines among them (@mean at the origin)."""
    matrix = request.matrix
    if len(matrix.runs) < 3 or len(matrix.topics) < 2:
        raise UsageError("this figure needs three runs and two topics or more")
    virtual = np.array([VIRTUAL[name](matrix.values) for name in VIRTUAL_BASELINES])
    found = principal_components(matrix.values, virtual, 2)
    if found.coordinates.shape[1] < 2:
        raise UsageError("the runs differ on no two axes")
    names = [*matrix.runs, *VIRTUAL_BASELINES]
    kinds = kinds_of(request, request.comparison.baseline.members)
    kinds += ["virtual"] * len(VIRTUAL_BASELINES)
    points = found.coordinates
    frame = same_scale(points, *sized(request))
    titles = [
        f"principal component {place + 1} ({100 * share:.0f} % of the variance)"
        for place, share in enumerate(found.explained[:2])
    ]
    rule = style.chart([{}]).mark_rule(color=style.RULE, strokeWidth=0.6, strokeDash=[2, 3])
    cross = [rule.encode(**{axis: alt.datum(0)}) for axis in ("x", "y")]
    layers = named_points(request, names, kinds, points, frame, titles[0], titles[1])
    return alt.layer(*cross, *layers).properties(
        width=frame.width, height=frame.height, title=f"{matrix.measure}, profiles over topics"
    )
