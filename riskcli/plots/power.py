"""The smallest loss that a test shows, over the number of topics: `riskeval power` as a figure."""

from typing import Any

import altair as alt
import numpy as np

from riskcli.analyses.power import Prospect, power_table, share_in_words
from riskcli.core.messages import UsageError, counted
from riskcli.output.measure_words import words_of
from riskcli.plots.labels import Frame, end_names, run_lines
from riskcli.plots.request import Request
from riskcli.plots.style import on_scale, rule_at
from riskcli.risk.measures import measures
from riskcli.risk.paired import USUAL_POWER

MOST_TOPICS = 1000
COUNTS = tuple(np.unique(np.geomspace(10, MOST_TOPICS, 60).round().astype(int)).tolist())


def draw_power(request: Request) -> Any:
    """A line a share of the pairs of runs; a dashed one at the number of topics at hand."""
    found = shown(request)
    names = [f"{share_in_words(prospect.share)} of the pairs" for prospect in found]
    rows = [
        {"run": name, "topics": answer.count, "loss": answer.size}
        for name, prospect in zip(names, found, strict=True)
        for answer in prospect.answers
    ]
    width, height = request.panel(460, 320)
    top = max(float(row["loss"] or 0) for row in rows)
    frame = Frame((COUNTS[0], MOST_TOPICS), (0.0, top), width, height)
    ticks = alt.Axis(values=[10, 20, 50, 100, 200, 500, 1000])
    scale = alt.Scale(type="log", domain=list(frame.x), nice=False)
    x = alt.X("topics:Q", title="topics", scale=scale, axis=ticks)
    title = f"smallest loss seen in {USUAL_POWER:.0%} of cases"
    y = on_scale(alt.Y, "loss", title, frame.y)
    layers = run_lines([], rows, names, x, y)
    ends = np.array([prospect.answers[-1].size for prospect in found], dtype=float)
    layers += end_names(names, ends, frame)
    at_hand = len(request.matrix.topics)
    if COUNTS[0] <= at_hand <= MOST_TOPICS:
        layers.append(rule_at(at_hand, "x"))
    title = f"{words_of(found[0].of).title} of {request.matrix.measure}"
    heading = f"{title}, {counted(at_hand, 'topic')} at hand"
    return alt.layer(*layers).properties(width=width, height=height, title=heading)


def shown(request: Request) -> tuple[Prospect, ...]:
    """What the figure is of: the pairs of runs, or those with the baselines named."""
    matrix, options = request.matrix, request.options
    if request.runs:
        raise UsageError("the figure power shows all pairs, or those with --baseline, not --run")
    of = request.one_of([m.id for m in measures() if m.plain_mean or words_of(m).headline])
    table = power_table(
        matrix, of=of, losses=(), counts=COUNTS, alpha=request.alpha, options=options
    )
    return table.prospects
