"""How all figures look: one palette that survives colour-blindness and grey print, one type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

Row = Mapping[str, Any]

COLOURS = ("#288cfc", "#920000", "#0026a3", "#fa6532", "#9588ba", "#610c27", "#c17a77", "#582569")
"""Any two are 32 apart (CIE 1976) as seen by the colour-blind of all three kinds, and 3 : 1 beside
white; dashes and shapes tell the same. tests/plots/test_style.py measures it."""
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [1, 0], [5, 2], [3, 4], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
          "triangle-left")  # fmt: skip
GAIN, LOSS, QUIET, RULE = "#0072b2", "#d55e00", "#8c9096", "#6b6b6b"
MOST_COLOURS = len(COLOURS)
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
LABEL_SIZE = 11


def values(rows: Sequence[Row]) -> Any:
    """The rows as the data of a chart; a tuple, for Altair copies lists row by row, many times."""
    return {"values": tuple(dict(row) for row in rows)}


def finished(chart: Any) -> Any:
    """The chart with the type, grid and paper of all figures."""
    return (
        chart.configure(background="white", font=FONT, padding=8)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=LABEL_SIZE,
            titleFontSize=12,
            titleFontWeight="normal",
            labelColor="#222222",
            titleColor="#111111",
            gridColor="#e4e4e4",
            domainColor=RULE,
            tickColor=RULE,
            labelLimit=220,
            labelFlush=False,
        )
        .configure_header(labelFontSize=12, labelFontWeight="bold", titleFontSize=12)
        .configure_title(fontSize=13, anchor="start", fontWeight="bold")
        .configure_legend(labelFontSize=LABEL_SIZE, titleFontSize=LABEL_SIZE, labelLimit=260)
    )


def outer_titles(panels: int, columns: int) -> list[tuple[bool, bool]]:
    """Whether each panel of a grid has a title below its x axis and beside its y axis.

    Below those with none under them, beside those of the first column: the others are the same.
    """
    return [(index + columns >= panels, index % columns == 0) for index in range(panels)]


def colour_of(names: Sequence[str]) -> Any:
    """A colour a name, in this order, without a legend: names stand beside their marks."""
    shades = [COLOURS[index % MOST_COLOURS] for index in range(len(names))]
    return alt.Color("run:N", scale=alt.Scale(domain=list(names), range=shades), legend=None)


def dash_of(names: Sequence[str]) -> Any:
    """A dash a name, in this order."""
    dashes = [DASHES[index % len(DASHES)] for index in range(len(names))]
    return alt.StrokeDash("run:N", scale=alt.Scale(domain=list(names), range=dashes), legend=None)


def name_of_level(name: str, value: float) -> list[Any]:
    """What a line across the figure stands for, above its right end, clear of what lies below."""
    chart = alt.Chart(values([{"shown": name.replace("-", "−")}]))
    place = {"x": alt.value("width"), "y": alt.datum(value), "text": "shown:N"}
    kind = {"align": "right", "baseline": "bottom", "fontSize": 10.5, "dx": -2, "dy": -1}
    return [
        chart.mark_text(**kind, stroke="white", strokeWidth=3, strokeJoin="round").encode(**place),
        chart.mark_text(**kind, color="#111111").encode(**place),
    ]


def rule_at(value: float, axis: str, dashed: bool = True) -> Any:
    """A thin line across the figure at that value of the axis."""
    mark = alt.Chart(values([{"at": value}])).mark_rule(
        color=RULE, strokeDash=[4, 3] if dashed else [1, 0]
    )
    return mark.encode(**{axis: alt.datum(value)})
