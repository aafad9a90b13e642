"""Rankings of runs, and how far two of them agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.analyses.agree.coefficients import Overlap
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.rounding import equal_digits


@dataclass(frozen=True)
class Ranking:
    """The runs' values by one risk and one effectiveness measure; NaN where there is none."""

    measure: str
    of: RiskMeasure
    loss: str
    values: Mapping[str, float]

    def order(self, runs: Sequence[str]) -> list[str]:
        """The runs from best to worst; those equal but for rounding as they are given."""
        values = dict(
            zip(runs, equal_digits(np.array([self.values[run] for run in runs])), strict=True)
        )
        return sorted(runs, key=lambda run: -values[run])

    @property
    def ranked(self) -> set[str]:
        """The runs that have a value."""
        return {run for run, value in self.values.items() if not np.isnan(value)}


@dataclass(frozen=True)
class Agreed:
    """Two rankings, over the runs that both have; AP correlation takes the first for the truth."""

    first: int
    second: int
    runs: int
    tau_b: float
    tau_ap: float
    overlap: Overlap


@dataclass(frozen=True)
class Compared:
    """Every ordered pair of rankings, and how they were compared."""

    rankings: tuple[Ranking, ...]
    pairs: tuple[Agreed, ...]
    baseline: str
    alpha: float
    persistence: float
    depth: int | None
