"""How much a gain or a loss of a given size counts: linear (1 + alpha times), or a smooth cubic.

Benham, Moffat and Culpepper (ECIR'20, section 4) draw a cubic through (-1, -2), (0, 0), (1, 1) and
the two fences of a box plot of the differences, which are to count next to nothing (0.05).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Loss, check_words
from riskcli.core.messages import UsageError

LINEAR: Loss = "linear"
SMOOTH: Loss = "smooth"
SMOOTH_FIT: Loss = "smooth:fit"
FALLING_LOSS = "the fitted loss falls somewhere, so that a larger gain counts for less there"
_AT_FENCES = 0.05
_WHISKER = 1.5


@dataclass(frozen=True)
class Cubic:
    """s(x) = cube x^3 + square x^2 + slope x: what a difference of x counts for."""

    cube: float
    square: float
    slope: float

    def __call__(self, x: Floats) -> Floats:
        """s(x)."""
        return np.asarray(((self.cube * x + self.square) * x + self.slope) * x)

    def slope_at(self, x: Floats) -> Floats:
        """s'(x)."""
        return np.asarray((3 * self.cube * x + 2 * self.square) * x + self.slope)

    @property
    def rises(self) -> bool:
        """Whether a larger difference counts for more everywhere in [-1, 1]."""
        lowest = -self.square / (3 * self.cube) if self.cube else 0.0
        x = np.clip([-1.0, lowest, 1.0], -1, 1)
        slopes = 3 * self.cube * x**2 + 2 * self.square * x + self.slope
        return bool(slopes.min() >= 0)


PUBLISHED = Cubic(1.38426, -0.51659, 0.11578)
"""ECIR'20, section 4."""


def through_fences(low: float, high: float) -> Cubic:
    """The least-squares cubic through the five points, its intercept dropped afterwards."""
    if not -1 < low < 0 < high < 1:
        raise UsageError(
            f"the differences to the baseline have their fences at {low:g} and {high:g}; a smooth "
            "loss is fitted between -1 and 0, and 0 and 1: take --loss smooth"
        )
    x = np.array([-1.0, low, 0.0, high, 1.0])
    y = np.array([-2.0, -_AT_FENCES, 0.0, _AT_FENCES, 1.0])
    solution, *_ = np.linalg.lstsq(np.vander(x, 4), y, rcond=None)
    cube, square, slope, _ = solution.tolist()
    return Cubic(cube, square, slope)


def fences(differences: Floats) -> tuple[float, float]:
    """The outermost values that a box plot takes for ordinary: 1.5 quartile ranges out."""
    if not differences.size:
        raise UsageError("smooth:fit needs differences to a baseline, and there is no other run")
    first, third = np.quantile(differences, [0.25, 0.75])
    reach = _WHISKER * (third - first)
    return float(first - reach), float(third + reach)


def chosen_cubic(loss: str, differences: Callable[[], Floats]) -> Cubic | None:
    """The cubic of that loss (None: linear); `smooth:fit` is fitted to the differences."""
    check_words(loss=(loss, Loss))
    if loss == SMOOTH_FIT:
        return through_fences(*fences(differences()))
    return PUBLISHED if loss == SMOOTH else None
