"""What changes as alpha grows, and at which alpha exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span
from riskcli.risk.measure import RiskMeasure


@dataclass(frozen=True)
class Event:
    """Something that is one way (`before`) below alpha and another (`after`) above it.

    At a "swap" row `run` overtakes row `other`; other kinds concern one run alone: "break-even",
    where URisk turns negative, and "significance", where the flag of TRisk changes.
    """

    alpha: float
    kind: str
    measure: RiskMeasure
    run: int
    value: float
    other: int | None = None
    before: str = ""
    after: str = ""


def events(
    comparison: Comparison,
    span: Span,
    gamma: float,
    rows: Sequence[int],
    chosen: Iterable[RiskMeasure],
) -> list[Event]:
    """All events of these rows within the span, by alpha. The loss is linear."""
    found: list[Event] = []
    for measure in chosen:
        if measure.nonnegative and comparison.has_negative:
            continue
        own = comparison.baseline.own_row if measure.paired else None
        mine = [row for row in rows if row != own]
        if measure.swaps is not None and len(mine) > 1:
            found += _swaps(comparison, span, measure, mine)
        if measure.turns is not None:
            found += [
                Event(t.alpha, t.kind, measure, t.run, t.value, None, t.before, t.after)
                for t in measure.turns(comparison.paired.moments, span, gamma, mine)
            ]
    return sorted(found, key=lambda e: (e.alpha, e.measure.position, e.kind, e.run, e.other or 0))


def _swaps(
    comparison: Comparison, span: Span, measure: RiskMeasure, rows: list[int]
) -> list[Event]:
    assert measure.swaps is not None
    found = measure.swaps(comparison, Pairs.of(rows), span)
    triples = zip(found.alpha.tolist(), found.ahead.tolist(), found.behind.tolist(), strict=True)
    return [
        Event(
            alpha, "swap", measure, ahead, float(measure.values(comparison, alpha)[ahead]), behind
        )
        for alpha, ahead, behind in triples
    ]  # fmt: skip
