"""What a figure is asked to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from riskcli.core.errors import UsageError
from riskcli.core.notes import Note, counted
from riskcli.risk.baselines import matching_runs
from riskcli.risk.comparison import Comparison
from riskcli.risk.options import Options
from riskcli.risk.table import comparisons
from riskcli.scores.matrix import ScoreMatrix


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
            raise UsageError(f"--of is {self.of!r}, this figure knows {', '.join(known)}")
        return self.of


def best_first(matrix: ScoreMatrix) -> list[int]:
    """The rows by falling mean, equal ones as they stand."""
    order: list[int] = np.argsort(-matrix.values.mean(axis=1), kind="stable").tolist()
    return order
