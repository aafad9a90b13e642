"""Two runs against each other (ECIR'14, Figure 3): scores, and what each loses to the other."""

from __future__ import annotations

from typing import Any

import altair as alt

from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, GAIN, LOSS, SHAPES, values
from riskcli.risk.paired import Paired


def draw(request: Request) -> Any:
    """Per-topic scores of both runs, and URisk's terms with either as the baseline of the other."""
    matrix = request.matrix
    own = request.comparison.baseline.own_row
    rows = request.chosen(2 if own is None else 1, without=None if request.runs else own)
    if len(rows) == 1 and own is not None and own != rows[0]:
        rows = [*rows, own]
    if len(rows) != 2:
        raise UsageError("pair shows two runs: name two with --run, or one and --baseline")
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
