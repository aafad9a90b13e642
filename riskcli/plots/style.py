"""How all figures look: one palette that survives colour-blindness and grey print, one type."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats

Row = Mapping[str, Any]
Rows = Sequence[Row]
Channel = type[alt.X] | type[alt.Y]

COLOURS = ("#288cfc", "#920000", "#0026a3", "#fa6532", "#9588ba", "#610c27", "#c17a77", "#582569")
"""Any two are 32 apart (CIE 1976) as seen by the colour-blind of all three kinds, and 3 : 1 beside
white; dashes and shapes tell the same. tests/plots/test_style.py measures it."""
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [1, 0], [5, 2], [3, 4], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
          "triangle-left")  # fmt: skip
GAIN, LOSS, QUIET, RULE = "#0072b2", "#d55e00", "#8c9096", "#6b6b6b"
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
LABEL_SIZE = 11
LINE = 13.0
"""The height of a line of a name beside its mark."""


def chart(rows: Rows, **more: Any) -> alt.Chart:
    """A chart of the rows; a tuple, for Altair copies lists row by row, many times."""
    return alt.Chart({"values": tuple(dict(row) for row in rows)}, **more)


def line_rows(
    lines: Iterable[tuple[str, Iterable[float]]], along: tuple[str, Sequence[Any]], y: str
) -> list[dict[str, Any]]:
    """A row for each finite value of each run's line, at the places that `along` names and has."""
    x, places = along
    return [
        {"run": name, x: place, y: float(value)}
        for name, line in lines
        for place, value in zip(places, line, strict=False)
        if np.isfinite(value)
    ]


@dataclass(frozen=True)
class Frame:
    """The figure's plane: how data becomes pixels."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float
    height: float

    def pixels(self, points: Floats) -> Floats:
        """Points (rows of x, y) in pixels from the lower left."""
        low = np.array([self.x[0], self.y[0]])
        span = np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])
        return np.asarray((points - low) / span * np.array([self.width, self.height]))


def domain(of: Floats) -> tuple[float, float]:
    """From the least to the greatest finite value, with some room."""
    known = of[np.isfinite(of)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = 0.05 * (high - low or abs(high) or 1.0)
    return low - room, high + room


def finished(chart: Any) -> Any:
    """The chart with the type, grid and paper of all figures."""
    return (
        chart.configure(background="white", font=FONT, padding=8)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=LABEL_SIZE, titleFontSize=12, titleFontWeight="normal",
            labelColor="#222222", titleColor="#111111", gridColor="#e4e4e4",
            domainColor=RULE, tickColor=RULE, labelLimit=220, labelFlush=False,
        )
        .configure_header(labelFontSize=12, labelFontWeight="bold", titleFontSize=12)
        .configure_title(fontSize=13, anchor="start", fontWeight="bold")
        .configure_legend(labelFontSize=LABEL_SIZE, titleFontSize=LABEL_SIZE, labelLimit=260)
    )  # fmt: skip


def on_scale(
    channel: Channel, field: str, title: str | None, ends: Sequence[float], **more: Any
) -> Any:
    """The channel of a number on a scale with exactly these ends."""
    scale = alt.Scale(domain=list(ends), nice=False)
    return channel(f"{field}:Q", title=title, scale=scale, **more)


def room_for(names: Sequence[str], pixels: float) -> list[str]:
    """The names that can be shown along so many pixels: all, or every n-th."""
    return list(names[:: max(1, -(-len(names) * LABEL_SIZE // int(pixels)))])


def topic_axis(
    topics: Sequence[str], width: float, title: str, labelled: bool = True, **more: Any
) -> Any:
    """Topics in their order, named where `labelled`: below the last of several panels."""
    axis = alt.Axis(
        labels=labelled, ticks=labelled, labelAngle=-90, title=title if labelled else None,
        values=room_for(topics, width), labelOverlap=False, **more,
    )  # fmt: skip
    return alt.X("topic:N", sort=list(topics), axis=axis)


def grid(panels: Sequence[Any], columns: int, title: str, offset: int = 10) -> Any:
    """Panels on one scale upwards, below a title of them all."""
    drawn = alt.concat(*panels, columns=columns).resolve_scale(y="shared")
    return drawn.properties(title=alt.Title(title, offset=offset))


def words_at(rows: Rows, place: Mapping[str, Any], **kind: Any) -> list[Any]:
    """The texts of `shown` on a margin of white that parts them from lines below."""
    words, kind = chart(rows), {"fontSize": 10.5, **kind}
    return [
        words.mark_text(**kind, stroke="white", strokeWidth=3, strokeJoin="round").encode(**place),
        words.mark_text(**kind, color="#111111").encode(**place),
    ]


Titles = tuple[str | None, str | None]
"""Below the x axis, and beside the y axis."""


def outer_titles(panels: int, columns: int, below: str, beside: str) -> list[Titles]:
    """The titles of each panel's axes in a grid.

    Below those with none under them, beside those of the first column: the others are the same.
    """
    return [
        (below if i + columns >= panels else None, beside if i % columns == 0 else None)
        for i in range(panels)
    ]


def bars_between(
    rows: Rows, height: str, ends: Sequence[float], titles: Titles, **look: Any
) -> Any:
    """Bars from `low` to `high`, as high as the field `height` says."""
    x = on_scale(alt.X, "low", titles[0], ends, axis=alt.Axis(tickCount=5))
    y = alt.Y(f"{height}:Q", title=titles[1], axis=alt.Axis(tickCount=4), scale=alt.Scale(nice=4))
    bars = chart(rows).mark_bar(stroke="white", strokeWidth=0.6, **look)
    return bars.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0))


def colour_of(names: Sequence[str]) -> Any:
    """A colour a name, in this order, without a legend: names stand beside their marks."""
    return alt.Color("run:N", scale=_one_each(names, COLOURS), legend=None)


def dash_of(names: Sequence[str]) -> Any:
    """A dash a name, in this order."""
    return alt.StrokeDash("run:N", scale=_one_each(names, DASHES), legend=None)


def shape_of(names: Sequence[str]) -> Any:
    """A shape a name, in this order."""
    return alt.Shape("run:N", scale=_one_each(names, SHAPES), legend=None)


def _one_each(names: Sequence[str], looks: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[*islice(cycle(looks), len(names))])


def name_of_level(name: str, value: float) -> list[Any]:
    """What a line across the figure stands for, above its right end, clear of what lies below."""
    place = {"x": alt.value("width"), "y": alt.datum(value), "text": "shown:N"}
    rows = [{"shown": name.replace("-", "−")}]
    return words_at(rows, place, align="right", baseline="bottom", dx=-2, dy=-1)


def rule_at(value: float, axis: str, dashed: bool = True) -> Any:
    """A thin line across the figure at that value of the axis."""
    mark = chart([{"at": value}]).mark_rule(color=RULE, strokeDash=[4, 3] if dashed else [1, 0])
    return mark.encode(**{axis: alt.datum(value)})
