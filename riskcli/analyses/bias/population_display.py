"""Who hangs on whom, for people: each run's figure and rank, and their ranges without one other."""

from __future__ import annotations

from collections.abc import Sequence

from riskcli.analyses.bias.left_out import LeftOut
from riskcli.output.display import Cell, Display, Heading


def displays(parts: Sequence[LeftOut]) -> list[Display]:
    """A table a measure and risk measure, the best first."""
    return [_display(part) for part in parts]


def _display(part: LeftOut) -> Display:
    digits = part.of.decimals
    rows = []
    for row in sorted(range(len(part.runs)), key=lambda i: (part.ranks[i], part.runs[i])):
        low, high, best, worst = part.range_of(row)
        by, change = part.most(row)
        rows.append(
            [
                Cell(f"{part.ranks[row]:.0f}"),
                Cell(part.runs[row]),
                Cell(f"{part.values[row]:.{digits}f}"),
                Cell(f"{low:.{digits}f} to {high:.{digits}f}"),
                Cell(f"{best:.0f} to {worst:.0f}" if best != worst else f"{best:.0f}"),
                Cell(by),
                Cell(f"{change:+.{digits}f}"),
            ]
        )
    headings = [
        Heading("#"), Heading("run", left=True), Heading(part.of.title), Heading("range"),
        Heading("# range"), Heading("most without", left=True), Heading("change"),
    ]  # fmt: skip
    title = f"{part.of.title} of {part.measure}, α = {part.alpha:g}: each left out in turn"
    everybody = "everybody" if part.population == "all" else f"everybody in {part.population}"
    caption = [
        f"Ranges with {everybody}, and without each other member of the population in turn. A "
        "run or team that is left out keeps its rank, so a rank changes only where others "
        "overtake each other.",
    ]
    return Display.of_rows(title, headings, rows, caption)
