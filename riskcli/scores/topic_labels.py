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


_Row = tuple[int, str, Mapping[str, str]]
"""The line (0 where there is none to name), the topic, and what the file says of it by column."""


def _wrong(path: Path, message: str, line: int = 0) -> InputError:
    return InputError(path, BAD_LABELS, message, line or None)


@dataclass(frozen=True)
class LabelFile:
    """Columns of a file by name, each the value of topics that have one."""

    input: Input
    columns: Mapping[str, Mapping[str, str]]
    lines: Mapping[str, int]
    """By topic; 0 where the file has no lines to name."""

    def groups(self, names: Sequence[str], besides: str | None = None) -> dict[str, Any]:
        """The groupings of these names; of a table all but the weights, if none is named."""
        known = dict.fromkeys([*self.columns, *([LENGTH] if self._text else [])])
        if not names and self._text:
            raise UsageError(f"name with --group-by what to group by: {listed(known, 12)}")
        chosen = names or [name for name in self.columns if name != besides]
        for name in chosen or [""]:
            if name not in known:
                there = f"{nearest(name, known)} (there are {listed(known, 12)})"
                raise _wrong(self.input.path, f"no grouping is called {name!r}{there}")
        return {name: self._grouping(name) for name in dict.fromkeys(chosen)}

    @property
    def _text(self) -> str:
        """The column that holds queries, if there is one."""
        return next((each for each in _TEXTS if each in self.columns), "")

    def _grouping(self, name: str) -> Mapping[str, str]:
        by_topic = self.columns.get(name)
        if by_topic is None:
            by_topic = {topic: _band(text) for topic, text in self.columns[self._text].items()}
        if (count := len({*by_topic.values()})) > MOST_GROUPS:
            raise _wrong(self.input.path, f"{name} has {count} groups, at most {MOST_GROUPS}")
        return by_topic

    def weights(self, name: str | None = None) -> dict[str, float]:
        """The column `weight`, the only column, or that of the name, as numbers above 0."""
        column = name or (next(iter(self.columns)) if len(self.columns) == 1 else _WEIGHT)
        if column not in self.columns:
            message = f"found the columns {listed(self.columns)}, expected topic and weight"
            raise _wrong(self.input.path, message)
        return {topic: self._weight(topic, text) for topic, text in self.columns[column].items()}

    def _weight(self, topic: str, text: str) -> float:
        try:
            return checked_weight(topic, text)
        except UsageError as error:
            raise _wrong(self.input.path, str(error), self.lines[topic]) from error


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
    lines: dict[str, int] = {}
    for line, topic, cells in _rows(source.path, source.text(), LENGTH in names):
        if topic in lines:
            before = f" on line {lines[topic]}" if line else ""
            raise _wrong(source.path, f"topic {topic!r:.60} is there already{before}", line)
        lines[topic] = line
        for name, cell in cells.items():
            by_topic = columns.setdefault(one_line(name), {})
            if said := one_line(cell):
                by_topic[topic] = said
    if not columns:
        raise InputError(source.path, "empty-file", f"no label in this file, expected {_FORMS}")
    return LabelFile(Input(source.path, kind, source.sha256), columns, lines)


def _rows(path: Path, text: bytes, lengths: bool) -> list[_Row]:
    """The rows, by the form that the text's beginning shows."""
    line, first = next(text_lines(text), (1, b""))
    try:
        if text.lstrip().startswith((b"{", b"[")):
            return list(_of_json(path, text.decode("utf-8-sig")))
        delimiter = "\t" if b"\t" in first else ","
        rows = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), delimiter=delimiter)
        header = [] if first.lstrip().startswith(b"<") else _header(rows)
        if header and not (lengths and {*header}.isdisjoint({LENGTH, *_TEXTS})):
            return list(_of_table(path, rows, header))
    except UnicodeDecodeError as error:
        line = line_of(text, error)
        raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error
    except csv.Error as error:  # NUL, a cell of 130,000 characters
        raise _wrong(path, f"not a table: {error}", rows.line_num) from error
    queries = queries_of(path, text).values() if first else ()
    return [(each.line, each.topic, {"text": each.text, **each.fields}) for each in queries]


def _header(rows: Iterator[list[str]]) -> list[str]:
    return [name.strip() for name in next((cells for cells in rows if cells), [])]


def _of_table(path: Path, rows: Any, header: Sequence[str]) -> Iterator[_Row]:
    """Rows below a header, whose first column, or the one named so, is the topic."""
    if len({*header} - {""}) < max(len(header), 2):
        raise _wrong(
            path, f"the header is {listed(header)!r:.90}, expected {_FORMS}", rows.line_num
        )
    key = next((name for name in header if name.lower() in _IDS), header[0])
    for cells in filter(any, rows):
        named = dict(zip(header, cells, strict=False))
        if len(cells) != len(header) or not (topic := named.pop(key).strip()):
            message = f"found {listed(cells)!r:.60}, expected a topic and {len(header)} columns"
            raise _wrong(path, f"{message} ({listed(header)})", rows.line_num)
        yield rows.line_num, topic, named


# JSON: an object by topic, or objects that name their topics, in a list or one a line.


def _of_json(path: Path, text: str) -> Iterator[_Row]:
    lines = [(n, each) for n, each in enumerate(text.split("\n"), start=1) if each.strip()]
    many = len(lines) > 1 and lines[0][1].rstrip().endswith("}") and text.lstrip()[0] == "{"
    for line, part in lines if many else [(0, text)]:
        try:
            entry = json.loads(part, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            at = line or getattr(error, "lineno", 0)
            raise _wrong(path, f"not JSON: {error!s:.90}", at) from error
        if isinstance(entry, dict) and not (line or _id_in(entry)):
            of_topics = ((t, v if isinstance(v, dict) else {GROUP: v}) for t, v in entry.items())
            yield from ((0, topic, _cells(values)) for topic, values in of_topics)
            continue
        for each in entry if isinstance(entry, list) else [entry]:
            if not isinstance(each, dict) or not (key := _id_in(each)):
                expected = f"an object with a topic ({listed(_JSON_IDS, 9)})"
                raise _wrong(path, f"found {each!r:.60}, expected {expected}", line)
            yield line, str(each.pop(key)), _cells(each)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, none of whose members is there twice."""
    found = dict(pairs)
    for name, _ in pairs if len(found) < len(pairs) else ():
        if [each for each, _ in pairs].count(name) > 1:
            raise ValueError(f"{name!r:.60} is there twice")
    return found


def _id_in(entry: Mapping[str, Any]) -> str:
    """The member that names the topic; empty where topics themselves are members."""
    return next((name for name in _JSON_IDS if isinstance(entry.get(name), str | int)), "")


def _cells(values: Mapping[str, Any]) -> dict[str, str]:
    """Texts and numbers; null is no label, and lists and objects are none."""
    known = {n: v for n, v in values.items() if not isinstance(v, list | dict)}
    return {name: "" if value is None else str(value) for name, value in known.items()}
