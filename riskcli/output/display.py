"""A table for people in whatever format: cells, headings, widths, and numbers as text."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal, Self
from unicodedata import combining, east_asian_width

from riskcli.core.choices import Marks
from riskcli.core.messages import Note
from riskcli.output import escape
from riskcli.output.result import Result
from riskcli.output.verdict import Statements

Mark = Literal["", "better", "worse"]
UNDEFINED = "–"
BASELINE_MARK = "◆"
GAP = 2
"""Blanks between columns."""
LEAST_TEXT = 16
"""Sentences are folded, but not below this many columns."""
LEAST_NAME = 12
"""Names are shortened, but not below this many characters."""

MARKS: dict[Marks, dict[Mark, str]] = {
    "arrows": {"": "", "better": "▲", "worse": "▼"},
    "daggers": {"": "", "better": "†", "worse": "‡"},
    "none": {"": "", "better": "", "worse": ""},
}
"""How significance is marked."""


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
    """A column's heading; all lines of it but the last name a group of columns.

    `ranked` columns show a rank beside each value. Where a terminal is too narrow, `optional`
    columns are left out first, and columns of `names` are shortened.
    """

    text: str
    left: bool = False
    ranked: bool = False
    marked: bool = False
    optional: bool = False
    names: bool = False


@dataclass(frozen=True)
class Column:
    """A heading and its cells, for tables that are put together from columns."""

    heading: Heading
    cells: Sequence[Cell]

    @classmethod
    def of(cls, heading: str | Heading, cells: Iterable[str | Cell]) -> Self:
        """The column of cells or plain texts; a heading that is a text is over numbers."""
        heading = heading if isinstance(heading, Heading) else Heading(heading)
        return cls(heading, [cell if isinstance(cell, Cell) else Cell(cell) for cell in cells])

    @cached_property
    def texts(self) -> list[str]:
        """The cells' texts as a terminal shows them."""
        texts = [cell.text for cell in self.cells]
        whole = "".join(texts)
        if whole.isascii() and whole.isprintable():  # as most columns are: nothing to spell out
            return texts
        return escape.all_visible(texts)

    @cached_property
    def rank_digits(self) -> int:
        """The digits of the longest rank."""
        return max([len(str(cell.rank or "")) for cell in self.cells] + [1])

    @property
    def least_width(self) -> int:
        """How narrow it can be: sentences may be folded, numbers and names may not."""
        sentences = self.heading.left and not self.heading.names
        return min(self.width, LEAST_TEXT) if sentences else self.width

    @cached_property
    def width(self) -> int:
        """How many columns of a terminal it takes."""
        texts = [*self.heading.text.split("\n"), *self.texts]
        ranks = self.rank_digits + 1 if self.heading.ranked else 0
        return max(map(len, texts)) + int(self.heading.marked) + ranks


@dataclass(frozen=True)
class Display:
    """A table with a title above and a caption of several lines below.

    The caption says all that is needed to read this table alone; formats in which tables follow
    each other on a page show a line that several of them share below the last of these only.
    """

    title: str
    columns: Sequence[Column]
    caption: Sequence[str] = ()
    marks: Marks | None = None
    """None: as the format has it."""
    lead: str = ""
    """Words of an author before the title, or in place of it."""
    verdict: Sequence[str] = ()
    """What the table says, in sentences above it."""
    hint: str = ""
    """Where a reader at a terminal finds more."""

    @classmethod
    def of_rows(
        cls,
        title: str,
        headings: Sequence[str | Heading],
        rows: Sequence[Sequence[str | Cell]],
        caption: Sequence[str] = (),
    ) -> Self:
        """The table whose cells are given by rows; a heading that is a text is over numbers."""
        by_column = zip(*rows, strict=True) if rows else [()] * len(headings)
        return cls(title, list(map(Column.of, headings, by_column)), caption)

    @property
    def full_title(self) -> str:
        """The author's words and the title."""
        return ": ".join(part for part in (self.lead, self.title) if part)

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


def least_width(columns: Sequence[Column]) -> int:
    """The least width at which no number and no name needs more than a line."""
    return sum(column.least_width for column in columns) + GAP * max(len(columns) - 1, 0)


def captions(displays: Sequence[Display]) -> list[list[str]]:
    """What stands below each table, where a line that the next one repeats waits for that."""
    following = [*(set(display.caption) for display in displays[1:]), set()]
    return [
        [line for line in display.caption if line not in repeated]
        for display, repeated in zip(displays, following, strict=False)
    ]


def with_marks(line: str, marks: Marks) -> str:
    """A line of a caption with these marks in place of arrows."""
    for arrow, mark in zip(MARKS["arrows"].values(), MARKS[marks].values(), strict=True):
        line = line.replace(arrow, mark) if arrow else line
    return line


