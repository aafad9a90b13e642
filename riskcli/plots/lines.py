"""Figures in which a run is a line that bears its name at the right end.

A risk measure over alpha, scores over topics, power over their number, what training showed.
"""

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from scipy.special import stdtrit

import riskcli.plots.style as style
from riskcli.analyses.power import power_table, share_in_words
from riskcli.analyses.replicates import FLOOR, columns_of
from riskcli.analyses.sweep_alpha import alpha_sweep
from riskcli.analyses.sweep_events import Swept
from riskcli.core.arrays import Floats
from riskcli.core.inputs import note_input
from riskcli.core.messages import InputError, UsageError, counted
from riskcli.output.display import shortened
from riskcli.output.measure_words import every_column, words_of
from riskcli.plots.request import ExperimentRequest, Request, falling
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.paired import USUAL_POWER

_BESIDE = 4.0
"""Pixels that a name may be away from the end of its line."""


def run_lines(
    quiet: style.Rows, strong: style.Rows, names: Sequence[str], x: Any, y: Any
) -> list[Any]:
    """Thin grey lines below those brought out, which have the colours and dashes of `names`."""
    thick = style.chart(strong).mark_line(strokeWidth=2, strokeJoin="round")
    shown = thick.encode(x=x, y=y, color=style.colour_of(names), strokeDash=style.dash_of(names))
    if not quiet:
        return [shown]
    look = {"color": style.QUIET, "strokeWidth": 0.8, "opacity": 0.8, "strokeJoin": "round"}
    thin = style.chart(quiet).mark_line(**look)
    return [thin.encode(x=x, y=y, detail="run:N"), shown]


def end_names(names: Sequence[str], ends: Floats, frame: style.Frame) -> list[Any]:
    """Each name beside the frame, with a thin line from the end of its own where that is away."""
    points = np.column_stack([np.full(len(ends), frame.x[1]), ends])
    true = frame.pixels(points)[:, 1].tolist()
    heights = stacked(true, frame.height)
    rows = [
        {"run": name, "shown": shortened(name), "at": frame.height - height,
         "end": frame.height - own}
        for name, height, own in zip(names, heights, true, strict=True)
    ]  # fmt: skip
    moved = [row for row in rows if abs(row["at"] - row["end"]) > _BESIDE]
    away = 15 if moved else 6
    mark = style.chart(rows).mark_text(align="left", dx=away, fontSize=11, fontWeight="bold")
    y = alt.Y("at:Q", scale=None, axis=None)
    named = mark.encode(x=alt.value(frame.width), y=y, text="shown:N", color=style.colour_of(names))
    if not moved:
        return [named]
    leaders = style.chart(moved).mark_rule(color=style.RULE, strokeWidth=0.7).encode(
        x=alt.value(frame.width + 2), x2=alt.value(frame.width + 13),
        y=alt.Y("end:Q", scale=None, axis=None), y2="at:Q",
    )  # fmt: skip
    return [leaders, named]


def stacked(heights: Sequence[float], top: float) -> list[float]:
    """Heights (in pixels, from 0 to `top`) of labels beside each other's, pushed apart."""
    order = np.argsort(heights, kind="stable").tolist()
    placed = list(heights)
    floor = 0.0
    for index in order:
        placed[index] = max(placed[index], floor)
        floor = placed[index] + style.LINE
    ceiling = max(top, style.LINE * (len(order) - 1))
    for index in reversed(order):
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - style.LINE
    return placed


# A risk measure over alpha: a line a run, and what changes on the way.


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
    rows = request.chosen(len(style.COLOURS), without=own if measure.paired else None)
    if of not in swept.series[0].values:
        raise UsageError(f"{title} takes no score below 0: choose a risk measure with --of")
    alphas, series = swept.series[0].alphas, swept.series[0].values[of]
    ends = float(alphas[0] or 0), float(alphas[-1] or 0)
    y_ends = request.ends_of("y", style.domain(series))
    frame = style.Frame(ends, y_ends, *request.panel(420, 340))
    x = style.on_scale(alt.X, "alpha", "α", frame.x)
    y = style.on_scale(alt.Y, "value", f"{title} of {swept.measure}", frame.y)
    names = [swept.runs[row] for row in rows]
    quiet = [row for row in range(len(swept.runs)) if row not in rows]
    strong, thin = (
        style.line_rows(
            [(swept.runs[row], series[:, row]) for row in some], ("alpha", alphas), "value"
        )
        for some in (rows, quiet)
    )
    layers = _band_of_replicates(request, measure, rows, frame)
    layers += run_lines(thin, strong, names, x, y)
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


