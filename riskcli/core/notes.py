"""What a reader of the numbers should know, gathered on the way and shown at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
