"""Where a run's risk comes from, topic by topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

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
from riskcli.analyses.cautions import cautions
from riskcli.core.arrays import Flags, Floats, Rows
from riskcli.core.choices import Convention, TopicOrder, check_words
from riskcli.core.messages import Note, UsageError, counted
from riskcli.output.display import (
    Cell,
    Column,
    Display,
    Heading,
    decimal,
    decimals,
    in_title,
    width_of,
)
from riskcli.output.measure_words import MINUS, titled, usual_measures, weights, words_of
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import negative
from riskcli.risk.losses import LINEAR
from riskcli.risk.measures import measures, zrisk
from riskcli.risk.significance import flags
from riskcli.scores.comparisons import Options, as_names, comparisons, matching_runs
from riskcli.scores.matrix import ScoreMatrix


@dataclass(frozen=True)
class RunTopics:
    """One run against one baseline at one alpha: an array a column, a cell a topic."""

    run: str
    measure: str
    baseline: str
    population: str
    alpha: float | None
    topics: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    totals: Mapping[str, float]
    """The run's values by every risk measure, as the risk table has them."""
    baseline_mean: float
    of_topics: int
    """How many topics the totals are over, shown or not."""
    critical: float
    convention: Convention = "plain"

    def chosen(self, topics: Sequence[int] | Rows) -> RunTopics:
        """Only those topics, in that order."""
        kept = [int(i) for i in topics]
        columns = {name: column[kept] for name, column in self.columns.items()}
        return replace(self, topics=tuple(self.topics[i] for i in kept), columns=columns)


# Which topics a run's risk comes from: the exploratory analysis of SIGIR'14, section 6.


@dataclass(frozen=True)
class TopicRisk:
    """By run (row) and topic (column). What a score below 0 leaves undefined is NaN."""

    w: Floats
    """The difference to the baseline as the loss counts it; its mean is URisk."""
    tr: Floats
    """w over its standard deviation (SIGIR'14, Eq. 21)."""
    tj: Floats
    """How much the topic moves URisk, standardised (SIGIR'14, Eq. 23)."""
    flag: Flags
    """`better` or `worse` where TR or TJ lies beyond the critical value."""
    expected: Floats
    z: Floats
    part: Floats
    """What the topic adds to ZRisk: z, counted 1 + alpha times below 0."""
    share: Floats
    """The part over the sum of all parts' sizes, with its sign."""
    critical: float


def exploratory(comparison: Comparison, alpha: float, gamma: float) -> TopicRisk:
    """Every run on every topic. TR and TJ are NaN where w is the same on all topics."""
    topics = comparison.topics
    paired = comparison.paired
    w = paired.weighted(alpha)
    deviation = paired.urisk_se(alpha)[:, None] * np.sqrt(topics)
    tr, tj = np.full_like(w, np.nan), np.full_like(w, np.nan)
    critical = float("nan")
    if topics > 1:
        varies = deviation > 0
        np.divide(w, deviation, out=tr, where=varies)
        # URisk - URisk without q is (w_q - URisk) / (c - 1), and SE_J is deviation / sqrt(c).
        moved = (w - paired.urisk(alpha)[:, None]) * np.sqrt(topics / (topics - 1))
        np.divide(moved, deviation, out=tj, where=varies)
        critical = float(stdtrit(topics - 1, 1 - gamma / 2))
    return TopicRisk(
        w, tr, tj, _flags(tr, tj, critical), *_in_population(comparison, alpha), critical
    )


def _flags(tr: Floats, tj: Floats, critical: float) -> Flags:
    """The side of TR, or of TJ where that alone is beyond the critical value."""
    # `flags` asks whether its second argument is below its third.
    by_tr, by_tj = (flags(t, -np.abs(t), -critical) for t in (tr, tj))
    return np.where(by_tr == "", by_tj, by_tr)


