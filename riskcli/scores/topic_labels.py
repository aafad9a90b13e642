"""Groups and weights of topics, from a table, JSON, or a file of topics."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from riskcli.core.inputs import note_input
from riskcli.core.limits import refuse_file
from riskcli.core.locations import place_of
from riskcli.core.messages import Input, InputError, UsageError, listed, nearest
from riskcli.scores.axes import GROUP, checked_weight
from riskcli.trec.findings import line_of, text_lines
from riskcli.trec.queries import one_line, queries_of
from riskcli.trec.source import MAX_BYTES, TextFile

BAD_LABELS = "bad-labels"
LENGTH = "length"
"""The grouping by the number of words of the query."""
MOST_GROUPS = 1000
_WEIGHT = "weight"
_IDS = ("topic", "qid", "query_id")
_JSON_IDS = (*_IDS, "_id", "id", "number")
_TEXTS = ("text", "query", "title")
_FORMS = (
    "a table with a header (tabs or commas), JSON (topic and group), or topics (XML, SGML, JSON "
    "lines)"
)


class _Row(NamedTuple):
    """What a file says of a topic, and the line; 0 where it has none to name."""

    line: int
    topic: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class LabelFile:
    """Columns of a file by name, each the value of topics that have one."""

    input: Input
    columns: Mapping[str, Mapping[str, str]]
    lines: Mapping[str, int]
    """By topic; 0 where the file has no lines to name."""

    def wrong(self, message: str, topic: str = "") -> InputError:
        """An error in this file, on the line of a topic."""
        return InputError(self.input.path, BAD_LABELS, message, self.lines.get(topic) or None)

    def groups(self, names: Sequence[str], not_these: Sequence[str] = ()) -> dict[str, Any]:
        """The groupings of these names; of a table all, if none is named."""
        if not names and not self.columns.keys().isdisjoint(_TEXTS):
            raise UsageError(f"name with --group-by what to group by: {self._choice()}")
        chosen = names or [name for name in self.columns if name not in not_these]
        if not chosen:
            raise self.wrong(f"no column with groups, found {listed(self.columns)}")
        return {name: self._grouping(name) for name in dict.fromkeys(chosen)}

    def _choice(self) -> str:
        lengths = [LENGTH] if any(name in self.columns for name in _TEXTS) else []
        return listed(dict.fromkeys([*self.columns, *lengths]), 12)

    def _grouping(self, name: str) -> Mapping[str, str]:
        by_topic = self.columns.get(name)
        text = next((each for each in _TEXTS if each in self.columns), None)
        if by_topic is None and name == LENGTH and text is not None:
            by_topic = {topic: _band(said) for topic, said in self.columns[text].items()}
        if by_topic is None:
            hint = nearest(name, self.columns)
            message = f"nothing is called {name!r}{hint} (there are {self._choice()})"
            raise self.wrong(message)
        if len(set(by_topic.values())) > MOST_GROUPS:
            raise self.wrong(f"{name} has {len(set(by_topic.values()))} groups, at most 1000")
        return by_topic

    def weights(self, name: str | None = None) -> dict[str, float]:
        """The column `weight`, the only column, or that of the name, as numbers above 0."""
        one = [*self.columns] if len(self.columns) == 1 else [_WEIGHT]
        column = name or one[0]
        if column not in self.columns:
            message = f"found the columns {listed(self.columns)}, expected topic and weight"
            raise self.wrong(message)
        return {topic: self._weight(topic, text) for topic, text in self.columns[column].items()}

    def _weight(self, topic: str, text: str) -> float:
        try:
            return checked_weight(topic, text)
        except UsageError as error:
            raise self.wrong(str(error), topic) from error


def _band(text: str) -> str:
    words = len(text.split())
    return "1-2" if words < 3 else "3-4" if words < 5 else "5+"


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
    seen: dict[str, int] = {}
    text = source.text()
    for row in _rows(source.path, text, LENGTH in names) if text.strip() else ():
        if row.topic in seen:
            where = f" on line {seen[row.topic]}" if seen[row.topic] else ""
            message = f"topic {row.topic!r:.60} is there already{where}"
            raise InputError(source.path, BAD_LABELS, message, row.line or None)
        seen[row.topic] = row.line
        for name, cell in row.cells.items():
            by_topic = columns.setdefault(one_line(name), {})
            if cell := one_line(cell):
                by_topic[row.topic] = cell
    if not columns:
        raise InputError(source.path, "empty-file", f"no label in this file, expected {_FORMS}")
    return LabelFile(Input(source.path, kind, source.sha256), columns, seen)


def _rows(path: Path, text: bytes, lengths: bool) -> Iterator[_Row]:
    """The rows, by the form that the text's beginning shows."""
    start = text.lstrip()[:1]
    if start in (b"{", b"["):
        return _of_json(path, _decoded(path, text))
    if start != b"<":
        rows = csv.reader(io.StringIO(_decoded(path, text), newline=""), delimiter=_separator(text))
        known = {LENGTH, *_TEXTS}
        with _named(path, rows):
            header = [name.strip() for name in next((cells for cells in rows if cells), [])]
        if not lengths or known & set(header):
            return _of_table(path, rows, header)
    return _of_queries(path, text)


