"""The verdict over a range of alpha: every measure at each of them, and all that changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskcli.analyses import base
from riskcli.analyses.cautions import cautions
from riskcli.analyses.sweep_events import Series, Swept, displays, events
from riskcli.core.arrays import Floats
from riskcli.core.choices import SweepPart, check_words
from riskcli.core.messages import Note, UsageError, listed
from riskcli.output.display import Display
from riskcli.output.measure_words import MINUS, words_of
from riskcli.output.result import Result, Tables, Value, part_of, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Span
from riskcli.risk.estimate import negative, rank
from riskcli.risk.losses import LINEAR
from riskcli.risk.measure import FieldName, MeasureColumn, RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.paired import two_sided_p
from riskcli.scores.comparisons import Options, comparisons, matching_runs
from riskcli.scores.matrix import ScoreMatrix

EVENT_COLUMNS = (
    "alpha", "event", "risk_measure", "run", "other", "before", "after", "value", "measure",
    "baseline", "population",
)  # fmt: skip
DEFAULT_ALPHAS = tuple(float(alpha) for alpha in range(21))


@dataclass(frozen=True, repr=False)
class Sweep(base.Analysis):
    """All sweeps of a call, and what they rest on."""

    parts: tuple[Swept, ...]
    gamma: float
    part: SweepPart | None = None
    """What is shown: a table for people shows both where none is named."""
    most_events: int | None = None
    """How many events a table for people shows."""

    def only(self, part: SweepPart | None, most_events: int | None = None) -> Sweep:
        """Only the series or the events (None: both), and only so many of these."""
        if part is not None:
            check_words(part=(part, SweepPart))
        return replace(self, part=part, most_events=most_events)

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self.parts, self.part, self.most_events, self.gamma, width)

    def result(self) -> Result:
        """A row a run and alpha, or a row an event; the other of them beside the rows in JSON."""
        tables: Tables = {
            "series": (series_columns(), [row for p in self.parts for row in _series_rows(p)]),
            "events": (EVENT_COLUMNS, [row for p in self.parts for row in _event_rows(p)]),
        }
        return part_of(self.provenance, tables, self.part or "series")


def series_columns() -> tuple[str, ...]:
    """The columns of the series."""
    head = ("run", "measure", "baseline", "population", "loss", "alpha", "topics")
    return (*head, *(column.name for column in _shown_columns()))


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
    able = [m for m in measures() if of or _has_events(m)]
    chosen = base.chosen_measures(of, able, "no measure")
    base.refuse_much("sweep", setup.matrices, options, pairs=_pairs(setup.matrices, between))
    parts: list[Swept] = []
    notes = _without_events(chosen)
    fits: list[base.Fit] = []
    for matrix in setup.matrices:
        smooth = [] if options.loss == LINEAR else comparisons(matrix, options)
        fits += [(matrix.measure, other.baseline.name, other.smooth) for other in smooth]
        for index, plain in enumerate(comparisons(matrix, replace(options, loss=LINEAR))):
            rows = _rows_between(matrix, between)
            others = [smooth[index]] if smooth else []
            parts.append(_swept(matrix, plain, others, rows, options, chosen))
            notes += cautions(matrix, plain, options.alphas)
    settings = {"between": list(between), "of": [measure.id for measure in chosen]}
    provenance = setup.recorded(fits, notes, alphas=list(options.alphas), **settings)
    return Sweep(tuple(parts), options.significance.gamma, provenance=provenance)


def _has_events(measure: RiskMeasure) -> bool:
    """Whether it is known where the measure's runs swap places, or turn, as alpha grows."""
    return measure.swaps is not None or measure.turns is not None


def _without_events(chosen: Sequence[RiskMeasure]) -> list[Note]:
    """The note about measures of which there is a series only."""
    titles = [words_of(measure).title for measure in chosen if not _has_events(measure)]
    if not titles:
        return []
    message = f"no events of {listed(titles)}: only a series is known"
    return [Note("no-events", message, warning=False)]