def _in_population(comparison: Comparison, alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Expected scores, z, parts of ZRisk and their shares."""
    if comparison.has_negative:
        undefined = np.full_like(comparison.scores, np.nan)
        return undefined, undefined, undefined, undefined
    part = zrisk.contributions(comparison, alpha)
    size = np.abs(part).sum(axis=1, keepdims=True)
    share: Floats = np.zeros_like(part)
    np.divide(part, size, out=share, where=size > 0)
    return comparison.population.expected, comparison.population.z, part, share


# The topics of a run for people: what was lost where, and what it adds up to.


_PAIRED = (
    ("score", "score", 4),
    ("baseline_score", "base", 4),
    ("delta", "δ", 4),
    ("w", "w", 4),
    ("tr", "TR", 2),
    ("tj", "TJ", 2),
)
_CROWD_LEGEND = (
    "exp., z: the score expected in the population, the departure from it; share: the topic's "
    "part in ZRisk."
)
_CROWD = (("expected", "exp.", 4), ("z", "z", 2), ("zrisk_share", "share", 3))


def displays(parts: Sequence[RunTopics], gamma: float, width: int) -> list[Display]:
    """A display for each run, measure, baseline and alpha."""
    last = len(parts) - 1
    return [
        _display(part, gamma, width, explained=index == last) for index, part in enumerate(parts)
    ]


def _display(part: RunTopics, gamma: float, width: int, explained: bool) -> Display:
    counting = weights([part.alpha], part.convention)
    title = f"{part.run} against {in_title(part.baseline)}: {part.measure}, {counting}"
    about = _totals_lines(part) + (_legend(part, gamma) if explained else [])
    topics = [*(Cell(topic) for topic in part.topics), Cell("all", strong=True)]
    paired = [Column(Heading("topic", left=True), topics)]
    paired += [_column(part, *column) for column in _PAIRED]
    wide = [*paired, *(_column(part, *column) for column in _CROWD)]
    if width_of(wide) > width:
        return Display(title, paired, about)
    return Display(title, wide, about + ([_CROWD_LEGEND] if explained else []))


def _column(part: RunTopics, name: str, title: str, places: int) -> Column:
    texts = decimals(part.columns[name].tolist(), places)
    marks = part.columns["flag"].tolist() if name == "tj" else [""] * len(texts)
    cells = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    return Column(Heading(title, marked=name == "tj"), [*cells, _foot(part, name, places)])


def _foot(part: RunTopics, name: str, places: int) -> Cell:
    """The risk table's figure that the column adds up to, over all topics, shown or not."""
    totals: dict[str, Callable[[], float | None]] = {
        "score": lambda: part.totals["mean"],
        "baseline_score": lambda: part.baseline_mean,
        "delta": lambda: part.totals["mean"] - part.baseline_mean,
        "w": lambda: part.totals["urisk"],
    }
    return Cell(decimal(totals[name](), places), strong=True) if name in totals else Cell("")


def _totals_lines(part: RunTopics) -> list[str]:
    """The values of the risk table, over all topics."""
    found = []
    for measure in usual_measures():
        if measure.id in part.totals:
            total = decimal(part.totals[measure.id], words_of(measure).decimals)
            found.append(f"{titled(measure, part.convention)} {total}")
    return [f"Over all {counted(part.of_topics, 'topic')}: {', '.join(found)}."]


def _legend(part: RunTopics, gamma: float) -> list[str]:
    turned = "; signs of w, TR, TJ and share turned, higher is riskier"
    counted_as = "s(δ)" if part.alpha is None else f"δ, losses weighted ×{1 + part.alpha:g}"
    return [
        f"w: {counted_as}; TR: w in standard deviations; TJ: what the topic does to URisk"
        f"{turned if part.convention == MINUS else ''}.",
        f"▲ ▼: TR or TJ beyond ±{decimal(part.critical, 2)} (significance level γ = "
        f"{gamma:g}, no correction: this is exploratory).",
    ]


# Topic by topic: where a run's risk comes from, in rows and with the totals of the risk table.


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
        return Result(COLUMNS, rows, self.provenance, {"totals": totals})


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
    provenance = setup.provenance.adding(settings, [*notes, *doubts])
    return TopicTable(tuple(ordered), options.significance.gamma, provenance=provenance)


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
