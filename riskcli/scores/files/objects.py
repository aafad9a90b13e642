"""Scores as evaluation programs print them line by line, as JSON, as JSON lines and as Parquet."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from riskcli.core.content_hash import (
    CONTENT_HASH,
    check_hash,
    content_sha256,
    may_have_hash,
    parsed,
    should_have_hash,
)
from riskcli.core.files import object_in
from riskcli.core.messages import InputError, counted, listed
from riskcli.effectiveness.measures import is_measure
from riskcli.scores.files import is_own, own_result, tables
from riskcli.scores.matrix import are_scores
from riskcli.scores.plausibility import is_index
from riskcli.trec.arrow import is_name, is_number, parquet_file, readable, table_sha256
from riskcli.trec.findings import Finding, not_utf8, or_empty, text_lines, wrong_columns
from riskcli.trec.records import unrepeated

SUMMARY = "all"
_NO_SCORES = frozenset({"runid", "num_q", "relstring"})
"""What trec_eval prints among the measures."""
_SAMPLE = 50
TREC_EVAL, IR_MEASURES = ("measure", "topic", "score"), ("topic", "measure", "score")
AUTO_JUDGE, AUTO_JUDGE_BY_TOPIC = ("run", *TREC_EVAL), ("run", *IR_MEASURES)
"""The columns that programs print."""


def fits(text: bytes, columns: Sequence[str]) -> bool:
    """Whether most of the first lines have these columns, and a measure in its column.

    With a run in front the measure may have any name, if a line is of all topics.
    """
    first_lines = text[: 200 * _SAMPLE].split(b"\n")[:_SAMPLE]
    sample = [_parts(raw, columns) for raw in first_lines if raw.strip()]
    if not sample or len(sample[0]) != len(columns) or b"measure" in sample[0]:
        return False
    whole = [parts for parts in sample if len(parts) == len(columns)]
    at = columns.index("measure")
    summary = rb"(?m)^(?:\S+[ \t]+){%d}all[ \t]" % columns.index("topic")
    named = columns[0] == "run" and not re.fullmatch(rb"\d+|Q0", sample[0][at])  # no judgements
    named = named and 2 * len(whole) > len(sample) and re.search(summary, text) is not None
    return named or 2 * sum(_is_measure(parts[at]) for parts in whole) > len(sample)


def _is_measure(name: bytes) -> bool:
    text = name.decode(errors="replace")
    return text in _NO_SCORES or is_measure(text)


def _parts(raw: bytes, columns: Sequence[str]) -> list[bytes]:
    """The fields of a line. (Some of ir_measures' names hold blanks.)"""
    if columns != TREC_EVAL and b"\t" in raw:
        return [part.strip() for part in raw.strip().split(b"\t")]
    return raw.split()


def inspect_lines(path: Path, text: bytes, columns: Sequence[str]) -> tables.Items:
    """The scores that a program printed, and what is wrong with them."""
    expected = f"{len(columns)} ({' '.join(columns)})"
    cells = tables.Cells(path)
    nothing = True
    for line, raw in text_lines(text):
        parts = _parts(raw, columns)
        if len(parts) != len(columns) or not all(parts):
            yield wrong_columns(path, line, parts, expected)
            continue
        if b"\0" in raw:
            yield Finding(path, line, "nul-byte", "this line holds a NUL byte")
            continue
        try:
            named = dict(zip(columns, [part.decode() for part in parts], strict=True))
        except UnicodeDecodeError:
            yield not_utf8(path, line)
            continue
        measure, topic, run = named["measure"], named["topic"], named.get("run", tables.UNNAMED_RUN)
        if topic == SUMMARY or measure in _NO_SCORES:
            continue
        nothing = False
        yield cells.row(run, topic, measure, named["score"], line)
    if nothing:
        message = "no score of a single topic; was -q left out?"
        yield Finding(path, None, "empty-file", message)


# Scores as JSON (what `riskeval matrix` writes) and as JSON lines (as ir_measures writes them).


_CURE = "restore it, or write it anew with `riskeval matrix`"
_WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def is_json_line(text: bytes) -> bool:
    """Whether the first line is a whole object with a measure."""
    start = text.find(b"{")
    end = text.find(b"\n", start)
    first_line = text[start:] if end < 0 else text[start:end]
    members = object_in(first_line) if first_line.rstrip().endswith(b"}") else {}
    return any(name in members for name in tables.NAMES["measure"])


def inspect_json(path: Path, text: bytes) -> tables.Content:
    """Rows of {run, measure, scores} or of long cells, and what is wrong with them."""
    try:
        document = _document(text)
        rows = document["rows"]
        if any(is_own(row) for row in rows[:1]):
            yield Finding.of(own_result(path))
            return
        if should_have_hash(document):
            check_hash(path, document, content_sha256(document), _CURE)
        yield tables.About.of(document)
        cells = [cell for row in rows for cell in _cells(row)]
    except InputError as error:
        yield Finding.of(error)
        return
    except _WRONG as error:
        message = f"expected the JSON that `riskeval matrix` writes: {_reason(error)}"
        yield Finding(path, getattr(error, "lineno", None), "bad-json", message)
        return
    yield from from_values(path, cells)


def _document(text: bytes) -> dict[str, Any]:
    """The JSON object; programs may name topics by whole numbers, riskeval never does."""
    own = may_have_hash(text)
    document: dict[str, Any] = (parsed if own else json.loads)(text, object_pairs_hook=unrepeated)
    return document


def _reason(error: Exception) -> str:
    """What is wrong, in words of the format."""
    if isinstance(error, KeyError):
        return f"an object has no {json.dumps(error.args[0])}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) if isinstance(error, ValueError) else "it holds a value of another kind"


def _cells(row: dict[str, Any]) -> Iterator[tuple[object, object, object, object]]:
    scores = row["scores"] if "scores" in row else {row["topic"]: row["score"]}
    for topic, score in scores.items():
        yield _name("run", row["run"]), _name("topic", topic), row["measure"], score


def _name(what: str, value: object) -> object:
    """A name is a text, or a whole number as programs hold topics."""
    if isinstance(value, str) or type(value) is int:
        return value
    raise ValueError(f"a {what} is {json.dumps(value)[:80]}, expected text")


def from_values(path: Path, rows: Iterable[tuple[object, object, object, object]]) -> tables.Items:
    """Cells of (run, topic, measure, score) as programs hold them: numbers, text, nothing."""
    cells = tables.Cells(path)
    items = (
        cells.named(str(run), str(topic), str(measure), spelled(score), None)
        for run, topic, measure, score in rows
    )
    return or_empty(path, items, "no score in this file")


def spelled(score: object) -> str:
    """A value as the text of a cell; what is no number gets no text that is one."""
    return "" if score is None else repr(score)


def inspect_json_lines(path: Path, text: bytes) -> tables.Items:
    """An object a line: query_id, measure and value, or the words of a long table."""
    cells = tables.Cells(path)
    items = (_from_line(path, cells, line, raw) for line, raw in text_lines(text))
    scores = (item for item in items if item is not None)
    return or_empty(path, scores, "no score of a single topic")


def _from_line(path: Path, cells: tables.Cells, line: int, raw: bytes) -> tables.Item | None:
    """The score on a line; None for a summary over all topics."""
    try:
        members = json.loads(raw, object_pairs_hook=unrepeated)
        named = {column: _value(members, tables.NAMES[column]) for column in tables.LONG}
        for what in ("run", "topic"):
            if named[what] is not None:
                _name(what, named[what])
    except _WRONG as error:
        message = f"expected an object with query_id, measure and value ({error!r})"
        return Finding(path, line, "bad-json", message)
    topic, measure, score = named["topic"], named["measure"], named["score"]
    if topic is None or topic == SUMMARY:
        return None
    if measure is None:
        return Finding(path, line, "bad-json", "this object has no measure")
    if named["run"] is None:
        return cells.row(tables.UNNAMED_RUN, str(topic), str(measure), spelled(score), line)
    return cells.named(str(named["run"]), str(topic), str(measure), spelled(score), line)


def _value(members: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The member under one of these names; two of them are one too many."""
    present = [name for name in names if name in members]
    if len(present) > 1:
        raise ValueError(f"{present[0]!r} and {present[1]!r} mean the same")
    return members[present[0]] if present else None


# Scores as Parquet, wide or long.


METADATA_KEY = b"riskeval"


def _metadata(schema: Any) -> dict[str, Any]:
    return object_in((schema.metadata or {}).get(METADATA_KEY, b""))


def inspect_parquet(path: Path, text: bytes) -> tables.Content:
    """The scores of a table, and what is wrong with it."""
    return readable(path, _inspect_parquet(path, text))


def _inspect_parquet(path: Path, text: bytes) -> tables.Content:
    table = parquet_file(path, text).read()
    names = table.column_names
    if is_own(names):
        yield Finding.of(own_result(path))
        return
    about = _metadata(table.schema)
    _check_table(path, text, table, about)
    yield tables.About.of(about)
    index = [name for name in names if is_index(name)]
    if index:
        message = (
            f"column {listed(index)} is an index of pandas: write the frame without it, "
            "to_parquet(index=False), after reset_index(names='run') if it holds the runs"
        )
        yield Finding(path, None, "index-column", message)
        return
    long = tables.is_long(names)
    places = tables.long_places(path, names) if long else None
    if isinstance(places, Finding):
        yield replace(places, line=None)
        return
    if places is None and (not names or names[0] not in tables.WIDE_HEADINGS):
        yield Finding(path, None, "bad-parquet", f"the first column is not {tables.RUN!r}")
        return
    score = None if places is None else places["score"]
    named = [index != score if places else not index for index in range(len(names))]
    wrong = _wrong_kinds(path, table, named)
    if wrong:
        yield from wrong
    elif places is not None:
        yield from or_empty(path, _inspect_long(path, table, places), "no score in this file")
    else:
        measure = about.get("measure")
        yield from _inspect_wide(path, table, None if measure is None else str(measure))


def _inspect_long(path: Path, table: Any, places: Mapping[str, int | None]) -> tables.Items:
    def column(name: str) -> Iterable[Any]:
        place = places[name]
        return repeat(None) if place is None else table.column(place).to_pylist()

    cells = tables.Cells(path)
    scores = table.column(places["score"]).cast("double").to_pylist()
    rows = zip(scores, column("run"), column("topic"), column("measure"), strict=False)
    for score, run, topic, measure in rows:
        measured = None if measure is None else str(measure)
        if run is None:
            yield cells.row(tables.UNNAMED_RUN, str(topic), measured, spelled(score), None)
        else:
            yield cells.named(str(run), str(topic), measured, spelled(score), None)


def _check_table(path: Path, text: bytes, table: Any, about: dict[str, Any]) -> None:
    """Refuse a table that riskeval wrote and that was changed since.

    The hash is looked for in all of the file: it may be the metadata that is damaged.
    """
    if METADATA_KEY in (table.schema.metadata or {}) or CONTENT_HASH.encode() in text:
        check_hash(path, about, table_sha256(table, about), _CURE)


def _wrong_kinds(path: Path, table: Any, named: Sequence[bool]) -> list[Finding]:
    """Columns of names that hold no names, or not everywhere, and others that hold no numbers."""
    wrong = []
    for name, column, names in zip(table.column_names, table.columns, named, strict=True):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if names:
            fits = is_name(kind) and not pa.types.is_null(kind)
            trouble = "" if fits else f"is {kind}, expected text"
            trouble = trouble or (
                f"is null in {counted(column.null_count, 'row')}" if column.null_count else ""
            )
            code = "bad-parquet"
        else:
            trouble = "" if is_number(kind) else f"is {kind}, expected numbers"
            code = "bad-score"
        if trouble:
            wrong.append(Finding(path, None, code, f"column {name!r} {trouble}"))
    return wrong


def _inspect_wide(path: Path, table: Any, measure: str | None) -> tables.Items:
    runs = [str(run) for run in table.column(0).to_pylist()]
    topics = tuple(table.column_names[1:])
    wrong = [
        *tables.inspect_names(path, "run", runs, None),
        *tables.inspect_names(path, "topic", topics, None),
    ]
    yield from wrong
    if not wrong:
        yield from _values(path, table.columns[1:], runs, topics, measure)
    if not runs:
        yield Finding(path, None, "empty-file", "no run in this file")


def _values(
    path: Path, cells: list[Any], runs: list[str], topics: tuple[str, ...], measure: str | None
) -> Iterator[tables.ScoreRow | Finding]:
    columns = [column.cast("double").to_numpy() for column in cells]
    shape = (len(topics), len(runs))
    values = np.array(columns, dtype=np.float64).reshape(shape).T
    empty = np.array([column.is_null().to_numpy() for column in cells], dtype=bool).reshape(shape).T
    for index, run in enumerate(runs):
        bad = np.flatnonzero(~are_scores(values[index]) & ~empty[index])
        for topic in bad.tolist():
            cell = spelled(float(values[index, topic]))
            yield tables.bad_score(path, run, topics[topic], cell, None)
        if not len(bad):
            yield tables.ScoreRow(run, measure, topics, values[index].tolist())
