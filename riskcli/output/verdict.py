"""What a result says: sentences made of tested facts, each by a rule of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

Number = float | None


def _finite(number: Number) -> Number:
    return number if number is not None and isfinite(number) else None


@dataclass(frozen=True)
class Statement:
    """A sentence of a verdict, and the tested facts that it is made of."""

    rule: str
    """The rule that it follows, one of those of the documentation."""
    text: str
    about: str = ""
    """The table that it is about: measure, baseline, and what else tells it from others."""
    runs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """By name: a difference, the ends of its interval, a count; of each run, if of several."""

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        known = {
            name: [*map(_finite, number)] if isinstance(number, tuple) else _finite(number)
            for name, number in self.numbers.items()
        }
        return {**vars(self), "runs": [*self.runs], "topics": [*self.topics], "numbers": known}


@dataclass(frozen=True)
class Statements:
    """What a result says, in one to three sentences a table."""

    all: tuple[Statement, ...] = ()

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __str__(self) -> str:
        """The sentences; where there are several tables, those of each under its name."""
        abouts = list(dict.fromkeys(each.about for each in self))
        lines = []
        for about in abouts:
            lines += [about] if about and len(abouts) > 1 else []
            lines += self.of(about).sentences
        return "\n".join(lines)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The texts alone."""
        return tuple(each.text for each in self)

    def of(self, about: str) -> "Statements":
        """Those about one table."""
        return Statements(tuple(each for each in self if each.about == about))

    def by(self, rule: str) -> tuple[Statement, ...]:
        """Those that follow a rule."""
        return tuple(each for each in self if each.rule == rule)
