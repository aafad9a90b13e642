"""Tables in Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskcli.output import escape
from riskcli.output.display import MARKS, Cell, Display, Heading, Mark, captions, key, with_marks


def as_markdown(displays: Sequence[Display]) -> str:
    """The displays as Markdown tables, ranks in brackets, the best of a column bold."""
    return "\n".join(map(_table, displays, captions(displays)))


def _table(display: Display, caption: Sequence[str]) -> str:
    marks = display.marks or "arrows"
    headings = [escape.markdown(h.text.replace("\n", " ")) for h in display.headings]
    rulers = [":--" if heading.left else "--:" for heading in display.headings]
    lines = [f"**{escape.markdown(display.full_title)}**", ""] if display.full_title else []
    if headings:
        lines += ["| " + " | ".join(headings) + " |", "|" + "|".join(rulers) + "|"]
    for row in display.rows:
        cells = [
            _cell(cell, heading.ranked, MARKS[marks])
            for cell, heading in zip(row, display.headings, strict=True)
        ]
        lines.append("| " + " | ".join(cells) + " |")
    below = [with_marks(line, marks) for line in [*key(display), *caption]]
    text = "  \n".join(map(escape.markdown, below))
    return "\n".join([*lines, *([""] if lines else []), text, ""])


def _cell(cell: Cell, ranked: bool, symbols: dict[Mark, str]) -> str:
    text = escape.markdown(cell.text)
    if cell.strong or cell.best:
        text = f"**{text}**"
    rank = f"({cell.rank})" if ranked and cell.rank is not None else ""
    return " ".join(part for part in (text, symbols[cell.mark], rank) if part)


# Tables for a web page: a fragment without styles, for the page to dress.


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
            _html_cell(cell, heading, i == named, MARKS[marks])
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


def _html_cell(cell: Cell, heading: Heading, named: bool, symbols: dict[Mark, str]) -> str:
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
