"""The verdict over a range of alpha: every measure at each of them, and all that changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from riskcli.analyses import base, unjudged
from riskcli.analyses.cautions import cautions
from riskcli.analyses.sweep_alpha_display import answer, event_table, series_tables, statements
from riskcli.analyses.sweep_events import (
    Series,
    Swept,
    courses,
    events,
    has_events,
    leads,
    turned,
)
from riskcli.core.arrays import Floats
from riskcli.core.choices import SweepPart, check_words
from riskcli.core.messages import Note, UsageError, listed
from riskcli.output.display import Display
from riskcli.output.measure_words import MINUS, words_of
from riskcli.output.result import Result, Tables, Value, part_of, tidy
from riskcli.output.verdict import Statements
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Span
from riskcli.risk.estimate import negative, rank
from riskcli.risk.losses import LINEAR
from riskcli.risk.measure import MeasureColumn, RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.paired import two_sided_p
from riskcli.scores.comparisons import Options, comparisons, matching_runs
from riskcli.scores.matrix import ScoreMatrix

_SERIES_HEAD = ("run", "measure", "baseline", "population", "loss", "alpha", "topics")
EVENT_COLUMNS = (
    "alpha", "event", "risk_measure", "run", "other", "before", "after", "value", "measure",
    "baseline", "population",
)  # fmt: skip
DEFAULT_ALPHAS = tuple(float(alpha) for alpha in range(21))
MOST_EVENTS = 30


@dataclass(frozen=True, repr=False)
class Sweep(base.Analysis):
    """All sweeps of a call, and what they rest on."""

    parts: tuple[Swept, ...]
    gamma: float
    part: SweepPart | None = None
    """What is shown: a table for people shows the answer where none is named."""
    most_events: int | None = None
    """How many events a table for people shows."""

    def only(self, part: SweepPart | None, most_events: int | None = None) -> Self:
        """Only the series or the events, and only so many of these."""
        if part is not None:
            check_words(part=(part, SweepPart))
        return replace(self, part=part, most_events=most_events)

    @property
    def verdict(self) -> Statements:
        """Who leads at which alpha, and whose gains outweigh its losses."""
        return Statements(tuple(each for swept in self.parts for each in statements(swept)))

    def displays(self, width: int, /) -> Sequence[Display]:
        """The answer, the events, and the runs by alpha."""
        return self._shown(width, full=True)

    def screen(self, width: int, /) -> Sequence[Display]:
        """The answer alone; of a few runs their events."""
        return self._shown(width, full=False)

    def _shown(self, width: int, full: bool) -> list[Display]:
        tables = [(swept.about, self._tables(swept, width, full)) for swept in self.parts]
        return self._answering(each for each in tables if each[1])

    def _tables(self, swept: Swept, width: int, full: bool) -> list[Display]:
        """The part that is asked for; else the answer and, in full, what is behind it."""
        if self.part == "series" or not swept.has_events:
            return [] if self.part == "events" else series_tables(swept, width)
        most = self.most_events or (len(swept.events) if full else MOST_EVENTS)
        changes = event_table(swept, most, self.gamma)
        few = len(swept.rows) < len(swept.runs)
        if self.part == "events" or (few and not full):
            return [changes]
        if full:
            return [answer(swept, self.gamma), changes, *series_tables(swept, width)]
        return [answer(swept, self.gamma), *([changes] if self.most_events else [])]

    def result(self) -> Result:
        """A row a run and alpha, or a row an event; the other of them beside the rows in JSON."""
        columns = (*_SERIES_HEAD, *(column.name for column in _shown_columns()))
        tables: Tables = {
            "series": (columns, [row for p in self.parts for row in _series_rows(p)]),
            "events": (EVENT_COLUMNS, [row for p in self.parts for row in _event_rows(p)]),
        }
        return part_of(self.provenance, tables, self.part or "series")


def alpha_sweep(
    scores: base.Scores,
    baseline: base.Names = None,
    *,
    between: Sequence[str] = (),
    of: base.Names = None,
    alpha: Sequence[float] | None = None,
    options: Options | None = None,
) -> Sweep:
    """Every risk measure at each alpha, and the events between the first and the last.

    Without alphas they go from 0 to 20. `between` names the runs looked at (none: all); `of` the
    risk measures whose events are listed. A smooth loss in the options has no alpha: its values
    stand beside the series.
    """
    setup = base.set_up(scores, options, baseline, alpha, default=Options(alphas=DEFAULT_ALPHAS))
    options = setup.options
    if min(options.alphas) == max(options.alphas):
        raise UsageError("a sweep needs a range of alpha, as in 0:20; for one alpha there is score")
    able = [m for m in measures() if of or has_events(m)]
    chosen = base.chosen_measures(of, able, "no measure")
    pairs = sum(len(_rows_between(matrix, between)) ** 2 // 2 for matrix in setup.matrices)
    base.refuse_much("sweep", setup.matrices, options, pairs=pairs)
    sweeps: list[Swept] = []
    fits: list[base.Fit] = []
    titles = [words_of(measure).title for measure in chosen if not has_events(measure)]
    message = f"no events of {listed(titles)}: only a series is known"
    notes = [Note("no-events", message, warning=False)] if titles else []
    for matrix in setup.matrices:
        smooth = [] if options.loss == LINEAR else comparisons(matrix, options)
        fits += [(matrix.measure, other.baseline.name, other.smooth) for other in smooth]
        for index, plain in enumerate(comparisons(matrix, replace(options, loss=LINEAR))):
            both = [plain, *smooth[index : index + 1]]
            sweeps.append(_swept(matrix, both, _rows_between(matrix, between), options, chosen))
            notes += [*cautions(matrix, plain, options.alphas), *unjudged.notes(matrix, plain)]
    settings = {"between": list(between), "of": [measure.id for measure in chosen]}
    provenance = setup.recorded(fits, notes, alphas=list(options.alphas), **settings)
    return Sweep(tuple(sweeps), options.significance.gamma, provenance=provenance)


def _rows_between(matrix: ScoreMatrix, between: Sequence[str]) -> tuple[int, ...]:
    if not between:
        return tuple(range(len(matrix.runs)))
    return tuple(dict.fromkeys(row for n in between for row in matching_runs(matrix.runs, n)))


def _swept(
    matrix: ScoreMatrix,
    both: Sequence[Comparison],
    rows: tuple[int, ...],
    options: Options,
    chosen: Sequence[RiskMeasure],
) -> Swept:
    """`both`: the comparison under the linear loss, and that under a smooth one, if any."""
    plain, span = both[0], Span(min(options.alphas), max(options.alphas))
    gamma = options.significance.gamma
    changes = events(plain, span, gamma, rows, chosen)
    tabled = [m for m in measures() if m.depends_on_alpha and words_of(m).usual]
    return Swept(
        measure=matrix.measure,
        baseline=plain.baseline.name,
        population=plain.population_name,
        topics=plain.topics,
        runs=matrix.runs,
        rows=rows,
        own_row=plain.baseline.own_row,
        series=tuple(_series(comparison, options) for comparison in both),
        events=tuple(map(turned, changes) if options.convention == MINUS else changes),
        leads=tuple(leads(plain, span, rows, chosen, changes)),
        courses=tuple(courses(plain, span, gamma, rows, chosen, changes)),
        has_events=any(map(has_events, chosen)),
        shown=tuple(m for m in measures() if m in chosen or m in tabled),
        convention=options.convention,
    )


def _series(comparison: Comparison, options: Options) -> Series:
    """In the minus convention values are turned, ranks and p-values are as they are."""
    smooth = comparison.smooth is not None
    alphas = (0.0,) if smooth else options.alphas
    values, ranks, p = dict[str, Floats](), dict[str, Floats](), dict[str, Floats]()
    for measure in measures():
        by_alpha = [measure.of(comparison, alpha) for alpha in alphas]
        if by_alpha[0] is None:
            continue
        stacked = np.array(by_alpha, dtype=np.float64)
        ranks[measure.id] = np.array([rank(each) for each in stacked])
        if measure.value_is_t:
            p[measure.id] = two_sided_p(stacked, comparison.degrees)
        is_turned = options.convention == MINUS and measure.signed
        values[measure.id] = negative(stacked) if is_turned else stacked
    loss, shown_alphas = (options.loss, ()) if smooth else (LINEAR, options.alphas)
    return Series(loss, shown_alphas, values, ranks, p)


def _shown_columns() -> list[MeasureColumn]:
    """The values of all measures, the p-values of those that are tests, the ranks.

    The columns of measures that tables do not show unasked come after those of all others.
    """
    by_usual = ([m for m in measures() if words_of(m).usual is usual] for usual in (True, False))
    return [
        column
        for group in by_usual
        for field in ("value", "p", "rank")
        for measure in group
        for column in measure.all_columns
        if column.field == field and (field != "p" or measure.value_is_t)
    ]


def _series_rows(swept: Swept) -> Iterator[list[Value]]:
    columns = _shown_columns()
    for series in swept.series:
        by_field = {"value": series.values, "rank": series.ranks, "p": series.p}
        tables = [by_field[column.field or ""].get(column.measure or "") for column in columns]
        for index, alpha in enumerate(series.alphas or (None,)):
            head = [swept.measure, swept.baseline, swept.population, series.loss, alpha]
            cells = [
                [None] * len(swept.runs)
                if table is None
                else tidy(table[index], whole=column.kind == "rank")
                for column, table in zip(columns, tables, strict=True)
            ]
            for row in swept.rows:
                yield [swept.runs[row], *head, swept.topics, *(each[row] for each in cells)]


def _event_rows(swept: Swept) -> Iterator[list[Value]]:
    for e in swept.events:
        run = swept.runs[e.run]
        other = None if e.other is None else swept.runs[e.other]
        before, after = (other, run) if other is not None else (e.before, e.after)
        yield [
            e.alpha, e.kind, e.measure.id, run, other, before, after, e.value, swept.measure,
            swept.baseline, swept.population,
        ]  # fmt: skip
