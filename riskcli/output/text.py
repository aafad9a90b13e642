"""Tables as a terminal shows them."""

from collections.abc import Iterator, Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from riskcli.output import display as layout
from riskcli.output import escape

_COLOURS: dict[layout.Mark, str] = {"": "", "better": "green", "worse": "red"}


def as_text(displays: Sequence[layout.Display], width: int, colour: bool) -> str:
    """The displays as a terminal of that width shows them; no number is cut, and no row wraps.

    A notebook is no terminal: there, rich would show each piece itself and write nothing.
    """
    displays = [layout.narrowed(display, width) for display in displays]
    stream = StringIO()
    console = Console(
        file=stream,
        width=max([width, *map(layout.least_width, [display.columns for display in displays])]),
        force_terminal=colour,
        force_jupyter=False,
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    hints = [*dict.fromkeys(display.hint for display in displays if display.hint)]
    for i, (display, caption) in enumerate(zip(displays, layout.captions(displays), strict=True)):
        if i:
            console.print()
        for sentence in escape.all_visible([*display.verdict]):
            console.print(Text(sentence), width=width)
        if display.full_title:
            console.print(Text(escape.visible(display.full_title), style="bold"), width=width)
        if display.rows:
            console.print(_table(display))
        marked = [layout.with_marks(line, display.marks or "arrows") for line in caption]
        for line in escape.all_visible(marked):
            console.print(Text(line, style="dim"), width=width)
    for hint in hints:
        console.print(Text(hint, style="dim"), width=width)
    text = stream.getvalue()
    return text if colour else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _table(display: layout.Display) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        show_header=any(h.text for h in display.headings),
        show_edge=False,
        pad_edge=False,
        padding=(0, layout.GAP - 1, 0, 0),
    )
    symbols = layout.MARKS[display.marks or "arrows"]
    for column in display.columns:
        left = column.heading.left
        table.add_column(
            _heading(column),
            justify="left" if left else "right",
            overflow="fold",
            no_wrap=not left or column.heading.names,
            min_width=column.least_width if left else None,
        )
    for cells in zip(*(_cells(c, symbols) for c in display.columns), strict=True):
        table.add_row(*cells)
    return table


def _heading(column: layout.Column) -> Text:
    """Each line of the heading, above the values; `#` above the ranks."""
    heading = column.heading
    mark = " " if heading.marked else ""
    lines = [line + mark for line in heading.text.split("\n")]
    if heading.ranked:
        digits = column.rank_digits
        blank = " " * (digits + 1)
        lines = [line + blank for line in lines[:-1]] + [f"{lines[-1]} {'#':>{digits}}"]
    return Text("\n".join(lines), style="bold")


def _cells(column: layout.Column, symbols: dict[layout.Mark, str]) -> Iterator[Text]:
    heading, digits = column.heading, column.rank_digits
    for shown, cell in zip(column.texts, column.cells, strict=True):
        text = Text(shown, style="bold" if cell.strong else "")
        if heading.marked:
            text.append(symbols[cell.mark] or " ", style=_COLOURS[cell.mark])
        if heading.ranked:
            text.append(f" {cell.rank if cell.rank is not None else '':>{digits}}", style="dim")
        yield text