def narrowed(display: Display, width: int) -> Display:
    """The display in that width, so that no row needs two lines.

    The ranks beside values go first, then what it can do without; then names are shortened, then
    the columns to the right go. A line says so.
    """
    gone: list[str] = []
    if least_width(display.columns) > width and any(c.heading.ranked for c in display.columns):
        bare = [replace(c, heading=replace(c.heading, ranked=False)) for c in display.columns]
        display = replace(display, columns=bare)
        gone.append("ranks")
    columns, optional = _without_optional(display, width, least_width)
    gone += optional
    columns, shortened_names = _with_shorter_names(columns, width)
    while least_width(columns) > width and len(columns) > 2:
        gone.append(_last_line(columns.pop()) or "the column without a heading")
    if not gone and not shortened_names:
        return display
    said = [f"Not shown in {width} columns: {'; '.join(gone)}"] if gone else []
    line = "; ".join([*said, *(["names are shortened"] if shortened_names else [])])
    line = f"{line[0].upper()}{line[1:]}. All: a wider terminal, -f tsv."
    return replace(display, columns=columns, caption=[*display.caption, line])


def _without_optional(
    display: Display, width: int, measured: Callable[[Sequence[Column]], int]
) -> tuple[list[Column], list[str]]:
    """The columns that are left where optional ones go till the rest fits, and what went."""
    columns, gone = list(display.columns), []
    while measured(columns) > width and (spare := [c for c in columns if c.heading.optional]):
        columns = [column for column in columns if column is not spare[-1]]
        gone.append(_last_line(spare[-1]))
    return columns, gone


def _last_line(column: Column) -> str:
    return column.heading.text.replace("\n", " ")


def _with_shorter_names(columns: list[Column], width: int) -> tuple[list[Column], bool]:
    """The columns with their names cut to what is left, and whether that was needed."""
    excess = least_width(columns) - width
    named = next((i for i, column in enumerate(columns) if column.heading.names), None)
    if excess <= 0 or named is None or columns[named].width <= LEAST_NAME:
        return columns, False
    most = max(columns[named].width - excess, LEAST_NAME)
    column = columns[named]
    cells = [replace(cell, text=shortened(cell.text, most)) for cell in column.cells]
    return [*columns[:named], Column(column.heading, cells), *columns[named + 1 :]], True


def within(display: Display, width: int) -> Display:
    """The display without what it can do without, and with shorter names, if it is too wide."""
    columns, gone = _without_optional(display, width, width_of)
    columns, short = _with_shorter_names(columns, width)
    said = [f"Not shown: {'; '.join(gone)}."] if gone else []
    names = ["Names are shortened."] if short else []
    return replace(display, columns=columns, caption=[*display.caption, *said, *names])


def key(display: Display) -> list[str]:
    """What the letters' weight says, in formats that have it."""
    best = any(cell.best for column in display.columns for cell in column.cells)
    return ["Bold: the best of its column."] if best else []


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
        replace(
            display,
            title=display.title if i == 0 else "",
            columns=[*first, *chunk],
            caption=display.caption if i == last else (),
            verdict=display.verdict if i == 0 else (),
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


def cut(text: str, most: int) -> str:
    """The beginning of a sentence, in at most so many columns of a terminal."""
    text = escape.visible(text)
    if len(text) <= most and (text.isascii() or sum(map(_columns_of, text)) <= most):
        return text
    room = max(most - 1, 0)
    widths = accumulate(map(_columns_of, text))
    return text[: sum(width <= room for width in widths)].rstrip() + "…"


def _columns_of(character: str) -> int:
    """Chinese and Japanese take two columns of a terminal."""
    return 0 if combining(character) else 1 + (east_asian_width(character) in "WF")


def fitting(texts: Sequence[str], most: int) -> str:
    """As many of the texts, but one at least, as fit into so many characters, and how many more."""
    shown = ", ".join(texts)
    for count in range(len(texts) - 1, 0, -1):
        if len(shown) <= most:
            break
        shown = f"{', '.join(texts[:count])} and {len(texts) - count} more"
    return shown


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


@dataclass(frozen=True)
class PlainRows:
    """A result that has no table of its own: the first rows are shown as they are."""

    rows: Result
    most: int = 20

    @property
    def verdict(self) -> Statements:
        """None."""
        return Statements()

    @property
    def notes(self) -> Sequence[Note]:
        """Those of the rows."""
        return self.rows.provenance.notes

    def result(self) -> Result:
        """The rows."""
        return self.rows

    def displays(self, _width: int) -> list[Display]:
        """The first rows, without columns in which nothing is."""
        rows = self.rows.rows
        columns = [
            Column(Heading(name, left=True), [Cell(_shown(row[i])) for row in rows[: self.most]])
            for i, name in enumerate(self.rows.columns)
            if any(row[i] not in (None, "") for row in rows)
        ]
        hidden = len(rows) - self.most
        return [Display("", columns, [f"{hidden} more rows"] if hidden > 0 else [])]

    def screen(self, width: int) -> list[Display]:
        """The same."""
        return self.displays(width)


def _shown(value: object) -> str:
    if value is None:
        return UNDEFINED
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def span(low: float, high: float) -> str:
    """`1–4`, or `3` where both ends are the same; a dash where there are none."""
    if low != low or high != high:
        return UNDEFINED
    return f"{low:.0f}" if low == high else f"{low:.0f}–{high:.0f}"
