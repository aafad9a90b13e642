"""A frozen population for people: a table a measure, with what it rests on below."""

from __future__ import annotations

from riskcli.analyses.population.analysis import Members
from riskcli.core.notes import counted
from riskcli.output.display import Cell, Display, Heading


def displays(members: Members, _width: int = 0) -> list[Display]:
    """The runs of each measure with team, mean and weight."""
    result, population = members.result(), members.population
    headings = [
        Heading("run", left=True), Heading("team", left=True), Heading("mean"), Heading("weight"),
    ]  # fmt: skip
    shown = []
    for matrix in population.matrices:
        rows = [
            [Cell(run), Cell(team or "–"), Cell(f"{mean:.4f}"), Cell(f"{weight:.4g}")]
            for run, team, measure, _, mean, weight in result.rows
            if measure == matrix.measure
        ]
        totals = population.totals[matrix.measure]
        caption = [
            f"{counted(len(matrix.runs), 'run')} on {counted(len(matrix.topics), 'topic')}; grand "
            f"total {sum(totals):.6g}, topic totals from {min(totals):.4g} to {max(totals):.4g}.",
        ]
        title = f"{population.name}: {matrix.measure}"
        shown.append(Display.of_rows(title, headings, rows, caption))
    return shown
