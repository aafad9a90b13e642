"""Bootstrap replicates of the mean w against the normal: ECIR'20, Figure 3."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from scipy.special import ndtri

from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.plots.bootstrap import mean_replicates
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import COLOURS, RULE, outer_titles, values
from riskcli.risk.losses import PUBLISHED, SmoothPaired
from riskcli.risk.paired import Paired

_REPLICATES = 10_000
_SHOWN = 199


def draw(request: Request) -> Any:
    """A panel a loss: unweighted, losses 1 + alpha times, smooth. On the line is normal."""
    comparison, matrix = request.comparison, request.matrix
    row, *more = request.chosen(1, without=comparison.baseline.own_row)
    if more:
        raise UsageError("qq shows one run: name one with --run")
    scores, baseline = matrix.values[row : row + 1], comparison.baseline.scores
    plain = Paired(scores, baseline)
    alphas = [0.0, *(alpha for alpha in request.options.alphas if alpha)]
    counted = {_title(alpha): plain.weighted(alpha)[0] for alpha in alphas}
    smooth = comparison.smooth or PUBLISHED
    counted["smooth loss"] = SmoothPaired(scores, baseline, smooth).weighted(0.0)[0]
    width, height = request.panel(200, 200)
    columns = 2 if request.narrow or len(counted) in (2, 4) else 3
    outer = outer_titles(len(counted), columns)
    panels = [
        _panel(title, mean_replicates(w, _REPLICATES, request.seed), titled).properties(
            width=width, height=height
        )
        for (title, w), titled in zip(counted.items(), outer, strict=True)
    ]
    against = f"{shortened(matrix.runs[row], 40)} against {shortened(comparison.baseline.name, 40)}"
    title = (
        f"{against}, {matrix.measure}: {_REPLICATES:,} bootstrap replicates, seed {request.seed}"
    )
    return alt.concat(*panels, columns=columns).properties(title=alt.Title(title, offset=14))


def _title(alpha: float) -> str:
    return "no weight on losses" if alpha == 0 else f"losses weighted ×{1 + alpha:g}"


def _panel(title: str, means: Floats, titled: tuple[bool, bool]) -> Any:
    """Quantiles of the replicates over those of the normal, and the line of their mean and SD."""
    places = (np.arange(_SHOWN) + 0.5) / _SHOWN
    normal, found = ndtri(places), np.quantile(means, places)
    rows = [{"normal": float(x), "mean": float(y)} for x, y in zip(normal, found, strict=True)]
    middle, spread = float(means.mean()), float(means.std(ddof=1))
    ends = [{"normal": x, "mean": middle + spread * x} for x in (-2.9, 2.9)]
    x = alt.X("normal:Q", title="standard normal quantile" if titled[0] else None)
    y_title = "mean weighted difference" if titled[1] else None
    y = alt.Y("mean:Q", title=y_title, scale=alt.Scale(zero=False))
    line = alt.Chart(values(ends)).mark_line(color=RULE, strokeWidth=1.2).encode(x=x, y=y)
    dots = alt.Chart(values(rows)).mark_point(color=COLOURS[0], size=12, strokeWidth=1)
    return alt.layer(line, dots.encode(x=x, y=y)).properties(
        title=alt.Title(title, fontSize=12, fontWeight="normal")
    )
