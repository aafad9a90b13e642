"""Lines that bear their names at the right end: shared by the figures in which a run is a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import Frame, shortened, stacked
from riskcli.plots.style import QUIET, Row, colour_of, dash_of, values


def run_lines(
    quiet: Sequence[Row], strong: Sequence[Row], names: Sequence[str], x: Any, y: Any
) -> list[Any]:
    """Thin grey lines below those brought out, which have the colours and dashes of `names`."""
    layers: list[Any] = []
    if quiet:
        thin = alt.Chart(values(quiet)).mark_line(
            color=QUIET, strokeWidth=0.8, opacity=0.8, strokeJoin="round"
        )
        layers.append(thin.encode(x=x, y=y, detail="run:N"))
    thick = alt.Chart(values(strong)).mark_line(strokeWidth=2, strokeJoin="round")
    colours, dashes = colour_of(names), dash_of(names)
    return [*layers, thick.encode(x=x, y=y, color=colours, strokeDash=dashes)]


def end_names(names: Sequence[str], ends: Floats, frame: Frame) -> Any:
    """Each name beside the frame, near the end of its line."""
    points = np.column_stack([np.full(len(ends), frame.x[1]), ends])
    heights = stacked(frame.pixels(points)[:, 1].tolist(), frame.height)
    rows = [
        {"run": name, "shown": shortened(name), "at": frame.height - height}
        for name, height in zip(names, heights, strict=True)
    ]
    mark = alt.Chart(values(rows)).mark_text(align="left", dx=6, fontSize=11, fontWeight="bold")
    return mark.encode(
        x=alt.value(frame.width),
        y=alt.Y("at:Q", scale=None, axis=None),
        text="shown:N",
        color=colour_of(names),
    )
