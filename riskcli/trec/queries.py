"""What topics ask: their texts by their ids, from TREC topics, XML, JSON lines or plain lines.

The form is known by the content. A text is one line of words, whatever its file puts between them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from riskcli.core.limits import refuse_file
from riskcli.core.locations import place_of
from riskcli.core.messages import InputError
from riskcli.trec.findings import count_lines, line_of, text_lines
from riskcli.trec.source import MAX_BYTES, TextFile

CODE = "bad-queries"
_FORMS = (
    "TREC topics (<top> or XML), id and text with a tab or a colon between, or a JSON object a line"
)
_IDS = ("_id", "id", "qid", "query_id", "topic", "number")
_TEXTS = ("text", "query", "title")
_SHOWN = 60
_NO_WORDS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\s]+")
"""Blanks, and what no query is made of: control characters, and halves of characters."""


class Query(NamedTuple):
    """A topic's id and text, the line at which it begins, and what else its file says of it."""

    line: int
    topic: str
    text: str
    fields: Mapping[str, str] = {}


def read_queries(path: Path | str, max_bytes: int = MAX_BYTES) -> dict[str, str]:
    """The text of each topic in a file of queries; an `InputError` says what is wrong with it.

    A topic whose text is empty is left out.
    """
    source = TextFile(place_of(path), max_bytes)
    refuse_file(source.path, "queries", source.likely_size, 1)
    found = queries_of(source.path, source.text())
    return {topic: query.text for topic, query in found.items() if query.text}


def queries_of(path: Path, text: bytes) -> dict[str, Query]:
    """The queries that the text of a file holds, by topic; none differs from another of its id."""
    found: dict[str, Query] = {}
    for query in _reader(path, text)(path, text):
        before = found.setdefault(query.topic, query)
        if before.text != query.text:
            then, now = _short(before.text), _short(query.text)
            message = f"topic {query.topic} is {now} here and {then} on line {before.line}"
            raise _wrong(path, query.line, message)
    if not found:
        raise InputError(path, "empty-file", f"no query in this file, expected {_FORMS}")
    return found


def _reader(path: Path, text: bytes) -> Callable[[Path, bytes], Iterator[Query]]:
    """What reads the form that the first line shows."""
    line, first = next(text_lines(text), (1, b""))
    start = first.lstrip()
    if start.startswith(b"<"):
        return _of_sgml if _TOP.search(text) and not _XML.match(start) else _of_xml
    if start.startswith((b"{", b"[")):  # a list is refused there
        return _of_json
    if b"\t" in first:
        return _of_tabs
    if _COLON.match(first.decode(errors="replace")) or not start:
        return _of_colons
    shown = _short(first.decode(errors="replace"))
    raise _wrong(path, line, f"found {shown}, expected {_FORMS}")


def _wrong(path: Path, line: int | None, message: str) -> InputError:
    return InputError(path, CODE, message, line)


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def one_line(text: str) -> str:
    """The words of a text, with a blank between them and no control character."""
    return _NO_WORDS.sub(" ", text).strip()


def _query(
    path: Path, line: int, topic: str, text: str, fields: Mapping[str, str] | None = None
) -> Query:
    """One whose id is a word, as those of judgements are."""
    name = topic.strip()
    if not name or _NO_WORDS.search(name):
        raise _wrong(path, line, f"the topic's id is {_short(name)}, expected one word")
    return Query(line, name, one_line(text), fields or {})


