"""What is wrong with files, all of it: the readers' own errors, and remarks for the authors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from riskcli.analyses.validate.display import FORMS, displays
from riskcli.analyses.validate.doubts import MAX_DOCS, columns_of, note_doubts, note_topics
from riskcli.analyses.validate.report import FileReport, Reports
from riskcli.analyses.validate.strangers import (
    likely_cause,
    nearest_before,
    none_is_judged,
    rankings,
)
from riskcli.core.basis import Basis, Input
from riskcli.core.choices import Only, check_words
from riskcli.core.errors import InputError
from riskcli.core.notes import Note
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.effectiveness.judged import Judged
from riskcli.effectiveness.names import parse_measure
from riskcli.output.analysis import Analysis
from riskcli.output.display import Display
from riskcli.output.forms import Forms
from riskcli.output.result import Result
from riskcli.risk.copies import ALL_BUT, LEAST_TOPICS, constant, equal_rows, nearly_equal_rows
from riskcli.scores.evaluation import Places
from riskcli.scores.files.registry import Format, form_of, inspect_scores, tag_of
from riskcli.scores.files.rows import UNNAMED_RUN
from riskcli.scores.reading import OWN_RESULT
from riskcli.trec import runs
from riskcli.trec.discovery import find_files, find_qrels, passed_over
from riskcli.trec.findings import Finding, count_lines, text_lines
from riskcli.trec.folders import Folders
from riskcli.trec.letor import Documents
from riskcli.trec.names import inspect_names, names_by_rule
from riskcli.trec.qrels import Qrels, inspect_qrels, parse_qrels, quick_qrels
from riskcli.trec.records import RunFormat
from riskcli.trec.source import MAX_BYTES, Source
from riskcli.trec.swapped import judgements_first
from riskcli.trec.tally import Tally

if TYPE_CHECKING:
    from riskcli.effectiveness.scoring import Scorer

TOLD_BY = "nDCG@20"
"""The measure whose scores tell copies."""
COLUMNS = ("path", "line", "severity", "code", "message", "more")


@dataclass(frozen=True)
class Checks:
    """What is looked for, and how much of it is kept."""

    max_docs: int = MAX_DOCS
    max_findings: int | None = 10
    """The findings of one code and file that are kept (None: all); all are counted."""
    max_bytes: int = MAX_BYTES
    run_names: str = "auto"
    input_format: str | None = None
    only: Only = "all"
    """Which findings are shown: all, errors or warnings; all are counted."""

    def __post_init__(self) -> None:
        check_words(only=(self.only, Only))

    def settings(self) -> dict[str, Any]:
        """The checks as machine formats record them."""
        return {
            "max_docs": self.max_docs,
            "max_findings": self.max_findings,
            "run_names": self.run_names,
            "input_format": self.input_format,
        }


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
    checker = _Checker(checks, checksums)
    reports = [] if judgements is None else [checker.check_qrels(judgements)]
    checked = _checked(checker, found.files, jobs or available_cores(), progress, known)
    taken, passed = _without_own(checked, found.of_folders)
    reports += taken
    _note_names(reports, checks.run_names, found.names)
    _note_same_rankings(reports)
    _note_same_scores(reports, checker.topics)
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
    checker: _Checker,
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


class _Checker:
    """Checks files, several at once if need be."""

    def __init__(self, checks: Checks, checksums: bool) -> None:
        self._checks = checks
        self._checksums = checksums
        self._qrels: Qrels | None = None
        self._known: Judged | None = None
        self._scorer: Scorer | None = None

    @property
    def topics(self) -> Sequence[str]:
        """Those that runs are scored on."""
        return [] if self._qrels is None else self._qrels.relevant_topics

    def check_qrels(self, path: Path) -> FileReport:
        """What is wrong with the judgements; good ones are kept for the runs."""
        tally = Tally(path, self._checks.max_findings)
        text, sha256 = self._read(tally)
        if text is None:
            return FileReport(path, "unread", tally)
        self._qrels = quick_qrels(path, text)
        if self._qrels is None:
            self._look_closely_at_qrels(tally, text)
        return FileReport(path, "qrels", tally, sha256=sha256)

    def _look_closely_at_qrels(self, tally: Tally, text: bytes) -> None:
        for item in inspect_qrels(tally.path, text):
            if isinstance(item, Finding):
                tally.add(item)
        if not tally.count("error"):
            self._qrels = parse_qrels(tally.path, text)
            for note in self._qrels.notes:
                tally.add(Finding(tally.path, None, note.code, note.message))

    def check(self, path: Path) -> FileReport:
        """What is wrong with a run or a score file."""
        tally = Tally(path, self._checks.max_findings)
        text, sha256 = self._read(tally)
        if text is None:
            return FileReport(path, "unread", tally)
        try:
            form = form_of(path, text, self._checks.input_format)
        except InputError as error:
            tally.add(Finding.of(error))
            return FileReport(path, "unread", tally)
        if isinstance(form, Format):
            read = self._check_scores(tally, text, form.name)
        else:
            read = self._check_run(tally, text, form)
        return replace(read, sha256=sha256)

    def _check_scores(self, tally: Tally, text: bytes, kind: str) -> FileReport:
        names: dict[str, None] = {}
        for item in inspect_scores(tally.path, text, kind):
            if isinstance(item, Finding):
                tally.add(item)
            else:
                names[item.run] = None
        tag = tag_of(text, kind, list(names))
        named = UNNAMED_RUN not in names and tag is None
        found = tuple(names) if named else (tag,) if tag else ()
        return FileReport(tally.path, "scores", tally, found, named)

    def _read(self, tally: Tally) -> tuple[bytes | None, str | None]:
        """The file's text, None where it cannot be read, and its checksum."""
        try:
            source = Source(tally.path, self._checks.max_bytes, self._checksums)
            return source.text(), source.sha256
        except InputError as error:
            tally.add(Finding.of(error))
            return None, None

    def _check_run(self, tally: Tally, text: bytes, form: RunFormat | None) -> FileReport:
        """Note all that is wrong; give the tags that lines carry, its rankings and its scores."""
        text = runs.uncommented(text) if form is None else text
        documents = None if self._qrels is None else self._qrels.lines
        table = runs.quick_table(text) if form is None else None
        if table is not None:
            columns = columns_of(tally, table, _numbering(text, len(table)))
        else:
            lines = list(_good_lines(tally, text, form, documents))
            if not lines:
                return FileReport(tally.path, "run", tally)
            columns = columns_of(
                tally, runs.table_of(lines), lambda index: lines[index].line or None
            )
        if form is None:  # elsewhere there is no rank, no tag and no second column to doubt
            note_doubts(tally, columns, self._checks.max_docs)
        if self._qrels is not None:
            judged = self._qrels.judgements
            note_topics(tally, columns, judged, self._qrels.relevant_topics)
            if none_is_judged(columns.run, self._judged(self._qrels)):
                message = f"no document is judged{likely_cause(columns.run, judged)}"
                tally.add(Finding(tally.path, None, "nothing-judged", message))
        tags = columns.run.tags if form is None else ()
        scores = {} if tally.count("error") else self._scores(columns.run)
        return FileReport(
            tally.path, "run", tally, tags, rankings=rankings(columns.run), scores=scores
        )

    def _scores(self, run: runs.Run) -> dict[str, float]:
        """The run's scores by topic, to tell copies by; none where nothing is judged."""
        if self._qrels is None:
            return {}
        # Late: without judgements nothing is scored.
        from riskcli.effectiveness.scoring import Scorer

        if self._scorer is None:
            self._scorer = Scorer(self._qrels, [parse_measure(TOLD_BY)])
        topics, scores = self._scorer.score(run)
        (values,) = scores.values()
        return dict(zip(topics, values.tolist(), strict=True))

    def _judged(self, qrels: Qrels) -> Judged:
        """The judged documents, gathered once; two threads may do so at the same time."""
        if self._known is None:
            self._known = Judged(qrels.judgements)
        return self._known


