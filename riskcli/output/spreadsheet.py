"""Names that a spreadsheet would take for formulas, made harmless on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from riskcli.output.result import Result
from riskcli.trec.findings import number

FORMATS = ("csv", "tsv")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_safe(result: Result) -> Result:
    """The result with ' before texts that begin like a formula; numbers stay as they are."""
    columns = tuple(map(_safe, result.columns))
    return replace(result, columns=columns, rows=list(map(_safe_row, result.rows)))


def _safe_row(row: Sequence[Any]) -> list[Any]:
    return [_safe(value) if isinstance(value, str) else value for value in row]


def _safe(text: str) -> str:
    formula = text.startswith(_FORMULA_STARTS) and number(text) is None
    return f"'{text}" if formula else text
