"""Where a run's risk comes from, topic by topic."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from riskcli.analyses import base, judges, topic_groups
from riskcli.analyses.cautions import cautions
from riskcli.analyses.churn import MOVES, ChurnTable
from riskcli.analyses.query_texts import COLUMN, LEAST, QueryTexts
from riskcli.analyses.topic_summary import HardTopics, RunTopics, answers, sentences, tables_of
from riskcli.analyses.unjudged import Ranges, of_comparison, ranges
from riskcli.core.choices import TopicOrder, check_words
from riskcli.core.messages import Note, UsageError, counted, nearest
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output import display
from riskcli.output.display import Cell, Column, Display, Heading
from riskcli.output.measure_words import (
    MINUS,
    about_logarithms,
    g_squared_line,
    titled,
    usual_measures,
    weights,
    words_of,
)
from riskcli.output.result import Result, Value, tidy
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import negative
from riskcli.risk.exploratory import exploratory as exploratory
from riskcli.risk.measures import measures
from riskcli.risk.population import g_squared
from riskcli.scores.comparisons import Options, as_names, comparisons, matching_runs, repeats_of
from riskcli.scores.matrix import ScoreMatrix

KEYS = ("run", "measure", "baseline", "population", "alpha", "topic")
FIGURES = {
    "score": ("score", 4), "baseline_score": ("base", 4), "delta": ("δ", 4), "w": ("w", 4),
    "tr": ("TR", 2), "tj": ("TJ", 2), "flag": ("flag", 0), "expected": ("exp.", 4), "z": ("z", 2),
    "zrisk_part": ("part", 4), "zrisk_share": ("share", 3),
}  # fmt: skip
"""The columns of the topics: their headings and decimals in tables for people."""
RANGE = {"delta_min": ("δ min", 4), "delta_max": ("δ max", 4)}
"""The columns of what unjudged documents allow, where these are asked for."""
_BESIDE = {
    **RANGE, "weight": ("weight", 2), "repeat_sd": ("± repl.", 4), "lost_judges": ("judges", 0)
}  # fmt: skip
"""These, how much a topic counts, 1 on average, the deviation of a system's replicates, and under
how many judges a topic is lost."""
_OPTIONAL = {
    **dict.fromkeys(RANGE, "--unjudged bounds"), "weight": "--weights",
    "repeat_sd": "--replicates", "lost_judges": "several --qrels",
}  # fmt: skip
"""What tells of each of them."""
_TURNING = ("w", "tr", "tj", "zrisk_part", "zrisk_share")
"""What the minus convention turns: what URisk and ZRisk are made of."""
_PAIRED = ("score", "baseline_score", "delta", "w", "tr", "tj")
_IN_POPULATION = ("expected", "z", "zrisk_share")
_MEANS = ("distance", "rbo", "overlap")
"""Of these columns a run's mean over all topics stands with its totals."""
_POPULATION_LEGEND = (
    "exp., z: the score expected in the population, the departure from it; share: the topic's "
    "part in ZRisk."
)

_JUDGES_LEGEND = "judges: under how many of them the topic is lost."


def asks_for_churn(columns: Iterable[str]) -> bool:
    """Whether such columns need the rankings of documents."""
    return any(name in (*MOVES, "churn") for name in columns)


