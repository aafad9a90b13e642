"""Machine formats: one writer each, the same rows in all, full double precision."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from riskcli.output.result import Result, Value


def _text(value: Value) -> str:
    """The shortest text that reads back the same; empty for undefined."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _separated(result: Result, delimiter: str) -> str:
    """Lines of cells; one that holds the delimiter, a quote or a line end is quoted."""
    special = re.compile(f'[{delimiter}"\r\n]')

    def cell(text: str) -> str:
        if special.search(text) is None:
            return text
        doubled = text.replace('"', '""')
        return f'"{doubled}"'

    lines = [result.columns, *(map(_text, row) for row in result.rows)]
    return "".join(f"{delimiter.join(map(cell, line))}\n" for line in lines)


def as_csv(result: Result) -> str:
    """Comma-separated values with a header line."""
    return _separated(result, ",")


def as_tsv(result: Result) -> str:
    """Tab-separated values with a header line."""
    return _separated(result, "\t")


def _json_rows(result: Result) -> Iterator[str]:
    for row in result.rows:
        named = dict(zip(result.columns, row, strict=True))
        yield json.dumps(named, ensure_ascii=False, allow_nan=False)


def as_jsonl(result: Result) -> str:
    """A JSON object a line, the rows only."""
    return "".join(f"{row}\n" for row in _json_rows(result))


def as_json(result: Result) -> str:
    """One object: version, settings, inputs, warnings and rows."""
    head = json.dumps(result.envelope(), ensure_ascii=False, allow_nan=False, indent=2)
    rows = ",\n".join(f"    {row}" for row in _json_rows(result))
    body = f"[\n{rows}\n  ]" if rows else "[]"
    opened = head.removesuffix("\n}")
    return f'{opened},\n  "rows": {body}\n}}\n'


def carries_inputs(form: str) -> bool:
    """Whether a result in that form names the files that it rests on, with their checksums."""
    return form in ("json", "parquet")


WRITERS: dict[str, Callable[[Result], str]] = {
    "tsv": as_tsv,
    "csv": as_csv,
    "json": as_json,
    "jsonl": as_jsonl,
}
