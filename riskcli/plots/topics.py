"""TR or TJ of every topic (SIGIR'14, Figure 2): a panel a run and alpha, critical values drawn."""

from __future__ import annotations

from typing import Any

import altair as alt

from riskcli.analyses.topics.analysis import RunTopics, topic_table
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, QUIET, RULE, values

_MOST = 4
_STEP = 11
_MEANINGS = {
    "better": "gain beyond the critical value",
    "worse": "loss beyond the critical value",
    "": "within",
}


def draw(request: Request) -> Any:
    """Bars, one below the other, on one scale."""
    of = request.one_of(("tj", "tr"))
    rows = request.chosen(_MOST, without=request.comparison.baseline.own_row)
    names = [request.matrix.runs[row] for row in rows]
    table = topic_table([request.matrix], runs=names, options=request.options, order="topic")
    topics = list(request.matrix.topics)
    width = request.width or max(240, min(_STEP * len(topics), 1100))
    height = request.height or 120
    panels = [_panel(part, of, topics) for part in table.parts]
    last = len(panels) - 1
    sized = [
        panel.encode(x=_topic_axis(topics, width, place == last)).properties(
            width=width, height=height
        )
        for place, panel in enumerate(panels)
    ]
    return alt.vconcat(
        *(_marked(p, part) for p, part in zip(sized, table.parts, strict=True))
    ).resolve_scale(y="shared")


def _panel(part: RunTopics, of: str, topics: list[str]) -> Any:
    critical = part.critical
    found = part.columns[of].tolist()
    rows = [
        {"topic": topic, "value": value if value == value else None, "side": _side(value, critical)}
        for topic, value in zip(topics, found, strict=True)
    ]
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(domain=list(_MEANINGS.values()), range=[GAIN, LOSS, QUIET]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    return (
        alt.Chart(values(rows))
        .mark_bar()
        .encode(y=alt.Y("value:Q", title=of.upper()), color=colour)
    )


def _side(value: float, critical: float) -> str:
    if abs(value) > critical:
        return _MEANINGS["better" if value > 0 else "worse"]
    return _MEANINGS[""]


def _topic_axis(topics: list[str], width: float, labelled: bool) -> Any:
    """Topics in their order; named below the last panel, some of them where there are many."""
    longest = max(map(len, topics))
    every = max(1, -(-len(topics) * 9 // int(width)))
    axis = alt.Axis(
        labels=labelled, ticks=labelled, labelAngle=-90, title="topic" if labelled else None,
        values=topics[::every], labelFontSize=9 if longest > 4 else 10, labelOverlap=False,
    )  # fmt: skip
    return alt.X("topic:N", sort=topics, axis=axis)


def _marked(panel: alt.Chart, part: RunTopics) -> Any:
    """The panel with its title and the two critical values."""
    alpha = "" if part.alpha is None else f", α = {part.alpha:g}"
    rules = [
        alt.Chart(values([{}]))
        .mark_rule(color=RULE, strokeDash=[4, 3])
        .encode(y=alt.datum(sign * part.critical))
        for sign in (1, -1)
        if part.critical == part.critical
    ]
    title = f"{shortened(part.run, 40)} against {shortened(part.baseline, 40)}{alpha}"
    return alt.layer(panel, *rules).properties(title=title)
