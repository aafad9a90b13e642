"""What changes where one run, or one team, is left out of the population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.measure import RiskMeasure


@dataclass(frozen=True)
class LeftOut:
    """One matrix by one risk measure: everyone's figures, and those without each member."""

    measure: str
    of: RiskMeasure
    alpha: float
    runs: tuple[str, ...]
    values: Floats
    ranks: Floats
    left_out: tuple[str, ...]
    """The runs, or the teams and the runs without one."""
    values_without: Floats
    """By run and member left out; NaN for a run that is left out itself."""
    ranks_without: Floats
    """Likewise; who is left out keeps the place that it had, so that only others' moves count."""
    population: str = "all"
    """What the population is called in results."""

    def range_of(self, row: int) -> tuple[float, float, float, float]:
        """The least and the largest value and rank of a run, with everyone or without one."""
        values = np.append(self.values_without[row], self.values[row])
        ranks = np.append(self.ranks_without[row], self.ranks[row])
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        return low, high, float(np.nanmin(ranks)), float(np.nanmax(ranks))

    def most(self, row: int) -> tuple[str, float]:
        """Whose absence changes the run's value most, and by how much."""
        change = self.values_without[row] - self.values[row]
        index = int(np.nanargmax(np.abs(change)))
        return self.left_out[index], float(change[index])
