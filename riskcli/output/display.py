"""A table for people, independent of where it is shown, and its renderings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from riskcli.output import escape
from riskcli.output.result import Result

Mark = Literal["", "better", "worse"]
SYMBOLS: dict[Mark, str] = {"": "", "better": "▲", "worse": "▼"}
_COLOURS: dict[Mark, str] = {"": "", "better": "green", "worse": "red"}
UNDEFINED = "–"


@dataclass(frozen=True)
class Cell:
    """What one cell shows: a text, a mark of significance, a rank beside it.

    `best` is the best value of its column, which publications print bold.
    """

    text: str
    mark: Mark = ""
    rank: int | None = None
    strong: bool = False
    best: bool = False


@dataclass(frozen=True)
class Heading:
    """A column's heading. `ranked` columns show a rank beside each value."""

    text: str
    left: bool = False
    ranked: bool = False
    marked: bool = False


@dataclass(frozen=True)
class Display:
    """A table with a title above and a caption of several lines below."""

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Sequence[Cell]]
    caption: Sequence[str] = ()

    def width(self) -> int:
        """The columns of a terminal that the table takes."""
        return sum(_column_width(self, place) for place in range(len(self.headings))) + (
            _GAP * (len(self.headings) - 1)
        )


_GAP = 2
_LEAST_TEXT = 16
"""Names and sentences are folded, but not below this many columns."""


def _column_width(display: Display, place: int) -> int:
    heading = display.headings[place]
    digits = rank_digits(display, place)
    cells = [len(escape.visible(row[place].text)) for row in display.rows]
    longest = max([len(line) for line in heading.text.split("\n")] + cells)
    return longest + int(heading.marked) + (digits + 1 if heading.ranked else 0)


def rank_digits(display: Display, place: int) -> int:
    """The digits of a column's longest rank."""
    return max([len(str(row[place].rank or "")) for row in display.rows] + [1])


def as_text(displays: Sequence[Display], width: int, colour: bool) -> str:
    """The displays as a terminal of that width shows them; no number is cut, whatever the width."""
    stream = StringIO()
    console = Console(
        file=stream,
        width=max([width, *map(_least_width, displays)]),
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    for number, display in enumerate(displays):
        if number:
            console.print()
        if display.title:
            console.print(Text(escape.visible(display.title), style="bold"), width=width)
        if display.rows:
            console.print(_rich_table(display))
        for line in display.caption:
            console.print(Text(escape.visible(line), style="dim"), width=width)
    text = stream.getvalue()
    return text if colour else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _least_width(display: Display) -> int:
    """The least width at which only text, never a number, needs more than a line."""
    least = sum(
        _least_text(display, place) if heading.left else _column_width(display, place)
        for place, heading in enumerate(display.headings)
    )
    return least + _GAP * max(len(display.headings) - 1, 0)


def _least_text(display: Display, place: int) -> int:
    return min(_column_width(display, place), _LEAST_TEXT)


def _rich_table(display: Display) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        show_header=any(h.text for h in display.headings),
        show_edge=False,
        pad_edge=False,
        padding=(0, _GAP - 1, 0, 0),
    )
    digits = [rank_digits(display, place) for place in range(len(display.headings))]
    for place, (heading, wide) in enumerate(zip(display.headings, digits, strict=True)):
        table.add_column(
            _rich_heading(heading, wide),
            justify="left" if heading.left else "right",
            overflow="fold",
            no_wrap=not heading.left,
            min_width=_least_text(display, place) if heading.left else None,
        )
    for row in display.rows:
        cells = zip(row, display.headings, digits, strict=True)
        table.add_row(*(_rich_cell(cell, heading, wide) for cell, heading, wide in cells))
    return table


def _rich_heading(heading: Heading, rank_digits: int) -> Text:
    """Each line of the heading, above the values; `#` above the ranks."""
    mark = " " if heading.marked else ""
    lines = [line + mark for line in heading.text.split("\n")]
    if heading.ranked:
        blank = " " * (rank_digits + 1)
        lines = [line + blank for line in lines[:-1]] + [f"{lines[-1]} {'#':>{rank_digits}}"]
    return Text("\n".join(lines), style="bold")


def _rich_cell(cell: Cell, heading: Heading, rank_digits: int) -> Text:
    text = Text(escape.visible(cell.text), style="bold" if cell.strong else "")
    if heading.marked:
        text.append(SYMBOLS[cell.mark] or " ", style=_COLOURS[cell.mark])
    if heading.ranked:
        text.append(f" {cell.rank if cell.rank is not None else '':>{rank_digits}}", style="dim")
    return text


def as_markdown(displays: Sequence[Display]) -> str:
    """The displays as Markdown tables, ranks in brackets."""
    return "\n".join(_markdown_table(display) for display in displays)


def _markdown_table(display: Display) -> str:
    headings = [escape.markdown(h.text.replace("\n", " ")) for h in display.headings]
    rulers = [":--" if heading.left else "--:" for heading in display.headings]
    lines = [f"**{escape.markdown(display.title)}**", ""] if display.title else []
    lines += ["| " + " | ".join(headings) + " |", "|" + "|".join(rulers) + "|"]
    lines += ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in display.rows]
    caption = "  \n".join(escape.markdown(line) for line in display.caption)
    return "\n".join([*lines, "", caption, ""])


def _markdown_cell(cell: Cell) -> str:
    text = escape.markdown(cell.text)
    if cell.strong:
        text = f"**{text}**"
    rank = "" if cell.rank is None else f"({cell.rank})"
    return " ".join(part for part in (text, SYMBOLS[cell.mark], rank) if part)


def rows_as_display(result: Result, most: int = 20) -> Display:
    """The first rows of any result, for results that have no table of their own."""
    names = [name for place, name in enumerate(result.columns) if _holds_any(result, place)]
    places = [result.columns.index(name) for name in names]
    rows = [[Cell(_shown(row[place])) for place in places] for row in result.rows[:most]]
    left = len(result.rows) - most
    caption = [f"{left} more rows"] if left > 0 else []
    return Display("", [Heading(name, left=True) for name in names], rows, caption)


def _holds_any(result: Result, place: int) -> bool:
    return any(row[place] not in (None, "") for row in result.rows)


def _shown(value: object) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.4g}" if isinstance(value, float) else str(value)
