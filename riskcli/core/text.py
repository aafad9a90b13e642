"""Names in the order people expect, counts in words, and options as they would be written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields
from functools import lru_cache
from typing import Any

_DIGITS = re.compile(r"([0-9]+)")


@lru_cache(maxsize=65_536)  # the same names are put in order time and again
def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A sort key that compares runs of digits as numbers; `1` and `001` keep a fixed order."""
    parts = (by_value(part) if is_number(part) else (1, 0, part) for part in _parts(name))
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


def _parts(name: str) -> list[str]:
    return [part for part in _DIGITS.split(name) if part]


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
    parts = [
        f"{part.name}={getattr(given, part.name)!r}"
        for part in fields(given)
        if getattr(given, part.name) != _default(part)
    ]
    return f"{type(given).__name__}({', '.join(parts)})"


def _default(part: Field[Any]) -> Any:
    return part.default if part.default_factory is MISSING else part.default_factory()
