"""Findings of one file, counted in full and kept only as far as somebody would read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from riskcli.trec.codes import CODES, Severity
from riskcli.trec.findings import Finding

Item = TypeVar("Item")
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

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity."""
        return sum(n for code, n in self.counts.items() if CODES[code].severity == severity)

    def findings(self) -> list[tuple[Finding, int]]:
        """The findings kept, by line, each with the number of the same code left out after it."""
        order = sorted(self.kept, key=lambda found: (found.line is None, found.line or 0))
        last = {found.code: index for index, found in enumerate(order)}
        shown = {code: sum(found.code == code for found in order) for code in last}
        return [
            (found, self.counts[found.code] - shown[found.code] if last[found.code] == index else 0)
            for index, found in enumerate(order)
        ]
