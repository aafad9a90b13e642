"""Topic by topic: where a run's risk comes from, in rows and with the totals of the risk table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.analyses.base import (
    Analysis,
    Fit,
    Names,
    Scores,
    described,
    loss_record,
    refuse_much,
    set_up,
)
from riskcli.analyses.topics.display import displays
from riskcli.analyses.topics.exploratory import TopicRisk, exploratory
from riskcli.analyses.topics.parts import RunTopics
from riskcli.core.choices import TopicOrder, check_words
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.output.convention import MINUS
from riskcli.output.display import Display
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.baselines import matching_runs
from riskcli.risk.cautions import cautions
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import negative
from riskcli.risk.losses import LINEAR
from riskcli.risk.measures import measures
from riskcli.risk.options import Options, as_names
from riskcli.risk.table import comparisons
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "run", "measure", "baseline", "population", "alpha", "topic", "score", "baseline_score",
    "delta", "w", "tr", "tj", "flag", "expected", "z", "zrisk_part", "zrisk_share",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class TopicTable(Analysis):
    """The topics of every run asked for, and what they rest on."""

    parts: tuple[RunTopics, ...]
    gamma: float

    def only_flagged(self) -> TopicTable:
        """Only the topics that are flagged."""
        kept = [part.chosen(np.flatnonzero(part.columns["flag"] != "")) for part in self.parts]
        return replace(self, parts=tuple(kept))

    def top(self, count: int) -> TopicTable:
        """Only the first topics of each run."""
        kept = [part.chosen(range(min(count, len(part.topics)))) for part in self.parts]
        return replace(self, parts=tuple(kept))

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self.parts, self.gamma, width)

    def result(self) -> Result:
        """A row a run and topic; the totals beside them."""
        rows = [row for part in self.parts for row in _rows(part)]
        totals = [_totals_entry(part) for part in self.parts]
        return Result(COLUMNS, rows, self.basis, {"totals": totals})


def topic_table(
    scores: Scores,
    baseline: Names = None,
    *,
    runs: Names = None,
    order: TopicOrder = "loss",
    alpha: float | Sequence[float] | None = None,
    options: Options | None = None,
) -> TopicTable:
    """The runs named (globs too; none: all but the baseline) on every topic, worst loss first."""
    check_words(order=(order, TopicOrder))
    setup = set_up(scores, options, baseline, alpha)
    options, names = setup.options, as_names(runs or ())
    refuse_much("topics", setup.matrices, options, lines=_lines(setup.matrices, names, options))
    parts: list[RunTopics] = []
    notes: list[Note] = []
    fits: list[Fit] = []
    for matrix in setup.matrices:
        for comparison in comparisons(matrix, options):
            rows = _chosen_rows(matrix, comparison, names)
            fits.append((matrix.measure, comparison.baseline.name, comparison.smooth))
            for level in options.levels:
                parts += _parts(matrix, comparison, level, rows, options)
            notes += cautions(matrix, comparison, options.alphas if options.loss == LINEAR else ())
    ordered = [part.chosen(_order(part, order)) for part in parts]
    record, doubts = loss_record(fits, options.loss)
    settings = {**described(options), **record, "runs": list(names), "order": order}
    basis = setup.basis.adding(settings, [*notes, *doubts])
    return TopicTable(tuple(ordered), options.significance.gamma, basis=basis)


def _lines(matrices: Sequence[ScoreMatrix], runs: Sequence[str], options: Options) -> int:
    """How many rows the table has, at most, for one baseline."""
    return sum(
        (sum(len(matching_runs(m.runs, name)) for name in runs) or len(m.runs)) * len(m.topics)
        for m in matrices
    ) * len(options.levels)


def _chosen_rows(matrix: ScoreMatrix, comparison: Comparison, runs: Sequence[str]) -> list[int]:
    own = comparison.baseline.own_row
    if not runs:
        return [row for row in range(len(matrix.runs)) if row != own]
    rows = list(dict.fromkeys(row for name in runs for row in matching_runs(matrix.runs, name)))
    if rows == [own]:
        raise UsageError(f"{matrix.runs[rows[0]]} is the baseline itself: no topic differs")
    return [row for row in rows if row != own]


def _parts(
    matrix: ScoreMatrix, comparison: Comparison, alpha: float, rows: Sequence[int], options: Options
) -> Iterator[RunTopics]:
    found = exploratory(comparison, alpha, options.significance.gamma)
    totals = {measure.id: measure.of(comparison, alpha) for measure in measures()}
    for row in rows:
        part = RunTopics(
            run=matrix.runs[row],
            measure=matrix.measure,
            baseline=comparison.baseline.name,
            population=comparison.population_name,
            alpha=alpha if comparison.smooth is None else None,
            topics=matrix.topics,
            columns=_columns(comparison, found, row),
            totals={name: float(v[row]) for name, v in totals.items() if v is not None},
            baseline_mean=float(comparison.baseline.scores.mean()),
            of_topics=comparison.topics,
            critical=found.critical,
        )
        yield _turned(part) if options.convention == MINUS else part


def _columns(comparison: Comparison, found: TopicRisk, row: int) -> dict[str, NDArray[Any]]:
    return {
        "score": comparison.scores[row],
        "baseline_score": comparison.baseline.scores,
        "delta": comparison.paired.delta[row],
        "w": found.w[row],
        "tr": found.tr[row],
        "tj": found.tj[row],
        "flag": found.flag[row],
        "expected": found.expected[row],
        "z": found.z[row],
        "zrisk_part": found.part[row],
        "zrisk_share": found.share[row],
    }


def _turned(part: RunTopics) -> RunTopics:
    """In the minus convention: what makes up URisk and ZRisk turns with them."""
    turning = ("w", "tr", "tj", "zrisk_part", "zrisk_share")
    columns = {
        name: negative(column) if name in turning else column
        for name, column in part.columns.items()
    }
    signed = {measure.id for measure in measures() if measure.signed}
    totals = {name: 0.0 - value if name in signed else value for name, value in part.totals.items()}
    return replace(part, columns=columns, totals=totals, convention=MINUS)


def _order(part: RunTopics, order: TopicOrder) -> Sequence[int] | NDArray[np.intp]:
    """The largest loss first, equal ones as the topics stand."""
    if order == "topic":
        return range(len(part.topics))
    return np.argsort(part.columns["delta"], kind="stable")


def _rows(part: RunTopics) -> Iterator[tuple[Value, ...]]:
    fixed = (part.run, part.measure, part.baseline, part.population, part.alpha)
    columns = [tidy(part.columns[name]) for name in COLUMNS[6:]]
    for topic, *values in zip(part.topics, *columns, strict=True):
        yield (*fixed, topic, *values)


def _totals_entry(part: RunTopics) -> dict[str, Value]:
    values = tidy(part.totals.values())
    head = {"run": part.run, "measure": part.measure, "baseline": part.baseline}
    return {**head, "alpha": part.alpha, **dict(zip(part.totals, values, strict=True))}
