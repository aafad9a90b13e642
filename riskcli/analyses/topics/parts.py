"""What is known of one run on every topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from riskcli.core.arrays import Rows
from riskcli.core.choices import Convention


@dataclass(frozen=True)
class RunTopics:
    """One run against one baseline at one alpha: an array a column, a cell a topic."""

    run: str
    measure: str
    baseline: str
    population: str
    alpha: float | None
    topics: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    totals: Mapping[str, float]
    """The run's values by every risk measure, as the risk table has them."""
    baseline_mean: float
    of_topics: int
    """How many topics the totals are over, shown or not."""
    critical: float
    convention: Convention = "plain"

    def chosen(self, topics: Sequence[int] | Rows) -> RunTopics:
        """Only those topics, in that order."""
        kept = [int(i) for i in topics]
        columns = {name: column[kept] for name, column in self.columns.items()}
        return replace(self, topics=tuple(self.topics[i] for i in kept), columns=columns)
