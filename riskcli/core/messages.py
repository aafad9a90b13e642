"""Errors and notes in the words that the user reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


class RiskevalError(Exception):
    """Base of all errors that are the input's or the command line's, not the program's."""

    exit_code = 2


class InputError(RiskevalError):
    """A file that cannot be taken: which one, where in it, a stable code, and what is wrong."""

    def __init__(self, path: Path | str, code: str, message: str, line: int | None = None) -> None:
        self.path = str(path)
        self.code = code
        self.message = message
        self.line = line
        super().__init__(f"{location(self.path, line)}: {code}: {message}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str, int | None]]:
        """Errors travel between processes."""
        return InputError, (self.path, self.code, self.message, self.line)


class UsageError(RiskevalError):
    """A request that cannot be carried out as it was put."""


class NoRunLeftError(UsageError):
    """Every file was left out: which, and why."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple(errors)
        files = "1 file" if len(self.errors) == 1 else f"{len(self.errors)} files"
        first = f"; the first: {errors[0]}" if errors else ""
        super().__init__(f"no run is left: {files} skipped{first}")


def location(path: str, line: int | None) -> str:
    """`file:line`, the way editors and CI services link it."""
    return path if line is None else f"{path}:{line}"


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint naming the known words that look most like `word`, or nothing."""
    names = list(known)
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), folded, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(folded[c] for c in close)}?" if close else ""


# What a reader of the numbers should know, gathered on the way and shown at the end.


@dataclass(frozen=True)
class Note:
    """A remark with a stable code. A `warning` may change how a number is read; else it is news."""

    code: str
    message: str
    warning: bool = True


def listed(names: Iterable[str], most: int = 5) -> str:
    """`a, b, c and 4 more`: enough names to recognise, never a flood."""
    all_names = list(names)
    shown = ", ".join(all_names[:most])
    return f"{shown} and {len(all_names) - most} more" if len(all_names) > most else shown


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 topic`, `3 topics`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
