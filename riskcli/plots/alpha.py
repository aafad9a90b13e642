"""A risk measure over alpha: a line a run, and what changes on the way."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
from scipy.special import stdtrit

from riskcli.analyses.sweep_alpha import alpha_sweep
from riskcli.analyses.sweep_events import Swept
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError, counted
from riskcli.output.measure_words import words_of
from riskcli.plots.labels import Frame, domain, end_names, run_lines, shortened
from riskcli.plots.request import Request
from riskcli.plots.style import MOST_COLOURS, name_of_level, on_scale, rule_at, values
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures

_POINTS = 81
_SHAPES = {"swap": "circle", "break-even": "diamond", "significance": "triangle-up"}
_TITLES = {
    "swap": "two runs swap places", "break-even": "URisk turns negative",
    "significance": "the flag changes",
}  # fmt: skip


def draw_alpha(request: Request) -> Any:
    """Lines of all runs, those brought out in colour and named at their ends."""
    known = [m for m in measures() if m.depends_on_alpha]
    of = request.one_of([m.id for m in sorted(known, key=lambda m: not words_of(m).headline)])
    own = request.comparison.baseline.own_row
    swept = _swept(request, of)
    measure = next(m for m in known if m.id == of)
    title = words_of(measure).title
    rows = request.chosen(MOST_COLOURS, without=own if measure.paired else None)
    if of not in swept.series[0].values:
        raise UsageError(f"{title} takes no score below 0: choose a risk measure with --of")
    alphas, series = swept.series[0].alphas, swept.series[0].values[of]
    ends = float(alphas[0] or 0), float(alphas[-1] or 0)
    frame = Frame(ends, domain(series), *request.panel(420, 340))
    x = on_scale(alt.X, "alpha", "α", frame.x)
    y = on_scale(alt.Y, "value", f"{title} of {swept.measure}", frame.y)
    names = [swept.runs[row] for row in rows]
    quiet = [row for row in range(len(swept.runs)) if row not in rows]
    layers = run_lines(_lines(swept, series, quiet), _lines(swept, series, rows), names, x, y)
    layers += _levels(request, measure, frame)
    layers += _event_layers(swept, rows, x, y)
    layers += end_names(names, series[-1, rows], frame)
    return alt.layer(*layers).properties(
        width=frame.width, height=frame.height, title=_heading(request, measure, swept)
    )


def _heading(request: Request, measure: RiskMeasure, swept: Swept) -> str:
    """What the values rest on: the population where it makes them, else the baseline."""
    if not measure.nonnegative:
        against = f"against {shortened(swept.baseline, 30)}"
    elif request.comparison.rule == "all":
        against = f"population of {counted(len(swept.runs), 'run')}"
    else:
        against = "population of the baselines and each run"
    return f"{words_of(measure).title}, {counted(len(request.matrix.topics), 'topic')}, {against}"


def _levels(request: Request, measure: RiskMeasure, frame: Frame) -> list[Any]:
    """0, and of a t statistic the critical values beyond which a flag stands (SIGIR'14, Fig. 1)."""
    topics = len(request.matrix.topics)
    levels = [(0.0, False)]
    if measure.value_is_t and topics > 1:
        gamma = request.options.significance.gamma
        critical = float(stdtrit(topics - 1, 1 - gamma / 2))
        levels += [(-critical, True), (critical, True)]
    shown = [(at, dashed) for at, dashed in levels if frame.y[0] < at < frame.y[1]]
    named = [at for at, dashed in shown if dashed][-1:]
    return [
        *(rule_at(at, "y", dashed) for at, dashed in shown),
        *(text for at in named for text in name_of_level(f"critical value {at:.2f}", at)),
    ]


def _swept(request: Request, of: str) -> Swept:
    ends = (min(request.options.alphas), max(request.options.alphas))
    low, high = ends if request.ranged and ends[0] < ends[1] else (0.0, 20.0)
    grid = tuple(np.linspace(low, high, _POINTS).tolist())
    options = replace(request.options, alphas=grid)
    able = [m.id for m in measures() if m.swaps is not None or m.turns is not None]
    chosen = [of] if of in able else able
    return alpha_sweep(request.matrix, options=options, of=chosen).parts[0]


def _lines(swept: Swept, series: Floats, rows: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {"run": swept.runs[row], "alpha": alpha, "value": float(series[index, row])}
        for row in rows
        for index, alpha in enumerate(swept.series[0].alphas)
        if np.isfinite(series[index, row])
    ]


def _event_layers(swept: Swept, rows: Sequence[int], x: alt.X, y: alt.Y) -> list[Any]:
    """Events that concern only runs that are brought out."""
    shown = [
        {"alpha": e.alpha, "value": e.value, "event": _TITLES[e.kind], "run": swept.runs[e.run]}
        for e in swept.events
        if e.run in rows and (e.other is None or e.other in rows) and e.kind in _TITLES
    ]
    if not shown:
        return []
    kinds = [kind for kind, title in _TITLES.items() if any(r["event"] == title for r in shown)]
    scale = alt.Scale(domain=[_TITLES[k] for k in kinds], range=[_SHAPES[k] for k in kinds])
    shape = alt.Shape("event:N", scale=scale, legend=alt.Legend(title=None, orient="bottom"))
    look = {"filled": False, "fill": "white", "stroke": "#222222", "strokeWidth": 1, "size": 34}
    marks = alt.Chart(values(shown)).mark_point(**look, opacity=1)
    return [marks.encode(x=x, y=y, shape=shape)]
