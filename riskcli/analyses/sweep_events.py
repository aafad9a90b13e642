"""What changes as alpha grows, and the sweep as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Convention, SweepPart
from riskcli.core.messages import counted
from riskcli.output.display import (
    BASELINE_MARK,
    Cell,
    Column,
    Display,
    Heading,
    decimal,
    decimals,
    in_title,
    thinned,
    width_of,
)
from riskcli.output.measure_words import MINUS, symbol, titled, weight, words_of
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures


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
    shown: tuple[RiskMeasure, ...]
    """The measures that have a table of their own for people."""
    has_events: bool
    """Whether it is known of any of the chosen measures when something changes."""
    convention: Convention = "plain"


# What changes as alpha grows, and at which alpha exactly.


@dataclass(frozen=True)
class Event:
    """Something that is one way (`before`) below alpha and another (`after`) above it.

    At a "swap" row `run` overtakes row `other`; other kinds concern one run alone: "break-even",
    where URisk turns negative, and "significance", where the flag of TRisk changes.
    """

    alpha: float
    kind: str
    measure: RiskMeasure
    run: int
    value: float
    other: int | None = None
    before: str = ""
    after: str = ""


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
        if measure.swaps is not None and len(compared) > 1:
            changes += _swaps(comparison, span, measure, compared)
        if measure.turns is not None:
            changes += [
                Event(t.alpha, t.kind, measure, t.run, t.value, None, t.before, t.after)
                for t in measure.turns(comparison.paired.moments, span, gamma, compared)
            ]
    order = {measure.id: number for number, measure in enumerate(measures())}
    return sorted(
        changes, key=lambda e: (e.alpha, order[e.measure.id], e.kind, e.run, e.other or 0)
    )


def _swaps(
    comparison: Comparison, span: Span, measure: RiskMeasure, rows: list[int]
) -> list[Event]:
    assert measure.swaps is not None
    swaps = measure.swaps(comparison, Pairs.of(rows), span)
    triples = zip(swaps.alpha.tolist(), swaps.ahead.tolist(), swaps.behind.tolist(), strict=True)
    return [
        Event(
            alpha, "swap", measure, ahead, float(measure.values(comparison, alpha)[ahead]), behind
        )
        for alpha, ahead, behind in triples
    ]  # fmt: skip


# A sweep for people: what changes at which alpha, then each measure's table of runs by alpha.


MOST_EVENTS = 30


def displays(
    parts: Sequence[Swept], part: SweepPart | None, most: int | None, gamma: float, width: int
) -> list[Display]:
    """Events and series, or only the part asked for."""
    tables: list[Display] = []
    for swept in parts:
        if part != "series" and swept.has_events:
            tables.append(_events(swept, most or MOST_EVENTS, gamma))
        if part != "events":
            tables += _series_tables(swept, width)
    return tables


def _events(swept: Swept, most: int, gamma: float) -> Display:
    headings = [Heading(symbol(swept.convention)), Heading("measure", left=True)]
    headings.append(Heading("what changes", left=True))
    rows = [
        [
            Cell(decimal(weight(event.alpha, swept.convention), 4)),
            Cell(titled(event.measure, swept.convention)),
            Cell(_in_words(swept, event)),
        ]
        for event in swept.events[:most]
    ]
    alphas = [alpha for alpha in swept.series[0].alphas if alpha is not None]
    ends = " to ".join(f"{weight(a, swept.convention):g}" for a in (min(alphas), max(alphas)))
    title = (
        f"{swept.measure}, baseline {in_title(swept.baseline)}: what changes as "
        f"{symbol(swept.convention)} goes from {ends}"
    )
    return Display.of_rows(title, headings, rows, _events_caption(swept, most, gamma))


def _events_caption(swept: Swept, most: int, gamma: float) -> list[str]:
    lines = []
    hidden = len(swept.events) - most
    if hidden > 0:
        lines.append(
            f"And {counted(hidden, 'event')} more: --top shows them, --of and --between choose."
        )
    if not swept.events:
        lines.append("Nothing changes.")
    if any(event.kind == "significance" for event in swept.events):
        lines.append(f"TRisk's significance: level γ = {gamma:g}, per run (no correction).")
    return lines


def _in_words(swept: Swept, event: Event) -> str:
    """The event in words."""
    run = swept.runs[event.run]
    losses = f"losses, counted {'1+' if swept.convention != MINUS else ''}"
    losses += f"{symbol(swept.convention)} times,"
    outweigh = {
        "worse": f"its {losses} {{}}significantly outweigh its gains",
        "better": f"its gains {{}}significantly outweigh its {losses.rstrip(',')}",
    }
    words: dict[str, Callable[[], str]] = {
        "swap": lambda: f"{run} overtakes {swept.runs[event.other or 0]}",
        "break-even": lambda: f"{run} turns {event.after}: its {losses} outweigh its gains",
        "significance": lambda: (
            f"{run}: from here {outweigh[event.after].format('')}"
            if event.after
            else f"{run}: {outweigh[event.before].format('no longer ')}"
        ),
    }
    return words[event.kind]()


def _series_tables(swept: Swept, width: int) -> list[Display]:
    """A table a measure; of many alphas, as many as fit, evenly spread."""
    tables = [
        _table(swept, measure, width)
        for measure in swept.shown
        if measure.id in swept.series[0].values
    ]
    if tables:
        left_out = len(swept.series[0].alphas) - len(tables[-1].headings) + 1
        about = ["# rank among all runs, 1 is best."]
        if left_out > 0:
            about.append(f"Not every {symbol(swept.convention)} is shown: -f tsv has them all.")
        if swept.convention == MINUS:
            about.append("⁻ sign turned, higher is riskier.")
        tables[-1] = replace(tables[-1], caption=about)
    return tables


def _table(swept: Swept, measure: RiskMeasure, width: int) -> Display:
    linear, *smooth = swept.series
    order = np.argsort(linear.ranks[measure.id][0], kind="stable").tolist()
    names = [
        Cell(f"{swept.runs[row]} {BASELINE_MARK}", strong=True)
        if row == swept.own_row
        else Cell(swept.runs[row])
        for row in order
    ]
    left = [Column(Heading("run", left=True, names=True), names)]
    right = [_column(series, measure, 0, order, "s(x)") for series in smooth]
    every = [
        _column(linear, measure, i, order, "" if a is None else f"{weight(a, swept.convention):g}")
        for i, a in enumerate(linear.alphas)
    ]
    title = f"{titled(measure, swept.convention)} by {symbol(swept.convention)}"
    title = f"{title} ({swept.measure}, {in_title(swept.baseline)})"
    for most in range(len(every), 1, -1):
        columns = [*left, *(every[i] for i in thinned(len(every), most)), *right]
        if width_of(columns) <= width:
            break
    return Display(title, columns)


def _column(
    series: Series, measure: RiskMeasure, i: int, order: Sequence[int], heading: str
) -> Column:
    """The measure's values at the i-th alpha, with their ranks."""
    values = decimals(
        series.values[measure.id][i][order].tolist(), min(words_of(measure).decimals, 3)
    )
    ranks = series.ranks[measure.id][i][order].tolist()
    cells = [
        Cell(text, rank=None if rank != rank else int(rank))
        for text, rank in zip(values, ranks, strict=True)
    ]
    return Column(Heading(heading, ranked=True), cells)
