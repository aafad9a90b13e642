"""The verdict over a range of alpha: every measure at each of them, and all that changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from riskcli.analyses import base
from riskcli.analyses.cautions import cautions
from riskcli.core.arrays import Floats
from riskcli.core.choices import Convention, SweepPart, check_words
from riskcli.core.messages import Note, UsageError, counted, listed
from riskcli.output import display
from riskcli.output.display import BASELINE_MARK, Cell, Column, Display, Heading, in_title
from riskcli.output.measure_words import MINUS, about_logarithms, symbol, titled, weight, words_of
from riskcli.output.result import Result, Tables, Value, part_of, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Turn
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


@dataclass(frozen=True)
class Event(Turn):
    """Something that is one way (`before`) below alpha and another (`after`) above it.

    At a "swap" row `run` overtakes row `other`; other kinds concern one run alone: "break-even",
    where URisk turns negative, and "significance", where the flag of TRisk changes.
    """

    measure: RiskMeasure
    other: int | None = None


@dataclass(frozen=True)
class Series:
    """Every run of the matrix, shown or not, at every alpha: arrays of alphas by runs."""

    loss: str
    alphas: tuple[float, ...]
    """Empty where the loss is smooth."""
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
    rows: tuple[int, ...]
    """The runs that are looked at."""
    own_row: int | None
    series: tuple[Series, ...]
    """Of the linear loss, and of a smooth one where it was asked for."""
    events: tuple[Event, ...]
    shown: tuple[RiskMeasure, ...]
    """The measures that have a table of their own for people."""
    has_events: bool
    """Whether it is known of any of the chosen measures when something changes."""
    convention: Convention


@dataclass(frozen=True, repr=False)
class Sweep(base.Analysis):
    """All sweeps of a call, and what they rest on."""

    parts: tuple[Swept, ...]
    gamma: float
    part: SweepPart | None = None
    """What is shown: a table for people shows both where none is named."""
    most_events: int | None = None
    """How many events a table for people shows."""

    def only(self, part: SweepPart | None, most_events: int | None = None) -> Self:
        """Only the series or the events (None: both), and only so many of these."""
        if part is not None:
            check_words(part=(part, SweepPart))
        return replace(self, part=part, most_events=most_events)

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        tables: list[Display] = []
        for swept in self.parts:
            if self.part != "series" and swept.has_events:
                tables.append(_event_table(swept, self.most_events or MOST_EVENTS, self.gamma))
            tables += [] if self.part == "events" else _series_tables(swept, width)
        return tables

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
    able = [m for m in measures() if of or _has_events(m)]
    chosen = base.chosen_measures(of, able, "no measure")
    pairs = sum(len(_rows_between(matrix, between)) ** 2 // 2 for matrix in setup.matrices)
    base.refuse_much("sweep", setup.matrices, options, pairs=pairs)
    sweeps: list[Swept] = []
    fits: list[base.Fit] = []
    titles = [words_of(measure).title for measure in chosen if not _has_events(measure)]
    message = f"no events of {listed(titles)}: only a series is known"
    notes = [Note("no-events", message, warning=False)] if titles else []
    for matrix in setup.matrices:
        smooth = [] if options.loss == LINEAR else comparisons(matrix, options)
        fits += [(matrix.measure, other.baseline.name, other.smooth) for other in smooth]
        for index, plain in enumerate(comparisons(matrix, replace(options, loss=LINEAR))):
            both = [plain, *smooth[index : index + 1]]
            sweeps.append(_swept(matrix, both, _rows_between(matrix, between), options, chosen))
            notes += cautions(matrix, plain, options.alphas)
    settings = {"between": list(between), "of": [measure.id for measure in chosen]}
    provenance = setup.recorded(fits, notes, alphas=list(options.alphas), **settings)
    return Sweep(tuple(sweeps), options.significance.gamma, provenance=provenance)


def _has_events(measure: RiskMeasure) -> bool:
    """Whether it is known where the measure's runs swap places, or turn, as alpha grows."""
    return measure.swaps is not None or measure.turns is not None


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
    changes = events(plain, span, options.significance.gamma, rows, chosen)
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
        events=tuple(map(_turned, changes) if options.convention == MINUS else changes),
        has_events=any(map(_has_events, chosen)),
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
            p[measure.id] = two_sided_p(stacked, comparison.topics - 1)
        is_turned = options.convention == MINUS and measure.signed
        values[measure.id] = negative(stacked) if is_turned else stacked
    loss, shown_alphas = (options.loss, ()) if smooth else (LINEAR, options.alphas)
    return Series(loss, shown_alphas, values, ranks, p)


def events(
    comparison: Comparison,
    span: Span,
    gamma: float,
    rows: Sequence[int],
    chosen: Iterable[RiskMeasure],
) -> list[Event]:
    """All events of these rows within the span, by alpha. The loss is linear."""
    changes: list[Event] = []
    for measure in chosen:
        if measure.nonnegative and comparison.has_negative:
            continue
        own = comparison.baseline.own_row if measure.paired else None
        compared = [row for row in rows if row != own]
        changes += _swaps(comparison, span, measure, compared)
        if measure.turns is not None:
            turns = measure.turns(comparison.paired.moments, span, gamma, compared)
            changes += [Event(**vars(turn), measure=measure) for turn in turns]
    order = {measure.id: number for number, measure in enumerate(measures())}
    return sorted(
        changes, key=lambda e: (e.alpha, order[e.measure.id], e.kind, e.run, e.other or 0)
    )


