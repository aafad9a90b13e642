"""Every problem in run files and files of scores, by file, line and code."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import Any, Protocol

from riskcli.analyses import checker as checking
from riskcli.analyses.checker import Checks, FileReport
from riskcli.core.inputs import not_inputs
from riskcli.core.messages import Input, Note, Provenance, counted, listed
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.output.display import GAP, Cell, Column, Display, Heading, width_of
from riskcli.output.escape import annotation, visible
from riskcli.output.formats import FINDING_FORMATS, Analysis, Formats
from riskcli.output.problems import Problem, as_annotations, as_code_quality, as_sarif
from riskcli.output.result import Result
from riskcli.output.verdict import Statement, Statements
from riskcli.scores.evaluation import Places
from riskcli.scores.reading import OWN_RESULT
from riskcli.trec.codes import CODES, Severity
from riskcli.trec.discovery import Folders, find_files, find_qrels, judgements_first, neighbours
from riskcli.trec.findings import Finding

_OF_CODES = (Heading("findings"), Heading("files"), Heading("", left=True),
             Heading("code", left=True))  # fmt: skip
_HEADINGS = (Heading("line"), *(Heading(name, left=True) for name in ("", "code", "finding")))


def _display(file: FileReport) -> Display:
    rows = []
    for finding, more in file.findings():
        where = "" if finding.line is None else str(finding.line)
        wrong = finding.severity == "error"
        rows.append([
            Cell(where), Cell(finding.severity, strong=wrong), Cell(finding.code),
            Cell(finding.message),
        ])  # fmt: skip
        if more:
            rows.append([Cell(""), Cell(""), Cell(finding.code), Cell(f"and {more:,} more")])
    return Display.of_rows(f"{file.path}: {_counts(file)}", _HEADINGS, rows)


def _counts(counted_in: "FileReport | Validation") -> str:
    errors, warnings = counted_in.count("error"), counted_in.count("warning")
    return f"{errors:,} error{'' if errors == 1 else 's'}, " + (
        f"{warnings:,} warning{'' if warnings == 1 else 's'}"
    )


COLUMNS = ("path", "line", "severity", "code", "message", "more")


@dataclass(frozen=True, repr=False)
class Validation(Analysis):
    """What was found in every file, qrels first, and with which checks."""

    files: tuple[FileReport, ...]

    def codes(self) -> dict[str, tuple[int, int]]:
        """How many findings are of each code, in how many files, errors first."""
        by_code: dict[str, tuple[int, int]] = {}
        for file in self.files:
            for code, number in file.tally.counts.items():
                findings, files = by_code.get(code, (0, 0))
                by_code[code] = (findings + number, files + 1)
        return dict(sorted(by_code.items(), key=lambda item: (CODES[item[0]].severity, item[0])))

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity, in all files."""
        return sum(file.count(severity) for file in self.files)

    def summary(self) -> str:
        """How many files, how many of them are refused, and how much was found."""
        refused = sum(file.count("error") > 0 for file in self.files)
        doubtful = sum(bool(file.tally.counts) for file in self.files) - refused
        return (
            f"{counted(len(self.files), 'file')}: {refused} refused, {doubtful} with warnings "
            f"only; {_counts(self)}"
        )

    @property
    def formats(self) -> Formats:
        """Those of every result, and what CI services read."""
        return FINDING_FORMATS

    def _problems(self) -> Iterator[Problem]:
        """Each finding that is kept, in its file and line."""
        for file in self.files:
            for finding, more in file.findings():
                message = f"{finding.message} (and {more:,} more)" if more else finding.message
                yield Problem(
                    finding.severity, finding.code, message, str(file.path), finding.line,
                    subject="" if finding.line else finding.message,
                )  # fmt: skip

    def as_github(self) -> str:
        """An annotation for each finding that is kept, as GitHub shows them, and for the whole."""
        whole = annotation("notice", self.summary(), title="riskeval validate")
        return f"{as_annotations(self._problems())}{whole}\n"

    def as_sarif(self) -> str:
        """The findings as SARIF."""
        return as_sarif(self._problems(), "riskeval validate")

    def as_code_quality(self) -> str:
        """The findings as GitLab's code quality reports."""
        return as_code_quality(self._problems())

    @property
    def verdict(self) -> Statements:
        """How many files are refused, and which; how many have warnings."""
        number = len(self.files)
        refused = [file for file in self.files if file.count("error")]
        warned = [file for file in self.files if file.count("warning")]
        if number == 1:
            text = f"{self.files[0].path.name} is {'refused' if refused else 'valid'}."
        elif refused:
            names = listed([file.path.name for file in refused], _FEW)
            are = "is" if len(refused) == 1 else "are"
            text = f"{len(refused)} of {counted(number, 'file')} {are} refused: {names}."
        else:
            text = f"{number} files are valid."
        numbers = {"files": number, "refused": len(refused)}
        statements = [Statement("refused", text, numbers=numbers)]
        if warned:
            files = f"{counted(len(warned), 'file')} {'has' if len(warned) == 1 else 'have'}"
            text = f"{'It has' if number == 1 else files} warnings, which stop no command."
            statements.append(Statement("warned", text, numbers={"warned": len(warned)}))
        return Statements(tuple(statements))

    def screen(self, width: int, /) -> Sequence[Display]:
        """What was found in several files, gathered by kind; of one file, all."""
        if len(self.files) == 1:
            return self.displays(width)
        return [_gathered(self.files, self.verdict.sentences, width)]

    def displays(self, _width: int, /) -> Sequence[Display]:
        """A table for each file in which something was found, and a line for the whole."""
        tables = [_display(file) for file in self.files if file.findings()]
        codes = self.codes() if len(self.files) > 1 else {}
        rows = [
            [Cell(f"{number:,}"), Cell(f"{files:,}"), Cell(CODES[code].severity), Cell(code)]
            for code, (number, files) in codes.items()
        ]
        of_codes = [Display.of_rows("all files, by code", _OF_CODES, rows)] if rows else []
        first, *rest = [*tables, *of_codes, Display.of_rows("", (), (), [self.summary()])]
        return [replace(first, verdict=self.verdict.sentences), *rest]

    def result(self) -> Result:
        """A row a finding; `more` counts those of its code that were left out after it."""
        rows = [
            (str(file.path), finding.line, finding.severity, finding.code, finding.message, more)
            for file in self.files
            for finding, more in file.findings()
        ]
        return Result(
            COLUMNS,
            rows,
            self.provenance,
            {
                "files": [_summary(file) for file in self.files],
                "codes": {code: number for code, (number, _) in self.codes().items()},
            },
        )


