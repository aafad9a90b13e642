"""What was found in files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riskcli.analyses import cautions, doubts
from riskcli.analyses.doubts import MAX_DOCS
from riskcli.core.choices import Only, check_words
from riskcli.core.messages import InputError
from riskcli.effectiveness.measures import parse_measure
from riskcli.effectiveness.plausibility import doubts_on, findings_of, ranks_in, starts_oddly
from riskcli.scores import plausibility
from riskcli.scores.files.registry import Format, format_of, tag_of
from riskcli.scores.files.tables import UNNAMED_RUN, About, ScoreRow, assemble
from riskcli.scores.plausibility import UNNAMED
from riskcli.trec import runs
from riskcli.trec.codes import Severity
from riskcli.trec.findings import (
    Finding,
    RunFormat,
    Tally,
    count_lines,
    text_lines,
)
from riskcli.trec.names import inspect_names, names_by_rule
from riskcli.trec.qrels import Qrels, inspect_qrels, parse_qrels, quick_qrels
from riskcli.trec.source import MAX_BYTES, TextFile

if TYPE_CHECKING:
    from riskcli.effectiveness.scoring import Scored, Scorer


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
        findings = self.tally.findings()
        return [each for each in findings if wanted in (None, each[0].severity)]


# What is wrong between files: the same ranking, the same scores, the same name.


COPY_MEASURE = "nDCG@20"
"""Runs with equal scores by this measure are reported as copies."""


def note_same_rankings(reports: Sequence[FileReport]) -> None:
    """Note runs that rank as an earlier file does, on all topics or on all but a few."""
    ranked = [report for report in reports if report.rankings]
    for row, first, differing, topics in doubts.nearest_before([each.rankings for each in ranked]):
        report, earlier = ranked[row], ranked[first].path
        if not differing:
            message = f"the same documents in the same order as in {earlier}"
            report.tally.add(Finding(report.path, None, "same-ranking", message))
        elif topics >= cautions.LEAST_COMMON_TOPICS and differing <= max(
            1, topics // cautions.ALL_BUT
        ):
            message = f"ranks as {earlier} does on all but {differing} of {topics} topics"
            report.tally.add(Finding(report.path, None, "near-same-ranking", message))


def note_same_scores(reports: Sequence[FileReport], topics: Sequence[str]) -> None:
    """Note runs that score as an earlier file does, though they rank otherwise."""
    scored = [report for report in reports if report.scores]
    if len(topics) < cautions.LEAST_COMMON_TOPICS or not scored:
        return
    rows = np.array([[report.scores.get(topic, 0.0) for topic in topics] for report in scored])
    for first, *others in cautions.equal_rows(rows):
        for row in others:
            message = f"the same {COPY_MEASURE} on every topic as {scored[first].path}"
            _note_once(scored[row], "same-scores", message, but=("same-ranking",))
    for first, row, differing in cautions.nearly_equal_rows(rows):
        of = f"all but {differing} of {len(topics)} topics"
        message = f"the same {COPY_MEASURE} as {scored[first].path} on {of}"
        but = ("same-ranking", "near-same-ranking", "same-scores")
        _note_once(scored[row], "near-same-scores", message, but)
    for report, scores in zip(scored, rows, strict=True):
        if cautions.constant(scores):
            message = f"{COPY_MEASURE} is {scores[0]:g} on all {len(topics)} topics"
            _note_once(report, "constant-scores", message)


def _note_once(report: FileReport, code: str, message: str, but: Sequence[str] = ()) -> None:
    """Note it, unless that or what says more has been noted of the file."""
    if not any(noted in report.tally.counts for noted in (code, *but)):
        report.tally.add(Finding(report.path, None, code, message))


def note_names(reports: Sequence[FileReport], rule: str, given: Mapping[Path, str]) -> None:
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


# What is wrong with one file, all of it: a run, a file of scores, or the judgements.


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


class Checker:
    """Checks files, several at once if need be."""

    def __init__(self, checks: Checks, checksums: bool) -> None:
        self._checks = checks
        self._checksums = checksums
        self._qrels: Qrels | None = None
        self._scorer: Scorer | None = None

    @property
    def topics(self) -> Sequence[str]:
        """Those that runs are scored on."""
        return [] if self._qrels is None else self._qrels.relevant_topics

    def check_qrels(self, path: Path) -> FileReport:
        """What is wrong with the judgements; good ones are kept for the runs."""
        return self._checked(path, self._check_qrels, judgements=True)

    def check(self, path: Path) -> FileReport:
        """What is wrong with a run or a score file."""
        return self._checked(path, self._check_file)

    def _checked(
        self, path: Path, check: Callable[[Tally, bytes], FileReport], judgements: bool = False
    ) -> FileReport:
        tally = Tally(path, self._checks.max_findings)
        try:
            source = TextFile(path, self._checks.max_bytes, self._checksums)
            with source.mistakes_named(judgements):
                report = check(tally, source.text())
                _raise_mistake(report, source.start, judgements)
        except InputError as error:
            tally.add(Finding.of(error))
            return FileReport(path, "unread", tally)
        return replace(report, sha256=source.sha256)

    def _check_qrels(self, tally: Tally, text: bytes) -> FileReport:
        self._qrels = quick_qrels(tally.path, text)
        if self._qrels is None:
            for _ in tally.sift(inspect_qrels(tally.path, text)):
                pass
            if not tally.count("error"):
                self._qrels = parse_qrels(tally.path, text)
                for note in self._qrels.notes:
                    tally.add(Finding(tally.path, None, note.code, note.message))
        return FileReport(tally.path, "qrels", tally)

    def _check_file(self, tally: Tally, text: bytes) -> FileReport:
        format = format_of(tally.path, text, self._checks.input_format)
        if isinstance(format, Format):
            return self._check_scores(tally, text, format)
        return self._check_run(tally, text, format)

    def _check_scores(self, tally: Tally, text: bytes, format: Format) -> FileReport:
        items = list(tally.sift(format.inspect(tally.path, text)))
        rows = [row for row in items if isinstance(row, ScoreRow)]
        own = any(isinstance(item, About) and item.settings for item in items)
        for finding in findings_of(
            tally.path, plausibility.doubts_on(assemble(rows, UNNAMED), of_judgements=own)
        ):
            tally.add(finding)
        names = dict.fromkeys(row.run for row in rows)
        tag = tag_of(text, format.name, list(names))
        named = UNNAMED_RUN not in names and tag is None
        run_names = tuple(names) if named else (tag,) if tag else ()
        return FileReport(tally.path, "scores", tally, run_names, named)

    def _check_run(self, tally: Tally, text: bytes, format: RunFormat | None) -> FileReport:
        """Note all that is wrong; give the tags that lines carry, its rankings and its scores."""
        if format is None:
            text = runs.LINES.uncommented(text)
            table = runs.quick_table(text)
            items = runs.inspect_run(tally.path, text)
        else:
            table = None
            documents = None if self._qrels is None else self._qrels.lines
            items = runs.inspect_foreign(tally.path, text, format, documents)
        if table is not None:
            columns = doubts.Columns(tally, table, _line_numbers(text, len(table)))
        else:
            lines = list(tally.sift(items))
            if not lines:
                return FileReport(tally.path, "run", tally)
            columns = doubts.Columns(tally, runs.table_of(lines), [line.line for line in lines])
        if format is None:  # elsewhere there is no rank, no tag and no second column to doubt
            doubts.note_doubts(columns, self._checks.max_docs)
        if self._qrels is not None:
            judged = self._qrels.judgements
            doubts.note_topics(columns, judged, self._qrels.relevant_topics)
        scorer = self._scorer_at_hand()
        scored = None if scorer is None else scorer.scored(columns.run)
        ranks = ranks_in(columns.table) if format is None else None
        found = doubts_on(columns.run, ranks, scored, scorer, starts_oddly(text))
        for finding in findings_of(tally.path, found):
            tally.add(finding)
        if "exchanged-columns" in tally.counts:
            tally.drop("bad-rank")  # the same mistake, line by line
        return FileReport(
            tally.path,
            "run",
            tally,
            columns.run.tags if format is None else (),
            rankings=doubts.ranking_digests(columns.run),
            scores={} if scored is None or tally.count("error") else _by_topic(scored),
        )

    def _scorer_at_hand(self) -> "Scorer | None":
        """What scores runs, where there are judgements."""
        if self._qrels is None:
            return None
        # Late: without judgements nothing is scored.
        from riskcli.effectiveness.scoring import Scorer

        if self._scorer is None:
            self._scorer = Scorer(self._qrels, [parse_measure(COPY_MEASURE)])
        return self._scorer


def _by_topic(scored: "Scored") -> dict[str, float]:
    """The scores by topic, to find copies."""
    (values,) = scored.scores.values()
    return dict(zip(scored.topics, values.tolist(), strict=True))


def _raise_mistake(report: FileReport, start: bytes, judgements: bool) -> None:
    """Raise what the whole file is, if that is known, in place of all that is wrong with lines."""
    error = next((each for each in report.tally.kept if each.severity == "error"), None)
    if error is not None:
        from riskcli.trec.mistaken import explained  # late: few files need it

        given = error.as_error()
        mistake = explained(given, report.path, start, judgements)
        if mistake is not given:
            report.tally.counts.clear()
            report.tally.kept.clear()
            raise mistake


def _line_numbers(text: bytes, count: int) -> Sequence[int]:
    """The numbers in the file of the lines that are not blank, of which there are `count`."""
    if count_lines(text) == count:
        return range(1, count + 1)
    return [line for line, _ in text_lines(text)]
