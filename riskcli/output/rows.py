"""Rows for programs: a writer for each form, the same rows in all, full double precision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from riskcli.output.result import Result, Value, as_one_text
from riskcli.trec.findings import number

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
    rows = ",\n".join(f"    {row}" for row in _json_rows(result))
    body = f"[\n{rows}\n  ]" if rows else "[]"
    opened = head.removesuffix("\n}")
    return f'{opened},\n  "rows": {body}\n}}\n'


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

    def cell(value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return repr(value)  # the shortest text that reads back the same
        text = str(as_one_text(value))
        if special.search(text) is None:
            return text
        doubled = text.replace('"', '""')
        return f'"{doubled}"'

    lines = (
        f"{delimiter.join(map(cell, line))}\n" for line in chain([result.columns], result.rows)
    )
    return "".join(_pieces(lines))


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """Many lines each: a million short texts take several times the memory of their letters."""
    while piece := "".join(islice(lines, _LINES_AT_ONCE)):
        yield piece


def _json_rows(result: Result) -> Iterator[str]:
    for row in result.rows:
        named = dict(zip(result.columns, row, strict=True))
        yield json.dumps(named, ensure_ascii=False, allow_nan=False)
