"""GeoRisk: trained to be effective and to fall short of no baseline's profile (SIGIR'16)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Marginals, check_words
from riskcli.learn.lambdas import SwapChange
from riskcli.learn.objectives.objective import Declared, Known, Objective
from riskcli.learn.queries import Ints
from riskcli.risk.population import (
    Population,
    SumsByShare,
    georisk_of,
    shortfalls_weighted,
    standardised,
)


@dataclass(kw_only=True, eq=False)
class GeoRisk(Objective):
    """The change of GeoRisk in the population of the baselines and the model, times c.

    With "frozen" marginals a swap changes the z of its own query only, as SIGIR'16 has it. With
    "exact" ones it changes that of every query, since the model's total changes; a swap that would
    then count against its own direction counts nothing. The factor c keeps hessians as large as
    LambdaMART's: without it no leaf would pass LightGBM's least hessian.
    """

    declared: ClassVar[Declared] = Declared(
        id="georisk",
        title="GeoRisk",
        summary="GeoRisk in the population of the baselines and the model",
        formula="c [√((S + ΔM)/c · Φ(Z′/c)) − √(S/c · Φ(Z/c))]",
        source="SIGIR'16, section 6",
        reading="Lowers the risk against several baselines that are near the model.",
        stop="georisk",
    )
    pools: ClassVar[tuple[str, ...]] = ("mean",)

    marginals: Marginals = "frozen"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_words(marginals=(self.marginals, Marginals))

    def swapped(self, model: Floats, known: Known) -> SwapChange:
        return _Swaps(model, known.baselines, self.alpha, self.marginals == "exact").changed

    def _merged(self, each: Floats) -> Floats:
        return each


@dataclass(frozen=True)
class _Swaps:
    """The model at one iteration, in its population."""

    model: Floats
    baselines: Floats
    alpha: float
    exact: bool

    @cached_property
    def _totals(self) -> Floats:
        """T, the total of each query."""
        return np.asarray(self.baselines.sum(axis=0) + self.model)

    @cached_property
    def _population(self) -> Population:
        totals = self._totals[None]
        return Population(self.model[None], totals, totals.sum(axis=1))

    @cached_property
    def _before(self) -> tuple[float, float, float, float]:
        """S, N, ZRisk and GeoRisk of the model as it is."""
        population = self._population
        return (
            float(self.model.sum()),
            float(population.grand_total[0]),
            float(population.zrisk(self.alpha)[0]),
            float(population.georisk(self.alpha)[0]),
        )

    @cached_property
    def _own(self) -> Floats:
        """What each query adds to ZRisk."""
        return shortfalls_weighted(self._population.z[0], self.alpha)

    @cached_property
    def _sums(self) -> SumsByShare:
        return SumsByShare(self.model, self._totals)

    def changed(self, queries: Ints, change: Floats) -> Floats:
        """The change of GeoRisk, times c, for each change of the measure."""
        moved = np.flatnonzero(change != 0)
        weight = np.zeros(change.size)
        own = queries[moved // (change.size // len(queries))]
        weight[moved] = self._of_moved(own, change.ravel()[moved])
        return weight.reshape(change.shape)

    def _of_moved(self, queries: Ints, change: Floats) -> Floats:
        """The same for a list of swaps that do change the measure.

        With the full discount a swap below the cutoff may count for more than the measure holds:
        totals are then 0, never below it.
        """
        size = len(self.model)
        total, grand, zrisk, georisk = self._before
        new_total = np.maximum(total + change, 0.0)
        share = _divided(new_total, grand + change)
        expected = share * np.maximum(self._totals[queries] + change, 0.0)
        z = standardised(self.model[queries] + change, expected)
        new_own = shortfalls_weighted(z, self.alpha)
        if self.exact:
            above, below = self._sums.without(queries, share)
            new_zrisk = above - (1 + self.alpha) * below + new_own
        else:
            new_zrisk = zrisk - self._own[queries] + new_own
        weight = size * (georisk_of(new_total / size, new_zrisk / size) - georisk)
        return np.where(weight * change > 0, weight, 0.0) if self.exact else weight


def _divided(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)
