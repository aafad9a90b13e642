"""Wide tables in narrow places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riskcli.output.display import Display


def folded(display: Display, width: int, fixed: int = 1) -> list[Display]:
    """The display in as many tables as its width asks for; the first columns stand in each."""
    columns = len(display.headings)
    chunks: list[list[int]] = [[]]
    for place in range(fixed, columns):
        wider = [*chunks[-1], place]
        if chunks[-1] and _part(display, fixed, wider).width() > width:
            chunks.append([place])
        else:
            chunks[-1] = wider
    parts = [_part(display, fixed, chunk) for chunk in chunks]
    return [
        replace(
            part,
            title=display.title if number == 0 else "",
            caption=display.caption if number == len(parts) - 1 else (),
        )
        for number, part in enumerate(parts)
    ]


def _part(display: Display, fixed: int, chunk: Sequence[int]) -> Display:
    places = [*range(fixed), *chunk]
    return Display(
        display.title,
        [display.headings[place] for place in places],
        [[row[place] for place in places] for row in display.rows],
        display.caption,
    )


def thinned(count: int, most: int) -> list[int]:
    """At most so many of `count` places (but 2): every n-th, and the last."""
    for stride in range(1, count):
        places = sorted({*range(0, count, stride), count - 1})
        if len(places) <= max(most, 2):
            return places
    return list(range(count))
