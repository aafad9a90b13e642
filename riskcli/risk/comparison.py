"""One score matrix against one baseline within one population: what every measure is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from riskcli.errors import UsageError
from riskcli.risk.baselines import Baseline
from riskcli.risk.paired import Paired
from riskcli.risk.population import Population

Floats = NDArray[np.float64]
PopulationRule = Literal["all", "baselines"]


@dataclass(frozen=True)
class Comparison:
    """Runs (rows of `scores`) against `baseline`; `named` are the rows of all baselines named.

    With population "baselines" a run's population is the named rows and itself; else it is all.
    """

    scores: Floats
    baseline: Baseline
    population: PopulationRule = "all"
    named: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.population == "baselines" and not self.named:
            raise UsageError("population 'baselines' needs a baseline that is a run of the matrix")

    @property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @cached_property
    def paired(self) -> Paired:
        """The runs topic by topic against the baseline."""
        return Paired(self.scores, self.baseline.scores)

    @cached_property
    def crowd(self) -> Population:
        """The runs against their population."""
        if self.population == "all":
            return Population.of_all(self.scores)
        return Population.of_baselines(self.scores, self.named)

    @cached_property
    def has_negative(self) -> bool:
        """Whether a score is below 0, so that ZRisk and GeoRisk are undefined."""
        return bool((self.scores < 0).any())

    @property
    def reference(self) -> tuple[int, ...]:
        """The rows whose mean ZRisk or GeoRisk a run's is compared with (all for a virtual one)."""
        return self.baseline.members or tuple(range(len(self.scores)))

    def reference_crowds(self) -> list[Population]:
        """Each reference run measured in every run's own population (a row a population)."""
        crowd = self.crowd
        return [
            Population(
                np.broadcast_to(self.scores[row], self.scores.shape),
                crowd.topic_totals,
                crowd.grand_total,
            )
            for row in self.reference
        ]

    def off_baseline(self, values: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
        """The values of a comparison with the baseline: empty (NaN) in the baseline's own row."""
        emptied = np.array(values, dtype=np.float64)
        if self.baseline.own_row is not None:
            emptied[self.baseline.own_row] = np.nan
        return emptied


def population_rule(wanted: PopulationRule | None, named: Sequence[int]) -> PopulationRule:
    """The population asked for; by default the baselines' where two or more runs are named."""
    return wanted or ("baselines" if len(named) > 1 else "all")