def _separator(text: bytes) -> str:
    _, first = next(text_lines(text), (1, b""))
    return "\t" if b"\t" in first else ","


def _decoded(path: Path, text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = line_of(text, error)
        raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error


def _of_queries(path: Path, text: bytes) -> Iterator[_Row]:
    for query in queries_of(path, text).values():
        yield _Row(query.line, query.topic, {"text": query.text, **query.fields})


@contextmanager
def _named(path: Path, rows: Any) -> Iterator[None]:
    """What the csv module refuses (NUL, a cell of 130,000 characters) is an error of the file."""
    try:
        yield
    except csv.Error as error:
        raise InputError(path, BAD_LABELS, f"not a table: {error}", rows.line_num) from error


def _of_table(path: Path, rows: Any, header: Sequence[str]) -> Iterator[_Row]:
    """Rows below a header, whose first column, or the one named so, is the topic."""
    if len(header) < 2 or len(set(header)) < len(header) or not all(header):
        message = f"the header is {listed(header)!r:.90}, expected {_FORMS}"
        raise InputError(path, BAD_LABELS, message, rows.line_num or None)
    key = next((at for at, name in enumerate(header) if name.lower() in _IDS), 0)
    with _named(path, rows):
        for cells in rows:
            if not any(map(str.strip, cells)):
                continue
            if len(cells) != len(header):
                message = f"found {len(cells)} columns, expected {len(header)}: {listed(header)}"
                raise InputError(path, BAD_LABELS, message, rows.line_num)
            named = dict(zip(header, cells, strict=True))
            topic = named.pop(header[key]).strip()
            if not topic:
                raise InputError(path, BAD_LABELS, "no topic is named here", rows.line_num)
            yield _Row(rows.line_num, topic, named)


# JSON: an object by topic, or objects that name their topics, in a list or one a line.


def _of_json(path: Path, text: str) -> Iterator[_Row]:
    try:
        entries = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if "Extra data" not in str(error):
            line = getattr(error, "lineno", None)
            raise InputError(path, BAD_LABELS, f"not JSON: {error!s:.90}", line) from error
        yield from _of_json_lines(path, text)
        return
    if isinstance(entries, dict) and not _names_topic(entries):
        for topic, value in entries.items():
            cells = value if isinstance(value, dict) else {GROUP: value}
            yield _Row(0, topic, _cells(cells))
        return
    for entry in entries if isinstance(entries, list) else [entries]:
        yield _of_entry(path, 0, entry)


def _of_json_lines(path: Path, text: str) -> Iterator[_Row]:
    for line, each in enumerate(text.split("\n"), start=1):
        if not each.strip():
            continue
        try:
            entry = json.loads(each, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            raise InputError(path, BAD_LABELS, f"not JSON: {error!s:.90}", line) from error
        yield _of_entry(path, line, entry)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, none of whose members is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"{repeated!r:.60} is there twice")
    return found


def _names_topic(entry: Any) -> bool:
    """Whether an object is about one topic, rather than one that has topics as members."""
    return any(isinstance(entry.get(name), str | int) for name in _JSON_IDS)


def _of_entry(path: Path, line: int, entry: Any) -> _Row:
    if not isinstance(entry, dict) or not _names_topic(entry):
        message = f"found {entry!r:.60}, expected objects with a topic ({listed(_JSON_IDS, 9)})"
        raise InputError(path, BAD_LABELS, message, line or None)
    key = next(name for name in _JSON_IDS if isinstance(entry.get(name), str | int))
    cells = _cells({name: value for name, value in entry.items() if name != key})
    return _Row(line, str(entry[key]), cells)


def _cells(values: Mapping[str, Any]) -> dict[str, str]:
    """Texts and numbers; null is no label, and lists and objects are none."""
    return {
        name: "" if value is None else str(value)
        for name, value in values.items()
        if not isinstance(value, list | dict)
    }