@dataclass(frozen=True, repr=False)
class TopicTable(base.Analysis):
    """The topics of every run asked for, and what they rest on."""

    parts: tuple[RunTopics, ...]
    gamma: float
    churn: ChurnTable | None = None
    shown: tuple[str, ...] = ()
    """The columns asked for; none: the usual."""
    hard: tuple[HardTopics, ...] = ()
    """By measure and baseline, the topics on which most runs lose; none where runs were named."""
    of_runs: tuple[Statement, ...] = ()
    """What is said of each run, where runs were named or there is only one."""
    detailed: bool = False
    """Whether a screen, too, shows the topics of each run."""
    queries: QueryTexts = field(default_factory=QueryTexts)
    g_squared: Mapping[str, float] = field(default_factory=dict)
    """How far each effectiveness measure's matrix is from proportional; NaN below 0."""
    by_group: tuple[Display, ...] = ()
    """What the groups of topics lose, a table a grouping."""

    def only_flagged(self) -> Self:
        """Only the topics that are flagged."""
        parts = tuple(part.chosen(part.columns["flag"] != "") for part in self.parts)
        return replace(self, parts=parts, detailed=True)

    def top(self, count: int) -> Self:
        """Only the first topics of each run."""
        parts = tuple(part.chosen(slice(count)) for part in self.parts)
        return replace(self, parts=parts, detailed=True)

    def of_columns(self, names: Iterable[str]) -> Self:
        """Only these columns, in every format, beside those that tell rows apart.

        `churn` names all columns of the rankings' moves.
        """
        listed = [each for name in names for each in (MOVES if name == "churn" else [name])]
        known = (*FIGURES, *_OPTIONAL, *MOVES, *self.groupings)
        for name in listed:
            if name not in known:
                hint = nearest(name, (*known, "churn"))
                raise UsageError(f"no column is called {name!r}{hint}")
            if name in _OPTIONAL and name not in self.beside:
                raise UsageError(f"{name} is known with {_OPTIONAL[name]}")
        if asks_for_churn(listed) and self.churn is None:
            raise UsageError("columns of churn need what churn_table says of these runs")
        return replace(self, shown=tuple(dict.fromkeys(listed)), detailed=bool(listed))

    @property
    def beside(self) -> list[str]:
        """The columns beside the usual that these topics have."""
        return [name for name in _BESIDE if any(name in part.columns for part in self.parts)]

    @property
    def groupings(self) -> tuple[str, ...]:
        """The columns of the groups of topics."""
        return tuple(filter(topic_groups.are_groups, self.parts[0].columns)) if self.parts else ()

    @property
    def verdict(self) -> Statements:
        """On which topics most runs lose; of runs that were named, where each loses."""
        return Statements((*(s for each in self.hard for s in sentences(each)), *self.of_runs))

    def screen(self, width: int, /) -> Sequence[Display]:
        """The topics on which most runs lose, unless runs, columns or topics were asked for."""
        if self.detailed or not self.hard:
            return self.displays(width)
        taken = sum(len(each.rows) + len(each.caption) + 4 for each in self.by_group)
        tables = tables_of(self.hard, width, self.queries, taken + len(self._below))
        tables[-1] = replace(tables[-1], caption=[*self._below, *tables[-1].caption])
        return [*self.by_group, *tables]

    @property
    def _below(self) -> list[str]:
        return [g_squared_line("the matrix", self.g_squared)] if self.g_squared else []

    def displays(self, width: int, /) -> Sequence[Display]:
        """A table for each run, measure, baseline and alpha; the last explains the columns."""
        tables = [] if self.detailed else [*self.by_group]
        waiting, verdict = {each.about for each in self.verdict}, self.verdict
        for part in self.parts:
            first, *others = self._displays(part, width)
            own = [about for about in (part.about, part.comparison) if about in waiting]
            said = tuple(text for about in own for text in verdict.of(about).sentences)
            first = replace(first, verdict=said) if said else first
            waiting -= {*own}
            tables += [first, *others]
        if self.parts:
            caption = [*tables[-1].caption]
            if not self.shown or {"w", "tr", "tj"} & {*self.shown}:
                caption += _legend(self.parts[-1], self.gamma)
            if any("exp." in heading.text for heading in tables[-1].headings):
                caption.append(_POPULATION_LEGEND)
            caption += [self.churn.legend] if self.churn else []
            if any(heading.text == "judges" for heading in tables[-1].headings):
                caption.append(_JUDGES_LEGEND)
            caption += [*about_logarithms(part.measure for part in self.parts), *self._below]
            tables[-1] = replace(tables[-1], caption=caption)
        return tables

    def _displays(self, part: RunTopics, width: int) -> list[Display]:
        counting = weights([part.alpha], part.convention)
        title = f"{part.run} against {display.in_title(part.baseline)}: {part.measure}, {counting}"
        topics: list[str | Cell] = [*part.topics, Cell("all", strong=True)]
        first = Column.of(Heading("topic", left=True), topics)
        usual = (*_PAIRED, *self.beside, *(_MEANS if self.churn else ()))
        groups = [] if self.shown else topic_groups.columns_of(part)
        columns = [first, *groups, *(_column(part, name) for name in self.shown or usual)]
        if self.shown:
            texts = self.queries.beside(columns[:1], part.topics, width // 2)
            columns = [*texts, *columns[1:]]
            return display.folded(Display(title, columns, [_totals_line(part)]), width)
        wide = [*columns, *(_column(part, name) for name in _IN_POPULATION)]
        least = display.GAP + LEAST if self.queries.given else 0
        fitting = wide if display.width_of(wide) + least <= width else columns
        fitting = self.queries.beside(fitting, part.topics, width)
        return [Display(title, fitting, [_totals_line(part)])]

    def result(self) -> Result:
        """A row a run and topic; the totals beside them."""
        moves = MOVES if self.churn else ()
        names = self.shown or (*FIGURES, *moves, *self.beside, *self.groupings)
        rows = [row for part in self.parts for row in _rows(part, names, self.queries)]
        totals = [_totals_entry(part) for part in self.parts]
        added = (COLUMN,) if self.queries.given else ()
        of_matrices = dict(zip(self.g_squared, tidy(self.g_squared.values()), strict=True))
        extra = {"totals": totals, "g_squared": of_matrices}
        return Result((*KEYS, *names, *added), rows, self.provenance, extra)


def _column(part: RunTopics, name: str) -> Column:
    cells = part.columns[name].tolist()
    if name == "flag":
        return Column.of(name, [*cells, ""])
    if topic_groups.are_groups(name):
        return topic_groups.column_of(part, name)
    title, places = (FIGURES | _BESIDE | MOVES)[name]
    texts = display.decimals(cells, places)
    marks = part.columns["flag"].tolist() if name == "tj" else [""] * len(texts)
    marked = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    return Column(Heading(title, marked=name == "tj"), [*marked, _foot(part, name, places)])


def _foot(part: RunTopics, name: str, places: int) -> Cell:
    """The figure of the run that the column adds up to, over all topics, shown or not."""
    own, base_mean = part.totals["mean"], part.baseline_mean
    figures = {
        "score": own,
        "baseline_score": base_mean,
        "delta": np.log(own / base_mean) if is_logarithm(part.measure) else own - base_mean,
        "w": part.totals["urisk"],
        **{mean: part.totals[mean] for mean in _MEANS if mean in part.totals},
    }
    text = display.decimal(figures[name], places) if name in figures else ""
    return Cell(text, strong=name in figures)


def _totals_line(part: RunTopics) -> str:
    """The values of the risk table, over all topics."""
    totals = [
        f"{titled(measure, part.convention)} "
        f"{display.decimal(part.totals[measure.id], words_of(measure).decimals)}"
        for measure in usual_measures()
        if measure.id in part.totals
    ]
    return f"Over all {counted(part.of_topics, 'topic')}: {', '.join(totals)}."


def _legend(part: RunTopics, gamma: float) -> list[str]:
    turned = "; signs of w, TR, TJ and share turned, higher is riskier"
    counted_as = "s(δ)" if part.alpha is None else f"δ, losses weighted ×{1 + part.alpha:g}"
    return [
        f"w: {counted_as}; TR: w in standard deviations; TJ: what the topic does to URisk"
        f"{turned if part.convention == MINUS else ''}.",
        f"▲ ▼: TR, TJ or both lie beyond ±{display.decimal(part.critical, 2)}; the mark stands "
        f"beside TJ (significance level γ = {gamma:g}, no correction: this is exploratory).",
    ]


def topic_table(
    scores: base.Scores,
    baseline: base.Names = None,
    *,
    runs: base.Names = None,
    order: TopicOrder = "loss",
    alpha: float | Sequence[float] | None = None,
    options: Options | None = None,
    churn: ChurnTable | None = None,
    queries: Mapping[str, str] | None = None,
) -> TopicTable:
    """The runs named (globs too; none: all but the baseline) on every topic, worst loss first.

    With what `churn_table` says of the same runs and baseline come its columns, and of each run
    their means and its bins. `queries` are the texts of topics.
    """
    check_words(order=(order, TopicOrder))
    setup = base.set_up(scores, options, baseline, alpha)
    options, names = setup.options, as_names(runs or ())
    lines = sum(len(_matching_rows(m.runs, names)) * len(m.topics) for m in setup.matrices)
    base.refuse_much("topics", setup.matrices, options, lines=lines * len(options.levels))
    tables: list[RunTopics] = []
    notes: list[Note] = []
    fits: list[base.Fit] = []
    unjudged: list[Statement] = []
    for matrix in setup.matrices:
        for comparison in comparisons(matrix, options):
            rows = _chosen_rows(matrix, comparison, names)
            fits.append((matrix.measure, comparison.baseline.name, comparison.smooth))
            allowed = ranges(matrix, comparison, options.pool)
            unjudged += of_comparison(matrix, comparison, rows, allowed)
            for level in options.levels:
                tables += _tables(matrix, comparison, level, rows, options, churn, allowed)
            notes += cautions(matrix, comparison, options.alphas)
    tables = judges.with_counts(tables, setup.matrices)
    hard, of_runs = answers(tables, bool(names), unjudged)
    by_group = topic_groups.losses_of(tables)
    if order == "loss":  # the largest first, equal ones as the topics stand
        tables = [t.chosen(np.argsort(t.columns["delta"], kind="stable")) for t in tables]
    depths = {} if churn is None else churn.depths
    topics = dict.fromkeys(topic for matrix in setup.matrices for topic in matrix.topics)
    texts = QueryTexts.of(queries, topics)
    notes += texts.notes([*topics])
    provenance = setup.recorded(fits, notes, runs=list(names), order=order, **depths)
    return TopicTable(
        tuple(tables), options.significance.gamma, churn, hard=hard, of_runs=of_runs,
        queries=texts, by_group=by_group, provenance=provenance,
        g_squared={m.measure: g_squared(m.values, m.weights) for m in setup.matrices},
    )  # fmt: skip


def _matching_rows(runs: Sequence[str], names: Sequence[str]) -> list[int]:
    """The rows of the runs that the names and globs fit, all where there are none."""
    rows = [row for name in names for row in matching_runs(runs, name)]
    return list(dict.fromkeys(rows)) if names else list(range(len(runs)))


def _chosen_rows(matrix: ScoreMatrix, comparison: Comparison, names: Sequence[str]) -> list[int]:
    own = comparison.baseline.own_row
    rows = _matching_rows(matrix.runs, names)
    if names and rows == [own]:
        raise UsageError(f"{matrix.runs[rows[0]]} is the baseline itself: no topic differs")
    return [row for row in rows if row != own]


def _tables(
    matrix: ScoreMatrix,
    comparison: Comparison,
    alpha: float,
    rows: Sequence[int],
    options: Options,
    churn: ChurnTable | None,
    allowed: Ranges | None,
) -> Iterator[RunTopics]:
    columns, critical = exploratory(comparison, alpha, options.significance.gamma)
    groups = topic_groups.columns_in(matrix)
    if allowed is not None:
        columns |= dict(zip(RANGE, (allowed.low, allowed.high), strict=True))
    repeats = repeats_of(matrix)
    if repeats is not None and comparison.noise is not None:
        known = np.where(repeats.counts[:, None] > 1, np.sqrt(repeats.variances), np.nan)
        columns |= {"repeat_sd": known, "noise": comparison.noise}
    totals = {m.id: v for m in measures() if (v := m.of(comparison, alpha)) is not None}
    if options.convention == MINUS:
        columns |= {name: negative(columns[name]) for name in _TURNING}
        signed = [m.id for m in measures() if m.signed and m.id in totals]
        totals |= {name: negative(totals[name]) for name in signed}
    churns = churn.of(matrix.measure, comparison.baseline.name) if churn is not None else {}
    for row in rows:
        run_churn = churns[matrix.runs[row]] if churns else None
        moves = {} if run_churn is None else run_churn.moves.columns
        yield RunTopics(
            run=matrix.runs[row],
            measure=matrix.measure,
            baseline=comparison.baseline.name,
            population=comparison.population_name,
            alpha=alpha if comparison.smooth is None else None,
            topics=matrix.topics,
            columns={name: column[row] for name, column in columns.items()} | moves | groups,
            totals={name: float(values[row]) for name, values in totals.items()}
            | {name: float(comparison.mean(moves[name])) for name in _MEANS if moves},
            baseline_mean=float(comparison.shown_mean(comparison.mean(comparison.baseline.scores))),
            of_topics=comparison.topics,
            critical=critical,
            convention=options.convention,
            churn=run_churn,
        )


def _rows(
    part: RunTopics, names: Sequence[str], queries: QueryTexts
) -> Iterator[tuple[Value, ...]]:
    fixed = (part.run, part.measure, part.baseline, part.population, part.alpha)
    columns = [tidy(part.columns[name]) for name in names]
    for topic, *values in zip(part.topics, *columns, strict=True):
        yield (*fixed, topic, *values, *([queries.of_topic(topic)] if queries.given else []))


def _totals_entry(part: RunTopics) -> dict[str, Any]:
    keys = {name: getattr(part, name) for name in ("run", "measure", "baseline", "alpha")}
    bins = {} if part.churn is None else {"bins": part.churn.bins}
    return {**keys, **dict(zip(part.totals, tidy(part.totals.values()), strict=True)), **bins}
