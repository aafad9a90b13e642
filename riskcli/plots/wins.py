"""How many topics gain and lose how much: the helped-hurt histogram of SIGIR'12, Figure 1."""

from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, Titles, bars_between, grid, outer_titles

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
    panels = [
        _panel(one, step, float(reach), titles).properties(
            width=width, height=height,
            title=alt.Title(_title(request, row, one), fontSize=12, anchor="middle"),
        )
        for row, one, titles in zip(
            rows, delta, outer_titles(len(rows), columns, "difference", "topics"), strict=True
        )
    ]  # fmt: skip
    name = f"difference in {request.matrix.measure} to {shortened(comparison.baseline.name, 40)}"
    return grid(panels, columns, f"{name}; topics won/tied/lost", offset=12)


def _panel(delta: Floats, step: float, reach: float, titles: Titles) -> Any:
    bars = histogram(delta, step)
    sides = [side for side in _COLOURS if any(bar["side"] == side for bar in bars)]
    legend = alt.Legend(title=None, orient="bottom", values=sides) if sides else None
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    colour = alt.Color("side:N", scale=scale, legend=legend)
    drawn = bars_between(bars, "topics", [-reach, reach], titles, binSpacing=0)
    return drawn.encode(color=colour)


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
