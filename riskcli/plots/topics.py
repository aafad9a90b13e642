"""TR or TJ of every topic (SIGIR'14, Figure 2): a panel per run and alpha, with critical values."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from riskcli.analyses.topics import RunTopics, topic_table
from riskcli.plots.labels import shortened
from riskcli.plots.request import Request
from riskcli.plots.style import GAIN, LOSS, QUIET, RULE, name_of_level, topic_axis, values

_MOST = 4
_STEP = 11
_MEANINGS = {
    "better": "gain beyond the critical value",
    "worse": "loss beyond the critical value",
    "": "within",
}


def draw_topics(request: Request) -> Any:
    """Bars, one below the other, on one scale."""
    of = request.one_of(("tj", "tr"))
    rows = request.chosen(_MOST, without=request.comparison.baseline.own_row)
    names = [request.matrix.runs[row] for row in rows]
    table = topic_table([request.matrix], runs=names, options=request.options, order="topic")
    topics = list(request.matrix.topics)
    sides = _sides_drawn(table.parts, of)
    columns = _columns(request, len(names))
    width = request.width or max(240, min(_STEP * len(topics), 1100 // columns))
    height = request.height or 120
    parts = sorted(table.parts, key=lambda part: names.index(part.run)) if columns == 1 else [
        part for alpha in dict.fromkeys(part.alpha for part in table.parts)
        for name in names for part in table.parts if part.alpha == alpha and part.run == name
    ]  # fmt: skip
    last_row = len(parts) - columns
    panels = []
    for index, part in enumerate(parts):
        axis = topic_axis(topics, width, "topic", index >= last_row, labelFontSize=10.5)
        bars = _panel(part, of, topics, sides).encode(x=axis)
        panels.append(_marked(bars.properties(width=width, height=height), part))
    return alt.concat(*panels, columns=columns).resolve_scale(y="shared")


def _columns(request: Request, runs: int) -> int:
    """A column a run where several alphas make a grid (SIGIR'14, Figure 2), else one."""
    grid = len(request.options.alphas) > 1 and 1 < runs <= _MOST and not request.narrow
    return runs if grid else 1


def _sides_drawn(parts: Sequence[RunTopics], of: str) -> list[str]:
    """What the legend has to explain: only what some panel shows."""
    found = {_side(value, part.critical) for part in parts for value in part.columns[of].tolist()}
    return [side for side in _MEANINGS.values() if side in found]


def _panel(part: RunTopics, of: str, topics: list[str], sides: list[str]) -> Any:
    critical = part.critical
    found = part.columns[of].tolist()
    rows = [
        {"topic": topic, "value": value if value == value else None, "side": _side(value, critical)}
        for topic, value in zip(topics, found, strict=True)
    ]
    scale = alt.Scale(domain=list(_MEANINGS.values()), range=[GAIN, LOSS, QUIET])
    legend = alt.Legend(title=None, orient="bottom", values=sides)
    colour = alt.Color("side:N", scale=scale, legend=legend)
    y = alt.Y("value:Q", title=of.upper())
    return alt.Chart(values(rows)).mark_bar().encode(y=y, color=colour)


def _side(value: float, critical: float) -> str:
    if abs(value) > critical:
        return _MEANINGS["better" if value > 0 else "worse"]
    return _MEANINGS[""]


def _marked(panel: alt.Chart, part: RunTopics) -> Any:
    """The panel with its title and the two critical values."""
    alpha = "" if part.alpha is None else f", α = {part.alpha:g}"
    rules = []
    if part.critical == part.critical:
        dashed = alt.Chart(values([{}])).mark_rule(color=RULE, strokeDash=[4, 3])
        rules = [dashed.encode(y=alt.datum(sign * part.critical)) for sign in (1, -1)]
        rules += name_of_level(f"critical value {part.critical:.2f}", part.critical)
    title = f"{shortened(part.run, 40)} against {shortened(part.baseline, 40)}{alpha}"
    return alt.layer(panel, *rules).properties(title=title)