def decoded(path: Path, text: bytes) -> str:
    """The text of a file in UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        line = line_of(text, error)
        raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error


# A query a line: id and text with a tab or a colon between, or a JSON object.


_COLON = re.compile(r"\s*([^\s:]+):(.*)", re.DOTALL)


def _of_tabs(path: Path, text: bytes) -> Iterator[Query]:
    for number, (line, raw) in enumerate(text_lines(text)):
        cells = _decoded_line(path, line, raw).rstrip("\r").split("\t")
        if len(cells) != 2:
            message = (
                f"found {len(cells)} columns ({_short(' '.join(cells))}), expected id and text"
            )
            raise _wrong(path, line, message)
        names = [cell.strip().lower() for cell in cells]
        if number or names[0] not in _IDS or names[1] not in _TEXTS:  # else a header
            yield _query(path, line, cells[0], cells[1])


def _of_colons(path: Path, text: bytes) -> Iterator[Query]:
    for line, raw in text_lines(text):
        shown = _decoded_line(path, line, raw)
        match = _COLON.fullmatch(shown)
        if match is None:
            raise _wrong(path, line, f"found {_short(shown)}, expected id:text")
        yield _query(path, line, match[1], match[2])


def _of_json(path: Path, text: bytes) -> Iterator[Query]:
    for line, raw in text_lines(text):
        try:
            entry = json.loads(_decoded_line(path, line, raw))
        except (ValueError, RecursionError) as error:
            raise _wrong(path, line, "not JSON: expected an object a line") from error
        if not isinstance(entry, dict):
            kind = type(entry).__name__
            raise _wrong(path, line, f"found a JSON {kind}, expected an object a line")
        topic, found = _member(entry, _IDS, str | int), _member(entry, _TEXTS, str)
        if topic is None or found is None:
            wanted = f"an id ({', '.join(_IDS)})" if topic is None else _texts_wanted()
            keys = _short(", ".join(entry))
            raise _wrong(path, line, f"found the members {keys}, expected {wanted}")
        yield _query(path, line, str(topic), found)


def _texts_wanted() -> str:
    return f"a text ({', '.join(_TEXTS)})"


def _member(entry: Mapping[str, Any], names: tuple[str, ...], kind: Any) -> Any:
    """The first of these members that is of the kind; truth is no number."""
    values = (entry[name] for name in names if name in entry)
    return next((v for v in values if isinstance(v, kind) and not isinstance(v, bool)), None)


def _decoded_line(path: Path, line: int, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error


# TREC's own topics, in which tags need no end.


_TOP = re.compile(rb"<top(\s[^<>]*)?>", re.IGNORECASE)
_XML = re.compile(rb"<(\?xml|!DOCTYPE)", re.IGNORECASE)
_TOPIC = re.compile(r"<top(?:\s[^<>]*)?>(.*?)(?=</top\s*>|<top(?:\s[^<>]*)?>|\Z)", re.I | re.S)
_FIELD = re.compile(r"<([a-z][\w.-]*)(?:\s[^<>]*)?>(.*?)(?=<[/a-z]|\Z)", re.I | re.S)
_LABEL = re.compile(r"\s*(?:Number|Topic)\s*:", re.IGNORECASE)
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def _of_sgml(path: Path, text: bytes) -> Iterator[Query]:
    whole, line, counted = decoded(path, text), 1, 0
    for topic in _TOPIC.finditer(whole):
        line, counted = line + whole.count("\n", counted, topic.start()), topic.start()
        fields: dict[str, str] = {}
        for part in _FIELD.finditer(topic[1]):
            said = _ENTITY.sub(lambda match: _ENTITIES[match[1]], part[2])
            fields.setdefault(part[1].lower(), _LABEL.sub("", said, count=1))
        for name in ("num", "title"):
            if name not in fields:
                raise _wrong(path, line, f"this topic has no <{name}>")
        yield _query(path, line, fields["num"], fields["title"], fields)


# Topics in XML. No entity is expanded but those of XML itself, and nothing else is read.


_ELEMENTS = ("topic", "top", "query")
"""What a topic is called; within one, `query` is its text."""
_XML_IDS = ("number", "num", "qid", "id")
_XML_TEXTS = ("query", "title", "text")


@dataclass
class _Topic:
    """A topic that is being read, and the depth of its element."""

    line: int
    depth: int
    id: str
    attributes: Mapping[str, str]
    texts: dict[str, list[str]] = field(default_factory=lambda: {"": []})
    """By the element that holds them; all of them under the empty name."""

    def query(self, path: Path) -> Query:
        """Its text: what an element for it holds, else all that it says."""
        topic = self.id or next((self._text(n) for n in _XML_IDS if n in self.texts), "")
        if not topic:
            raise _wrong(path, self.line, f"this topic has no id ({', '.join(_XML_IDS)})")
        text = self._text(next((name for name in _XML_TEXTS if name in self.texts), ""))
        elements = {name: self._text(name) for name in self.texts if name}
        return _query(path, self.line, topic, text, {**elements, **self.attributes})

    def _text(self, name: str) -> str:
        return _LABEL.sub("", "".join(self.texts[name]), count=1)


class _XmlTopics:
    """Topics as a parser comes upon them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[Query] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        self._open: list[str] = []
        self._topic: _Topic | None = None

    def _doctype(self, _name: str, _system: str | None, _public: str | None, inner: int) -> None:
        if inner:
            message = "its DOCTYPE declares entities of its own, which are not read: remove it"
            raise _wrong(self.path, self.parser.CurrentLineNumber, message)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.lower()
        told = self._topic is not None and kind in self._topic.texts
        self._open.append("" if told else kind)  # of two titles the first is taken
        given = {key.lower(): value for key, value in attributes.items()}
        if self._topic is None and kind in _ELEMENTS:
            topic = next((given[key] for key in _XML_IDS if key in given), "")
            self._topic = _Topic(self.parser.CurrentLineNumber, len(self._open), topic, given)

    def _text(self, text: str) -> None:
        if self._topic is not None:
            within = self._open[self._topic.depth : self._topic.depth + 1]
            for name in {"", *within}:
                self._topic.texts.setdefault(name, []).append(text)

    def _end(self, _name: str) -> None:
        if self._topic is not None:
            self._topic.texts[""].append(" ")
            if self._topic.depth == len(self._open):
                self.found.append(self._topic.query(self.path))
                self._topic = None
        self._open.pop()


def _of_xml(path: Path, text: bytes) -> Iterator[Query]:
    topics = _XmlTopics(path)
    try:
        topics.parser.Parse(text.lstrip(), True)
    except expat.ExpatError as error:
        line = error.lineno + count_lines(text[: len(text) - len(text.lstrip())])
        message = f"no well-formed XML: {expat.ErrorString(error.code)}"
        raise _wrong(path, line, message) from error
    except (LookupError, ValueError) as error:  # of what its first line says
        raise _wrong(path, 1, f"its encoding is not read: {error}") from error
    return iter(topics.found)
