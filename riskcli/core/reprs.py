"""Options shown as they would be written: with what differs from the defaults."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any


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
