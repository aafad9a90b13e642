"""One figure a group of topics, side by side on the same scales: small multiples."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from riskcli.core.messages import UsageError, counted
from riskcli.output.display import shortened
from riskcli.plots.request import Ends, Request
from riskcli.risk.weights import mean
from riskcli.scores.matrix import ScoreMatrix

_IN_A_ROW = 3
_WIDTH = 260


def draw_by_group(draw: Callable[[Request], Any], request: Request) -> Any:
    """The figure of each group: drawn once to see how far its axes reach, then on common ones."""
    asked = [
        (title, replace(request, matrix=part, whole=request.matrix, width=request.width or _WIDTH,
                        ends={}))
        for title, part in _parts(request)
    ]  # fmt: skip
    for _, one in asked:
        draw(replace(one, notes=[]))
    common = _widest(one.ends for _, one in asked)
    panels = [draw(replace(one, common=common)).properties(title=title) for title, one in asked]
    request.notes[:] = dict.fromkeys(request.notes)
    columns = 1 if request.narrow else min(_IN_A_ROW, len(panels))
    shared = "shared" if not common else "independent"
    title = f"By {shortened(grouping_of(request.matrix)[0], 40)}, the group that lost most first"
    drawn = alt.concat(*panels, columns=columns, title=alt.Title(title, offset=12))
    return drawn.resolve_scale(x=shared)


def grouping_of(matrix: ScoreMatrix) -> tuple[str, list[str]]:
    """The name of the one grouping, and the group of each topic."""
    groupings = matrix.axes.groups_of(matrix.topics)
    if len(groupings) > 1:
        known = ", ".join(groupings)
        raise UsageError(f"panels are by one grouping: choose one of {known} with --group-by")
    ((name, by_topic),) = groupings.items()
    return name, by_topic


def _parts(request: Request) -> list[tuple[str, ScoreMatrix]]:
    """The matrix on the topics of each group under its title, the group that lost most first."""
    matrix = request.matrix
    _, by_topic = grouping_of(matrix)
    gains = request.comparison.paired.delta.mean(axis=0)
    whole = replace(matrix, axes=replace(matrix.axes, groups={}))
    found = []
    for group in dict.fromkeys(by_topic):
        columns = np.flatnonzero(np.array(by_topic) == group)
        part = whole.of_topics(columns.tolist())
        title = f"{shortened(group, 40)}, {counted(len(part.topics), 'topic')}"
        found.append((float(mean(gains[columns], part.weights)), title, part))
    return [(title, part) for _, title, part in sorted(found, key=lambda each: each[0])]


def _widest(found: Iterable[dict[str, Ends]]) -> dict[str, Ends]:
    """By axis, from the least to the greatest end of all panels."""
    widest: dict[str, Ends] = {}
    for ends in found:
        for axis, (low, high) in ends.items():
            least, most = widest.get(axis, (low, high))
            widest[axis] = min(low, least), max(high, most)
    return widest
