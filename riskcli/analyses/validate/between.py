"""What is wrong between files: the same ranking, the same scores, the same name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from riskcli.analyses.validate.report import FileReport
from riskcli.analyses.validate.strangers import nearest_before
from riskcli.risk.copies import ALL_BUT, LEAST_TOPICS, constant, equal_rows, nearly_equal_rows
from riskcli.trec.findings import Finding
from riskcli.trec.names import inspect_names, names_by_rule

TOLD_BY = "nDCG@20"
"""The measure whose scores tell copies."""


def note_same_rankings(reports: Sequence[FileReport]) -> None:
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


def note_same_scores(reports: Sequence[FileReport], topics: Sequence[str]) -> None:
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
