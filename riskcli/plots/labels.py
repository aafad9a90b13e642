"""Marks that bear their names, placed so that none covers another: lines and points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Note, counted, listed
from riskcli.output.display import shortened as shortened
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, QUIET, RULE, colour_of, dash_of, on_scale, values, words_at

Rows: TypeAlias = Sequence[Mapping[str, Any]]
LETTER = 6.1
LINE = 13.0
_GAP = 6.0
_DOT = 4.0
_FEW = 40


Box: TypeAlias = tuple[float, float, float, float]
"""Left, low, right, high, in pixels from the lower left."""


@dataclass(frozen=True)
class Frame:
    """The figure's plane: how data becomes pixels."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float
    height: float

    def pixels(self, points: Floats) -> Floats:
        """Points (rows of x, y) in pixels from the lower left."""
        low = np.array([self.x[0], self.y[0]])
        span = np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])
        return np.asarray((points - low) / span * np.array([self.width, self.height]))


def domain(values: Floats, margin: float = 0.05) -> tuple[float, float]:
    """From the least to the greatest finite value, with some room."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = (high - low or abs(high) or 1.0) * margin
    return low - room, high + room


def stacked(heights: Sequence[float], top: float, gap: float = LINE) -> list[float]:
    """Heights (in pixels, from 0 to `top`) of labels beside each other's, pushed apart."""
    order = np.argsort(heights, kind="stable").tolist()
    placed = list(heights)
    floor = 0.0
    for index in order:
        placed[index] = max(placed[index], floor)
        floor = placed[index] + gap
    ceiling = max(top, gap * (len(order) - 1))
    for index in reversed(order):
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - gap
    return placed


@dataclass(frozen=True)
class Placed:
    """One label: which point's, how far from it in pixels, and how it is aligned."""

    point: int
    dx: float
    dy: float
    align: str
    far: bool = False
    """Whether it needs a line to its point."""


def beside(names: Sequence[str], points: Floats, frame: Frame, foremost: int = 0) -> list[Placed]:
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
            box = (left, at[index, 1] + dy - LINE / 2, left + wide, at[index, 1] + dy + LINE / 2)
            if _free(box, boxes, at, index, frame) and (
                not clear or _leads_clear(at, index, (dx, dy), boxes)
            ):
                boxes.append(box)
                found.append(Placed(index, dx, -dy, align, far))
                break
    return found


_NEAR = (
    (_GAP, 0.0, "left"),
    (-_GAP, 0.0, "right"),
    (0.0, 11.0, "center"),
    (0.0, -11.0, "center"),
    (_GAP, 9.0, "left"),
    (_GAP, -9.0, "left"),
    (-_GAP, 9.0, "right"),
    (-_GAP, -9.0, "right"),
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


def _free(
    box: Box,
    boxes: Sequence[Box],
    points: Floats,
    own: int,
    frame: Frame,
) -> bool:
    left, low, right, high = box
    if left < 0 or right > frame.width or low < 0 or high > frame.height:
        return False
    if any(left < r and l < right and low < h and b < high for l, b, r, h in boxes):  # noqa: E741
        return False
    x, y = points[:, 0], points[:, 1]
    covered = (x > left - _DOT) & (x < right + _DOT) & (y > low - _DOT) & (y < high + _DOT)
    covered[own] = False
    return not covered.any()


# Lines that bear their names at the right end: shared by the figures in which a run is a line.


_BESIDE = 4.0
"""Pixels that a name may be away from the end of its line."""


def run_lines(quiet: Rows, strong: Rows, names: Sequence[str], x: Any, y: Any) -> list[Any]:
    """Thin grey lines below those brought out, which have the colours and dashes of `names`."""
    thick = alt.Chart(values(strong)).mark_line(strokeWidth=2, strokeJoin="round")
    shown = thick.encode(x=x, y=y, color=colour_of(names), strokeDash=dash_of(names))
    if not quiet:
        return [shown]
    look = {"color": QUIET, "strokeWidth": 0.8, "opacity": 0.8, "strokeJoin": "round"}
    thin = alt.Chart(values(quiet)).mark_line(**look)
    return [thin.encode(x=x, y=y, detail="run:N"), shown]


def end_names(names: Sequence[str], ends: Floats, frame: Frame) -> list[Any]:
    """Each name beside the frame, with a thin line from the end of its own where that is away."""
    points = np.column_stack([np.full(len(ends), frame.x[1]), ends])
    true = frame.pixels(points)[:, 1].tolist()
    heights = stacked(true, frame.height)
    rows = [
        {"run": name, "shown": shortened(name), "at": frame.height - height,
         "end": frame.height - own}
        for name, height, own in zip(names, heights, true, strict=True)
    ]  # fmt: skip
    moved = [row for row in rows if abs(row["at"] - row["end"]) > _BESIDE]
    away = 15 if moved else 6
    mark = alt.Chart(values(rows)).mark_text(align="left", dx=away, fontSize=11, fontWeight="bold")
    y = alt.Y("at:Q", scale=None, axis=None)
    named = mark.encode(x=alt.value(frame.width), y=y, text="shown:N", color=colour_of(names))
    if not moved:
        return [named]
    leaders = alt.Chart(values(moved)).mark_rule(color=RULE, strokeWidth=0.7).encode(
        x=alt.value(frame.width + 2), x2=alt.value(frame.width + 13),
        y=alt.Y("end:Q", scale=None, axis=None), y2="at:Q",
    )  # fmt: skip
    return [leaders, named]


# Points that bear names: shared by the figures in which a run is a point.


_MANY = 20
_SHORTER = 0.9
"""A leader ends a little before its name."""
POINTS: Mapping[str, tuple[str, str]] = {
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
    used = [kind for kind in POINTS if kind in kinds]
    x = on_scale(alt.X, "x", x_title, frame.x, axis=axis)
    y = on_scale(alt.Y, "y", y_title, frame.y, axis=axis)
    shapes, shades = ([POINTS[kind][i] for kind in used] for i in (0, 1))
    legend = alt.Legend(title=None, orient="bottom") if len(used) > 1 else None
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=used, range=shapes), legend=legend)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=used, range=shades))
    marks = alt.Chart(values(rows)).mark_point(filled=True, size=48, opacity=0.9)
    drawn = marks.encode(x=x, y=y, shape=shape, color=colour, tooltip=["name:N", "x:Q", "y:Q"])
    return [drawn, *_label_layers(request, names, kinds, points, frame)]


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
    mark = alt.Chart(values(rows)).mark_rule(color=RULE, strokeWidth=0.7)
    x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
    return [mark.encode(x=x, y=y, x2="x2:Q", y2="y2:Q")] if rows else []


def texts(rows: Sequence[dict[str, Any]], align: str = "left") -> list[Any]:
    """Words at places in pixels."""
    place = {
        "x": alt.X("px:Q", scale=None, axis=None),
        "y": alt.Y("py:Q", scale=None, axis=None),
        "text": "shown:N",
    }
    return words_at(rows, place, align=align, baseline="middle")


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