def _band_of_replicates(
    request: Request, measure: RiskMeasure, rows: Sequence[int], frame: style.Frame
) -> list[Any]:
    """Down to where replicates alone may bring URisk, of the systems shown the deepest."""
    beside = columns_of(request.matrix, request.comparison, request.options.pool, 1.0)
    if FLOOR not in beside or every_column()[FLOOR].measure != measure.id:
        return []
    known = beside[FLOOR][rows]
    slope = float(np.min(known[~np.isnan(known)], initial=0.0))  # proportional to alpha
    if not slope < 0:
        return []
    ends = [{"alpha": alpha, "floor": slope * alpha, "none": 0.0} for alpha in frame.x]
    x = style.on_scale(alt.X, "alpha", "α", frame.x)
    y = style.on_scale(alt.Y, "floor", None, frame.y)
    band = style.chart(ends).mark_area(color=style.QUIET, opacity=0.35, clip=True)
    named = style.name_of_level("shaded: down to the deepest floor of replicates", 0.0)
    return [band.encode(x=x, y=y, y2="none:Q"), *named]


def _levels(request: Request, measure: RiskMeasure, frame: style.Frame) -> list[Any]:
    """0, and of a t statistic the critical values beyond which a flag stands (SIGIR'14, Fig. 1)."""
    topics = len(request.matrix.topics)
    levels = [(0.0, False)]
    if measure.value_is_t and topics > 1:
        gamma = request.options.significance.gamma
        critical = float(stdtrit(request.comparison.degrees, 1 - gamma / 2))
        levels += [(-critical, True), (critical, True)]
    shown = [(at, dashed) for at, dashed in levels if frame.y[0] < at < frame.y[1]]
    named = [at for at, dashed in shown if dashed][-1:]
    return [
        *(style.rule_at(at, "y", dashed) for at, dashed in shown),
        *(text for at in named for text in style.name_of_level(f"critical value {at:.2f}", at)),
    ]


def _swept(request: Request, of: str) -> Swept:
    ends = (min(request.options.alphas), max(request.options.alphas))
    low, high = ends if request.ranged and ends[0] < ends[1] else (0.0, 20.0)
    grid = tuple(np.linspace(low, high, _POINTS).tolist())
    options = replace(request.options, alphas=grid)
    able = [m.id for m in measures() if m.swaps is not None or m.turns is not None]
    chosen = [of] if of in able else able
    return alpha_sweep(request.matrix, options=options, of=chosen).parts[0]


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
    marks = style.chart(shown).mark_point(**look, opacity=1)
    return [marks.encode(x=x, y=y, shape=shape)]


# The score on every topic, a line a run: the performance profiles of SIGIR'16, Figure 1.


_FEW = 12
_MOST_LINES = 4


def draw_profile(request: Request) -> Any:
    """Topics in their order where they are few, else from the easiest to the hardest."""
    matrix, few = request.matrix, len(request.matrix.topics) <= _FEW
    rows = request.chosen(len(style.COLOURS) if few else _MOST_LINES)
    order = list(range(len(matrix.topics))) if few else falling(matrix.values.mean(axis=0))
    topics = [matrix.topics[index] for index in order]
    along = ("topic", topics)
    low, high = style.domain(matrix.values)
    width, height = request.panel(max(320, min(12 * len(topics), 900)), 260)
    frame = style.Frame((0, len(topics)), (min(low, 0.0), high), width, height)
    title = "topic" if few else "topic, from the highest mean score to the lowest"
    axis = alt.Axis(labelAngle=0 if few else -90, values=style.room_for(topics, width), title=title)
    x = alt.X("topic:N", sort=topics, axis=axis, scale=alt.Scale(padding=0.5))
    y = style.on_scale(alt.Y, "score", matrix.measure, frame.y)
    names = [matrix.runs[row] for row in rows]
    quiet = [row for row in range(len(matrix.runs)) if row not in rows]
    thin, strong = (
        style.line_rows([(matrix.runs[r], matrix.values[r, order]) for r in some], along, "score")
        for some in (quiet, rows)
    )
    layers = run_lines(thin, strong, names, x, y)
    points = style.chart(strong).mark_point(filled=True, size=26, opacity=1)
    layers.append(
        points.encode(x=x, y=y, color=style.colour_of(names), shape=style.shape_of(names))
    )
    layers += end_names(names, matrix.values[rows, order[-1]], frame)
    return alt.layer(*layers).properties(width=width, height=height)


# The smallest loss that a test shows, over the number of topics: `riskeval power` as a figure.


MOST_TOPICS = 1000
COUNTS = tuple(np.unique(np.geomspace(10, MOST_TOPICS, 60).round().astype(int)).tolist())


