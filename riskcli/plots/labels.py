"""Where names go in a figure so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.output.display import shortened as shortened

LETTER = 6.1
LINE = 13.0
_GAP = 6.0
_DOT = 4.0


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
    for place in order:
        placed[place] = max(placed[place], floor)
        floor = placed[place] + gap
    ceiling = max(top, gap * (len(order) - 1))
    for place in reversed(order):
        placed[place] = min(placed[place], ceiling)
        ceiling = placed[place] - gap
    return placed


@dataclass(frozen=True)
class Placed:
    """One label: which point's, how far from it in pixels, and how it is aligned."""

    point: int
    dx: float
    dy: float
    align: str


def beside(names: Sequence[str], points: Floats, frame: Frame) -> list[Placed]:
    """A place for each name near its point, the first that is free; a name without one is left out.

    Points come in order of importance.
    """
    at = frame.pixels(points)
    boxes: list[tuple[float, float, float, float]] = []
    found = []
    for place, name in enumerate(names):
        wide = LETTER * len(name)
        for dx, dy, align in _OFFERS:
            left = at[place, 0] + dx - {"left": 0, "center": wide / 2, "right": wide}[align]
            box = (left, at[place, 1] + dy - LINE / 2, left + wide, at[place, 1] + dy + LINE / 2)
            if _free(box, boxes, at, place, frame):
                boxes.append(box)
                found.append(Placed(place, dx, -dy, align))
                break
    return found


_OFFERS = (
    (_GAP, 0.0, "left"),
    (-_GAP, 0.0, "right"),
    (0.0, 11.0, "center"),
    (0.0, -11.0, "center"),
    (_GAP, 9.0, "left"),
    (_GAP, -9.0, "left"),
    (-_GAP, 9.0, "right"),
    (-_GAP, -9.0, "right"),
)  # fmt: skip


def _free(
    box: tuple[float, float, float, float],
    boxes: Sequence[tuple[float, float, float, float]],
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
