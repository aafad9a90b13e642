"""Groups and weights of topics, from a table, JSON, or a file of topics."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskcli.core.inputs import note_input
from riskcli.core.limits import refuse_file
from riskcli.core.locations import place_of
from riskcli.core.messages import Input, InputError, UsageError, listed, nearest
from riskcli.scores.axes import GROUP
from riskcli.trec.findings import number
from riskcli.trec.queries import decoded, one_line, queries_of
from riskcli.trec.source import MAX_BYTES, TextFile

BAD_LABELS = "bad-labels"
LENGTH = "length"
"""The grouping by the number of words of the query."""
WEIGHT = "weight"
_IDS = ("topic", "qid", "query_id")
_JSON_IDS = (*_IDS, "_id", "id", "number")
_TEXTS = ("text", "query", "title")
_FORMS = (
    "a table with a header (tabs or commas), JSON (topic and group), or topics (XML, SGML, JSON "
    "lines)"
)


_Row = tuple[int, str, dict[str, str]]
"""The line at which it ends, the topic, and what the file says of it by column."""


def _wrong(path: Path, message: str, line: int | None = None) -> InputError:
    return InputError(path, BAD_LABELS, message, line)


@dataclass(frozen=True)
class LabelFile:
    """Columns of a file by name, each the value of topics that have one."""

    input: Input
    columns: Mapping[str, Mapping[str, str]]

    def groups(self, names: Sequence[str], besides: str | None = None) -> dict[str, Any]:
        """The groupings of these names; of a table all but the weights, if none is named."""
        if not names and not self.columns.keys().isdisjoint(_TEXTS):
            raise UsageError(f"name with --group-by what to group by: {listed(self.columns, 12)}")
        chosen = names or [name for name in self.columns if name != besides] or [GROUP]
        for name in chosen:
            if name not in self.columns:
                there = f"{nearest(name, self.columns)} (there are {listed(self.columns, 12)})"
                raise _wrong(self.input.path, f"no grouping is called {name!r}{there}")
        return {name: self.columns[name] for name in chosen}

    def weights(self, name: str = WEIGHT) -> Mapping[str, Any]:
        """The column of the name, else `weight`, else the only column."""
        only = next(iter(self.columns)) if len(self.columns) == 1 else WEIGHT
        column = name if name in self.columns else only
        if column not in self.columns:
            message = f"found the columns {listed(self.columns)}, expected topic and weight"
            raise _wrong(self.input.path, message)
        return self.columns[column]


def read_labels(
    path: Path | str, names: Sequence[str] = (), kind: str = "groups", max_bytes: int = MAX_BYTES
) -> LabelFile:
    """What a file says of topics; an `InputError` names what is wrong, and where.

    Lines of text without a header are queries where `names` ask for their length.
    """
    source = TextFile(place_of(path), max_bytes, checksum=True)
    note_input(source.path)
    refuse_file(source.path, "queries", source.likely_size, 1)
    columns: dict[str, dict[str, str]] = {}
    topics: set[str] = set()
    for line, topic, cells in _rows(source.path, source.text(), LENGTH in names):
        if topic in topics:
            raise _wrong(source.path, f"topic {topic!r:.60} is there twice", line)
        topics.add(topic)
        if text := next(filter(None, map(cells.get, _TEXTS)), ""):
            cells.setdefault(LENGTH, _band(text))
        for name, cell in cells.items():
            if said := one_line(cell):
                columns.setdefault(one_line(name), {})[topic] = said
    if not columns:
        raise InputError(source.path, "empty-file", f"no label in this file, expected {_FORMS}")
    return LabelFile(Input(source.path, kind, source.sha256), columns)


def _band(text: str) -> str:
    words = len(text.split())
    return "1-2" if words < 3 else "3-4" if words < 5 else "5+"


def _rows(path: Path, text: bytes, lengths: bool) -> Iterator[_Row]:
    """The rows, by the form that the text's beginning shows."""
    start = text.lstrip()[:1]
    if start in (b"{", b"["):
        return _of_json(path, decoded(path, text))
    table = [] if start == b"<" else list(_lines(path, decoded(path, text)))
    if start != b"<" and not (lengths and table and {*table[0][1]}.isdisjoint({LENGTH, *_TEXTS})):
        return _of_table(path, table)
    queries = queries_of(path, text).values()
    return ((each.line, each.topic, {"text": each.text, **each.fields}) for each in queries)


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table that say anything, as cells."""
    delimiter = "\t" if "\t" in text.lstrip().partition("\n")[0] else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for cells in filter(any, rows):
            yield rows.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:  # NUL, a cell of 130,000 characters
        raise _wrong(path, f"not a table: {error}", rows.line_num) from error


def _of_table(path: Path, lines: Sequence[tuple[int, list[str]]]) -> Iterator[_Row]:
    """Rows below a header, whose first column, or the one named so, is the topic."""
    if not lines:
        return
    (first, header), *rest = lines
    # A first line with a number is a row: else its topic would be lost without a word.
    if len({*header} - {""}) < max(len(header), 2) or any(number(n) is not None for n in header):
        raise _wrong(path, f"the header is {listed(header)!r:.90}, expected {_FORMS}", first)
    key = next((name for name in header if name.lower() in _IDS), header[0])
    for line, cells in rest:
        named = dict(zip(header, cells, strict=False))
        if len(cells) != len(header) or not (topic := named.pop(key)):
            expected = f"a topic and {len(header)} columns ({listed(header)})"
            raise _wrong(path, f"found {listed(cells)!r:.60}, expected {expected}", line)
        yield line, topic, named


def _of_json(path: Path, text: str) -> Iterator[_Row]:
    """Of an object by topic, or of objects that name theirs, in a list or one a line."""
    lines = [(n, each) for n, each in enumerate(text.split("\n"), 1) if each.strip()]
    if not all(each.lstrip().startswith("{") for _, each in lines):
        lines = [(1, text)]
    for line, part in lines:
        try:
            entry = json.loads(part, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            at = line - 1 + getattr(error, "lineno", 1)
            raise _wrong(path, f"not JSON: {error!s:.90}", at) from error
        if len(lines) == 1 and isinstance(entry, dict) and not _id_in(entry):
            for topic, said in entry.items():
                yield line, topic, _cells(said if isinstance(said, dict) else {GROUP: said})
            continue
        for each in entry if isinstance(entry, list) else [entry]:
            if not isinstance(each, dict) or not (key := _id_in(each)):
                expected = f"an object with a topic ({listed(_JSON_IDS, 9)})"
                raise _wrong(path, f"found {each!r:.60}, expected {expected}", line)
            yield line, str(each.pop(key)), _cells(each)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, none of whose members is there twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r:.60} is there twice")
        found[name] = value
    return found


def _id_in(entry: Mapping[str, Any]) -> str:
    """The member that names the topic; empty where topics themselves are members."""
    return next((name for name in _JSON_IDS if isinstance(entry.get(name), str | int)), "")


def _cells(values: Mapping[str, Any]) -> dict[str, str]:
    """Texts and numbers; null is no label, and lists and objects are none."""
    return {n: str(v) for n, v in values.items() if isinstance(v, str | int | float)}
