"""What readers yield: documents that are retrieved or judged, or what is wrong with a line."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from riskcli.core.messages import InputError, UsageError
from riskcli.trec.codes import CODES, Severity

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_UNFIT = re.compile("[\0\n\ud800-\udfff]")
_SHOWN = 60
_SAMPLE = 50

Item = TypeVar("Item")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: file, physical line (None: the whole file), code and sentence."""

    path: Path
    line: int | None
    code: str
    message: str

    @property
    def severity(self) -> Severity:
        """Whether the file is refused for it."""
        return CODES[self.code].severity

    @classmethod
    def of(cls, error: InputError) -> Self:
        """What an error says, as a finding."""
        return cls(Path(error.path), error.line, error.code, error.message)

    def as_error(self) -> InputError:
        """The error that `score` stops with."""
        return InputError(self.path, self.code, self.message, self.line)


class Entry(NamedTuple):
    """A document with its score or grade, and its line in the file (None: JSON has no lines)."""

    line: int | None
    topic: str
    docno: str
    value: Any
    """As the file has it: it may be no number."""
    subtopic: str = ""
    """Of a judgement, where the file says one."""


Entries = Iterator[Finding | Entry]


@dataclass(frozen=True)
class RunFormat:
    """A format of runs: whether a file that begins so is one, and its reader."""

    name: str
    meaning: str
    fits: Callable[[bytes], object]
    inspect: Callable[[Path, bytes], Entries]
    by_place: bool = False
    """Whether it has scores of lines of a feature file: "documents" are places in it."""


def unfit(text: str) -> str | None:
    """What no name may hold, if the text holds it: it ends pytrec_eval, or a name within it.

    pytrec_eval crashes on half of a surrogate pair and cuts a name at a NUL; a line of a run ends
    with the line.
    """
    if text.isascii() and "\0" not in text and "\n" not in text:  # as most are, found sooner
        return None
    match = _UNFIT.search(text)
    return ascii(match[0]) if match else None


def refuse_unfit(what: str, names_of: Mapping[str, Iterable[str]]) -> None:
    """Refuse what is in memory if a topic, or the name of one of its documents, is unfit."""
    for topic, docnos in names_of.items():
        names = [topic, *docnos]
        if unfit("".join(names)):
            wrong = next(name for name in names if unfit(name))
            raise UsageError(f"{what}: bad-name: {wrong!a} holds {unfit(wrong)}")


def reported(path: Path, entries: Entries) -> Entries:
    """The entries, but those without proper names, and an error that ends them, as findings."""
    try:
        for entry in entries:
            if isinstance(entry, Finding):
                yield entry
            elif not (entry.topic and entry.docno):
                message = "the name of a topic or document is empty"
                yield Finding(path, entry.line, "no-name", message)
            elif held := unfit(entry.topic + entry.docno):
                message = f"the name of a topic or document holds {held}"
                yield Finding(path, entry.line, "bad-name", message)
            else:
                yield entry
    except InputError as error:
        yield Finding.of(error)


def taken(items: Iterable[Finding | Item]) -> Iterator[Item]:
    """The items where nothing is wrong; the first finding is raised as an `InputError`."""
    for item in items:
        if isinstance(item, Finding):
            raise item.as_error()
        yield item


def or_empty(path: Path, items: Iterator[Finding | Item], message: str) -> Iterator[Finding | Item]:
    """The items; a finding with that message where there is none."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        yield Finding(path, None, "empty-file", message)


def text_lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers in the file, blank ones counted."""
    for line, raw in enumerate(text.split(b"\n"), start=1):
        if raw.strip():
            yield line, raw


def first_lines(text: bytes) -> list[bytes]:
    """Some lines to know a format by, those that are not blank."""
    return [raw for raw in text[: 200 * _SAMPLE].split(b"\n")[:_SAMPLE] if raw.strip()]


# Lines of columns, read one by one.


class WrongLineError(Exception):
    """What is wrong with a line: the code and the message of a finding."""


_COMMENT = b"#"
_COMMENTS = re.compile(rb"^#[^\n]*", re.MULTILINE)
_DOUBTFUL = (
    "a whole line that begins with #: trec_eval 10 leaves it out, trec_eval 9 does not; "
    "remove the line, or put a blank behind the # to leave it out"
)


