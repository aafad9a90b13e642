"""Scores as JSON (what `riskeval matrix` writes) and as JSON lines (as ir_measures writes them)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from riskcli.core.notes import listed
from riskcli.scores.files.lines import SUMMARY
from riskcli.scores.files.own import is_own, own_result
from riskcli.scores.files.rows import UNNAMED_RUN, Cells, Item, Items
from riskcli.scores.files.tables import LONG, NAMES
from riskcli.trec.findings import Finding, text_lines

_WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def is_json_line(text: bytes) -> bool:
    """Whether the first line is a whole object with a measure."""
    start = text.find(b"{")
    end = text.find(b"\n", start)
    first_line = text[start:] if end < 0 else text[start:end]
    if not first_line.rstrip().endswith(b"}"):
        return False
    try:
        found = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and any(name in found for name in NAMES["measure"])


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object holds a key twice: {listed(key for key, _ in pairs)}")
    return found


def inspect_json(path: Path, text: bytes) -> Items:
    """Rows of {run, measure, scores} or of long cells, and what is wrong with them."""
    try:
        rows = json.loads(text, object_pairs_hook=_unrepeated)["rows"]
        if any(is_own(row) for row in rows[:1]):
            yield Finding.of(own_result(path))
            return
        found = [cell for row in rows for cell in _cells(row)]
    except _WRONG as error:
        message = f"expected the JSON that `riskeval matrix` writes: {_reason(error)}"
        yield Finding(path, getattr(error, "lineno", None), "bad-json", message)
        return
    yield from from_values(path, found)


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


def from_values(path: Path, rows: Iterable[tuple[object, object, object, object]]) -> Items:
    """Cells of (run, topic, measure, score) as programs hold them: numbers, text, nothing."""
    cells = Cells(path)
    nothing = True
    for run, topic, measure, score in rows:
        nothing = False
        yield cells.named(str(run), str(topic), str(measure), spelled(score), None)
    if nothing:
        yield Finding(path, None, "empty-file", "no score in this file")


def spelled(score: object) -> str:
    """A value as the text of a cell; what is no number gets no text that is one."""
    return "" if score is None else repr(score)


def inspect_json_lines(path: Path, text: bytes) -> Items:
    """An object a line: query_id, measure and value, or the words of a long table."""
    cells = Cells(path)
    nothing = True
    for line, raw in text_lines(text):
        item = _from_line(path, cells, line, raw)
        if item is not None:
            nothing = False
            yield item
    if nothing:
        yield Finding(path, None, "empty-file", "no score of a single topic")


def _from_line(path: Path, cells: Cells, line: int, raw: bytes) -> Item | None:
    """The score on a line; None for a summary over all topics."""
    try:
        found = json.loads(raw, object_pairs_hook=_unrepeated)
        named = {column: _value(found, NAMES[column]) for column in LONG}
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
        return cells.row(UNNAMED_RUN, str(topic), str(measure), spelled(score), line)
    return cells.named(str(named["run"]), str(topic), str(measure), spelled(score), line)


def _value(found: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The member under one of these names; two of them are one too many."""
    held = [name for name in names if name in found]
    if len(held) > 1:
        raise ValueError(f"{held[0]!r} and {held[1]!r} mean the same")
    return found[held[0]] if held else None
