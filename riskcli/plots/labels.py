"""Where names go in a figure so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.output.display import shortened as shortened

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
