"""Tables in Markdown, as GitHub, GitLab and most sites show them."""

from __future__ import annotations

from collections.abc import Sequence

from riskcli.output import escape
from riskcli.output.display import SYMBOLS, Cell, Display


def as_markdown(displays: Sequence[Display]) -> str:
    """The displays as Markdown tables, ranks in brackets."""
    return "\n".join(_table(display) for display in displays)


def _table(display: Display) -> str:
    headings = [escape.markdown(h.text.replace("\n", " ")) for h in display.headings]
    rulers = [":--" if heading.left else "--:" for heading in display.headings]
    lines = [f"**{escape.markdown(display.title)}**", ""] if display.title else []
    if headings:
        lines += ["| " + " | ".join(headings) + " |", "|" + "|".join(rulers) + "|"]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in display.rows]
    caption = "  \n".join(escape.markdown(line) for line in display.caption)
    return "\n".join([*lines, *([""] if lines else []), caption, ""])


def _cell(cell: Cell) -> str:
    text = escape.markdown(cell.text)
    if cell.strong:
        text = f"**{text}**"
    rank = "" if cell.rank is None else f"({cell.rank})"
    return " ".join(part for part in (text, SYMBOLS[cell.mark], rank) if part)
