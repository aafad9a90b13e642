"""Tables for a web page: a fragment without styles, for the page to dress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskcli.output import escape
from riskcli.output.display import (
    MARKS,
    Cell,
    Display,
    Heading,
    Mark,
    captions,
    key,
    with_marks,
)


def as_html(displays: Sequence[Display], label: str | None = None) -> str:
    """A figure for each display: a table with header cells, and its caption."""
    lines: list[str] = []
    pairs = zip(displays, captions(displays), strict=True)
    for number, (display, caption) in enumerate(pairs, start=1):
        own = f"{label}-{number}" if label and number > 1 else label
        lines += _figure(display, caption, own)
    return "\n".join([*lines, ""])


def _figure(display: Display, caption: Sequence[str], label: str | None) -> Iterator[str]:
    anchor = f' id="{escape.html(label)}"' if label else ""
    yield f'<figure class="riskeval"{anchor}>'
    yield "<table>"
    if display.full_title:
        yield f"<caption>{escape.html(display.full_title)}</caption>"
    if any(heading.text for heading in display.headings):
        cells = "".join(map(_heading, display.headings))
        yield f"<thead>\n<tr>{cells}</tr>\n</thead>"
    marks = display.marks or "arrows"
    named = next((i for i, heading in enumerate(display.headings) if heading.left), None)
    yield "<tbody>"
    for row in display.rows:
        cells = "".join(
            _cell(cell, heading, i == named, MARKS[marks])
            for i, (cell, heading) in enumerate(zip(row, display.headings, strict=True))
        )
        yield f"<tr>{cells}</tr>"
    yield "</tbody>\n</table>"
    if below := [with_marks(line, marks) for line in [*key(display), *caption]]:
        notes = "<br>\n".join(map(escape.html, below))
        yield f"<figcaption>{notes}</figcaption>"
    yield "</figure>"


def _heading(heading: Heading) -> str:
    text = "<br>".join(map(escape.html, heading.text.split("\n")))
    rank = " <small>#</small>" if heading.ranked else ""
    return f'<th scope="col"{_aligned(heading)}>{text}{rank}</th>'


def _aligned(heading: Heading) -> str:
    """Numbers stand to the right, without a style sheet's help."""
    return "" if heading.left else ' align="right"'


def _cell(cell: Cell, heading: Heading, named: bool, symbols: dict[Mark, str]) -> str:
    text = escape.html(cell.text)
    if cell.best or cell.strong:
        text = f"<strong>{text}</strong>"
    if symbols[cell.mark]:
        text += f'<span role="img" aria-label="{cell.mark}">{symbols[cell.mark]}</span>'
    if heading.ranked and cell.rank is not None:
        text += f" <small>{cell.rank}</small>"
    mark = f' class="{cell.mark}"' if cell.mark else ""
    if named:
        return f'<th scope="row" align="left">{text}</th>'
    return f"<td{_aligned(heading)}{mark}>{text}</td>"
