"""What a risk measure declares of itself, once; everything else reads it from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.columns import Column
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps
from riskcli.risk.inference import Inference
from riskcli.risk.paired import Paired
from riskcli.risk.turns import Turn

Floats = NDArray[np.float64]
Values = Callable[[Comparison, float], Floats]
Details = Callable[[Comparison, float, Inference], Mapping[str, Floats]]
Steps = Callable[[Comparison, float, int], list[tuple[str, float]]]
FindSwaps = Callable[[Comparison, Pairs, Span], Swaps]
FindTurns = Callable[[Paired, Span, float, Sequence[int]], list[Turn]]


def no_details(_comparison: Comparison, _alpha: float, _inference: Inference) -> dict[str, Floats]:
    """For a measure that has a value and nothing beside it."""
    return {}


@dataclass(frozen=True)
class RiskMeasure:
    """One measure: what it is called, what it means, how it is computed and tested.

    `values` gives each run's value at an alpha. `details` gives further columns; `<id>_p`, and
    `<id>_diff` whose sign says which way, get an adjusted p-value and a flag from the table.
    `paired` values are empty in the baseline's own row; `nonnegative` scores are needed by some.
    """

    id: str
    title: str
    summary: str
    formula: str
    source: str
    reading: str
    place: int
    values: Values
    details: Details = no_details
    paired: bool = False
    nonnegative: bool = False
    depends_on_alpha: bool = True
    contributions: Values | None = None
    """What each topic (column) adds to each run's value, for explanations; a gain is above 0."""
    steps: Steps | None = None
    """The numbers that make up a run's value, in the order of the formula, for explanations."""
    deviations: Values | None = None
    """By run and topic, rows summing to 0: what a test of every pair of runs rests on."""
    swaps: FindSwaps | None = None
    """Where two runs swap places as alpha grows."""
    turns: FindTurns | None = None
    """Where a run alone turns as alpha grows, at a level gamma."""
    signed: bool = True
    """Whether the minus convention (higher is riskier) turns its sign round."""
    decimals: int = 4
    columns: tuple[Column, ...] = field(default=())

    def of(self, comparison: Comparison, alpha: float) -> Floats | None:
        """The values, NaN in the baseline's own row; None where a score below 0 forbids them."""
        if self.nonnegative and comparison.has_negative:
            return None
        values = self.values(comparison, alpha)
        return comparison.off_baseline(values) if self.paired else values

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The value's column, the further ones declared, and the rank."""
        value = Column(self.id, "number", f"{self.title}: {self.summary}")
        rank = Column(f"rank_{self.id}", "rank", f"rank by {self.title}")
        return (value, *self.columns, rank)
