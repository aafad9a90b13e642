"""Results of several tables: machine formats hold one of them, JSON the others beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskcli.core.basis import Basis
from riskcli.output.result import Result

Tables = Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]
"""Columns and rows of each part, by its name."""


def part_of(basis: Basis, tables: Tables, part: str) -> Result:
    """The result whose rows are that part."""
    extra = {
        name: [dict(zip(columns, row, strict=True)) for row in rows]
        for name, (columns, rows) in tables.items()
        if name != part
    }
    columns, rows = tables[part]
    return Result(tuple(columns), rows, basis, extra)
