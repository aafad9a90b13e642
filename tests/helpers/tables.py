"""Tables as rows of named cells: the papers', delimited text, and results."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from riskcli.analyses.base import Analysis

PAPERS = Path(__file__).parents[1] / "papers"


def paper_table(name: str) -> list[dict[str, str]]:
    """A table as a paper prints it."""
    with (PAPERS / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def table_of(text: str, delimiter: str = "\t") -> list[dict[str, str]]:
    """Delimited text with a header."""
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def rows_of(analysis: Analysis, **wanted: Any) -> list[dict[str, Any]]:
    """The rows of a result that have these values."""
    result = analysis.result()
    found = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]
