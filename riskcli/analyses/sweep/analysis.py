"""The verdict over a range of alpha: every measure at each of them, and all that changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from riskcli.analyses.base import Shown
from riskcli.analyses.score.analysis import Fit, as_matrices, described, loss_record
from riskcli.analyses.sweep.events import Event, events
from riskcli.core.arrays import Floats
from riskcli.core.choices import Convention
from riskcli.core.errors import InputError, UsageError, nearest
from riskcli.core.notes import Note
from riskcli.output.convention import MINUS
from riskcli.output.parts import Tables, part_of
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.baselines import matching_runs
from riskcli.risk.cautions import cautions
from riskcli.risk.columns import Column, FieldName
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Span
from riskcli.risk.estimate import negative, rank
from riskcli.risk.losses import LINEAR
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.options import Options
from riskcli.risk.paired import two_sided_p
from riskcli.risk.table import comparisons
from riskcli.scores.matrix import ScoreMatrix

if TYPE_CHECKING:
    import pandas as pd


Part = Literal["series", "events"]
PARTS: tuple[Part, ...] = ("series", "events")

EVENT_COLUMNS = (
    "alpha", "event", "risk_measure", "run", "other", "before", "after", "value", "measure",
    "baseline", "population",
)  # fmt: skip
DEFAULT_ALPHAS = tuple(float(alpha) for alpha in range(21))


@dataclass(frozen=True)
class Series:
    """Every run at every alpha, by each measure: arrays of alphas by runs."""

    loss: str
    alphas: tuple[float | None, ...]
    values: Mapping[str, Floats]
    ranks: Mapping[str, Floats]
    p: Mapping[str, Floats]
    """Of the measures whose value is a test statistic."""


@dataclass(frozen=True)
class Swept:
    """One score matrix against one baseline over the range."""

    measure: str
    baseline: str
    population: str
    topics: int
    runs: tuple[str, ...]
    own_row: int | None
    series: tuple[Series, ...]
    """Of the linear loss, and of a smooth one where it was asked for."""
    events: tuple[Event, ...]
    convention: Convention = "plain"


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """All sweeps of a call, and what they rest on."""

    displayed_by: ClassVar[str] = "riskcli.analyses.sweep.display"

    parts: tuple[Swept, ...]
    settings: Mapping[str, Any]
    gamma: float
    inputs: tuple[tuple[Path, str], ...] = ()
    notes: tuple[Note, ...] = ()
    skipped: tuple[InputError, ...] = ()

    def result(self, part: Part = "series") -> Result:
        """A row a run and alpha, or a row an event; the other of them beside the rows in JSON."""
        tables: Tables = {
            "series": (series_columns(), [row for p in self.parts for row in _series_rows(p)]),
            "events": (EVENT_COLUMNS, [row for p in self.parts for row in _event_rows(p)]),
        }
        return part_of(self, tables, part)

    def to_frame(self, part: Part = "series") -> pd.DataFrame:
        """The series or the events as a DataFrame."""
        return self.result(part).to_frame()


def series_columns() -> tuple[str, ...]:
    """The columns of the series."""
    head = ("run", "measure", "baseline", "population", "loss", "alpha", "topics")
    return (*head, *(column.name for column in _shown_columns()))


def _shown_columns() -> list[Column]:
    """The values of all measures, the p-values of those that are tests, the ranks."""
    declared = [(m, column) for m in measures() for column in m.all_columns]
    return [
        *(column for _, column in declared if column.field == "value"),
        *(column for m, column in declared if column.field == "p" and m.value_is_t),
        *(column for _, column in declared if column.field == "rank"),
    ]


def alpha_sweep(
    scores: ScoreMatrix | Iterable[ScoreMatrix] | pd.DataFrame,
    baseline: str | Sequence[str] = "@mean",
    *,
    options: Options | None = None,
    between: Sequence[str] = (),
    of: Sequence[str] = (),
) -> Sweep:
    """Every measure at each of `options.alphas`, and the events between the first and the last.

    `between` names the runs looked at (none: all); `of` the risk measures whose events are listed.
    A smooth loss in the options has no alpha: its values stand beside the series.
    """
    options = options or Options(alphas=DEFAULT_ALPHAS)
    names = (baseline,) if isinstance(baseline, str) else tuple(baseline)
    options = replace(options, baselines=names)
    if min(options.alphas) == max(options.alphas):
        raise UsageError("a sweep needs a range of alpha, as in 0:20; for one alpha there is score")
    chosen = _chosen_measures(of)
    parts: list[Swept] = []
    notes: list[Note] = []
    fits: list[Fit] = []
    for matrix in as_matrices(scores):
        smooth = [] if options.loss == LINEAR else comparisons(matrix, options)
        fits += [(matrix.measure, other.baseline.name, other.smooth) for other in smooth]
        for place, plain in enumerate(comparisons(matrix, replace(options, loss=LINEAR))):
            rows = _rows_between(matrix, between)
            others = [smooth[place]] if smooth else []
            parts.append(_swept(matrix, plain, others, rows, options, chosen))
            notes += cautions(matrix, plain, options.alphas)
    record, doubts = loss_record(fits, options.loss)
    settings = {
        **described(options),
        **record,
        "alphas": list(options.alphas),
        "between": list(between),
        "of": [measure.id for measure in chosen],
    }
    gathered = tuple(dict.fromkeys([*notes, *doubts]))
    return Sweep(tuple(parts), settings, options.significance.gamma, notes=gathered)


def _chosen_measures(of: Sequence[str]) -> list[RiskMeasure]:
    able = {m.id: m for m in measures() if m.swaps is not None or m.turns is not None}
    for name in of:
        if name not in able:
            raise UsageError(f"no events of {name!r}{nearest(name, able)} ({', '.join(able)})")
    return [able[name] for name in dict.fromkeys(of)] or list(able.values())


def _rows_between(matrix: ScoreMatrix, between: Sequence[str]) -> list[int]:
    if not between:
        return list(range(len(matrix.runs)))
    return list(dict.fromkeys(row for n in between for row in matching_runs(matrix.runs, n)))


def _swept(
    matrix: ScoreMatrix,
    plain: Comparison,
    others: Sequence[Comparison],
    rows: Sequence[int],
    options: Options,
    chosen: Sequence[RiskMeasure],
) -> Swept:
    alphas = options.alphas
    series = [_series(plain, LINEAR, alphas, rows)]
    series += [_series(other, options.loss, (0.0,), rows) for other in others]
    span = Span(min(alphas), max(alphas))
    place = {row: number for number, row in enumerate(rows)}
    found = events(plain, span, options.significance.gamma, rows, chosen)
    own = plain.baseline.own_row
    swept = Swept(
        measure=matrix.measure,
        baseline=plain.baseline.name,
        population=plain.rule,
        topics=plain.topics,
        runs=tuple(matrix.runs[row] for row in rows),
        own_row=None if own is None else place.get(own),
        series=tuple(series),
        events=tuple(
            replace(e, run=place[e.run], other=None if e.other is None else place[e.other])
            for e in found
        ),
    )
    return _turned(swept) if options.convention == MINUS else swept


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
        ranks[measure.id] = np.array([rank(v) for v in stacked])[:, rows]
        if measure.value_is_t:
            p[measure.id] = two_sided_p(values[measure.id], comparison.topics - 1)
    known = (None,) if comparison.smooth is not None else tuple(alphas)
    return Series(loss, known, values, ranks, p)


def _turned(swept: Swept) -> Swept:
    """In the minus convention: values turned, ranks and flags as they are."""
    signed = {measure.id for measure in measures() if measure.signed}
    opposite = {"positive": "negative", "negative": "positive"}
    series = [
        replace(s, values={n: negative(v) if n in signed else v for n, v in s.values.items()})
        for s in swept.series
    ]
    found = [
        replace(
            e,
            value=0.0 - e.value,
            before=opposite.get(e.before, e.before),
            after=opposite.get(e.after, e.after),
        )
        for e in swept.events
    ]
    return replace(swept, series=tuple(series), events=tuple(found), convention=MINUS)


def _series_rows(swept: Swept) -> Iterator[list[Value]]:
    for series in swept.series:
        held: Mapping[FieldName | None, Mapping[str, Floats]] = {
            "value": series.values,
            "rank": series.ranks,
            "p": series.p,
        }
        for index, alpha in enumerate(series.alphas):
            head: list[Value] = [swept.measure, swept.baseline, swept.population]
            head += [series.loss, alpha, swept.topics]
            columns = [
                tidy(cells[index].tolist(), whole=column.kind == "rank")
                if (cells := held[column.field].get(column.measure or "")) is not None
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
