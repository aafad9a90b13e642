"""Scores as Parquet, wide or long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.scores.files.objects import from_values, spelled
from riskcli.scores.files.own import is_own, own_result
from riskcli.scores.files.rows import Items, ScoreRow, bad_score
from riskcli.scores.files.tables import LONG, RUN, inspect_names
from riskcli.scores.matrix import are_scores
from riskcli.trec.arrow import UNREADABLE, parquet, reader
from riskcli.trec.findings import Finding

METADATA_KEY = b"riskeval"


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
    elif not names or names[0] != RUN:
        yield Finding(path, None, "bad-parquet", f"the first column is not {RUN!r}")
    elif sorted(names) == sorted(LONG):
        columns = (table[name].to_pylist() for name in LONG)
        yield from from_values(path, zip(*columns, strict=True))
    else:
        measure = _metadata(table.schema).get("measure")
        yield from _inspect_wide(path, table, None if measure is None else str(measure))


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
    try:
        columns = [column.cast("double").to_numpy() for column in cells]
    except (ValueError, NotImplementedError) as error:
        yield Finding(path, None, "bad-score", f"a topic's column is not numeric: {error}")
        return
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
