"""What was found in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from riskcli.core.choices import Only
from riskcli.trec.codes import CODES, Severity
from riskcli.trec.findings import Finding
from riskcli.trec.tally import Tally


@dataclass(frozen=True)
class FileReport:
    """What was found in one file."""

    path: Path
    kind: Literal["run", "scores", "qrels", "unread"]
    tally: Tally
    names: tuple[str, ...] = ()
    """A run's tags, or the runs of a score file."""
    named: bool = False
    """False for a run, or the scores of one, that its tag or its file must name."""
    sha256: str | None = None
    """The checksum of the file that was read, where one was asked for."""
    rankings: Mapping[str, str] = field(default_factory=dict)
    """Of a run: a digest of each topic's ranking."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Of a run that could be scored: its score on each topic that it answers."""

    only: Only = "all"
    """Which findings are shown; all are counted."""

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity."""
        return self.tally.count(severity)

    def findings(self) -> list[tuple[Finding, int]]:
        """The findings to show, each with the number of the same code left out after it."""
        wanted = {"errors": "error", "warnings": "warning"}.get(self.only)
        found = self.tally.findings()
        return [each for each in found if wanted in (None, each[0].severity)]


@dataclass(frozen=True)
class Reports:
    """What was found in every file, qrels first."""

    files: tuple[FileReport, ...]

    def codes(self) -> dict[str, tuple[int, int]]:
        """How many findings are of each code, in how many files, errors first."""
        found: dict[str, tuple[int, int]] = {}
        for file in self.files:
            for code, number in file.tally.counts.items():
                findings, files = found.get(code, (0, 0))
                found[code] = (findings + number, files + 1)
        return dict(sorted(found.items(), key=lambda item: (CODES[item[0]].severity, item[0])))

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity, in all files."""
        return sum(file.count(severity) for file in self.files)