def _pairs(matrices: Sequence[ScoreMatrix], between: Sequence[str]) -> int:
    """The pairs of runs that may swap places."""
    return sum(len(_rows_between(matrix, between)) ** 2 // 2 for matrix in matrices)


def _rows_between(matrix: ScoreMatrix, between: Sequence[str]) -> list[int]:
    if not between:
        return list(range(len(matrix.runs)))
    return list(dict.fromkeys(row for n in between for row in matching_runs(matrix.runs, n)))


def _swept(
    matrix: ScoreMatrix,
    plain: Comparison,
    smooth: Sequence[Comparison],
    rows: Sequence[int],
    options: Options,
    chosen: Sequence[RiskMeasure],
) -> Swept:
    alphas = options.alphas
    series = [_series(plain, LINEAR, alphas, rows)]
    series += [_series(other, options.loss, (0.0,), rows) for other in smooth]
    span = Span(min(alphas), max(alphas))
    index = {row: number for number, row in enumerate(rows)}
    changes = events(plain, span, options.significance.gamma, rows, chosen)
    own = plain.baseline.own_row
    swept = Swept(
        measure=matrix.measure,
        baseline=plain.baseline.name,
        population=plain.population_name,
        topics=plain.topics,
        runs=tuple(matrix.runs[row] for row in rows),
        own_row=None if own is None else index.get(own),
        series=tuple(series),
        events=tuple(
            replace(e, run=index[e.run], other=None if e.other is None else index[e.other])
            for e in changes
        ),
        has_events=any(map(_has_events, chosen)),
        shown=tuple(m for m in measures() if m in chosen or _has_a_table(m)),
    )
    return _turned(swept) if options.convention == MINUS else swept


def _has_a_table(measure: RiskMeasure) -> bool:
    return measure.depends_on_alpha and words_of(measure).usual


def _series(
    comparison: Comparison, loss: str, alphas: Sequence[float], rows: Sequence[int]
) -> Series:
    """Ranks are among all runs of the matrix, shown or not."""
    values, ranks, p = dict[str, Floats](), dict[str, Floats](), dict[str, Floats]()
    for measure in measures():
        by_alpha = [measure.of(comparison, alpha) for alpha in alphas]
        if by_alpha[0] is None:
            continue
        stacked = np.array(by_alpha, dtype=np.float64)
        values[measure.id] = stacked[:, rows]
        ranks[measure.id] = np.array([rank(values) for values in stacked])[:, rows]
        if measure.value_is_t:
            p[measure.id] = two_sided_p(values[measure.id], comparison.topics - 1)
    shown_alphas = (None,) if comparison.smooth is not None else tuple(alphas)
    return Series(loss, shown_alphas, values, ranks, p)


def _turned(swept: Swept) -> Swept:
    """In the minus convention: values turned, ranks and flags as they are."""
    signed = {measure.id for measure in measures() if measure.signed}
    opposite = {"positive": "negative", "negative": "positive"}
    series = [
        replace(s, values={n: negative(v) if n in signed else v for n, v in s.values.items()})
        for s in swept.series
    ]
    turned_events = [
        replace(
            e,
            value=0.0 - e.value,
            before=opposite.get(e.before, e.before),
            after=opposite.get(e.after, e.after),
        )
        for e in swept.events
    ]
    return replace(swept, series=tuple(series), events=tuple(turned_events), convention=MINUS)


def _series_rows(swept: Swept) -> Iterator[list[Value]]:
    for series in swept.series:
        by_field: Mapping[FieldName | None, Mapping[str, Floats]] = {
            "value": series.values,
            "rank": series.ranks,
            "p": series.p,
        }
        for index, alpha in enumerate(series.alphas):
            head: list[Value] = [swept.measure, swept.baseline, swept.population]
            head += [series.loss, alpha, swept.topics]
            columns = [
                tidy(cells[index], whole=column.kind == "rank")
                if (cells := by_field[column.field].get(column.measure or "")) is not None
                else [None] * len(swept.runs)
                for column in _shown_columns()
            ]
            for row, run in enumerate(swept.runs):
                yield [run, *head, *(column[row] for column in columns)]


def _event_rows(swept: Swept) -> Iterator[list[Value]]:
    for e in swept.events:
        run = swept.runs[e.run]
        other = None if e.other is None else swept.runs[e.other]
        before, after = (other, run) if other is not None else (e.before, e.after)
        yield [
            e.alpha, e.kind, e.measure.id, run, other, before, after, e.value, swept.measure,
            swept.baseline, swept.population,
        ]  # fmt: skip
