"""A table for people in whatever form: cells, headings, widths, and numbers as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from riskcli.output import escape
from riskcli.output.result import Result

Mark = Literal["", "better", "worse"]
SYMBOLS: dict[Mark, str] = {"": "", "better": "▲", "worse": "▼"}
UNDEFINED = "–"
GAP = 2
"""Blanks between columns."""


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
class Column:
    """A heading and its cells, for tables that are put together from columns."""

    heading: Heading
    cells: Sequence[Cell]

    @cached_property
    def texts(self) -> list[str]:
        """The cells' texts as a terminal shows them."""
        return escape.all_visible([cell.text for cell in self.cells])

    @cached_property
    def rank_digits(self) -> int:
        """The digits of the longest rank."""
        return max([len(str(cell.rank or "")) for cell in self.cells] + [1])

    @cached_property
    def width(self) -> int:
        """How many columns of a terminal it takes."""
        texts = [*self.heading.text.split("\n"), *self.texts]
        ranks = self.rank_digits + 1 if self.heading.ranked else 0
        return max(map(len, texts)) + int(self.heading.marked) + ranks


@dataclass(frozen=True)
class Display:
    """A table with a title above and a caption of several lines below."""

    title: str
    columns: Sequence[Column]
    caption: Sequence[str] = ()

    @classmethod
    def of_rows(
        cls,
        title: str,
        headings: Sequence[Heading],
        rows: Sequence[Sequence[Cell]],
        caption: Sequence[str] = (),
    ) -> Display:
        """The table whose cells are given by rows."""
        by_column = zip(*rows, strict=True) if rows else [()] * len(headings)
        return cls(title, list(map(Column, headings, by_column)), caption)

    @property
    def headings(self) -> list[Heading]:
        """The columns' headings."""
        return [column.heading for column in self.columns]

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The cells by rows."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def width(self) -> int:
        """The columns of a terminal that the table takes."""
        return width_of(self.columns)


def width_of(columns: Sequence[Column]) -> int:
    """The columns of a terminal that a table of these takes."""
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def folded(display: Display, width: int, fixed: int = 1) -> list[Display]:
    """The display in as many tables as its width asks for; the first columns stand in each."""
    first, rest = display.columns[:fixed], display.columns[fixed:]
    chunks: list[list[Column]] = [[]]
    for column in rest:
        if chunks[-1] and width_of([*first, *chunks[-1], column]) > width:
            chunks.append([])
        chunks[-1].append(column)
    last = len(chunks) - 1
    return [
        Display(
            display.title if i == 0 else "",
            [*first, *chunk],
            display.caption if i == last else (),
        )
        for i, chunk in enumerate(chunks)
    ]


def thinned(count: int, most: int) -> list[int]:
    """At most so many of `count` indices (but 2): every n-th, and the last."""
    for stride in range(1, count):
        kept = sorted({*range(0, count, stride), count - 1})
        if len(kept) <= max(most, 2):
            return kept
    return list(range(count))


def shortened(name: str, most: int = 24) -> str:
    """A long name without its middle: beginnings tell families apart, ends tell versions."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def in_title(name: str) -> str:
    """A baseline's name, where a set of many runs would make a title too long."""
    return shortened(name, 48)


def decimal(value: float | None, decimals: int) -> str:
    """The number with so many decimals, never `-0.00`; a dash where it is undefined."""
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def decimals(values: Iterable[float | None], places: int) -> list[str]:
    """A column of numbers with so many decimals."""
    return [decimal(value, places) for value in values]


def p_value(p: float | None) -> str:
    """A p-value with two figures, small ones as a bound."""
    if p is None or math.isnan(p):
        return UNDEFINED
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def rows_as_display(result: Result, most: int = 20) -> Display:
    """The first rows of any result, for results that have no table of their own."""
    columns = [
        Column(Heading(name, left=True), [Cell(_shown(row[i])) for row in result.rows[:most]])
        for i, name in enumerate(result.columns)
        if any(row[i] not in (None, "") for row in result.rows)
    ]
    hidden = len(result.rows) - most
    return Display("", columns, [f"{hidden} more rows"] if hidden > 0 else [])


def _shown(value: object) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.4g}" if isinstance(value, float) else str(value)
