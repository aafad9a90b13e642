"""What a command found: tidy rows, and the settings, inputs and warnings they rest on."""

from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from riskcli.core.files import as_text
from riskcli.core.messages import TEXT_HASH, Provenance
from riskcli.core.version import __version__
from riskcli.output.verdict import Statement

if TYPE_CHECKING:
    import pandas as pd

Value = str | int | float | bool | tuple[str, ...] | None
"""What a cell holds; a list of names is one where a format has lists, else one text."""


@dataclass(frozen=True)
class Result:
    """Rows of values in the order of the columns; None is undefined, nothing is infinite."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    provenance: Provenance = field(default_factory=Provenance)
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further members of the JSON object."""
    verdicts: tuple[Statement, ...] = ()
    """What the rows say, in sentences."""

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        # Late: pandas takes longer than all else, and the command line does without.
        import pandas as pd

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        series = [pd.Series(values, dtype=_dtype_of(values)) for values in columns]
        frame = pd.concat(series, axis=1) if series else pd.DataFrame()
        return frame.set_axis(list(self.columns), axis=1)

    def envelope(self) -> dict[str, Any]:
        """The JSON object, but for the rows."""
        skipped = [
            {"path": as_text(Path(error.path).name), "line": error.line, "code": error.code,
             "message": as_text(error.message)}
            for error in self.provenance.skipped
        ]  # fmt: skip
        return {
            "riskeval": __version__,
            "settings": dict(self.provenance.settings),
            "inputs": [
                {"path": as_text(file.path.name), "sha256": file.sha256, "kind": file.kind}
                | ({TEXT_HASH: file.content} if file.kind == "qrels" and file.content else {})
                for file in self.provenance.inputs
            ],
            "warnings": [
                {"code": note.code, "message": as_text(note.message)}
                for note in self.provenance.notes
                if note.warning
            ],
            **({"skipped": skipped} if skipped else {}),
            **({"verdicts": [each.record() for each in self.verdicts]} if self.verdicts else {}),
            **self.extra,
        }


def _dtype_of(values: Sequence[Value]) -> Literal["Int64", "float64"] | None:
    """Numbers are float (NaN for undefined), counts with gaps Int64, the rest as pandas has it."""
    present = {type(value) for value in values if value is not None}
    if present == {int} and None in values:
        return "Int64"
    return "float64" if present <= {int, float} and present != {int} else None


def as_one_text(value: Value) -> str | int | float | bool | None:
    """The value, a list as one text."""
    return ";".join(value) if isinstance(value, tuple) else value


def tidy(values: Iterable[Any], whole: bool = False) -> list[Value]:
    """Plain Python values: None for NaN and infinities, int where counts or ranks are whole."""
    tidied: list[Value] = []
    for value in values.tolist() if hasattr(values, "tolist") else values:
        if not isinstance(value, float):
            tidied.append(value)
        elif not isfinite(value):
            tidied.append(None)
        elif whole and value.is_integer():
            tidied.append(int(value))
        else:
            tidied.append(value)
    return tidied


Tables = Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]
"""Columns and rows of each part of a result, by its name."""


def part_of(provenance: Provenance, tables: Tables, part: str) -> Result:
    """The result whose rows are that part; JSON holds the other parts beside them."""
    others = _PartRecords({name: table for name, table in tables.items() if name != part})
    columns, rows = tables[part]
    return Result(tuple(columns), rows, provenance, others)


# Rows that are made when they are written: there may be millions of them.


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

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(islice(self._make(), *index.indices(self._count)))
        chosen = range(self._count)[index]
        return next(islice(self._make(), chosen, None))


class _PartRecords(UserDict[str, Any]):
    """Tables by name, columns and rows; each becomes a list of records when it is asked for."""

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        columns, rows = self.data[name]
        return [dict(zip(columns, row, strict=True)) for row in rows]
