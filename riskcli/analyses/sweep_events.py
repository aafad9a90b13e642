"""What changes as alpha grows: the events of one score matrix, who leads, how each run fares."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Convention
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Turn
from riskcli.risk.estimate import rank
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.paired import LEAST_TOPICS, two_sided_p

_NEAR = 1e-9
"""Swaps closer than this, relative to 1 + alpha, are one place at which several runs meet."""


@dataclass(frozen=True)
class Event(Turn):
    """Something that is one way (`before`) below alpha and another (`after`) above it.

    At a "swap" row `run` overtakes row `other`; other kinds concern one run alone: "break-even",
    where URisk turns negative, and "significance", where the flag of TRisk changes.
    """

    measure: RiskMeasure
    other: int | None = None


@dataclass(frozen=True)
class Series:
    """Every run of the matrix, shown or not, at every alpha: arrays of alphas by runs."""

    loss: str
    alphas: tuple[float, ...]
    """Empty where the loss is smooth."""
    values: Mapping[str, Floats]
    ranks: Mapping[str, Floats]
    p: Mapping[str, Floats]
    """Of the measures whose value is a test statistic."""


@dataclass(frozen=True)
class Lead:
    """Who leads by a measure as alpha grows, of the runs that are looked at."""

    measure: RiskMeasure
    stretches: tuple[tuple[float, tuple[int, ...]], ...]
    """From which alpha on, and which runs: several where they are equal."""
    swaps: int
    """How often any two runs swap places."""


@dataclass(frozen=True)
class Course:
    """How one run fares by a measure: what it is from each of these alphas on."""

    measure: RiskMeasure
    run: int
    states: tuple[tuple[float, str], ...]
    """positive or negative; or better, worse or nothing, where the value is a test's."""


@dataclass(frozen=True)
class Swept:
    """One score matrix against one baseline over the range."""

    measure: str
    baseline: str
    population: str
    topics: int
    runs: tuple[str, ...]
    rows: tuple[int, ...]
    """The runs that are looked at."""
    own_row: int | None
    series: tuple[Series, ...]
    """Of the linear loss, and of a smooth one where it was asked for."""
    events: tuple[Event, ...]
    leads: tuple[Lead, ...]
    courses: tuple[Course, ...]
    """In the plain convention, as `leads` are."""
    shown: tuple[RiskMeasure, ...]
    """The measures that have a table of their own for people."""
    has_events: bool
    """Whether it is known of any of the chosen measures when something changes."""
    convention: Convention

    @property
    def about(self) -> str:
        """What tells it from others in a verdict."""
        return f"{self.measure}, baseline {self.baseline}"

    @property
    def span(self) -> Span:
        """The alphas between which something may change."""
        alphas = self.series[0].alphas
        return Span(min(alphas), max(alphas))


def has_events(measure: RiskMeasure) -> bool:
    """Whether it is known where the measure's runs swap places, or turn, as alpha grows."""
    return measure.swaps is not None or measure.turns is not None


def events(
    comparison: Comparison,
    span: Span,
    gamma: float,
    rows: Sequence[int],
    chosen: Iterable[RiskMeasure],
) -> list[Event]:
    """All events of these rows within the span, by alpha. The loss is linear."""
    changes: list[Event] = []
    for measure in chosen:
        if measure.nonnegative and comparison.has_negative:
            continue
        own = comparison.baseline.own_row if measure.paired else None
        compared = [row for row in rows if row != own]
        changes += _swaps(comparison, span, measure, compared)
        if measure.turns is not None:
            turns = measure.turns(comparison.paired.moments, span, gamma, compared)
            changes += [Event(**vars(turn), measure=measure) for turn in turns]
    order = {measure.id: number for number, measure in enumerate(measures())}
    return sorted(
        changes, key=lambda e: (e.alpha, order[e.measure.id], e.kind, e.run, e.other or 0)
    )


