"""The score on every topic, a line a run: the performance profiles of SIGIR'16, Figure 1."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from riskcli.report.plots.labels import Frame, domain, shortened, stacked
from riskcli.report.plots.request import Request
from riskcli.report.plots.style import (
    MOST_COLOURS,
    QUIET,
    SHAPES,
    colour_of,
    dash_of,
    values,
)

_FEW = 12


def draw(request: Request) -> Any:
    """Topics in their order where they are few, else from the easiest to the hardest."""
    matrix = request.matrix
    rows = request.chosen(4 if len(matrix.topics) > _FEW else MOST_COLOURS)
    order = list(range(len(matrix.topics)))
    if len(order) > _FEW:
        order = np.argsort(-matrix.values.mean(axis=0), kind="stable").tolist()
    topics = [matrix.topics[place] for place in order]
    width = request.width or max(320, min(12 * len(topics), 900))
    height = request.height or 260
    scores = matrix.values[:, order]
    low, high = domain(scores)
    frame = Frame((0, len(topics)), (min(low, 0.0), high), width, height)
    every = max(1, -(-len(topics) * 10 // int(width)))
    title = "topic" if len(topics) <= _FEW else "topic, from the highest mean score to the lowest"
    axis = alt.Axis(
        labelAngle=-90 if len(topics) > _FEW else 0, values=topics[::every], title=title
    )
    x = alt.X("topic:N", sort=topics, axis=axis, scale=alt.Scale(padding=0.5))
    y = alt.Y("score:Q", title=matrix.measure, scale=alt.Scale(domain=list(frame.y), nice=False))
    quiet = [row for row in range(len(matrix.runs)) if row not in rows]
    names = [matrix.runs[row] for row in rows]

    def lines(chosen: list[int]) -> Any:
        return alt.Chart(values([
            {"run": matrix.runs[row], "topic": topic, "score": float(score)}
            for row in chosen
            for topic, score in zip(topics, scores[row], strict=True)
        ]))  # fmt: skip

    heights = frame.pixels(np.column_stack([np.zeros(len(rows)), scores[rows, -1]]))[:, 1]
    ends = stacked(heights.tolist(), frame.height)
    shown = [
        {"run": name, "shown": shortened(name), "y": frame.height - end}
        for name, end in zip(names, ends, strict=True)
    ]
    shape = alt.Shape(
        "run:N",
        scale=alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))]),
        legend=None,
    )
    layers: list[Any] = []
    if quiet:
        thin = lines(quiet).mark_line(color=QUIET, strokeWidth=0.7, opacity=0.7, strokeJoin="round")
        layers.append(thin.encode(x=x, y=y, detail="run:N"))
    strong = lines(rows)
    layers += [
        strong.mark_line(strokeWidth=1.8, strokeJoin="round").encode(
            x=x, y=y, color=colour_of(names), strokeDash=dash_of(names)
        ),
        strong.mark_point(filled=True, size=26, opacity=1).encode(
            x=x, y=y, color=colour_of(names), shape=shape
        ),
        alt.Chart(values(shown))
        .mark_text(align="left", dx=4, fontSize=11, fontWeight="bold")
        .encode(
            x=alt.value(width), y=alt.Y("y:Q", scale=None, axis=None), text="shown:N",
            color=colour_of(names),
        ),
    ]  # fmt: skip
    return alt.layer(*layers).properties(width=width, height=height)