def _swaps(
    comparison: Comparison, span: Span, measure: RiskMeasure, rows: list[int]
) -> Iterator[Event]:
    if measure.swaps is None or len(rows) < 2:
        return
    swaps = measure.swaps(comparison, Pairs.of(rows), span)
    triples = zip(swaps.alpha.tolist(), swaps.ahead.tolist(), swaps.behind.tolist(), strict=True)
    for alpha, ahead, behind in triples:
        value = float(measure.values(comparison, alpha)[ahead])
        yield Event(alpha, "swap", ahead, value, "", "", measure, behind)


def _turned(event: Event) -> Event:
    """The event in the minus convention."""
    opposite = {"positive": "negative", "negative": "positive"}
    before, after = (opposite.get(word, word) for word in (event.before, event.after))
    return replace(event, value=0.0 - event.value, before=before, after=after)


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


# Tables for people: what changes at which alpha, then each measure's table of runs by alpha.


def _event_table(swept: Swept, most: int, gamma: float) -> Display:
    letter = symbol(swept.convention)
    rows = [
        [
            display.decimal(weight(event.alpha, swept.convention), 4),
            titled(event.measure, swept.convention),
            _in_words(swept, event),
        ]
        for event in swept.events[:most]
    ]
    weights = [weight(alpha, swept.convention) for alpha in swept.series[0].alphas]
    caption = [] if swept.events else ["Nothing changes."]
    if len(swept.events) > most:
        more = counted(len(swept.events) - most, "event")
        caption.append(f"And {more} more: --top shows them, --of and --between choose.")
    if any(event.kind == "significance" for event in swept.events):
        caption.append(f"TRisk's significance: level γ = {gamma:g}, per run (no correction).")
    headings = [Heading(letter), Heading("measure", left=True), Heading("what changes", left=True)]
    title = f"{swept.measure}, baseline {in_title(swept.baseline)}: what changes as {letter} goes"
    return Display.of_rows(
        f"{title} from {min(weights):g} to {max(weights):g}", headings, rows, caption
    )


def _in_words(swept: Swept, event: Event) -> str:
    """The event in words."""
    run = swept.runs[event.run]
    if event.other is not None:
        return f"{run} overtakes {swept.runs[event.other]}"
    letter = symbol(swept.convention)
    losses = f"losses, counted {letter if swept.convention == MINUS else f'1+{letter}'} times"
    if event.kind == "break-even":
        return f"{run} turns {event.after}: its {losses}, outweigh its gains"
    state, change = (event.after, "from here ") if event.after else (event.before, "")
    stronger, weaker = ("gains", losses) if state == "better" else (f"{losses},", "gains")
    no_longer = "" if event.after else "no longer "
    return f"{run}: {change}its {stronger} {no_longer}significantly outweigh its {weaker}"


def _series_tables(swept: Swept, width: int) -> list[Display]:
    """A table a measure; of many alphas, as many as fit, evenly spread."""
    tables = [
        _table(swept, measure, width)
        for measure in swept.shown
        if measure.id in swept.series[0].values
    ]
    if not tables:
        return []
    about = ["# rank among all runs, 1 is best.", *about_logarithms([swept.measure])]
    if len(tables[-1].headings) <= len(swept.series[0].alphas):
        about.append(f"Not every {symbol(swept.convention)} is shown: -f tsv has them all.")
    if swept.convention == MINUS:
        about.append("⁻ sign turned, higher is riskier.")
    return [*tables[:-1], replace(tables[-1], caption=about)]


def _table(swept: Swept, measure: RiskMeasure, width: int) -> Display:
    linear, *smooth = swept.series
    rows = np.array(swept.rows)
    order = rows[np.argsort(linear.ranks[measure.id][0][rows], kind="stable")].tolist()
    names = [
        Cell(f"{swept.runs[row]} {BASELINE_MARK}", strong=True)
        if row == swept.own_row
        else Cell(swept.runs[row])
        for row in order
    ]
    left = [Column(Heading("run", left=True, names=True), names)]
    right = [_column(series, measure, 0, order, "s(x)") for series in smooth]
    every = [
        _column(linear, measure, i, order, f"{weight(alpha, swept.convention):g}")
        for i, alpha in enumerate(linear.alphas)
    ]
    about = f"({swept.measure}, {in_title(swept.baseline)})"
    title = f"{titled(measure, swept.convention)} by {symbol(swept.convention)} {about}"
    for most in range(len(every), 1, -1):
        columns = [*left, *(every[i] for i in display.thinned(len(every), most)), *right]
        if display.width_of(columns) <= width:
            break
    return Display(title, columns)


def _column(
    series: Series, measure: RiskMeasure, i: int, order: Sequence[int], heading: str
) -> Column:
    """The measure's values at the i-th alpha, with their ranks."""
    places = min(words_of(measure).decimals, 3)
    values = display.decimals(series.values[measure.id][i][order].tolist(), places)
    ranks = series.ranks[measure.id][i][order].tolist()
    cells = [
        Cell(text, rank=None if rank != rank else int(rank))
        for text, rank in zip(values, ranks, strict=True)
    ]
    return Column(Heading(heading, ranked=True), cells)