def _swaps(
    comparison: Comparison, span: Span, measure: RiskMeasure, rows: list[int]
) -> Iterator[Event]:
    if measure.swaps is None or len(rows) < 2:
        return
    swaps = measure.swaps(comparison, Pairs.of(rows), span)
    triples = zip(swaps.alpha.tolist(), swaps.ahead.tolist(), swaps.behind.tolist(), strict=True)
    for alpha, ahead, behind in triples:
        value = float(measure.values(comparison, alpha)[ahead])
        yield Event(alpha, "swap", ahead, value, "", "", measure, behind)


def leads(
    comparison: Comparison,
    span: Span,
    rows: Sequence[int],
    chosen: Iterable[RiskMeasure],
    changes: Sequence[Event],
) -> Iterator[Lead]:
    """Who leads these rows, by each measure of which it is known where runs swap places.

    A lead is looked up between swaps, never at one, where the runs that meet are equal. Nobody
    leads where there is nobody to lead, or all are equal throughout.
    """
    for measure in chosen:
        swaps = [e for e in changes if e.measure is measure and e.kind == "swap"]
        if measure.swaps is None or (measure.nonnegative and comparison.has_negative):
            continue
        alphas = [*(event.alpha for event in swaps), span.last]
        first = _leaders(measure, comparison, (span.first + alphas[0]) / 2, rows)
        stretches = [(span.first, first)]
        for number, event in enumerate(swaps):
            if event.other not in stretches[-1][1]:
                continue
            margin = _NEAR * (1 + event.alpha)
            after = next((a for a in alphas[number:] if a > event.alpha + margin), span.last)
            then = _leaders(measure, comparison, (event.alpha + after) / 2, rows)
            if then != stretches[-1][1]:
                stretches.append((event.alpha, then))
        own = comparison.baseline.own_row if measure.paired else None
        others = sum(row != own for row in rows) - len(first)
        if first and (others > 0 or len(stretches) > 1):
            yield Lead(measure, tuple(stretches), len(swaps))


def _leaders(
    measure: RiskMeasure, comparison: Comparison, alpha: float, rows: Sequence[int]
) -> tuple[int, ...]:
    values = measure.of(comparison, alpha)
    if values is None:
        return ()
    chosen = np.array(rows, dtype=np.intp)
    first: list[int] = chosen[rank(values[chosen]) == 1].tolist()
    return tuple(first)


def courses(
    comparison: Comparison,
    span: Span,
    gamma: float,
    rows: Sequence[int],
    chosen: Iterable[RiskMeasure],
    changes: Sequence[Event],
) -> Iterator[Course]:
    """How each of these rows but the baseline's fares by the measures that single runs turn in."""
    middle = (span.first + span.last) / 2
    turns: dict[tuple[str, int], list[Event]] = {}
    for event in changes:
        if event.kind != "swap":
            turns.setdefault((event.measure.id, event.run), []).append(event)
    for measure in chosen:
        too_few = measure.value_is_t and comparison.topics < LEAST_TOPICS
        if measure.turns is None or too_few:
            continue
        values = measure.values(comparison, middle)
        own = comparison.baseline.own_row if measure.paired else None
        for row in rows:
            if row == own or np.isnan(values[row]):
                continue
            mine = turns.get((measure.id, row), [])
            still = _state(measure, float(values[row]), comparison.degrees, gamma)
            first = mine[0].before if mine else still
            states = [(span.first, first), *((event.alpha, event.after) for event in mine)]
            yield Course(measure, row, tuple(states))


def _state(measure: RiskMeasure, value: float, degrees: float, gamma: float) -> str:
    """What a run is that never turns."""
    if not measure.value_is_t:
        return "positive" if value > 0 else "negative" if value < 0 else ""
    if two_sided_p(np.array([value]), degrees)[0] >= gamma:
        return ""
    return "better" if value > 0 else "worse"


def turned(event: Event) -> Event:
    """The event in the minus convention."""
    opposite = {"positive": "negative", "negative": "positive"}
    before, after = (opposite.get(word, word) for word in (event.before, event.after))
    return replace(event, value=0.0 - event.value, before=before, after=after)
