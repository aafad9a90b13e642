"""What a sweep over alpha gives: series and events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from riskcli.analyses.sweep.events import Event
from riskcli.core.arrays import Floats
from riskcli.core.choices import Convention


@dataclass(frozen=True)
class Series:
    """Every run at every alpha, by each measure: arrays of alphas by runs."""

    loss: str
    alphas: tuple[float | None, ...]
    values: Mapping[str, Floats]
    ranks: Mapping[str, Floats]
    p: Mapping[str, Floats]
    """Of the measures whose value is a test statistic."""


@dataclass(frozen=True)
class Swept:
    """One score matrix against one baseline over the range."""

    measure: str
    baseline: str
    population: str
    topics: int
    runs: tuple[str, ...]
    own_row: int | None
    series: tuple[Series, ...]
    """Of the linear loss, and of a smooth one where it was asked for."""
    events: tuple[Event, ...]
    convention: Convention = "plain"
