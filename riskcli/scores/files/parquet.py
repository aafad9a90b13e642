"""Scores as Parquet, wide or long."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from riskcli.core.messages import counted
from riskcli.scores.files.objects import from_values, spelled
from riskcli.scores.files.rows import Items, ScoreRow, bad_score, is_own, own_result
from riskcli.scores.files.tables import LONG, RUN, inspect_names
from riskcli.scores.matrix import are_scores
from riskcli.trec.arrow import UNREADABLE, parquet, reader
from riskcli.trec.findings import Finding

METADATA_KEY = b"riskeval"
_TEXTS = ("string", "large_string", "string_view")


def about(text: bytes) -> dict[str, Any]:
    """What riskeval wrote beside the table."""
    return _metadata(parquet().read_schema(reader(text)))


def _metadata(schema: Any) -> dict[str, Any]:
    try:
        found = json.loads((schema.metadata or {}).get(METADATA_KEY, b"{}"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def inspect_parquet(path: Path, text: bytes) -> Items:
    """The scores of a table, and what is wrong with it."""
    try:
        table = parquet().ParquetFile(reader(text)).read()
    except UNREADABLE as error:
        yield Finding(path, None, "bad-parquet", str(error))
        return
    names = table.column_names
    if is_own(names):
        yield Finding.of(own_result(path))
        return
    if not names or names[0] != RUN:
        yield Finding(path, None, "bad-parquet", f"the first column is not {RUN!r}")
        return
    long = sorted(names) == sorted(LONG)
    named = [name in LONG[:-1] if long else not index for index, name in enumerate(names)]
    wrong = _wrong_kinds(path, table, named)
    if wrong:
        yield from wrong
    elif long:
        columns = (table[name].to_pylist() for name in LONG[:-1])
        scores = table[LONG[-1]].cast("double").to_pylist()
        yield from from_values(path, zip(*columns, scores, strict=True))
    else:
        measure = _metadata(table.schema).get("measure")
        yield from _inspect_wide(path, table, None if measure is None else str(measure))


def _wrong_kinds(path: Path, table: Any, named: Sequence[bool]) -> list[Finding]:
    """Columns of names that hold no names, or not everywhere, and others that hold no numbers."""
    wrong = []
    for name, column, names in zip(table.column_names, table.columns, named, strict=True):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        whole = pa.types.is_integer(kind)
        if names:
            said = "" if whole or str(kind) in _TEXTS else f"is {kind}, expected text"
            said = said or (
                f"is null in {counted(column.null_count, 'row')}" if column.null_count else ""
            )
            code = "bad-parquet"
        else:
            number = whole or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
            said = "" if number or pa.types.is_null(kind) else f"is {kind}, expected numbers"
            code = "bad-score"
        if said:
            wrong.append(Finding(path, None, code, f"column {name!r} {said}"))
    return wrong


def _inspect_wide(path: Path, table: Any, measure: str | None) -> Items:
    runs = [str(run) for run in table.column(0).to_pylist()]
    topics = tuple(table.column_names[1:])
    wrong = [*inspect_names(path, "run", runs, None), *inspect_names(path, "topic", topics, None)]
    yield from wrong
    if not wrong:
        yield from _values(path, table.columns[1:], runs, topics, measure)
    if not runs:
        yield Finding(path, None, "empty-file", "no run in this file")


def _values(
    path: Path, cells: list[Any], runs: list[str], topics: tuple[str, ...], measure: str | None
) -> Iterator[ScoreRow | Finding]:
    columns = [column.cast("double").to_numpy() for column in cells]
    shape = (len(topics), len(runs))
    values = np.array(columns, dtype=np.float64).reshape(shape).T
    empty = np.array([column.is_null().to_numpy() for column in cells], dtype=bool).reshape(shape).T
    for index, run in enumerate(runs):
        bad = np.flatnonzero(~are_scores(values[index]) & ~empty[index])
        for topic in bad.tolist():
            cell = spelled(float(values[index, topic]))
            yield bad_score(path, run, topics[topic], cell, None)
        if not len(bad):
            yield ScoreRow(run, measure, topics, values[index].tolist())
