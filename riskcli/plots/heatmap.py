"""z of every run on every topic: where scores depart from what run and topic lead to expect."""

from typing import Any

import altair as alt
import numpy as np

from riskcli.core.messages import UsageError
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request, falling
from riskcli.plots.style import room_for, values

_MOST = 150
_MOST_SHADED = 0.98
"""The shades reach this quantile of |z|: a single outlier would grey all else."""
_SHADES = ["#08204f", "#3c6fb0", "#adb8c0", "#f2c14e", "#fff0a8"]
"""From below expectation to above; lighter all the way, so that it is told in grey too."""


def draw_heatmap(request: Request) -> Any:
    """Runs by falling ZRisk, topics by falling mean; dark is below expectation, in grey too."""
    comparison, matrix = request.comparison, request.matrix
    if comparison.has_negative:
        raise UsageError("z needs scores of at least 0")
    z = comparison.population.z
    zrisk = comparison.population.zrisk(request.alpha)
    rows = sorted(request.chosen(_MOST), key=lambda row: -float(zrisk[row]))
    columns = falling(matrix.values.mean(axis=0))
    runs = [shortened(matrix.runs[row], 30) for row in rows]
    topics = [matrix.topics[index] for index in columns]
    most = float(np.quantile(np.abs(z[rows]), _MOST_SHADED)) or float(np.abs(z).max()) or 1.0
    width = request.width or max(200, min(13 * len(topics), 1000))
    height = request.height or max(80, min(16 * len(runs), 1100))
    cells = [
        {"run": run, "topic": topic, "z": round(float(z[row, index]), 4)}
        for run, row in zip(runs, rows, strict=True)
        for topic, index in zip(topics, columns, strict=True)
    ]
    axis = alt.Axis(labelAngle=-90, values=room_for(topics, width), labelOverlap=False)
    beyond = float(np.abs(z[rows]).max()) > most
    title = f"z of {matrix.measure}, by ZRisk at α = {request.alpha:g}"
    return (
        alt.Chart(values(cells))
        .mark_rect()
        .encode(
            x=alt.X("topic:N", sort=topics, title="topic, from the highest mean score", axis=axis),
            y=alt.Y("run:N", sort=runs, title=None, axis=alt.Axis(values=room_for(runs, height))),
            color=_shade(most, height, beyond),
            tooltip=["run:N", "topic:N", "z:Q"],
        )
        .properties(width=width, height=height, title=title)
    )


def _shade(most: float, height: int, beyond: bool) -> Any:
    """The shades, and a key that says where they end and whether anything lies beyond."""
    ends = [most * part for part in (-1, -0.5, 0, 0.5, 1)]
    scale = alt.Scale(domain=ends, range=_SHADES, interpolate="lab", clamp=True)
    low, high = (f"≤ −{most:.2g}", f"≥ {most:.2g}") if beyond else (f"−{most:.2g}", f"{most:.2g}")
    legend = alt.Legend(
        title="z",
        gradientLength=min(height, 160),
        values=[ends[0], 0, ends[-1]],
        labelExpr=f"datum.value > 0 ? '{high}' : datum.value < 0 ? '{low}' : '0'",
    )
    return alt.Color("z:Q", scale=scale, legend=legend)
