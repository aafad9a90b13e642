"""The score on every topic, a line a run: the performance profiles of SIGIR'16, Figure 1."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from riskcli.plots.labels import Frame, domain, end_names, run_lines
from riskcli.plots.request import Request, falling
from riskcli.plots.style import MOST_COLOURS, colour_of, on_scale, room_for, shape_of, values
from riskcli.scores.matrix import ScoreMatrix

_FEW = 12
_MOST_LINES = 4


def draw_profile(request: Request) -> Any:
    """Topics in their order where they are few, else from the easiest to the hardest."""
    matrix, few = request.matrix, len(request.matrix.topics) <= _FEW
    rows = request.chosen(MOST_COLOURS if few else _MOST_LINES)
    order = list(range(len(matrix.topics))) if few else falling(matrix.values.mean(axis=0))
    topics = [matrix.topics[index] for index in order]
    low, high = domain(matrix.values)
    width, height = request.panel(max(320, min(12 * len(topics), 900)), 260)
    frame = Frame((0, len(topics)), (min(low, 0.0), high), width, height)
    title = "topic" if few else "topic, from the highest mean score to the lowest"
    axis = alt.Axis(labelAngle=0 if few else -90, values=room_for(topics, width), title=title)
    x = alt.X("topic:N", sort=topics, axis=axis, scale=alt.Scale(padding=0.5))
    y = on_scale(alt.Y, "score", matrix.measure, frame.y)
    names = [matrix.runs[row] for row in rows]
    quiet = [row for row in range(len(matrix.runs)) if row not in rows]
    strong = _scores(matrix, rows, order)
    layers = run_lines(_scores(matrix, quiet, order), strong, names, x, y)
    points = alt.Chart(values(strong)).mark_point(filled=True, size=26, opacity=1)
    layers.append(points.encode(x=x, y=y, color=colour_of(names), shape=shape_of(names)))
    layers += end_names(names, matrix.values[rows, order[-1]], frame)
    return alt.layer(*layers).properties(width=width, height=height)


def _scores(matrix: ScoreMatrix, rows: Sequence[int], order: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {"run": matrix.runs[row], "topic": matrix.topics[index],
         "score": float(matrix.values[row, index])}
        for row in rows for index in order
    ]  # fmt: skip
