"""Results of several tables: machine formats hold one of them, JSON the others beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from riskcli.core.errors import InputError
from riskcli.core.notes import Note
from riskcli.output.result import Result

Tables = Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]
"""Columns and rows of each part, by its name."""


class Found(Protocol):
    """What a result rests on."""

    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def inputs(self) -> Sequence[tuple[Path, str]]: ...
    @property
    def notes(self) -> Sequence[Note]: ...
    @property
    def skipped(self) -> Sequence[InputError]: ...


def part_of(found: Found, tables: Tables, part: str) -> Result:
    """The result whose rows are that part."""
    extra = {
        name: [dict(zip(columns, row, strict=True)) for row in rows]
        for name, (columns, rows) in tables.items()
        if name != part
    }
    columns, rows = tables[part]
    return Result(
        tuple(columns), rows, found.settings, found.inputs, found.notes, found.skipped, extra
    )
