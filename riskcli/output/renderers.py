"""Writers of a result: rows for programs in full double precision, tables in Markdown and HTML."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from types import NoneType
from typing import Any

from riskcli.output import escape
from riskcli.output.display import MARKS, Cell, Display, Heading, Mark, captions, key, with_marks
from riskcli.output.result import Result, Value, as_one_text
from riskcli.trec.findings import number

# Rows for programs: a writer for each format, the same rows in all, full double precision.


_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_LINES_AT_ONCE = 4096


def as_csv(result: Result) -> str:
    """Comma-separated values with a header line."""
    return _separated(result, ",")


def as_tsv(result: Result) -> str:
    """Tab-separated values with a header line."""
    return _separated(result, "\t")


def as_jsonl(result: Result) -> str:
    """A JSON object a line, the rows only."""
    return "".join(_pieces(f"{row}\n" for row in _json_rows(result)))


def as_json(result: Result) -> str:
    """One object: version, settings, inputs, warnings and rows."""
    head = json.dumps(result.envelope(), ensure_ascii=False, allow_nan=False, indent=2)
    opened = head.removesuffix("\n}") + ',\n  "rows": ['
    pieces = _pieces(f",\n    {row}" for row in _json_rows(result))
    first = next(pieces, "").removeprefix(",")
    closed = "\n  ]\n}\n" if first else "]\n}\n"
    return "".join(chain([opened, first], pieces, [closed]))


def spreadsheet_safe(result: Result) -> Result:
    """The result with ' before texts that begin like a formula; numbers stay as they are."""
    rows = [
        [_safe(value) if isinstance(value, str) else value for value in map(as_one_text, row)]
        for row in result.rows
    ]
    return replace(result, columns=tuple(map(_safe, result.columns)), rows=rows)


def _safe(text: str) -> str:
    formula = text.startswith(_FORMULA_STARTS) and number(text) is None
    return f"'{text}" if formula else text


def _separated(result: Result, delimiter: str) -> str:
    """Lines of cells; one that holds the delimiter, a quote or a line end is quoted."""
    special = re.compile(f'[{delimiter}"\r\n]')
    head = _separated_pieces(iter([result.columns]), delimiter, special)
    return "".join([*head, *_separated_pieces(iter(result.rows), delimiter, special)])


def _separated_pieces(
    lines: Iterator[Sequence[Value]], delimiter: str, special: re.Pattern[str]
) -> Iterator[str]:
    """Many lines each: a million short texts take several times the memory of their letters."""
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        columns = [_cells(column, special) for column in zip(*piece, strict=True)]
        yield "".join([f"{delimiter.join(line)}\n" for line in zip(*columns, strict=True)])


def _cells(values: Sequence[Any], special: re.Pattern[str]) -> Iterable[str]:
    """Values of a column as cells, without a look at each where they are alike."""
    kinds = set(map(type, values))
    if kinds in ({float}, {int}):
        return map(repr, values)  # the shortest text that reads back the same
    if kinds == {NoneType}:
        return [""] * len(values)
    if kinds <= {float, int, NoneType}:
        return ["" if value is None else repr(value) for value in values]
    texts = values if kinds == {str} else [_text(value) for value in values]
    return texts if special.search("".join(texts)) is None else [_quoted(t, special) for t in texts]


def _text(value: Value) -> str:
    return "" if value is None else str(as_one_text(value))


def _quoted(text: str, special: re.Pattern[str]) -> str:
    if special.search(text) is None:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    while piece := "".join(islice(lines, _LINES_AT_ONCE)):
        yield piece


def _json_rows(result: Result) -> Iterator[str]:
    for row in result.rows:
        named = dict(zip(result.columns, row, strict=True))
        yield json.dumps(named, ensure_ascii=False, allow_nan=False)


# Tables in Markdown and HTML.


def as_markdown(displays: Sequence[Display]) -> str:
    """The displays as Markdown tables, ranks in brackets, the best of a column bold."""
    return "\n".join(map(_markdown_table, displays, captions(displays)))


def _markdown_table(display: Display, caption: Sequence[str]) -> str:
    marks = display.marks or "arrows"
    headings = [escape.markdown(h.text.replace("\n", " ")) for h in display.headings]
    rulers = [":--" if heading.left else "--:" for heading in display.headings]
    lines = [f"{escape.markdown(sentence)}  " for sentence in display.verdict]
    lines += [""] if lines else []
    lines += [f"**{escape.markdown(display.full_title)}**", ""] if display.full_title else []
    if headings:
        lines += ["| " + " | ".join(headings) + " |", "|" + "|".join(rulers) + "|"]
    for row in display.rows:
        cells = [
            _markdown_cell(cell, heading.ranked, MARKS[marks])
            for cell, heading in zip(row, display.headings, strict=True)
        ]
        lines.append("| " + " | ".join(cells) + " |")
    below = [with_marks(line, marks) for line in [*key(display), *caption]]
    text = "  \n".join(map(escape.markdown, below))
    return "\n".join([*lines, *([""] if lines else []), text, ""])


def _markdown_cell(cell: Cell, ranked: bool, symbols: dict[Mark, str]) -> str:
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
    for i, (display, caption) in enumerate(pairs, start=1):
        lines += _figure(display, caption, f"{label}-{i}" if label and i > 1 else label)
    return "\n".join([*lines, ""])


def _figure(display: Display, caption: Sequence[str], label: str | None) -> Iterator[str]:
    anchor = f' id="{escape.html(label)}"' if label else ""
    yield f'<figure class="riskeval"{anchor}>'
    if display.verdict:
        sentences = "<br>\n".join(map(escape.html, display.verdict))
        yield f"<p>{sentences}</p>"
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
