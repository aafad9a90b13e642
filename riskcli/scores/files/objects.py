"""Scores as evaluation programs print them line by line, as JSON, as JSON lines and as Parquet."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from riskcli.core import content_hash
from riskcli.core.files import object_in
from riskcli.core.messages import InputError, counted, listed
from riskcli.effectiveness.measures import is_measure
from riskcli.scores.files import is_own, own_result, tables
from riskcli.scores.plausibility import is_index
from riskcli.trec.arrow import is_name, is_number, parquet_file, readable, table_sha256
from riskcli.trec.findings import Finding, LineFormat, first_lines, or_empty, text_lines
from riskcli.trec.records import name_in, only_member, unrepeated

SUMMARY = "all"
_NO_SCORES = frozenset({"runid", "num_q", "relstring"})
"""What trec_eval prints among the measures."""
TREC_EVAL, IR_MEASURES = ("measure", "topic", "score"), ("topic", "measure", "score")
PRINTED: dict[str, tuple[str, ...]] = {
    "trec_eval": TREC_EVAL, "ir_measures": IR_MEASURES,
    "autojudge": ("run", *TREC_EVAL), "autojudge-ir": ("run", *IR_MEASURES),
}  # fmt: skip
"""The columns that programs print, by the name of the format."""


def fits(text: bytes, columns: Sequence[str]) -> bool:
    """Whether most of the first lines have these columns, and a measure in its column.

    With a run in front the measure may have any name, if a line is of all topics.
    """
    sample = [_parts(raw, columns) for raw in first_lines(text)]
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

    def cell(line: int, parts: list[bytes]) -> tables.Cell:
        named = dict(zip(columns, [part.decode() for part in parts], strict=True))
        return line, named.get("run"), named["topic"], named["measure"], named["score"]

    printed = LineFormat(len(columns), " ".join(columns), split=partial(_parts, columns=columns))
    scores = (
        each for each in printed.inspect(path, text, cell)
        if isinstance(each, Finding) or (each[2] != SUMMARY and each[3] not in _NO_SCORES)
    )  # fmt: skip
    return tables.of_cells(path, scores, "no score of a single topic; was -q left out?")


# Scores as JSON (what `riskeval matrix` writes) and as JSON lines (as ir_measures writes them).


_CURE = "restore it, or write it anew with `riskeval matrix`"
_WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def is_object(text: bytes) -> bool:
    """Whether a text begins as JSON. (A run may begin with a topic called {.)"""
    return re.match(rb'\s*\{\s*["}]', text) is not None


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
        # Programs may name topics by whole numbers, riskeval never does.
        load = content_hash.parsed if content_hash.may_have_hash(text) else json.loads
        document = load(text, object_pairs_hook=unrepeated)
        rows = document["rows"]
        if any(is_own(row) for row in rows[:1]):
            raise own_result(path)
        if content_hash.should_have_hash(document):
            content_hash.check_hash(path, document, content_hash.content_sha256(document), _CURE)
        yield tables.About.of(document)
        cells = [cell for row in rows for cell in _cells(row)]
    except InputError as error:
        yield Finding.of(error)
        return
    except _WRONG as error:
        message = f"expected the JSON that `riskeval matrix` writes: {_reason(error)}"
        yield Finding(path, getattr(error, "lineno", None), "bad-json", message)
        return
    yield from tables.of_cells(path, cells, "no score in this file")


def _reason(error: Exception) -> str:
    """What is wrong, in words of the format."""
    if isinstance(error, KeyError):
        return f"an object has no {json.dumps(error.args[0])}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) if isinstance(error, ValueError) else "it holds a value of another kind"


def _cells(row: dict[str, Any]) -> Iterator[tables.Cell]:
    scores = row["scores"] if "scores" in row else {row["topic"]: row["score"]}
    for topic, score in scores.items():
        run, topic = name_in("run", row["run"]), name_in("topic", topic)
        yield None, run, topic, str(row["measure"]), tables.spelled(score)


def inspect_json_lines(path: Path, text: bytes) -> tables.Items:
    """An object a line: query_id, measure and value, or the words of a long table."""
    return tables.of_cells(path, _cells_of_json_lines(path, text), "no score of a single topic")


def _cells_of_json_lines(path: Path, text: bytes) -> Iterator[tables.Cell | Finding]:
    for line, raw in text_lines(text):
        try:
            members = json.loads(raw, object_pairs_hook=unrepeated)
            names = (only_member(members, tables.NAMES[column]) for column in tables.LONG)
            run, topic, measure, score = names
            run = None if run is None else name_in("run", run)
            topic = SUMMARY if topic is None else name_in("topic", topic)
        except _WRONG as error:
            message = f"expected an object with query_id, measure and value ({error!r})"
            yield Finding(path, line, "bad-json", message)
            continue
        if topic != SUMMARY and measure is None:
            yield Finding(path, line, "bad-json", "this object has no measure")
        elif topic != SUMMARY:
            yield line, run, topic, measure, tables.spelled(score)


# Scores as Parquet, wide or long.


METADATA_KEY = b"riskeval"


def inspect_parquet(path: Path, text: bytes) -> tables.Content:
    """The scores of a table, and what is wrong with it."""
    return readable(path, _inspect_parquet(path, text))


def _inspect_parquet(path: Path, text: bytes) -> tables.Content:
    table = parquet_file(path, text).read()
    names = table.column_names
    if is_own(names):
        raise own_result(path)
    about = object_in((table.schema.metadata or {}).get(METADATA_KEY, b""))
    _check_table(path, text, table, about)
    yield tables.About.of(about)
    index = [name for name in names if is_index(name)]
    if index:
        message = (
            f"column {listed(index)} is an index of pandas: write the frame without it, "
            "to_parquet(index=False), after reset_index(names='run') if it holds the runs"
        )
        raise InputError(path, "index-column", message)
    places = tables.long_places(path, names, None) if tables.is_long(names) else None
    if places is None and (not names or names[0] not in tables.WIDE_HEADINGS):
        raise InputError(path, "bad-parquet", f"the first column is not {tables.RUN!r}")
    named = [index != places["score"] if places else not index for index in range(len(names))]
    wrong = _wrong_kinds(path, table, named)
    if wrong:
        yield from wrong
        return
    columns = [
        list(map(str, column.to_pylist())) if is_name else _numbers(column)
        for column, is_name in zip(table.columns, named, strict=True)
    ]
    if places:
        rows = ((None, row) for row in zip(*columns, strict=True))
        yield from tables.of_cells(path, tables.of_long(rows, places), "no score in this file")
    else:
        measure = None if about.get("measure") is None else str(about["measure"])
        runs, *scores = columns
        cells = np.array(scores).reshape(len(scores), len(runs)).T
        lines: Any = zip(repeat(None), runs, cells, strict=False)
        found = tables.of_wide(path, tuple(names[1:]), None, lines, measure)
        yield from or_empty(path, found, "no run in this file")


def _numbers(column: Any) -> Any:
    """The numbers of a column, None for nothing."""
    numbers = column.cast("double")
    values = numbers.to_numpy()
    return np.where(numbers.is_null(), None, values) if numbers.null_count else values


def _check_table(path: Path, text: bytes, table: Any, about: dict[str, Any]) -> None:
    """Refuse a table that riskeval wrote and that was changed since.

    The hash is looked for in all of the file: it may be the metadata that is damaged.
    """
    if METADATA_KEY in (table.schema.metadata or {}) or content_hash.CONTENT_HASH.encode() in text:
        content_hash.check_hash(path, about, table_sha256(table, about), _CURE)


def _wrong_kinds(path: Path, table: Any, named: Sequence[bool]) -> list[Finding]:
    """Columns of names that hold no names, or not everywhere, and others that hold no numbers."""
    wrong = []
    for name, column, names in zip(table.column_names, table.columns, named, strict=True):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        code, expected = ("bad-parquet", "text") if names else ("bad-score", "numbers")
        if not (is_name(kind) and not pa.types.is_null(kind) if names else is_number(kind)):
            message = f"column {name!r} is {kind}, expected {expected}"
            wrong.append(Finding(path, None, code, message))
        elif names and column.null_count:
            message = f"column {name!r} is null in {counted(column.null_count, 'row')}"
            wrong.append(Finding(path, None, code, message))
    return wrong