@dataclass(frozen=True)
class LineFormat:
    """Lines of so many columns between white space.

    In formats of TREC's own, which have a number in one of them, lines may be comments.
    """

    columns: int
    names: str
    number_at: int | None = None
    split: Callable[[bytes], list[bytes]] = bytes.split

    def uncommented(self, text: bytes) -> bytes:
        """The text with blank lines in place of comments, which trec_eval 10 has.

        What begins with # but is a whole line of the format stays: trec_eval 9 takes it for one.
        """
        if not _begins_with_comment(text):
            return text
        return _COMMENTS.sub(lambda match: match[0] if self._fits(match[0]) else b"", text)

    def _fits(self, raw: bytes) -> bool:
        parts = raw.split()
        if len(parts) != self.columns or self.number_at is None:
            return False
        return number(parts[self.number_at].decode(errors="replace")) is not None

    def undoubted(self, text: bytes) -> bytes | None:
        """`uncommented`, or None where a line may be a comment, or not."""
        text = self.uncommented(text)
        return None if _begins_with_comment(text) else text

    def inspect(
        self,
        path: Path,
        text: bytes,
        read: Callable[[int, list[bytes]], Item],
        lines_before: int = 0,
    ) -> Iterator[Finding | Item]:
        """What is read from each line's number and fields, or what is wrong with the line."""
        for line_here, raw in text_lines(text):
            line, parts = lines_before + line_here, self.split(raw)
            if self.number_at is not None and raw.startswith(_COMMENT):
                yield Finding(path, line, "doubtful-comment", _DOUBTFUL)
            elif len(parts) != self.columns or not all(parts):
                yield wrong_columns(path, line, parts, f"{self.columns} ({self.names})")
            elif b"\0" in raw:
                yield Finding(path, line, "nul-byte", "this line holds a NUL byte")
            else:
                try:
                    yield read(line, parts)
                except UnicodeDecodeError:
                    yield not_utf8(path, line)
                except WrongLineError as wrong:
                    yield Finding(path, line, *wrong.args)


def _begins_with_comment(text: bytes) -> bool:
    """Whether any of the lines begins as a comment."""
    # One byte is searched for much sooner than two, and few files hold it.
    return _COMMENT in text and (text.startswith(_COMMENT) or b"\n" + _COMMENT in text)


def not_utf8(path: Path, line: int) -> Finding:
    """The finding for a line that cannot be decoded."""
    return Finding(path, line, "encoding", "this line is not UTF-8 text")


def line_of(text: bytes, error: UnicodeDecodeError) -> int:
    """The line that a text could not be decoded for."""
    return text.count(b"\n", 0, error.start) + 1


def count_lines(text: bytes) -> int:
    """The lines of a text, blank ones too; the last one needs no line end."""
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


def number(text: str) -> float | None:
    """The finite decimal number that `text` spells, or None."""
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def whole_number(text: str) -> int | None:
    """The integer that `text` spells, or None."""
    return int(text) if _WHOLE.fullmatch(text) else None


def wrong_columns(path: Path, line: int, parts: list[bytes], expected: str) -> Finding:
    """The finding for a line with too few or too many columns."""
    shown = b" ".join(parts).decode(errors="replace")
    if len(shown) > _SHOWN:
        shown = shown[:_SHOWN] + "…"
    plural = "" if len(parts) == 1 else "s"
    message = f"found {len(parts)} column{plural} ({shown!r}), expected {expected}"
    return Finding(path, line, "column-count", message)


# Findings of one file, counted in full and kept only as far as somebody would read them.


Described = tuple[int | None, str]
"""The line of a finding, and its sentence."""


@dataclass
class Tally:
    """Counts findings by code and keeps the first `most` of each (None: all)."""

    path: Path
    most: int | None
    counts: dict[str, int] = field(default_factory=dict)
    kept: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Count one finding."""
        self.add_all(finding.code, [finding], lambda item: (item.line, item.message))

    def add_all(
        self, code: str, items: Sequence[Item], describe: Callable[[Item], Described]
    ) -> None:
        """Count a finding for each item; only those that are kept get a sentence."""
        if not len(items):
            return
        before = self.counts.get(code, 0)
        self.counts[code] = before + len(items)
        room = len(items) if self.most is None else max(0, self.most - before)
        for item in items[:room]:
            line, message = describe(item)
            self.kept.append(Finding(self.path, line, code, message))

    def drop(self, code: str) -> None:
        """Forget what another finding says better."""
        self.counts.pop(code, None)
        self.kept = [finding for finding in self.kept if finding.code != code]

    def sift(self, items: Iterable[Finding | Item]) -> Iterator[Item]:
        """The items where nothing is wrong; the findings among them are counted."""
        for item in items:
            if isinstance(item, Finding):
                self.add(item)
            else:
                yield item

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity."""
        return sum(n for code, n in self.counts.items() if CODES[code].severity == severity)

    def findings(self) -> list[tuple[Finding, int]]:
        """The findings kept, by line, each with the number of the same code left out after it."""
        order = sorted(self.kept, key=lambda finding: (finding.line is None, finding.line or 0))
        last = {finding.code: index for index, finding in enumerate(order)}
        more = {code: self.counts[code] - sum(f.code == code for f in order) for code in last}
        return [
            (finding, more[finding.code] if last[finding.code] == index else 0)
            for index, finding in enumerate(order)
        ]
