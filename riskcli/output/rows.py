"""Rows for programs: a writer for each format, the same rows in all, full double precision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from types import NoneType
from typing import Any

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
