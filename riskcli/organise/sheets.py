"""Topic by topic: best, median and worst of all runs, and a participant's runs against them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskcli.analyses.base import Analysis
from riskcli.analyses.score import ComparisonTable
from riskcli.core.arrays import Floats
from riskcli.core.messages import counted
from riskcli.organise.submissions import Participant, in_public
from riskcli.output.display import Cell, Column, Display, Heading, decimals, folded
from riskcli.output.result import Result, Value
from riskcli.risk.estimate import rank
from riskcli.scores.matrix import ScoreMatrix

SPREAD_COLUMNS = (
    "measure", "topic", "runs", "best", "median", "worst", "mean", "best_run", "at_best",
    "at_worst",
)  # fmt: skip
SHEET_COLUMNS = ("run", "measure", "topic", "score", "rank", "best", "median", "worst")


@dataclass(frozen=True, repr=False)
class Spread(Analysis):
    """How the runs spread on each topic, by each measure."""

    matrices: tuple[ScoreMatrix, ...]

    def result(self) -> Result:
        """A row a measure and topic; `at_best` runs have the best score, the first is named."""
        rows = [row for matrix in self.matrices for row in _spread_rows(matrix)]
        return Result(SPREAD_COLUMNS, rows, self.provenance)

    def displays(self, _width: int) -> Sequence[Display]:
        """A table a measure."""
        return [self._display(matrix) for matrix in self.matrices]

    def _display(self, matrix: ScoreMatrix) -> Display:
        rows = list(_spread_rows(matrix))
        columns = [Column(Heading("topic", left=True), [Cell(topic) for topic in matrix.topics])]
        for name in ("best", "median", "worst", "mean"):
            index = SPREAD_COLUMNS.index(name)
            columns.append(_numbers(name, np.array([row[index] for row in rows], dtype=float)))
        best = SPREAD_COLUMNS.index("best_run")
        columns.append(
            Column(Heading("best run", left=True, names=True),
                   [Cell(f"{row[best]}{_and_others(row[best + 1])}") for row in rows])
        )  # fmt: skip
        runs, topics = matrix.values.shape
        title = f"{matrix.measure} of {counted(runs, 'run')} on {counted(topics, 'topic')}"
        return Display(title, columns)


def _and_others(at_best: Value) -> str:
    others = at_best - 1 if isinstance(at_best, int) else 0
    return f" and {counted(others, 'other')}" if others else ""


def _spread_rows(matrix: ScoreMatrix) -> Iterator[tuple[Value, ...]]:
    for topic, scores in zip(matrix.topics, matrix.values.T, strict=True):
        best, worst = float(scores.max()), float(scores.min())
        yield (
            matrix.measure, topic, len(scores), best, float(np.median(scores)), worst,
            float(scores.mean()), matrix.runs[int(scores.argmax())],
            int((scores == best).sum()), int((scores == worst).sum()),
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Sheet(Analysis):
    """What is sent to a participant; of other runs none but the baseline is named in it."""

    participant: Participant
    matrices: tuple[ScoreMatrix, ...]
    table: ComparisonTable
    """Of all runs."""

    def result(self) -> Result:
        """A row a run, measure and topic."""
        rows = [row for matrix in self.matrices for row in self._rows(matrix)]
        return Result(SHEET_COLUMNS, rows, self.provenance)

    def displays(self, width: int) -> Sequence[Display]:
        """The runs in the leaderboard, what was found in their files, and topic by topic."""
        return [*self._standing(width), *self._findings(), *self._topics(width)]

    def _own(self, runs: Sequence[str]) -> list[int]:
        return [row for row, run in enumerate(runs) if run in self.participant.runs]

    def _rows(self, matrix: ScoreMatrix) -> Iterator[tuple[Value, ...]]:
        ranks = np.array([rank(scores) for scores in matrix.values.T])
        for row in self._own(matrix.runs):
            for i, (topic, scores) in enumerate(zip(matrix.topics, matrix.values.T, strict=True)):
                yield (
                    matrix.runs[row], matrix.measure, topic, float(scores[row]),
                    int(ranks[i, row]), float(scores.max()), float(np.median(scores)),
                    float(scores.min()),
                )  # fmt: skip

    def _standing(self, width: int) -> Sequence[Display]:
        if not self.participant.runs:
            return []
        blocks = [block.of_runs(self._own(block.runs)) for block in self.table.blocks]
        shown = replace(self.table, blocks=tuple(blocks)).displays(width)
        return [replace(each, columns=list(map(_not_bold, each.columns))) for each in shown]

    def _findings(self) -> list[Display]:
        headings = (
            Heading("line"),
            *(Heading(name, left=True) for name in ("", "code", "finding")),
        )
        shown = []
        for report in self.participant.files:
            rows = []
            for whole, more in report.tally.findings():
                found = in_public(whole)
                message = f"{found.message} (and {more:,} more)" if more else found.message
                rows.append([Cell("" if found.line is None else str(found.line)),
                             Cell(found.severity, strong=found.severity == "error"),
                             Cell(found.code), Cell(message)])  # fmt: skip
            if rows:
                fate = "left out" if report.count("error") else "taken"
                shown.append(Display.of_rows(f"{report.path.name}: {fate}", headings, rows))
        return shown

    def _topics(self, width: int) -> list[Display]:
        return [
            table
            for matrix in self.matrices
            if self.participant.runs
            for table in folded(self._topic_display(matrix), width, fixed=4)
        ]

    def _topic_display(self, matrix: ScoreMatrix) -> Display:
        scores = matrix.values
        columns = [
            Column(Heading("topic", left=True), [Cell(topic) for topic in matrix.topics]),
            _numbers("best", scores.max(axis=0)),
            _numbers("median", np.median(scores, axis=0)),
            _numbers("worst", scores.min(axis=0)),
            *(_numbers(matrix.runs[row], scores[row]) for row in self._own(matrix.runs)),
        ]
        runs, topics = scores.shape
        return Display(f"{matrix.measure} on {counted(topics, 'topic')}, best, median and worst of "
                       f"{counted(runs, 'run')}", columns)  # fmt: skip


def _not_bold(column: Column) -> Column:
    """The best of the leaderboard may be somebody else's, so that nothing is said of the best."""
    return Column(column.heading, [replace(cell, best=False) for cell in column.cells])


def _numbers(heading: str, values: Floats) -> Column:
    return Column(Heading(heading), [Cell(text) for text in decimals(values.tolist(), 4)])
