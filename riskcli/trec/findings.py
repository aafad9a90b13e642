"""What can be wrong with a line, in words shared by every reader and checker."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from riskcli.core.errors import InputError
from riskcli.trec.codes import CODES, Severity

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_SHOWN = 60


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
    def of(cls, error: InputError) -> Finding:
        """What an error says, as a finding."""
        return cls(Path(error.path), error.line, error.code, error.message)

    def as_error(self) -> InputError:
        """The error that `score` stops with."""
        return InputError(self.path, self.code, self.message, self.line)


def text_lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers in the file, blank ones counted."""
    for line, raw in enumerate(text.split(b"\n"), start=1):
        if raw.strip():
            yield line, raw


COMMENT = b"#"
_COMMENTS = re.compile(rb"^#[^\n]*", re.MULTILINE)


def begins_with_comment(text: bytes) -> bool:
    """Whether any of the lines begins as a comment."""
    # One byte is searched for much sooner than two, and few files hold it.
    return COMMENT in text and (text.startswith(COMMENT) or b"\n" + COMMENT in text)


def without_comments(text: bytes, columns: int, number_at: int) -> bytes:
    """The text with blank lines in place of comments, which trec_eval 10 has.

    What begins with # but is a whole line of the format stays: trec_eval 9 takes it for one.
    """
    if not begins_with_comment(text):
        return text
    return _COMMENTS.sub(
        lambda match: match[0] if _is_line(match[0], columns, number_at) else b"", text
    )


def _is_line(raw: bytes, columns: int, number_at: int) -> bool:
    parts = raw.split()
    return len(parts) == columns and number(parts[number_at].decode(errors="replace")) is not None


def doubtful_comment(path: Path, line: int) -> Finding:
    """The finding for what is a comment to one version of trec_eval, and a line to another."""
    message = (
        "a whole line that begins with #: trec_eval 10 leaves it out, trec_eval 9 does not; "
        "remove the line, or put a blank behind the # to leave it out"
    )
    return Finding(path, line, "doubtful-comment", message)


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
