"""Tables in Markdown, as GitHub, GitLab and most sites show them."""

from __future__ import annotations

from collections.abc import Sequence

from riskcli.output import escape
from riskcli.output.display import MARKS, Cell, Display, Mark, captions, key, with_marks


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