# What was found in many files, gathered by kind, on one screen.


_FEW = 3
_LINES = 25
"""What a screen has, beside the line of the command."""
_LEAST_ROWS = 4
_LEAST_EXAMPLE = 20
_MOST_LINES = 8
"""For the example of an error."""


def _gathered(files: Sequence[FileReport], said: Sequence[str], width: int) -> Display:
    """A row a code, errors first, with an example; as many as a screen has lines for."""
    found: dict[str, list[tuple[FileReport, Finding]]] = {}
    for file in files:
        for finding, _ in file.findings():
            found.setdefault(finding.code, []).append((file, finding))
    codes = sorted(found, key=lambda code: (CODES[code].severity, code))
    room = _LINES - 3 - sum(len(wrap(text, width)) for text in said)
    shown = codes if len(codes) <= room else codes[: max(room - 1, _LEAST_ROWS)]
    counts = [{f.path: f.tally.counts[code] for f, _ in found[code]} for code in shown]
    columns = [
        Column.of(Heading("", left=True), [
            Cell(CODES[c].severity, strong=CODES[c].severity == "error") for c in shown]),
        Column.of(Heading("code", left=True, names=True), shown),
        Column.of("files", [f"{len(by_file):,}" for by_file in counts]),
        Column.of("findings", [f"{sum(by_file.values()):,}" for by_file in counts]),
    ]  # fmt: skip
    left = max(width - width_of(columns) - GAP, _LEAST_EXAMPLE)
    wrong = [code for code in shown if CODES[code].severity == "error"]
    doubtful = shown[len(wrong) :]  # what refuses a file is told at length first
    each = max(1, min((room - len(doubtful)) // max(len(wrong), 1), _MOST_LINES))
    examples = [_shortened(_example(*found[code][0]), left, each) for code in wrong]
    used = sum(len(wrap(text, left, break_on_hyphens=False)) for text in examples)
    each = 2 if used + 2 * len(doubtful) <= room else 1
    examples += [_shortened(_example(*found[code][0]), left, each) for code in doubtful]
    columns.append(Column.of(Heading("for example", left=True), examples))
    hidden = len(codes) - len(shown)
    more = [f"Not shown: {counted(hidden, 'more code', 'more codes')}."] if hidden else []
    caption = [*more, "Every finding, with file and line: --full."] if codes else []
    return Display("", columns if codes else [], caption, verdict=said)


def _example(file: FileReport, finding: Finding) -> str:
    line = "" if finding.line is None else f", line {finding.line}"
    return f"{file.path.name}{line}: {finding.message}"


def _shortened(text: str, width: int, lines: int) -> str:
    """So much of the text as goes into so many lines."""
    folded = wrap(visible(text), width, max_lines=lines, placeholder=" …", break_on_hyphens=False)
    return " ".join(folded)


def _summary(file: FileReport) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "kind": file.kind,
        "errors": file.count("error"),
        "warnings": file.count("warning"),
        "codes": dict(sorted(file.tally.counts.items())),
    }


class ReportCache(Protocol):
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
    cache: ReportCache | None = None,
    folders: Folders | None = None,
) -> Validation:
    """Read every file to its end and report all that is wrong with it.

    With `qrels` that file is checked too, and topics are compared with it. The inputs carry the
    SHA-256 of the bytes that were checked, unless `checksums` is False. Runs and
    scores in the `cache` are not checked again.
    """
    checks = checks or Checks()
    given = [places] if isinstance(places, str | Path) else list(places)
    given, qrels, turned = judgements_first(given, qrels)
    judgements = None if qrels is None else find_qrels(qrels, [])[0]
    run_files = find_files(given, [judgements] if judgements else [], folders)
    checker = checking.Checker(checks, checksums)
    reports = [] if judgements is None else [checker.check_qrels(judgements)]
    checked = _checked(checker, run_files.files, jobs or available_cores(), progress, cache)
    taken, passed = _without_neighbours(checked, run_files.of_folders)
    reports += taken
    checking.note_names(reports, checks.run_names, run_files.names)
    checking.note_same_rankings(reports)
    checking.note_same_scores(reports, checker.topics)
    inputs = tuple(Input(r.path, r.kind, r.sha256) for r in reports if r.kind != "unread")
    notes = (*turned, *run_files.notes, *passed)
    reports = [replace(report, only=checks.only) for report in reports]
    return Validation(tuple(reports), provenance=Provenance(checks.settings(), inputs, notes))


def _without_neighbours(
    reports: Sequence[FileReport], of_folders: Set[Path]
) -> tuple[list[FileReport], list[Note]]:
    """The reports but those on files that lay in a folder and are no runs; and news of these."""
    inside = [report for report in reports if report.path in of_folders]
    errors = [report.tally.kept[0].as_error() for report in inside if report.tally.kept]
    passed = [error for error in errors if error.code in (OWN_RESULT, "other-kind")]
    not_inputs(Path(error.path) for error in passed if error.code == OWN_RESULT)
    paths = {error.path for error in passed}
    taken = [report for report in reports if str(report.path) not in paths]
    return taken, neighbours(passed) if passed else []


def _checked(
    checker: checking.Checker,
    files: Sequence[Path],
    jobs: int,
    progress: Progress | None,
    cache: ReportCache | None,
) -> list[FileReport]:
    if cache is None:
        return list(in_order(checker.check, files, jobs, progress))
    reports = {path: cache.find(path) for path in files}
    unknown = [path for path, report in reports.items() if report is None]
    for report in in_order(checker.check, unknown, jobs, progress):
        cache.keep(report)
        reports[report.path] = report
    return [report for report in reports.values() if report is not None]
