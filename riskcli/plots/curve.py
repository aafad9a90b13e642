"""What models showed after each tree: SIGIR'12, Figure 4, from the folder of `riskeval train`."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import InputError, UsageError
from riskcli.plots.labels import Frame, domain
from riskcli.plots.lines import end_names, run_lines
from riskcli.plots.request import Size, is_narrow, panel_size
from riskcli.plots.style import MOST_COLOURS

FILE = "curve.csv"
FIGURES = {
    "mean": ("mean", "mean of the measure"),
    "risk": ("risk", "risk: mean loss to the baseline"),
    "reward": ("reward", "reward: mean gain over the baseline"),
    "urisk": ("urisk", "URisk at the model's own alpha"),
    "trisk": ("trisk", "TRisk at the model's own alpha"),
    "georisk": ("georisk", "GeoRisk at the model's own alpha"),
}
"""What a curve may show: its column in the file, and the axis."""


@dataclass(frozen=True)
class ExperimentRequest:
    """The folder of an experiment, what of it to draw, and of which models."""

    folder: Path
    of: str | None = None
    runs: tuple[str, ...] = ()
    width: int | None = None
    height: int | None = None
    size: Size | None = None

    @property
    def narrow(self) -> bool:
        """Whether the figure goes into one column of two."""
        return is_narrow(self.size)

    def panel(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of a panel: as asked for; by default in the proportions given."""
        return panel_size((width, height), self.width, self.height, self.size)


def draw(request: ExperimentRequest) -> Any:
    """A line a model on the validation queries, the mean over folds and seeds.

    It ends with the tree at which the first of them stopped.
    """
    of = request.of or next(iter(FIGURES))
    if of not in FIGURES:
        raise UsageError(f"--of is {of!r}, this figure takes {', '.join(FIGURES)}")
    column, title = FIGURES[of]
    lines = _means(request.folder / FILE, column)
    names = chosen_models(list(lines), request.runs)
    every = np.concatenate([lines[name] for name in names])
    longest = max(len(lines[name]) for name in names)
    frame = Frame((0, longest), domain(every), *request.panel(520, 330))
    x = alt.X("trees:Q", title="trees", scale=alt.Scale(domain=list(frame.x), nice=False))
    y = alt.Y("value:Q", title=title, scale=alt.Scale(domain=list(frame.y), nice=False))
    quiet = [name for name in lines if name not in names]
    layers = run_lines(_rows(lines, quiet), _rows(lines, names), names, x, y)
    ends = np.array([lines[name][-1] for name in names])
    layers += end_names(names, ends, frame)
    return alt.layer(*layers).properties(width=frame.width, height=frame.height)


def _means(path: Path, column: str) -> dict[str, Floats]:
    """By model, the mean over folds and seeds after each tree that all of them reached."""
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["part"] == "valid":
                    found[row["run"]][row["seed"], row["fold"]].append(float(row[column]))
    except OSError as error:
        message = f"{error.strerror}; expected a folder that `riskeval train` wrote"
        raise InputError(path, "unreadable", message) from error
    except (KeyError, ValueError) as error:
        raise InputError(path, "bad-curve", f"not a curve of riskeval train: {error}") from error
    if not found:
        raise InputError(path, "bad-curve", "no curve of any model is in it")
    return {name: _mean(list(curves.values())) for name, curves in found.items()}


def _mean(curves: Sequence[Sequence[float]]) -> Floats:
    shortest = min(map(len, curves))
    return np.asarray(np.mean([curve[:shortest] for curve in curves], axis=0))


def chosen_models(known: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The models asked for by name or glob, else as many as there are colours."""
    if not wanted:
        return list(known[:MOST_COLOURS])
    names = [name for glob in wanted for name in known if fnmatchcase(name, glob)]
    if not names:
        raise UsageError(f"no model is called {', '.join(wanted)}; there are {', '.join(known)}")
    return list(dict.fromkeys(names))


def _rows(lines: dict[str, Floats], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"run": name, "trees": tree, "value": value}
        for name in names
        for tree, value in enumerate(lines[name].tolist(), start=1)
    ]
