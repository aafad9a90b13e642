"""Runs as points on the two axes on which they differ most: ECIR'14, Figures 1 and 2."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from riskcli.analyses.baseline_bias import VIRTUAL_BASELINES, principal_components
from riskcli.core.messages import UsageError
from riskcli.plots.request import Request
from riskcli.plots.scatter import kinds_of, named_points, same_scale, sized
from riskcli.plots.style import RULE, values
from riskcli.risk.baselines import VIRTUAL


def draw(request: Request) -> Any:
    """The runs, and the virtual baselines among them (@mean at the origin)."""
    matrix = request.matrix
    if len(matrix.runs) < 3 or len(matrix.topics) < 2:
        raise UsageError("pca needs three runs and two topics or more")
    virtual = np.array([VIRTUAL[name](matrix.values) for name in VIRTUAL_BASELINES])
    found = principal_components(matrix.values, virtual, 2)
    if found.coordinates.shape[1] < 2:
        raise UsageError("the runs differ on no two axes")
    names = [*matrix.runs, *VIRTUAL_BASELINES]
    kinds = [*kinds_of(request, request.comparison.baseline.members)]
    kinds += ["virtual"] * len(VIRTUAL_BASELINES)
    points = found.coordinates
    frame = same_scale(points, *sized(request))
    titles = [
        f"principal component {place + 1} ({100 * share:.0f} % of the variance)"
        for place, share in enumerate(found.explained[:2])
    ]
    cross = [
        alt.Chart(values([{}]))
        .mark_rule(color=RULE, strokeWidth=0.6, strokeDash=[2, 3])
        .encode(**{axis: alt.datum(0)})
        for axis in ("x", "y")
    ]
    layers = named_points(request, names, kinds, points, frame, titles[0], titles[1])
    return alt.layer(*cross, *layers).properties(
        width=frame.width, height=frame.height, title=f"{matrix.measure}, profiles over topics"
    )
