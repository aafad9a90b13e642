"""Rows that are made when they are written: there may be millions of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

Row = Sequence[Any]
_KEPT = 100_000


def rows_of(count: int, make: Callable[[], Iterable[Row]]) -> Sequence[Row]:
    """The rows that `make` gives: as a list, or, if there are many, made anew whenever read."""
    return list(make()) if count <= _KEPT else _ManyRows(count, make)


class _ManyRows(Sequence[Row]):
    """So many rows, none of which is kept."""

    def __init__(self, count: int, make: Callable[[], Iterable[Row]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return iter(self._make())

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return list(islice(self._make(), *index.indices(self._count)))
        chosen = range(self._count)[index]
        return next(islice(self._make(), chosen, None))


class Parts(Mapping[str, list[dict[str, Any]]]):
    """Tables by name, each a list of records that is made when it is asked for."""

    def __init__(self, tables: Mapping[str, tuple[Sequence[str], Sequence[Row]]]) -> None:
        """`tables` are columns and rows."""
        self._tables = tables

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        columns, rows = self._tables[name]
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)
