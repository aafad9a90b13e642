"""The steps to a run's number and its flag."""

from __future__ import annotations

from dataclasses import dataclass

from riskcli.risk.measure import RiskMeasure


@dataclass(frozen=True)
class TopicShare:
    """What one topic adds to the value."""

    topic: str
    score: float
    reference: float
    contribution: float


@dataclass(frozen=True)
class Account:
    """The steps to a value, to its test, and the topics that cost it most."""

    run: str
    measure: str
    of: RiskMeasure
    baseline: str
    alpha: float
    steps: tuple[tuple[str, float], ...]
    test: tuple[tuple[str, float], ...]
    verdict: str
    topics: tuple[TopicShare, ...]
    reference_title: str
