"""What is wrong with files, all of it: the readers' own errors, and remarks for the authors."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from riskcli.analyses.validate.between import note_names, note_same_rankings, note_same_scores
from riskcli.analyses.validate.checker import Checker, Checks
from riskcli.analyses.validate.display import FORMS, displays
from riskcli.analyses.validate.report import FileReport, Reports
from riskcli.core.basis import Basis, Input
from riskcli.core.notes import Note
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.output.analysis import Analysis
from riskcli.output.display import Display
from riskcli.output.forms import Forms
from riskcli.output.result import Result
from riskcli.scores.evaluation import Places
from riskcli.scores.reading import OWN_RESULT
from riskcli.trec.discovery import find_files, find_qrels, passed_over
from riskcli.trec.folders import Folders
from riskcli.trec.swapped import judgements_first

COLUMNS = ("path", "line", "severity", "code", "message", "more")


@dataclass(frozen=True, repr=False)
class Validation(Analysis, Reports):
    """What was found in every file, and with which checks."""

    @property
    def forms(self) -> Forms:
        """Those of every result, and what CI services read."""
        return FORMS

    def displays(self, _width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self)

    def result(self) -> Result:
        """A row a finding; `more` counts those of its code that were left out after it."""
        rows = [
            (str(file.path), found.line, found.severity, found.code, found.message, more)
            for file in self.files
            for found, more in file.findings()
        ]
        return Result(
            COLUMNS,
            rows,
            self.basis,
            {
                "files": [_summary(file) for file in self.files],
                "codes": {code: number for code, (number, _) in self.codes().items()},
            },
        )


def _summary(file: FileReport) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "kind": file.kind,
        "errors": file.count("error"),
        "warnings": file.count("warning"),
        "codes": dict(sorted(file.tally.counts.items())),
    }


class Known(Protocol):
    """Reports of an earlier call on files that have not changed since."""

    def find(self, path: Path) -> FileReport | None: ...
    def keep(self, report: FileReport) -> None: ...


def validate(
    places: Places,
    *,
    qrels: Path | str | None = None,
    checks: Checks | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    checksums: bool = True,
    known: Known | None = None,
    folders: Folders | None = None,
) -> Validation:
    """Read every file to its end and report all that is wrong with it.

    With `qrels` that file is checked too, and topics are compared with it. The inputs carry the
    SHA-256 of the bytes that were checked, unless `checksums` says that nobody needs them. What is
    `known` of runs and scores is not worked out again.
    """
    checks = checks or Checks()
    given = [places] if isinstance(places, str | Path) else list(places)
    given, qrels, turned = judgements_first(given, qrels)
    judgements = None if qrels is None else find_qrels(qrels, [])[0]
    found = find_files(given, [judgements] if judgements else [], folders)
    checker = Checker(checks, checksums)
    reports = [] if judgements is None else [checker.check_qrels(judgements)]
    checked = _checked(checker, found.files, jobs or available_cores(), progress, known)
    taken, passed = _without_own(checked, found.of_folders)
    reports += taken
    note_names(reports, checks.run_names, found.names)
    note_same_rankings(reports)
    note_same_scores(reports, checker.topics)
    inputs = tuple(Input(r.path, r.kind, r.sha256) for r in reports if r.kind != "unread")
    notes = (*turned, *found.notes, *passed)
    reports = [replace(report, only=checks.only) for report in reports]
    return Validation(tuple(reports), basis=Basis(checks.settings(), inputs, notes))


def _without_own(
    reports: Sequence[FileReport], of_folders: Set[Path]
) -> tuple[list[FileReport], list[Note]]:
    """The reports but those on results of this program that lay in a folder; and news of these."""
    own = [r.path for r in reports if OWN_RESULT in r.tally.counts and r.path in of_folders]
    names = sorted(f"{path.name} (a result of riskeval)" for path in own)
    taken = [report for report in reports if report.path not in own]
    return taken, [passed_over(names)] if names else []


def _checked(
    checker: Checker,
    files: Sequence[Path],
    jobs: int,
    progress: Progress | None,
    known: Known | None,
) -> list[FileReport]:
    if known is None:
        return list(in_order(checker.check, files, jobs, progress))
    reports = {path: known.find(path) for path in files}
    unknown = [path for path, report in reports.items() if report is None]
    for report in in_order(checker.check, unknown, jobs, progress):
        known.keep(report)
        reports[report.path] = report
    return [report for report in reports.values() if report is not None]
