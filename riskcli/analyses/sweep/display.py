"""A sweep for people: what changes at which alpha, then each measure's table of runs by alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from riskcli.analyses.score.display import BASELINE_MARK, shortened
from riskcli.analyses.sweep.analysis import Series, Sweep, Swept
from riskcli.analyses.sweep.events import Event
from riskcli.core.notes import counted
from riskcli.output.convention import MINUS, symbol, titled, weight
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.fold import thinned
from riskcli.output.numbers import decimal
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures

MOST_EVENTS = 30


def displays(sweep: Sweep, width: int) -> list[Display]:
    """Events and series, or only the part asked for."""
    made: list[Display] = []
    for swept in sweep.parts:
        if sweep.part != "series":
            made.append(_events(swept, sweep.most_events or MOST_EVENTS, sweep.gamma))
        if sweep.part != "events":
            made += _series_tables(swept, width)
    return made


def _events(swept: Swept, most: int, gamma: float) -> Display:
    headings = [Heading(symbol(swept.convention)), Heading("measure", left=True)]
    headings.append(Heading("what changes", left=True))
    rows = [
        [
            Cell(decimal(weight(event.alpha, swept.convention), 4)),
            Cell(titled(event.measure, swept.convention)),
            Cell(_told(swept, event)),
        ]
        for event in swept.events[:most]
    ]
    alphas = [alpha for alpha in swept.series[0].alphas if alpha is not None]
    ends = " to ".join(f"{weight(a, swept.convention):g}" for a in (min(alphas), max(alphas)))
    title = (
        f"{swept.measure}, baseline {shortened(swept.baseline)}: what changes as "
        f"{symbol(swept.convention)} goes from {ends}"
    )
    return Display(title, headings, rows, _events_caption(swept, most, gamma))


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
        lines.append(f"Significance of TRisk at γ = {gamma:g}, each run by itself (no correction).")
    return lines


def _told(swept: Swept, event: Event) -> str:
    """The event in words."""
    run = swept.runs[event.run]
    words: dict[str, Callable[[], str]] = {
        "swap": lambda: f"{run} overtakes {swept.runs[event.other or 0]}",
        "break-even": lambda: f"{run} turns {event.after}: its losses outweigh its gains",
        "significance": lambda: (
            f"{run} becomes significantly {event.after}"
            if event.after
            else f"{run} is no longer significantly {event.before}"
        ),
    }
    return words[event.kind]()


def _series_tables(swept: Swept, width: int) -> list[Display]:
    """A table a measure; of many alphas, as many as fit, evenly spread."""
    shown = [m for m in measures() if m.depends_on_alpha and m.id in swept.series[0].values]
    made = []
    for measure in shown:
        many = len(swept.series[0].alphas)
        while many > 2 and _table(swept, measure, many).width() > width:
            many -= 1
        made.append(_table(swept, measure, many))
    if made:
        last, left_out = made[-1], len(swept.series[0].alphas) - len(made[-1].headings) + 1
        about = ["# rank among all runs, 1 is best."]
        if left_out > 0:
            about.append(f"Not every {symbol(swept.convention)} is shown: -f tsv has them all.")
        if swept.convention == MINUS:
            about.append("⁻ sign turned, higher is riskier.")
        made[-1] = Display(last.title, last.headings, last.rows, about)
    return made


def _table(swept: Swept, measure: RiskMeasure, many: int) -> Display:
    linear, *smooth = swept.series
    places = thinned(len(linear.alphas), many)
    columns = [(linear, place, _alpha_heading(swept, linear, place)) for place in places]
    columns += [(series, 0, "s(x)") for series in smooth]
    headings = [Heading("run", left=True)]
    headings += [Heading(heading, ranked=True) for _, _, heading in columns]
    rows = []
    for row in _best_first(linear, measure, places[0]):
        member = row == swept.own_row
        name = f"{swept.runs[row]} {BASELINE_MARK}" if member else swept.runs[row]
        cells = [_cell(series, measure, place, row) for series, place, _ in columns]
        rows.append([Cell(name, strong=member), *cells])
    title = f"{titled(measure, swept.convention)} by {symbol(swept.convention)}"
    return Display(f"{title} ({swept.measure}, {shortened(swept.baseline)})", headings, rows)


def _alpha_heading(swept: Swept, series: Series, place: int) -> str:
    alpha = series.alphas[place]
    return "" if alpha is None else f"{weight(alpha, swept.convention):g}"


def _best_first(series: Series, measure: RiskMeasure, place: int) -> Sequence[int]:
    ranks = series.ranks[measure.id][place]
    return [int(row) for row in np.argsort(ranks, kind="stable")]


def _cell(series: Series, measure: RiskMeasure, place: int, row: int) -> Cell:
    rank = series.ranks[measure.id][place][row]
    value = float(series.values[measure.id][place][row])
    decimals = min(measure.decimals, 3)
    return Cell(decimal(value, decimals), rank=None if np.isnan(rank) else int(rank))
