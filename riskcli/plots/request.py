"""What a figure is asked to show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Note, UsageError, counted, nearest
from riskcli.risk.comparison import Comparison
from riskcli.risk.weights import mean
from riskcli.scores.comparisons import Options, comparisons, matching_runs
from riskcli.scores.matrix import ScoreMatrix

_NARROW = 480
Ends = tuple[float, float]
"""The least and the greatest value of an axis."""


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


def width_in(width: int | str | None) -> dict[str, Any]:
    """The fields of a request for the pixels of a panel, or for the width of the whole figure."""
    if not isinstance(width, str):
        return {"width": width}
    if width not in SIZES:
        known = ", ".join(SIZES)
        raise UsageError(f"no width {width!r}{nearest(width, SIZES)} ({known}, or pixels)")
    return {"size": SIZES[width]}


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """What every figure can be asked: of what it is, which runs it shows, and how large it is."""

    runs: tuple[str, ...] = ()
    of: str | None = None
    width: int | None = None
    height: int | None = None
    size: Size | None = None
    """The width that the whole figure is to have, where one was asked for."""

    @property
    def narrow(self) -> bool:
        """Whether the figure goes into one column of two."""
        return self.size is not None and self.size.design < _NARROW

    def panel(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of a panel: as asked for; by default so wide, and never higher."""
        wide = self.width or width
        flat = self.size.flatness if self.size else 1.0
        usual = round(height * flat * min(1.0, wide / width))
        return wide, self.height or max(60, usual)

    def one_of(self, known: Sequence[str]) -> str:
        """What the figure is of: the first of these, or another that was asked for."""
        if self.of is None:
            return known[0]
        if self.of not in known:
            raise UsageError(f"--of is {self.of!r}, this figure takes {', '.join(known)}")
        return self.of


@dataclass(frozen=True)
class ExperimentRequest(FigureOptions):
    """The folder of an experiment; `runs` are its models."""

    folder: Path

    def chosen(self, known: Sequence[str], most: int) -> list[str]:
        """The models asked for by name or glob, else the first so many of those known."""
        if not self.runs:
            return list(known[:most])
        names = [name for glob in self.runs for name in known if fnmatchcase(name, glob)]
        if not names:
            there = ", ".join(known)
            raise UsageError(f"no model is called {', '.join(self.runs)}; there are {there}")
        return list(dict.fromkeys(names))


@dataclass(frozen=True)
class Request(FigureOptions):
    """Scores and what they are compared with."""

    matrix: ScoreMatrix
    options: Options
    seed: int = 20161
    ranged: bool = False
    """Whether alphas were asked for."""
    notes: list[Note] = field(default_factory=list)
    """Notes on what the figure leaves out."""
    whole: ScoreMatrix | None = None
    """The matrix on all topics, where the figure is the panel of a group of them."""
    ends: dict[str, Ends] = field(default_factory=dict)
    """Where its axes end, as they were drawn."""
    common: Mapping[str, Ends] = field(default_factory=dict)
    """Where the axes end that all panels have in common."""

    def ends_of(self, axis: str, own: Ends) -> Ends:
        """Where an axis ends: by the panel's own values, or as in all panels."""
        self.ends[axis] = own
        return self.common.get(axis, own)

    @property
    def comparison(self) -> Comparison:
        """The matrix against its one baseline."""
        found = comparisons(self.matrix, self.options)
        if len(found) != 1:
            raise UsageError("a figure shows one baseline, or a set of them pooled")
        return found[0]

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
        means = mean((self.whole or self.matrix).values, (self.whole or self.matrix).weights)
        rows = [row for row in falling(means) if row != without]
        if len(rows) > most:
            message = f"the figure shows the best {most} of {counted(len(rows), 'run')}; "
            self.notes.append(Note("runs-left-out", message + "--run chooses others", False))
        return rows[:most]


def falling(values: Floats) -> list[int]:
    """The indices by falling value, equal ones as they stand."""
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return order