def _good_lines(
    tally: Tally, text: bytes, form: RunFormat | None, documents: Documents | None
) -> Iterator[runs.Line]:
    """The lines that can be taken; the others are noted."""
    inspect = (
        runs.inspect_run
        if form is None
        else partial(runs.inspect_foreign, form=form, documents=documents)
    )
    for item in inspect(tally.path, text):
        if isinstance(item, Finding):
            tally.add(item)
        else:
            yield item


def _numbering(text: bytes, count: int) -> Callable[[int], int]:
    """The numbers in the file of the lines that are not blank, worked out when first needed."""

    @cache
    def numbers() -> Sequence[int]:
        if count_lines(text) == count:
            return range(1, count + 1)
        return [line for line, _ in text_lines(text)]

    return lambda index: numbers()[index]


def _note_same_rankings(reports: Sequence[FileReport]) -> None:
    """Note runs that rank as an earlier file does, on all topics or on all but a few."""
    ranked = [report for report in reports if report.rankings]
    for row, first, differing, topics in nearest_before([each.rankings for each in ranked]):
        report, earlier = ranked[row], ranked[first].path
        if not differing:
            message = f"the same documents in the same order as in {earlier}"
            report.tally.add(Finding(report.path, None, "same-ranking", message))
        elif topics >= LEAST_TOPICS and differing <= max(1, topics // ALL_BUT):
            message = f"ranks as {earlier} does on all but {differing} of {topics} topics"
            report.tally.add(Finding(report.path, None, "near-same-ranking", message))


def _note_same_scores(reports: Sequence[FileReport], topics: Sequence[str]) -> None:
    """Note runs that score as an earlier file does, though they rank otherwise."""
    scored = [report for report in reports if report.scores]
    if len(topics) < LEAST_TOPICS or not scored:
        return
    rows = np.array([[report.scores.get(topic, 0.0) for topic in topics] for report in scored])
    for first, *others in equal_rows(rows):
        for row in others:
            message = f"the same {TOLD_BY} on every topic as {scored[first].path}"
            _note_once(scored[row], "same-scores", message, but=("same-ranking",))
    for first, row, differing in nearly_equal_rows(rows):
        of = f"all but {differing} of {len(topics)} topics"
        message = f"the same {TOLD_BY} as {scored[first].path} on {of}"
        but = ("same-ranking", "near-same-ranking", "same-scores")
        _note_once(scored[row], "near-same-scores", message, but)
    for report, scores in zip(scored, rows, strict=True):
        if constant(scores):
            message = f"{TOLD_BY} is {scores[0]:g} on all {len(topics)} topics"
            _note_once(report, "constant-scores", message)


def _note_once(report: FileReport, code: str, message: str, but: Sequence[str] = ()) -> None:
    """Note it, unless that or what says more has been noted of the file."""
    if not any(noted in report.tally.counts for noted in (code, *but)):
        report.tally.add(Finding(report.path, None, code, message))


def _note_names(reports: Sequence[FileReport], rule: str, given: Mapping[Path, str]) -> None:
    """Note runs that would be called the same, by the rule that names them for scoring."""
    reports = [report for report in reports if report.path not in given]
    waiting = [report for report in reports if report.kind != "qrels" and not report.named]
    runs = [report for report in waiting if report.kind != "unread"]
    tags = [report.names[0] if len(report.names) == 1 else None for report in runs]
    paths = [report.path for report in runs]
    _, names = names_by_rule(list(zip(paths, tags, strict=True)), rule)
    for report in reports:
        if report.named:
            names += report.names
            paths += [report.path] * len(report.names)
    names += given.values()
    paths += given
    tallies = {report.path: report.tally for report in reports}
    for finding in inspect_names(names, paths):
        tallies[finding.path].add(finding)
