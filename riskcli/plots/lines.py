"""Lines that bear their names at the right end: shared by the figures in which a run is a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import Frame, shortened, stacked
from riskcli.plots.style import QUIET, RULE, Row, colour_of, dash_of, values

_BESIDE = 4.0
"""Pixels that a name may be away from the end of its line."""


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


def end_names(names: Sequence[str], ends: Floats, frame: Frame) -> list[Any]:
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
    mark = alt.Chart(values(rows)).mark_text(align="left", dx=away, fontSize=11, fontWeight="bold")
    named = mark.encode(
        x=alt.value(frame.width),
        y=alt.Y("at:Q", scale=None, axis=None),
        text="shown:N",
        color=colour_of(names),
    )
    return [*_leaders(moved, frame), named]


def _leaders(rows: Sequence[Row], frame: Frame) -> list[Any]:
    if not rows:
        return []
    mark = alt.Chart(values(rows)).mark_rule(color=RULE, strokeWidth=0.7)
    return [
        mark.encode(
            x=alt.value(frame.width + 2),
            x2=alt.value(frame.width + 13),
            y=alt.Y("end:Q", scale=None, axis=None),
            y2="at:Q",
        )
    ]
