"""Errors and notes in the words that the user reads, what a result rests on, and names in order."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any


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

    def __reduce__(self) -> "tuple[type[InputError], tuple[str, str, str, int | None]]":
        """Errors travel between processes."""
        return InputError, (self.path, self.code, self.message, self.line)


class UsageError(RiskevalError):
    """A request that cannot be carried out as it was put."""


def lacking(what: str, extra: str) -> UsageError:
    """What needs an extra of the installation that is not there."""
    return UsageError(
        f"{what}: install riskeval with the extra `{extra}` (in a checkout: "
        f"pip install '.[{extra}]')"
    )


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
    full: str = field(default="", compare=False)
    """The message with what it leaves out, if anything."""

    @property
    def in_every_report(self) -> bool:
        """Whether it stands everywhere: for its code, or as all of it is said, by a gate."""
        return self.code in IN_EVERY_REPORT or self.message == self.full


TEXT_HASH = "text_sha256"
"""Of judgements in a packed file: the member that states the checksum of their text."""
OTHER_JUDGEMENTS = "other-judgements"
NOT_JUDGED = "not-judged"
ALLOW_EXPIRED = "allow-expired"
IN_EVERY_REPORT = frozenset({OTHER_JUDGEMENTS, NOT_JUDGED, ALLOW_EXPIRED})
"""Codes of warnings that stand beside the numbers wherever there is room, not on stderr alone."""


def listed(names: Iterable[str], most: int = 5) -> str:
    """`a, b, c and 4 more`: enough names to recognise, never a flood."""
    all_names = list(names)
    shown = ", ".join(all_names[:most])
    return f"{shown} and {len(all_names) - most} more" if len(all_names) > most else shown


def joined(names: Sequence[str], last: str = "and") -> str:
    """`a, b and c`; nothing for none."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 topic`, `3 topics`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


# Names in the order people expect, counts in words, and options as they would be written.


_DIGITS = re.compile(r"([0-9]+)")


@lru_cache(maxsize=65_536)  # the same names are put in order time and again
def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A sort key that compares runs of digits as numbers; `1` and `001` keep a fixed order."""
    parts = (
        by_value(part) if is_number(part) else (1, 0, part) for part in _DIGITS.split(name) if part
    )
    return tuple(parts), name


def naturally(names: Iterable[str]) -> list[str]:
    """The names in natural order."""
    listed = list(names)
    if all(map(is_number, listed)):  # the same order, found sooner
        return sorted(listed, key=lambda name: (by_value(name), name))
    return sorted(listed, key=natural_key)


def natural_order(names: Sequence[str]) -> list[int]:
    """Where the names stand in the list, in natural order."""
    keys = [natural_key(name) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


def is_number(part: str) -> bool:
    """Whether a text is a whole number without a sign."""
    return part.isdigit() and part.isascii()


def by_value(part: str) -> tuple[int, int, str]:
    """What orders numbers of any length as their values do."""
    significant = part.lstrip("0")
    return 0, len(significant), significant


# Options shown as they would be written: with what differs from the defaults.


def short_repr(given: Any) -> str:
    """The call that makes a dataclass of options, without the defaults."""
    changed = [
        f"{each.name}={getattr(given, each.name)!r}"
        for each in fields(given)
        if getattr(given, each.name) != _default(each)
    ]
    return f"{type(given).__name__}({', '.join(changed)})"


def _default(part: Field[Any]) -> Any:
    return part.default if part.default_factory is MISSING else part.default_factory()


# What a result rests on: settings, the files that were read, notes, and the files left out.


@dataclass(frozen=True)
class Input:
    """A file that numbers rest on: a run, scores, or judgements."""

    path: Path
    kind: str
    sha256: str | None = None
    """The checksum of the bytes that were read, taken while reading; None where none was."""
    run: str | None = None
    """What the run in it is called, if it is or holds one."""
    judgements: tuple[str, ...] = ()
    """The checksums of the qrels that a file of scores names."""
    mixed: bool = False
    """Whether a file of scores says that these are not all made from the same judgements."""
    content: str | None = None
    """The hash of its content that it carries, if it is riskeval's; of judgements that of their
    text, where that is not the file's (which is packed)."""


@dataclass(frozen=True)
class Provenance:
    """Everything that a result must carry to be repeated and judged."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()
    skipped: tuple[InputError, ...] = ()
    """What was wrong with the files that were left out."""

    def adding(
        self, settings: Mapping[str, Any] | None = None, notes: Iterable[Note] = ()
    ) -> "Provenance":
        """The provenance of what was computed from this: more settings, and each note once."""
        return Provenance(
            {**self.settings, **(settings or {})},
            self.inputs,
            tuple(dict.fromkeys([*self.notes, *notes])),
            self.skipped,
        )


@dataclass(frozen=True)
class WithProvenance:
    """A result with its provenance, whose parts it gives as its own."""

    provenance: Provenance = field(default_factory=Provenance, kw_only=True)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that a number can depend on."""
        return self.provenance.settings

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Each file that the result rests on."""
        return self.provenance.inputs

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the numbers should know."""
        return self.provenance.notes

    @property
    def skipped(self) -> tuple[InputError, ...]:
        """What was wrong with the files that were left out."""
        return self.provenance.skipped
