"""How many topics gain and lose how much: the helped-hurt histogram of SIGIR'12, Figure 1."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from riskcli.core.arrays import Floats
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, QUIET, values

_MOST = 8
_TITLES = ("helped", "hurt", "unchanged")


def draw(request: Request) -> Any:
    """A histogram of the differences to the baseline, a panel a run; ties stand apart, at 0."""
    comparison = request.comparison
    rows = request.chosen(_MOST, without=comparison.baseline.own_row)
    delta = comparison.paired.delta[rows]
    step = bin_width(delta)
    reach = step * np.ceil(np.abs(delta).max() / step) if delta.any() else step
    bars = [
        {"run": _title(request, row, one), **bar}
        for row, one in zip(rows, delta, strict=True)
        for bar in histogram(one, step)
    ]
    titles = list(dict.fromkeys(bar["run"] for bar in bars))
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(domain=list(_TITLES), range=[GAIN, LOSS, QUIET]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    ends = alt.Scale(domain=[-float(reach) - step / 2, float(reach) + step / 2], nice=False)
    name = f"difference in {request.matrix.measure} to {shortened(comparison.baseline.name, 40)}"
    return (
        alt.Chart(values(bars))
        .mark_bar(stroke="white", strokeWidth=0.6)
        .encode(
            x=alt.X("low:Q", scale=ends, title="difference", axis=alt.Axis(tickCount=5)),
            x2="high:Q",
            y=alt.Y("topics:Q", title="topics"),
            y2=alt.datum(0),
            color=colour,
        )
        .properties(width=request.width or 190, height=request.height or 120)
        .facet(facet=alt.Facet("run:N", sort=titles, title=None), columns=_columns(len(rows)))
        .properties(title=alt.Title(f"{name}; topics won/tied/lost", offset=12))
    )


def _columns(panels: int) -> int:
    """So many that no panel of the last row is missing, where that can be."""
    return next((columns for columns in (4, 3, 2) if panels % columns == 0), min(panels, 3))


def _title(request: Request, row: int, delta: Floats) -> str:
    won, lost = int((delta > 0).sum()), int((delta < 0).sum())
    name = shortened(request.matrix.runs[row], 18)
    return f"{name}  {won}/{len(delta) - won - lost}/{lost}"


def bin_width(delta: Floats) -> float:
    """A round width that parts the largest difference into about ten."""
    most = float(np.abs(delta).max())
    if most == 0:
        return 0.1
    power = 10.0 ** np.floor(np.log10(most / 10))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power * 10 >= most))


def histogram(delta: Floats, step: float) -> list[dict[str, Any]]:
    """Bars beside a narrow one for ties; a difference on an edge belongs to the bar nearer 0."""
    found: list[dict[str, Any]] = []
    for sign, side in ((1, "helped"), (-1, "hurt")):
        sizes = sign * delta[sign * delta > 0]
        places, counts = np.unique(np.ceil(np.round(sizes / step, 9)), return_counts=True)
        for place, count in zip(places.tolist(), counts.tolist(), strict=True):
            ends = sorted((sign * place * step, sign * (place - 1) * step))
            ends = [end + sign * step / 2 for end in ends]
            found.append({"side": side, "low": ends[0], "high": ends[1], "topics": count})
    ties = int((delta == 0).sum())
    bar = {"side": "unchanged", "low": -step / 2, "high": step / 2, "topics": ties}
    return [*found, bar] if ties else found
