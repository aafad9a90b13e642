"""Tables for a web page: a fragment without styles, for the page to dress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskcli.output import escape
from riskcli.output.display import SYMBOLS, Cell, Display, Heading


def as_html(displays: Sequence[Display], label: str | None = None) -> str:
    """A figure for each display: a table with header cells, and its caption."""
    lines: list[str] = []
    for number, display in enumerate(displays, start=1):
        own = f"{label}-{number}" if label and number > 1 else label
        lines += _figure(display, own)
    return "\n".join([*lines, ""])


def _figure(display: Display, label: str | None) -> Iterator[str]:
    anchor = f' id="{escape.html(label)}"' if label else ""
    yield f'<figure class="riskeval"{anchor}>'
    yield "<table>"
    if display.title:
        yield f"<caption>{escape.html(display.title)}</caption>"
    if any(heading.text for heading in display.headings):
        cells = "".join(map(_heading, display.headings))
        yield f"<thead>\n<tr>{cells}</tr>\n</thead>"
    named = next((place for place, h in enumerate(display.headings) if h.left), None)
    yield "<tbody>"
    for row in display.rows:
        cells = "".join(_cell(cell, place == named) for place, cell in enumerate(row))
        yield f"<tr>{cells}</tr>"
    yield "</tbody>\n</table>"
    if display.caption:
        notes = "<br>\n".join(map(escape.html, display.caption))
        yield f"<figcaption>{notes}</figcaption>"
    yield "</figure>"


def _heading(heading: Heading) -> str:
    text = "<br>".join(map(escape.html, heading.text.split("\n")))
    rank = " <small>#</small>" if heading.ranked else ""
    return f'<th scope="col">{text}{rank}</th>'


def _cell(cell: Cell, named: bool) -> str:
    text = escape.html(cell.text)
    if cell.best or cell.strong:
        text = f"<strong>{text}</strong>"
    if cell.mark:
        text += f'<span role="img" aria-label="{cell.mark}">{SYMBOLS[cell.mark]}</span>'
    if cell.rank is not None:
        text += f" <small>{cell.rank}</small>"
    mark = f' class="{cell.mark}"' if cell.mark else ""
    return f'<th scope="row">{text}</th>' if named else f"<td{mark}>{text}</td>"
