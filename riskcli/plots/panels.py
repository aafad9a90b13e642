"""One figure a group of topics, side by side on the same scales: small multiples."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import altair as alt

from riskcli.core.messages import counted
from riskcli.output.display import shortened
from riskcli.plots.request import Ends, Request
from riskcli.scores.matrix import ScoreMatrix

_WIDE, _NARROW = 3, 1
"""Panels beside each other, on a page and in a column."""


def draw_by_group(
    draw: Callable[[Request], Any], request: Request, parts: Iterable[tuple[str, ScoreMatrix]]
) -> Any:
    """The figure of each group; drawn once to see how far its axes reach, then all alike."""
    asked = [
        (name, replace(request, matrix=part, whole=request.matrix, ends={}))
        for name, part in parts
    ]
    for _, one in asked:
        draw(replace(one, notes=[]))
    common = _widest([one.ends for _, one in asked])
    panels = [
        draw(replace(one, common=common)).properties(
            title=f"{shortened(name, 40)}, {counted(len(one.matrix.topics), 'topic')}"
        )
        for name, one in asked
    ]
    request.notes[:] = dict.fromkeys(request.notes)
    columns = min(_NARROW if request.narrow else _WIDE, len(panels))
    return alt.concat(*panels, columns=columns).resolve_scale(
        **{axis: "independent" if axis in common else "shared" for axis in "xy"}
    )


def _widest(found: Iterable[dict[str, Ends]]) -> dict[str, Ends]:
    """By axis, from the least to the greatest end of all panels."""
    widest: dict[str, Ends] = {}
    for ends in found:
        for axis, (low, high) in ends.items():
            least, most = widest.get(axis, (low, high))
            widest[axis] = min(low, least), max(high, most)
    return widest
