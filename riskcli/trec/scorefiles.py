"""Files that hold scores already: a matrix of runs by topics, in place of runs.

Wide: a first column `run`, then a column a topic. Long: `run,topic,measure,score`. As CSV, TSV,
JSON or Parquet, told apart by content. An empty cell is a topic that the run did not answer.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.errors import InputError
from riskcli.matrix import ScoreMatrix
from riskcli.notes import listed
from riskcli.order import naturally
from riskcli.trec.findings import number

RUN = "run"
LONG = ("run", "topic", "measure", "score")
UNNAMED = "score"
"""What the measure is called where the file does not say."""

_PARQUET = b"PAR1"
METADATA_KEY = b"riskeval"


def kind_of(text: bytes) -> str | None:
    """`csv`, `tsv`, `json` or `parquet` for a score file, None for anything else."""
    if text.startswith(_PARQUET):
        return "parquet"
    if text.lstrip()[:1] == b"{":
        return "json"
    first_line = text[: text.find(b"\n")] if b"\n" in text else text
    for kind, delimiter in (("csv", b","), ("tsv", b"\t")):
        cells = [cell.strip(b'" \r') for cell in first_line.split(delimiter)]
        if cells[0] == b"run" and len(cells) > 1 and cells[1] != b"Q0":
            return kind
    return None


def read_scores(path: Path, text: bytes, kind: str, label: str = UNNAMED) -> list[ScoreMatrix]:
    """The matrices in a score file, one a measure; `label` names the measure of a wide table."""
    if kind == "parquet":
        return _from_parquet(path, text, label)
    if kind == "json":
        return _from_json(path, text)
    return _from_table(path, text, "," if kind == "csv" else "\t", label)


def recorded_settings(text: bytes, kind: str) -> dict[str, Any]:
    """The settings that a JSON or Parquet file says it was made with; CSV and TSV say nothing."""
    if kind == "json":
        about = json.loads(text)
    elif kind == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        metadata = parquet.read_schema(pa.BufferReader(text)).metadata or {}
        about = json.loads(metadata.get(METADATA_KEY, b"{}"))
    else:
        about = {}
    settings = about.get("settings", {})
    return settings if isinstance(settings, dict) else {}


def _from_table(path: Path, text: bytes, delimiter: str, label: str) -> list[ScoreMatrix]:
    try:
        decoded = io.StringIO(text.decode(), newline="")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error
    rows = csv.reader(decoded, delimiter=delimiter, strict=True)
    try:
        header = next(rows)
        lines = ((rows.line_num, row) for row in rows if row)
        if sorted(header) == sorted(LONG):
            return _from_long(path, _long_cells(path, header, lines))
        return [_from_wide(path, header, lines, label)]
    except csv.Error as error:
        raise InputError(path, "bad-csv", str(error), rows.line_num) from error


def _from_wide(
    path: Path, header: Sequence[str], lines: Iterable[tuple[int, list[str]]], label: str
) -> ScoreMatrix:
    topics = header[1:]
    _check_names(path, "topic", topics, 1)
    names: dict[str, int] = {}
    values: list[NDArray[np.float64]] = []
    for line, row in lines:
        if len(row) != len(header):
            message = f"found {len(row)} cells, expected {len(header)} as in the first line"
            raise InputError(path, "column-count", message, line)
        _note_run(path, names, row[0], line)
        values.append(_row_values(path, row[0], topics, row[1:], line))
    if not values:
        raise InputError(path, "empty-file", "no run below the first line")
    return ScoreMatrix(label, tuple(names), tuple(topics), np.array(values))


def _note_run(path: Path, names: dict[str, int], run: str, line: int) -> None:
    if not run:
        raise InputError(path, "no-name", "the name of the run (1st column) is empty", line)
    first = names.setdefault(run, line)
    if first != line:
        raise InputError(path, "duplicate-run", f"run {run} stands on line {first} already", line)


def _row_values(
    path: Path, run: str, topics: Sequence[str], cells: Sequence[str], line: int
) -> NDArray[np.float64]:
    together = "".join(cells)
    if together.isascii() and "_" not in together:  # 1_000 is a number to numpy, not to us
        with suppress(ValueError):
            quick = np.array(cells, dtype=np.float64)
            if np.isfinite(quick).all():
                return quick
    named = zip(topics, cells, strict=True)
    return np.array([_score(path, f"run {run}, topic {t}", cell, line) for t, cell in named])


def _score(path: Path, where: str, cell: str, line: int | None) -> float:
    """The score in a cell; NaN where the cell is empty."""
    value = number(cell.strip()) if cell.strip() else np.nan
    if value is None:
        message = f"{where}: the score is {cell!r}, expected a finite number"
        raise InputError(path, "bad-score", message, line)
    return value


Cell = tuple[str, str, str, float, int | None]


def _long_cells(
    path: Path, header: Sequence[str], lines: Iterable[tuple[int, list[str]]]
) -> Iterable[Cell]:
    place = [header.index(name) for name in LONG]
    for line, row in lines:
        if len(row) != len(header):
            message = f"found {len(row)} cells, expected {len(header)} as in the first line"
            raise InputError(path, "column-count", message, line)
        run, topic, measure, cell = (row[i] for i in place)
        yield run, topic, measure, _score(path, f"run {run}, topic {topic}", cell, line), line


def _from_long(path: Path, cells: Iterable[Cell]) -> list[ScoreMatrix]:
    by_measure: dict[str, dict[tuple[str, str], float]] = {}
    for run, topic, measure, score, line in cells:
        if not run or not topic:
            raise InputError(path, "no-name", "the name of the run or the topic is empty", line)
        scores = by_measure.setdefault(measure, {})
        if (run, topic) in scores:
            message = f"run {run}, topic {topic} and measure {measure} stand here a second time"
            raise InputError(path, "duplicate-score", message, line)
        scores[run, topic] = score
    if not by_measure:
        raise InputError(path, "empty-file", "no score below the first line")
    return [_matrix_of(measure, scores) for measure, scores in by_measure.items()]


def _matrix_of(measure: str, scores: dict[tuple[str, str], float]) -> ScoreMatrix:
    runs = {run: place for place, run in enumerate(dict.fromkeys(run for run, _ in scores))}
    topics = {t: place for place, t in enumerate(naturally({topic for _, topic in scores}))}
    values = np.full((len(runs), len(topics)), np.nan)
    for (run, topic), score in scores.items():
        values[runs[run], topics[topic]] = score
    return ScoreMatrix(measure, tuple(runs), tuple(topics), values)


def _from_json(path: Path, text: bytes) -> list[ScoreMatrix]:
    """What `riskeval matrix -f json` writes: rows of {run, measure, scores} or of long cells."""
    try:
        rows = json.loads(text, object_pairs_hook=_unrepeated)["rows"]
        cells = [cell for row in rows for cell in _json_cells(path, row)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"expected the JSON that `riskeval matrix` writes ({error!r})"
        raise InputError(path, "bad-json", message, getattr(error, "lineno", None)) from error
    return _from_long(path, cells)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object holds a key twice: {listed(key for key, _ in pairs)}")
    return found


def _json_cells(path: Path, row: dict[str, Any]) -> Iterable[Cell]:
    scores = row["scores"] if "scores" in row else {row["topic"]: row["score"]}
    for topic, score in scores.items():
        yield _cell(path, row["run"], topic, row["measure"], score)


def _cell(path: Path, run: object, topic: object, measure: object, score: object) -> Cell:
    """A cell of a file that knows numbers from text, and nothing from both."""
    text = "" if score is None else repr(score)
    value = _score(path, f"run {run}, topic {topic}", text, None)
    return str(run), str(topic), str(measure), value, None


def _from_parquet(path: Path, text: bytes, label: str) -> list[ScoreMatrix]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(pa.BufferReader(text)).read()
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(path, "bad-parquet", str(error)) from error
    names = table.column_names
    if not names or names[0] != RUN:
        raise InputError(path, "bad-parquet", f"the first column is not {RUN!r}")
    if sorted(names) == sorted(LONG):
        columns = (table[name].to_pylist() for name in LONG)
        return _from_long(path, [_cell(path, *row) for row in zip(*columns, strict=True)])
    metadata = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    return [_wide_parquet(path, table, str(metadata.get("measure", label)))]


def _wide_parquet(path: Path, table: Any, measure: str) -> ScoreMatrix:
    runs = [str(run) for run in table.column(0).to_pylist()]
    topics = table.column_names[1:]
    _check_names(path, "run", runs, None)
    _check_names(path, "topic", topics, None)
    cells = table.columns[1:]
    try:
        columns = [column.cast("double").to_numpy() for column in cells]
    except (ValueError, NotImplementedError) as error:
        raise InputError(path, "bad-score", f"a topic's column is not numeric: {error}") from error
    shape = (len(topics), len(runs))
    values = np.array(columns, dtype=np.float64).reshape(shape).T.copy()
    empty = np.array([column.is_null().to_numpy() for column in cells], dtype=bool).reshape(shape).T
    for run, topic in np.argwhere(~np.isfinite(values) & ~empty):
        _cell(path, runs[run], topics[topic], measure, float(values[run, topic]))
    return ScoreMatrix(measure, tuple(runs), tuple(topics), values)


def _check_names(path: Path, kind: str, names: Sequence[str], line: int | None) -> None:
    """Refuse a name that is empty or occurs twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise InputError(path, "no-name", f"the name of a {kind} is empty", line)
        if name in seen:
            raise InputError(path, f"duplicate-{kind}", f"{kind} {name!r} occurs twice", line)
        seen.add(name)
