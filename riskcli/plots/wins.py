"""How many topics gain and lose how much: the helped-hurt histogram of SIGIR'12, Figure 1."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, outer_titles, values

_MOST = 8
_COLOURS = {"helped": GAIN, "hurt": LOSS}


def draw_wins(request: Request) -> Any:
    """A histogram of the differences to the baseline, a panel a run; ties are told in its title."""
    comparison = request.comparison
    rows = request.chosen(_MOST, without=comparison.baseline.own_row)
    delta = comparison.paired.delta[rows]
    step = bin_width(delta)
    reach = step * np.ceil(np.abs(delta).max() / step) if delta.any() else step
    width, height = request.panel(190, 120)
    columns = _columns(len(rows), request)
    outer = outer_titles(len(rows), columns)
    panels = [
        _panel(one, step, float(reach), _title(request, row, one), titled).properties(
            width=width, height=height
        )
        for row, one, titled in zip(rows, delta, outer, strict=True)
    ]
    name = f"difference in {request.matrix.measure} to {shortened(comparison.baseline.name, 40)}"
    drawn = alt.concat(*panels, columns=columns).resolve_scale(y="shared")
    return drawn.properties(title=alt.Title(f"{name}; topics won/tied/lost", offset=12))


def _panel(
    delta: Floats, step: float, reach: float, title: list[str], titled: tuple[bool, bool]
) -> Any:
    bars = histogram(delta, step)
    sides = [side for side in _COLOURS if any(bar["side"] == side for bar in bars)]
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
        legend=alt.Legend(title=None, orient="bottom", values=sides) if sides else None,
    )
    ends = alt.Scale(domain=[-reach, reach], nice=False)
    x_title, y_title = "difference" if titled[0] else None, "topics" if titled[1] else None
    x = alt.X("low:Q", scale=ends, title=x_title, axis=alt.Axis(tickCount=5))
    y = alt.Y("topics:Q", title=y_title, axis=alt.Axis(tickCount=4), scale=alt.Scale(nice=4))
    mark = alt.Chart(values(bars)).mark_bar(stroke="white", strokeWidth=0.6, binSpacing=0)
    drawn = mark.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), color=colour)
    return drawn.properties(title=alt.Title(title, fontSize=12, anchor="middle"))


def _columns(panels: int, request: Request) -> int:
    """So many that no panel of the last row is missing, where that can be; two in a column."""
    if request.narrow:
        return min(panels, 2)
    return next((columns for columns in (4, 3, 2) if panels % columns == 0), min(panels, 3))


def _title(request: Request, row: int, delta: Floats) -> list[str]:
    won, lost = int((delta > 0).sum()), int((delta < 0).sum())
    name = shortened(request.matrix.runs[row], 18)
    return [name, f"{won}/{len(delta) - won - lost}/{lost}"]


def bin_width(delta: Floats) -> float:
    """A round width that parts the largest difference into about ten."""
    most = float(np.abs(delta).max())
    if most == 0:
        return 0.1
    power = 10.0 ** np.floor(np.log10(most / 10))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power * 10 >= most))


def histogram(delta: Floats, step: float) -> list[dict[str, Any]]:
    """A bar for each bin between its edges; what lies on an edge belongs to the bar nearer 0.

    Ties have no bar: they are no difference of any size.
    """
    found: list[dict[str, Any]] = []
    for sign, side in ((1, "helped"), (-1, "hurt")):
        sizes = sign * delta[sign * delta > 0]
        bins, counts = np.unique(np.ceil(np.round(sizes / step, 9)), return_counts=True)
        for number, count in zip(bins.tolist(), counts.tolist(), strict=True):
            low, high = sorted((sign * number * step, sign * (number - 1) * step))
            found.append({"side": side, "low": low, "high": high, "topics": count})
    return found
