"""What was found in files: for people grouped by file, for GitHub as annotations."""

from __future__ import annotations

from collections.abc import Iterator

from riskcli.analyses.validate.report import FileReport, Reports
from riskcli.core.notes import counted
from riskcli.output import forms
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.escape import annotation
from riskcli.output.problems import Problem, as_code_quality, as_sarif
from riskcli.trec.codes import CODES

_OF_CODES = (Heading("findings"), Heading("files"), Heading("", left=True),
             Heading("code", left=True))  # fmt: skip
_HEADINGS = (Heading("line"), *(Heading(name, left=True) for name in ("", "code", "finding")))


def displays(reports: Reports) -> list[Display]:
    """A table for each file in which something was found, and a line for the whole."""
    found = [_display(file) for file in reports.files if file.findings()]
    codes = [_codes(reports)] if len(reports.files) > 1 and reports.codes() else []
    return [*found, *codes, Display.of_rows("", (), (), [summary(reports)])]


def _codes(reports: Reports) -> Display:
    """How much was found of each code, in all files."""
    rows = [
        [Cell(f"{number:,}"), Cell(f"{files:,}"), Cell(CODES[code].severity), Cell(code)]
        for code, (number, files) in reports.codes().items()
    ]
    return Display.of_rows("all files, by code", _OF_CODES, rows)


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


def _counts(counted_in: FileReport | Reports) -> str:
    errors, warnings = counted_in.count("error"), counted_in.count("warning")
    return f"{errors:,} error{'' if errors == 1 else 's'}, " + (
        f"{warnings:,} warning{'' if warnings == 1 else 's'}"
    )


def summary(reports: Reports) -> str:
    """How many files, how many of them are refused, and how much was found."""
    refused = sum(file.count("error") > 0 for file in reports.files)
    doubtful = sum(bool(file.tally.counts) for file in reports.files) - refused
    return (
        f"{counted(len(reports.files), 'file')}: {refused} refused, {doubtful} with warnings "
        f"only; {_counts(reports)}"
    )


def as_github(reports: Reports) -> str:
    """An annotation for each finding that is kept, and one for the whole."""
    lines = []
    for file in reports.files:
        for finding, more in file.findings():
            message = f"{finding.message} (and {more:,} more)" if more else finding.message
            where = {"file": str(file.path), "line": finding.line, "title": finding.code}
            lines.append(annotation(finding.severity, message, **where))
    lines.append(annotation("notice", summary(reports), title="riskeval validate"))
    return "".join(f"{line}\n" for line in lines)


def problems(validation: Reports) -> Iterator[Problem]:
    """Each finding that is kept, in its file and line."""
    for file in validation.files:
        for finding, more in file.findings():
            message = f"{finding.message} (and {more:,} more)" if more else finding.message
            yield Problem(
                finding.severity, finding.code, message, str(file.path), finding.line,
                subject="" if finding.line else finding.message,
            )  # fmt: skip


GITHUB = forms.OwnForm("github", "", as_github)
SARIF = forms.OwnForm(
    "sarif", ".sarif", lambda validation: as_sarif(problems(validation), "riskeval validate")
)
CODE_QUALITY = forms.OwnForm(
    "codequality", "", lambda validation: as_code_quality(problems(validation), ".")
)
FORMS = (*forms.FORMS, GITHUB, SARIF, CODE_QUALITY)
"""The forms of what was found in files: those of every result, and what CI services read."""
