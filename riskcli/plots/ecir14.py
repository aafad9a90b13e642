"""Figures of ECIR'14: principal axes, two runs against each other, ordered terms of URisk."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from riskcli.analyses.baseline_bias import VIRTUAL_BASELINES, principal_components
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.plots.labels import kinds_of, named_points, same_scale, shortened, sized
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, GAIN, LOSS, RULE, SHAPES, values
from riskcli.risk.baselines import VIRTUAL
from riskcli.risk.paired import Paired

_MOST_LOSSES = 3


def draw_losses(request: Request) -> Any:
    """A panel a run and alpha: runs side by side, alphas below each other, on one scale."""
    comparison = request.comparison
    rows = request.chosen(_MOST_LOSSES, without=comparison.baseline.own_row)
    alphas = request.options.alphas
    columns = min(len(rows), 2 if request.narrow else _MOST_LOSSES)
    width, height = request.panel(230, 110)
    panels = []
    for alpha in alphas:
        terms = comparison.paired.weighted(alpha)
        for row in rows:
            ordered = np.sort(terms[row]).tolist()
            bars = [{"place": index + 1, "w": w} for index, w in enumerate(ordered)]
            name = f"{shortened(request.matrix.runs[row], 24)}, α = {alpha:g}"
            panels.append(
                alt.Chart(values(bars), title=alt.Title(name, fontSize=12))
                .mark_bar()
                .encode(
                    x=alt.X("place:O", axis=None),
                    y=alt.Y("w:Q", title="w", axis=alt.Axis(tickCount=4)),
                    color=alt.condition(alt.datum.w < 0, alt.value(LOSS), alt.value(GAIN)),
                )
                .properties(width=width, height=height)
            )
    against = shortened(comparison.baseline.name, 40)
    title = f"{request.matrix.measure}: terms of URisk against {against}, topics in ascending order"
    drawn = alt.concat(*panels, columns=columns).resolve_scale(y="shared")
    return drawn.properties(title=alt.Title(title, offset=10))


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
    panels = [
        _scores(matrix.values[rows][:, order], names, topics, matrix.measure),
        *(
            _terms(
                Paired(matrix.values[[row]], matrix.values[base]).weighted(request.alpha)[0][order],
                topics,
                title,
            )
            for row, base, title in _both_ways(request, rows, names)
        ),
    ]
    last = len(panels) - 1
    return alt.vconcat(
        *(
            panel.encode(x=_axis(topics, width, index == last, names[1])).properties(
                width=width, height=height
            )
            for index, panel in enumerate(panels)
        )
    ).resolve_scale(color="independent", shape="independent")


def _both_ways(request: Request, rows: list[int], names: list[str]) -> list[tuple[int, int, str]]:
    """Each run with the other as its baseline, and what its panel is called."""
    counting = f"terms of URisk, α = {request.alpha:g}"
    return [
        (rows[0], rows[1], f"{names[0]}, baseline {names[1]}: {counting}"),
        (rows[1], rows[0], f"{names[1]}, baseline {names[0]}: {counting}"),
    ]


def _axis(topics: list[str], width: float, labelled: bool, by: str) -> Any:
    every = max(1, -(-len(topics) * 11 // int(width)))
    axis = alt.Axis(
        labels=labelled, ticks=labelled, labelAngle=-90, values=topics[::every], labelOverlap=False,
        title=f"topic, by falling score of {by}" if labelled else None,
    )  # fmt: skip
    return alt.X("topic:N", sort=topics, axis=axis)


def _scores(scores: Floats, names: list[str], topics: list[str], measure: str) -> Any:
    rows = [
        {"run": name, "topic": topic, "score": float(score)}
        for name, line in zip(names, scores, strict=True)
        for topic, score in zip(topics, line, strict=True)
    ]
    colour = alt.Scale(domain=names, range=list(COLOURS[:2]))
    shape = alt.Scale(domain=names, range=list(SHAPES[:2]))
    legend = alt.Legend(title=None, orient="top")
    return (
        alt.Chart(values(rows))
        .mark_point(filled=True, size=34, opacity=1)
        .encode(
            y=alt.Y("score:Q", title=measure, axis=alt.Axis(tickCount=4)),
            color=alt.Color("run:N", scale=colour, legend=legend),
            shape=alt.Shape("run:N", scale=shape, legend=legend),
        )
    )


def _terms(weighted: Floats, topics: list[str], title: str) -> Any:
    rows = [{"topic": t, "w": float(w)} for t, w in zip(topics, weighted, strict=True)]
    colour = alt.condition(alt.datum.w < 0, alt.value(LOSS), alt.value(GAIN))
    y = alt.Y("w:Q", title="w", axis=alt.Axis(tickCount=4))
    chart = alt.Chart(values(rows), title=alt.Title(title, fontSize=12))
    return chart.mark_bar().encode(y=y, color=colour)


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
    kinds = [*kinds_of(request, request.comparison.baseline.members)]
    kinds += ["virtual"] * len(VIRTUAL_BASELINES)
    points = found.coordinates
    frame = same_scale(points, *sized(request))
    titles = [
        f"principal component {place + 1} ({100 * share:.0f} % of the variance)"
        for place, share in enumerate(found.explained[:2])
    ]
    cross = [
        alt.Chart(values([{}]))
        .mark_rule(color=RULE, strokeWidth=0.6, strokeDash=[2, 3])
        .encode(**{axis: alt.datum(0)})
        for axis in ("x", "y")
    ]
    layers = named_points(request, names, kinds, points, frame, titles[0], titles[1])
    return alt.layer(*cross, *layers).properties(
        width=frame.width, height=frame.height, title=f"{matrix.measure}, profiles over topics"
    )
