"""Tables for a paper: LaTeX with booktabs, as it is pasted into one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from riskcli.core.errors import UsageError
from riskcli.output import escape
from riskcli.output.display import Cell, Display, Heading, Mark

_SIGNS: dict[Mark, str] = {"better": "$^{+}$", "worse": "$^{-}$", "": r"\phantom{$^{+}$}"}
_MINUS = re.compile(r"(?:(?<=[\s\[(])|^)-(?=[\d∞])")
_LABEL = re.compile(r"[A-Za-z0-9:._/+-]+")
_PACKAGE = r"% needs \usepackage{booktabs}"
_ENGINE = "% some names hold letters that only LuaLaTeX or XeLaTeX can print"


def as_latex(displays: Sequence[Display], label: str | None = None) -> str:
    """A table environment for each display; further ones have -2, -3, ... at their label."""
    if label is not None and not _LABEL.fullmatch(label):
        raise UsageError(f"label is {label!r}, expected letters, digits and : . _ / + -")
    tables = []
    for number, display in enumerate(displays, start=1):
        own = f"{label}-{number}" if label and number > 1 else label
        tables.append("\n".join(_table(display, own)))
    text = "\n\n".join(tables)
    head = [_PACKAGE, _ENGINE] if escape.beyond_latex(text) else [_PACKAGE]
    return "\n".join([*head, text, ""])


def _table(display: Display, label: str | None) -> Iterator[str]:
    yield r"\begin{table*}"
    yield r"\centering"
    if display.title:
        yield rf"\caption{{{escape.latex(display.title)}}}"
    if label:
        yield rf"\label{{{label}}}"
    if display.rows:
        yield rf"\begin{{tabular}}{{@{{}}{''.join(_alignments(display))}@{{}}}}"
        yield r"\toprule"
        yield from _heading_lines(display.headings)
        yield r"\midrule"
        digits = [column.rank_digits for column in display.columns]
        for row in display.rows:
            yield _line(map(_cell, row, display.headings, digits))
        yield r"\bottomrule"
        yield r"\end{tabular}"
    yield from _notes(display)
    yield r"\end{table*}"


def _alignments(display: Display) -> list[str]:
    return ["l" if heading.left else "r" for heading in display.headings]


def _heading_lines(headings: Sequence[Heading]) -> Iterator[str]:
    """The headings; above them, over all the columns that share it, what stands on a first line."""
    upper = [heading.text.rpartition("\n")[0].replace("\n", " ") for heading in headings]
    if any(upper):
        spans = [(text, len(list(same))) for text, same in groupby(upper)]
        yield _line(
            rf"\multicolumn{{{width}}}{{c}}{{{escape.latex(text)}}}" for text, width in spans
        )
        yield _rules(spans)
    yield _line(_heading(heading) for heading in headings)


def _rules(spans: Sequence[tuple[str, int]]) -> str:
    found, start = [], 1
    for text, width in spans:
        if text:
            found.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return " ".join(found)


def _heading(heading: Heading) -> str:
    text = escape.latex(heading.text.rpartition("\n")[2])
    mark = _SIGNS[""] if heading.marked else ""
    rank = r"\,{\scriptsize\#}" if heading.ranked else ""
    return f"{text}{mark}{rank}"


def _cell(cell: Cell, heading: Heading, digits: int) -> str:
    text = cell.text if heading.left else _MINUS.sub("−", cell.text)
    shown = escape.latex(text)
    if cell.best:
        shown = rf"\textbf{{{shown}}}"
    if cell.mark:
        shown = rf"\underline{{{shown}}}"
    if heading.marked:
        shown += _SIGNS[cell.mark]
    if heading.ranked:
        rank = "" if cell.rank is None else str(cell.rank)
        missing = digits - len(rank)
        filler = rf"\phantom{{{'0' * missing}}}" if missing else ""
        shown += rf"\,{{\scriptsize {filler}{rank}}}"
    return shown


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _notes(display: Display) -> Iterator[str]:
    """What the table says of itself, below it."""
    if not display.caption:
        return
    cells = [cell for row in display.rows for cell in row]
    lines = [escape.latex(line) for line in display.caption]
    if any(cell.best for cell in cells):
        lines.append("Bold: best of its column.")
    if any(cell.mark for cell in cells):
        lines.append("Underlined: significant.")
    yield r"\par\smallskip"
    yield r"\parbox{\linewidth}{\footnotesize"
    yield "\n".join(lines) + "}"