def draw_power(request: Request) -> Any:
    """A line a share of the pairs of runs, or of those with the baselines named.

    A dashed line stands at the number of topics at hand.
    """
    matrix = request.matrix
    if request.runs:
        raise UsageError("the figure power shows all pairs, or those with --baseline, not --run")
    of = request.one_of([m.id for m in measures() if m.plain_mean or words_of(m).headline])
    found = power_table(
        matrix, of=of, losses=(), counts=COUNTS, alpha=request.alpha, options=request.options
    ).prospects
    names = [f"{share_in_words(prospect.share)} of the pairs" for prospect in found]
    rows = [
        {"run": name, "topics": answer.count, "loss": answer.size}
        for name, prospect in zip(names, found, strict=True)
        for answer in prospect.answers
    ]
    width, height = request.panel(460, 320)
    top = max(float(row["loss"] or 0) for row in rows)
    frame = style.Frame((COUNTS[0], MOST_TOPICS), (0.0, top), width, height)
    ticks = alt.Axis(values=[10, 20, 50, 100, 200, 500, 1000])
    scale = alt.Scale(type="log", domain=list(frame.x), nice=False)
    x = alt.X("topics:Q", title="topics", scale=scale, axis=ticks)
    title = f"smallest loss seen in {USUAL_POWER:.0%} of cases"
    y = style.on_scale(alt.Y, "loss", title, frame.y)
    layers = run_lines([], rows, names, x, y)
    ends = np.array([prospect.answers[-1].size for prospect in found], dtype=float)
    layers += end_names(names, ends, frame)
    at_hand = len(matrix.topics)
    if COUNTS[0] <= at_hand <= MOST_TOPICS:
        layers.append(style.rule_at(at_hand, "x"))
    title = f"{words_of(found[0].of).title} of {matrix.measure}"
    heading = f"{title}, {counted(at_hand, 'topic')} at hand"
    return alt.layer(*layers).properties(width=width, height=height, title=heading)


# What `riskeval train` wrote of its models, tree by tree: SIGIR'12, Figure 4.


FILE = "curve.csv"
FIGURES = {
    "mean": "mean of the measure",
    "risk": "risk: mean loss to the baseline",
    "reward": "reward: mean gain over the baseline",
    "urisk": "URisk at the model's own alpha",
    "trisk": "TRisk at the model's own alpha",
    "georisk": "GeoRisk at the model's own alpha",
}
"""What a curve may show, which is a column of the file, and the axis."""


def draw_curve(request: ExperimentRequest) -> Any:
    """A line a model on the validation queries, the mean over folds and seeds.

    It ends with the tree at which the first of them stopped.
    """
    of = request.one_of(list(FIGURES))
    lines = _means(request.folder / FILE, of)
    names = request.chosen(list(lines), len(style.COLOURS))
    every = np.concatenate([lines[name] for name in names])
    longest = max(len(lines[name]) for name in names)
    frame = style.Frame((0, longest), style.domain(every), *request.panel(520, 330))
    x = style.on_scale(alt.X, "trees", "trees", frame.x)
    y = style.on_scale(alt.Y, "value", FIGURES[of], frame.y)
    quiet = [name for name in lines if name not in names]
    trees = ("trees", range(1, max(map(len, lines.values())) + 1))
    thin, strong = (
        style.line_rows([(name, lines[name]) for name in some], trees, "value")
        for some in (quiet, names)
    )
    layers = run_lines(thin, strong, names, x, y)
    ends = np.array([lines[name][-1] for name in names])
    layers += end_names(names, ends, frame)
    return alt.layer(*layers).properties(width=frame.width, height=frame.height)


def _means(path: Path, column: str) -> dict[str, Floats]:
    """By model, the mean over folds and seeds after each tree that all of them reached."""
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    note_input(path)
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["part"] == "valid":
                    found[row["run"]][row["seed"], row["fold"]].append(float(row[column]))
    except OSError as error:
        message = f"{error.strerror}; expected a folder that `riskeval train` wrote"
        raise InputError(path, "unreadable", message) from error
    except (KeyError, ValueError) as error:
        raise InputError(path, "bad-curve", f"not a curve of riskeval train: {error}") from error
    if not found:
        raise InputError(path, "bad-curve", "no curve of any model is in it")
    return {name: _mean(list(curves.values())) for name, curves in found.items()}


def _mean(curves: Sequence[Sequence[float]]) -> Floats:
    shortest = min(map(len, curves))
    return np.asarray(np.mean([curve[:shortest] for curve in curves], axis=0))
