"""How alike the linear and the smooth loss rank runs (ECIR'20, Figure 4): RBO by number of runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from riskcli.analyses.rank_agreement import rank_biased_overlap
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.output.measure_words import words_of
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, values
from riskcli.risk.comparison import Comparison
from riskcli.risk.losses import PUBLISHED
from riskcli.risk.measures import measures

PERSISTENCE = 0.9
_MOST_SIZES = 10


def draw(request: Request) -> Any:
    """A panel a risk measure: from the least RBO that is sure to the most that is possible."""
    comparison = request.comparison
    if len(comparison.scores) < 3:
        raise UsageError("rbo needs three runs or more")
    if comparison.has_negative:
        raise UsageError("rbo needs scores of at least 0")
    smooth = replace(comparison, smooth=comparison.smooth or PUBLISHED)
    linear = replace(comparison, smooth=None)
    shown = [measure for measure in measures() if measure.depends_on_alpha]
    width, height = request.panel(150, 180)
    panels = []
    columns = 2 if request.narrow else len(shown)
    for index, measure in enumerate(shown):
        orders = [
            _best_first(measure.values(each, request.alpha), each) for each in (linear, smooth)
        ]
        bars = _bars(orders[0], orders[1])
        panel = _panel(bars, words_of(measure).title, index % columns == 0)
        panels.append(panel.properties(width=width, height=height))
    title = f"RBO (p = {PERSISTENCE:g}) of linear (α = {request.alpha:g}) and smooth loss"
    drawn = alt.concat(*panels, columns=columns)
    return drawn.resolve_scale(y="shared").properties(title=alt.Title(title, offset=10))


def _best_first(values_: Floats, comparison: Comparison) -> list[int]:
    """The runs from the least risky, without the baseline itself."""
    order: list[int] = np.argsort(-values_, kind="stable").tolist()
    return [row for row in order if row != comparison.baseline.own_row]


def _bars(one: list[int], other: list[int]) -> list[dict[str, Any]]:
    sizes = np.unique(np.linspace(2, len(one), _MOST_SIZES).round().astype(int)).tolist()
    found = []
    for size in sizes:
        overlap = rank_biased_overlap(one[:size], other[:size], PERSISTENCE)
        least = overlap.least
        found.append({"runs": size, "least": least, "most": least + overlap.residual})
    return found


def _panel(bars: list[dict[str, Any]], title: str, first: bool) -> Any:
    whole = alt.Chart(values(bars), title=alt.Title(title, fontSize=12))
    x = alt.X("runs:O", title="runs", axis=alt.Axis(labelAngle=0))
    y = alt.Y(
        "least:Q",
        title="RBO" if first else None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(tickCount=5),
    )
    return whole.mark_bar(width={"band": 0.7}, color=COLOURS[0]).encode(x=x, y=y, y2="most:Q")
