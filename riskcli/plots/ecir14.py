"""Figures of ECIR'14: principal axes, two runs against each other, ordered terms of URisk."""

from itertools import permutations
from typing import Any

import altair as alt
import numpy as np

from riskcli.analyses.baseline_bias import VIRTUAL_BASELINES, principal_components
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.plots.labels import kinds_of, named_points, same_scale, shortened, sized
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, RULE, colour_of, grid, shape_of, topic_axis, values
from riskcli.risk.comparison import VIRTUAL
from riskcli.risk.paired import Paired

_MOST_LOSSES = 3


def draw_losses(request: Request) -> Any:
    """A panel a run and alpha: runs side by side, alphas below each other, on one scale."""
    comparison = request.comparison
    rows = request.chosen(_MOST_LOSSES, without=comparison.baseline.own_row)
    columns = min(len(rows), 2 if request.narrow else _MOST_LOSSES)
    width, height = request.panel(230, 110)
    panels = []
    for alpha in request.options.alphas:
        terms = comparison.paired.weighted(alpha)
        for row in rows:
            bars = [{"place": i, "w": w} for i, w in enumerate(np.sort(terms[row]).tolist(), 1)]
            name = f"{shortened(request.matrix.runs[row], 24)}, α = {alpha:g}"
            drawn = _terms(bars, name).encode(x=alt.X("place:O", axis=None))
            panels.append(drawn.properties(width=width, height=height))
    against = shortened(comparison.baseline.name, 40)
    title = f"{request.matrix.measure}: terms of URisk against {against}, topics in ascending order"
    return grid(panels, columns, title)


def _terms(bars: list[dict[str, Any]], title: str) -> Any:
    """The terms of URisk as bars, gains and losses in their colours."""
    colour = alt.condition(alt.datum.w < 0, alt.value(LOSS), alt.value(GAIN))
    y = alt.Y("w:Q", title="w", axis=alt.Axis(tickCount=4))
    chart = alt.Chart(values(bars), title=alt.Title(title, fontSize=12))
    return chart.mark_bar().encode(y=y, color=colour)


# Two runs against each other (ECIR'14, Figure 3): scores, and what each loses to the other.


def draw_pair(request: Request) -> Any:
    """Per-topic scores of both runs, and URisk's terms with either as the baseline of the other."""
    matrix = request.matrix
    own = request.comparison.baseline.own_row
    rows = request.chosen(2 if own is None else 1, without=None if request.runs else own)
    if len(rows) == 1 and own is not None and own != rows[0]:
        rows = [*rows, own]
    if len(rows) != 2:
        raise UsageError("this figure shows two runs: name two with --run, or one and --baseline")
    second = matrix.values[rows[1]]
    order = sorted(range(len(matrix.topics)), key=lambda q: -float(second[q]))
    topics = [matrix.topics[q] for q in order]
    names = [shortened(matrix.runs[row], 24) for row in rows]
    width, height = request.panel(max(320, min(12 * len(topics), 900)), 120)
    panels = [_scores(matrix.values[rows][:, order], names, topics, matrix.measure)]
    for (row, name), (base, other) in permutations(zip(rows, names, strict=True)):
        paired = Paired(matrix.values[[row]], matrix.values[base])
        terms = paired.weighted(request.alpha)[0][order].tolist()
        bars = [{"topic": topic, "w": w} for topic, w in zip(topics, terms, strict=True)]
        title = f"{name}, baseline {other}: terms of URisk, α = {request.alpha:g}"
        panels.append(_terms(bars, title))
    by = f"topic, by falling score of {names[1]}"
    axes = (topic_axis(topics, width, by, panel is panels[-1]) for panel in panels)
    placed = [panel.encode(x=x).properties(width=width, height=height)
              for panel, x in zip(panels, axes, strict=True)]  # fmt: skip
    return alt.vconcat(*placed).resolve_scale(color="independent", shape="independent")


def _scores(scores: Floats, names: list[str], topics: list[str], measure: str) -> Any:
    rows = [
        {"run": name, "topic": topic, "score": float(score)}
        for name, line in zip(names, scores, strict=True)
        for topic, score in zip(topics, line, strict=True)
    ]
    legend = alt.Legend(title=None, orient="top")
    colour, shape = (each(names) for each in (colour_of, shape_of))
    for channel in (colour, shape):
        channel["legend"] = legend
    y = alt.Y("score:Q", title=measure, axis=alt.Axis(tickCount=4))
    mark = alt.Chart(values(rows)).mark_point(filled=True, size=34, opacity=1)
    return mark.encode(y=y, color=colour, shape=shape)


# Runs as points on the two axes on which they differ most: ECIR'14, Figures 1 and 2.


def draw_pca(request: Request) -> Any:
    """The runs, and the virtual baselines among them (@mean at the origin)."""
    matrix = request.matrix
    if len(matrix.runs) < 3 or len(matrix.topics) < 2:
        raise UsageError("this figure needs three runs and two topics or more")
    virtual = np.array([VIRTUAL[name](matrix.values) for name in VIRTUAL_BASELINES])
    found = principal_components(matrix.values, virtual, 2)
    if found.coordinates.shape[1] < 2:
        raise UsageError("the runs differ on no two axes")
    names = [*matrix.runs, *VIRTUAL_BASELINES]
    kinds = kinds_of(request, request.comparison.baseline.members)
    kinds += ["virtual"] * len(VIRTUAL_BASELINES)
    points = found.coordinates
    frame = same_scale(points, *sized(request))
    titles = [
        f"principal component {place + 1} ({100 * share:.0f} % of the variance)"
        for place, share in enumerate(found.explained[:2])
    ]
    rule = alt.Chart(values([{}])).mark_rule(color=RULE, strokeWidth=0.6, strokeDash=[2, 3])
    cross = [rule.encode(**{axis: alt.datum(0)}) for axis in ("x", "y")]
    layers = named_points(request, names, kinds, points, frame, titles[0], titles[1])
    return alt.layer(*cross, *layers).properties(
        width=frame.width, height=frame.height, title=f"{matrix.measure}, profiles over topics"
    )
