"""The order in which people expect names: topic 2 before topic 10."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A sort key that compares runs of digits as numbers; `1` and `001` keep a fixed order."""
    parts = [
        (0, int(part), "") if part[0].isdigit() and part.isascii() else (1, 0, part)
        for part in _DIGITS.split(name)
        if part
    ]
    return parts, name


def naturally(names: Iterable[str]) -> list[str]:
    """The names in natural order."""
    return sorted(names, key=natural_key)
