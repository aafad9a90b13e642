"""What a figure is asked to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from riskcli.core.messages import Note, UsageError, counted
from riskcli.risk.comparison import Comparison
from riskcli.scores.comparisons import Options, comparisons, matching_runs
from riskcli.scores.matrix import ScoreMatrix

_NARROW = 480


@dataclass(frozen=True)
class Size:
    """A width on paper or screen, in points, and the pixels that a figure is designed in for it.

    Type of 11 pixels comes out at 7.5 points on paper.
    """

    points: float
    design: float
    flatness: float = 1.0
    """How high panels are, as a share of their height on paper: a slide is wider than high."""


_ON_PAPER = 11 / 7.5
_TEX_POINT = 72 / 72.27
SIZES = {
    "column": Size(241.15 * _TEX_POINT, 241.15 * _TEX_POINT * _ON_PAPER),
    "page": Size(506.3 * _TEX_POINT, 506.3 * _TEX_POINT * _ON_PAPER),
    "lncs": Size(347.12 * _TEX_POINT, 347.12 * _TEX_POINT * _ON_PAPER),
    "slide": Size(960.0, 800.0, 0.72),
}
"""The columns and the text of ACM's two-column pages, the text of LNCS, and a slide of 16:9."""


def panel_size(
    proportions: tuple[int, int], width: int | None, height: int | None, size: Size | None
) -> tuple[int, int]:
    """Width and height of a panel: as asked for; by default in these proportions, never higher."""
    wide = width or proportions[0]
    flat = size.flatness if size else 1.0
    usual = round(proportions[1] * flat * min(1.0, wide / proportions[0]))
    return wide, height or max(60, usual)


def is_narrow(size: Size | None) -> bool:
    """Whether a figure of that size goes into one column of two."""
    return size is not None and size.design < _NARROW


@dataclass(frozen=True)
class Request:
    """Scores, what they are compared with, which runs to show or to bring out, and how large."""

    matrix: ScoreMatrix
    options: Options
    runs: tuple[str, ...] = ()
    of: str | None = None
    width: int | None = None
    height: int | None = None
    seed: int = 20161
    size: Size | None = None
    """The width that the whole figure is to have, where one was asked for."""
    ranged: bool = False
    """Whether alphas were asked for."""
    notes: list[Note] = field(default_factory=list)
    """What the figure leaves out is told here."""

    @property
    def comparison(self) -> Comparison:
        """The matrix against its one baseline."""
        found = comparisons(self.matrix, self.options)
        if len(found) != 1:
            raise UsageError("a figure shows one baseline, or a set of them pooled")
        return found[0]

    @property
    def narrow(self) -> bool:
        """Whether the figure goes into one column of two."""
        return is_narrow(self.size)

    def panel(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of a panel: as asked for; by default in the proportions given."""
        return panel_size((width, height), self.width, self.height, self.size)

    @property
    def alpha(self) -> float:
        """The one alpha of a figure that shows one."""
        if len(self.options.alphas) != 1:
            raise UsageError(f"this figure shows one alpha, found {len(self.options.alphas)}")
        return self.options.alphas[0]

    def chosen(self, most: int, without: int | None = None) -> list[int]:
        """The rows asked for; else all but row `without`, or of too many those of the best mean."""
        runs = self.matrix.runs
        if self.runs:
            found = dict.fromkeys(r for name in self.runs for r in matching_runs(runs, name))
            rows = [row for row in found if row != without]
            if not rows:
                raise UsageError(f"{runs[next(iter(found))]} is the baseline itself")
            return rows
        rows = [row for row in best_first(self.matrix) if row != without]
        if len(rows) > most:
            message = f"the figure shows the best {most} of {counted(len(rows), 'run')}; "
            self.notes.append(Note("runs-left-out", message + "--run chooses others", False))
        return rows[:most]

    def one_of(self, known: Sequence[str]) -> str:
        """What the figure is of: the first of these, or another that was asked for."""
        if self.of is None:
            return known[0]
        if self.of not in known:
            raise UsageError(f"--of is {self.of!r}, this figure takes {', '.join(known)}")
        return self.of


def best_first(matrix: ScoreMatrix) -> list[int]:
    """The rows by falling mean, equal ones as they stand."""
    order: list[int] = np.argsort(-matrix.values.mean(axis=1), kind="stable").tolist()
    return order
