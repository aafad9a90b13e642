"""The terms of URisk in ascending order (ECIR'14, Figure 4): how steep the losses of a run are."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, values

_MOST = 3


def draw(request: Request) -> Any:
    """A panel a run and alpha: runs side by side, alphas below each other, on one scale."""
    comparison = request.comparison
    rows = request.chosen(_MOST, without=comparison.baseline.own_row)
    alphas = request.options.alphas
    columns = min(len(rows), 2 if request.narrow else _MOST)
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
