"""A frozen population for people: a table a measure, with what it rests on below."""

from __future__ import annotations

from collections.abc import Iterable

from riskcli.core.notes import counted
from riskcli.output.display import Cell, Display, Heading
from riskcli.scores.frozen import FrozenPopulation

Row = tuple[str, str | None, str, int, float, float]
"""Of `Members`: run, team, measure, topics, mean, weight."""


def displays(population: FrozenPopulation, rows: Iterable[Row]) -> list[Display]:
    """The runs of each measure with team, mean and weight."""
    headings = [
        Heading("run", left=True), Heading("team", left=True), Heading("mean"), Heading("weight"),
    ]  # fmt: skip
    shown = []
    for matrix in population.matrices:
        cells = [
            [Cell(run), Cell(team or "–"), Cell(f"{mean:.4f}"), Cell(f"{weight:.4g}")]
            for run, team, measure, _, mean, weight in rows
            if measure == matrix.measure
        ]
        totals = population.totals[matrix.measure]
        caption = [
            f"{counted(len(matrix.runs), 'run')} on {counted(len(matrix.topics), 'topic')}; grand "
            f"total {sum(totals):.6g}, topic totals from {min(totals):.4g} to {max(totals):.4g}.",
        ]
        title = f"{population.name}: {matrix.measure}"
        shown.append(Display.of_rows(title, headings, cells, caption))
    return shown
