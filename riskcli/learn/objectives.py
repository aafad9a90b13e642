"""What a ranker can be trained for: LambdaMART, U-CRO, T-SARO, T-FARO and GeoRisk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from riskcli.core.arrays import Floats
from riskcli.core.choices import check_words
from riskcli.core.messages import UsageError
from riskcli.learn.choices import Marginals, QueryRisk, Spread
from riskcli.learn.lambdas import Ints, SwapChange
from riskcli.learn.objective import Declaration, Objective, QueryData
from riskcli.risk.paired import Paired
from riskcli.risk.population import (
    Population,
    SumsByShare,
    georisk_of,
    shortfalls_weighted,
    standardised,
)


@dataclass(kw_only=True, eq=False)
class Plain(Objective):
    """The effectiveness measure alone, as LightGBM's lambdarank maximises it.

    Every model trained for risk is compared with it; a baseline serves only to report the risk.
    """

    declared: ClassVar[Declaration] = Declaration(
        id="plain",
        title="LambdaMART",
        summary="the mean of the effectiveness measure alone",
        formula="ΔM",
        source="SIGIR'12, Eq. 8",
        reading="No baseline and no alpha: the gain-only model that risk is measured against.",
        stop="mean",
    )

    @property
    def needs_baseline(self) -> bool:
        return False

    def swapped(self, model: Floats, known: QueryData) -> SwapChange:  # noqa: ARG002
        return lambda _queries, change: change


@dataclass(kw_only=True, eq=False)
class URisk(Objective):
    """The change of URisk: a swap counts 1 + alpha times as far as it happens below the baseline.

    These are the four cases of SIGIR'12. Eq. 9 of SIGIR'16 is another thing: it jumps where a swap
    crosses the baseline's effectiveness.
    """

    declared: ClassVar[Declaration] = Declaration(
        id="urisk",
        title="U-CRO",
        summary="reward less 1 + alpha times risk against the baseline",
        formula="w(δ_q + ΔM) − w(δ_q), w(δ) = δ where δ ≥ 0, else (1 + α) δ",
        source="SIGIR'12, section 4.3 and theorem 1",
        reading="Falls in mean effectiveness and in risk as alpha grows.",
        stop="urisk",
    )

    def swapped(self, model: Floats, known: QueryData) -> SwapChange:
        return mean_over(
            [weighted_change(model, baseline, self.alpha) for baseline in known.baselines]
        )


class DistributedURisk:
    """U-CRO for LightGBM's Dask interface, where each worker sees some of the queries.

    The baseline travels with the data: `sample_weight` holds its effectiveness on each document's
    query (LightGBM leaves weights to the objective). The swaps of a query depend on no other query,
    so the gradients are those of one machine. T-SARO, T-FARO and GeoRisk need sums over all
    queries, which workers do not share.
    """

    def __init__(self, alpha: float = 1.0, **options: Any) -> None:
        self._options = {"alpha": alpha, **options}
        self._objective: URisk | None = None

    def __call__(self, grades: Any, scores: Any, weights: Any, sizes: Any) -> tuple[Floats, Floats]:
        """The gradients and hessians, as LGBMRanker and DaskLGBMRanker ask for them."""
        if weights is None:
            raise UsageError("sample_weight must hold the baseline's effectiveness, by document")
        lengths = np.asarray(sizes, dtype=np.int64)
        baseline = np.asarray(weights, dtype=np.float64)[np.cumsum(lengths) - lengths]
        known = self._objective
        if known is None or not np.array_equal(known.baseline, baseline):  # type: ignore[arg-type]
            known = self._objective = URisk(baseline=baseline, **self._options)
        return known(grades, scores, None, lengths)


def weighted_change(model: Floats, baseline: Floats, alpha: float | Floats) -> SwapChange:
    """The change of w_q, the query's term of URisk; alpha may differ from query to query."""
    alphas = np.broadcast_to(alpha, model.shape)
    before = Paired(model, baseline).weighted(alphas)

    def changed(queries: Ints, change: Floats) -> Floats:
        at = queries[:, None, None]
        after = Paired(model[at] + change, baseline[at]).weighted(alphas[at])
        after -= before[at]
        return after

    return changed


def mean_over(changes: list[Callable[[Ints, Floats], Floats]]) -> SwapChange:
    """The mean over several baselines; as it is for one."""
    if len(changes) == 1:
        return changes[0]

    def changed(queries: Ints, change: Floats) -> Floats:
        return np.asarray(sum(one(queries, change) for one in changes) / len(changes))

    return changed


@dataclass(kw_only=True, eq=False)
class TSaro(Objective):
    """A query's alpha' is alpha times the chance of a worse result than its own T_R.

    `tr` is what T_R stands for: "weighted", w_q / s_w (SIGIR'14, Eq. 21); "plain", delta_q / s_w;
    "se", delta_q / SE (SIGIR'14, 5.2; SIGIR'16), which with thousands of queries is alpha for
    every loss and 0 for every win. `spread` "first" keeps the s_w of the first iteration
    (SIGIR'14, section 6.1), "current" takes that of each iteration.
    """

    declared: ClassVar[Declaration] = Declaration(
        id="tsaro",
        title="T-SARO",
        summary="U-CRO with an alpha for each query, larger the worse it loses",
        formula="U-CRO with α′_q = [1 − Φ(T_R,q)] α, T_R,q = w_q / s_w",
        source="SIGIR'14, Eq. 24 and 25; SIGIR'16, Eq. 10",
        reading="Between U-CRO and LambdaMART: losses weigh between 1 + α/2 and 1 + α.",
        stop="urisk",
    )

    tr: QueryRisk = "weighted"
    spread: Spread = "current"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_words(tr=(self.tr, QueryRisk), spread=(self.spread, Spread))

    def swapped(self, model: Floats, known: QueryData) -> SwapChange:
        alphas = self.alphas(model, known)
        pairs = zip(known.baselines, alphas, strict=True)
        return mean_over([weighted_change(model, baseline, own) for baseline, own in pairs])

    def alphas(self, model: Floats, known: QueryData) -> Floats:
        """alpha' of every query (column) against every baseline (row)."""
        pairs = [Paired(model[None], baseline) for baseline in known.baselines]
        errors = np.array([pair.urisk_se(self.alpha)[0] for pair in pairs])
        if self.spread == "first":
            errors = _after_first_iteration(errors, known)
        unit = errors if self.tr == "se" else errors * np.sqrt(len(model))
        values = [
            pair.weighted(self.alpha)[0] if self.tr == "weighted" else pair.delta[0]
            for pair in pairs
        ]
        return np.array([
            self.alpha * (1 - ndtr(_standardised(value, one)))
            for value, one in zip(values, unit, strict=True)
        ])  # fmt: skip


def _standardised(values: Floats, unit: float) -> Floats:
    """Values in this unit; 0 where all are alike, so that alpha' is alpha / 2."""
    return values / unit if unit > 0 else np.zeros_like(values)


def _after_first_iteration(errors: Floats, known: QueryData) -> Floats:
    """The errors after the first tree, once there is one; until then those at hand."""
    seen: list[Floats] = known.memory.setdefault("errors", [])
    if len(seen) < 2:
        seen.append(errors)
    return seen[-1]


@dataclass(kw_only=True, eq=False)
class TFaro(TSaro):
    """Every swap of a query counts 1 + alpha' times, be it above or below the baseline.

    With several baselines, pooled by their mean on each query, this is T*-FARO (SIGIR'16).
    """

    declared: ClassVar[Declaration] = Declaration(
        id="tfaro",
        title="T-FARO",
        summary="the effectiveness measure, queries weighted by how badly they lose",
        formula="(1 + α′_q) ΔM, α′_q as in T-SARO",
        source="SIGIR'14, Eq. 26; with several baselines T*-FARO, SIGIR'16, section 6",
        reading="Stays nearest to LambdaMART; the gentlest of the three.",
        stop="urisk",
    )

    def swapped(self, model: Floats, known: QueryData) -> SwapChange:
        weights = 1 + self.alphas(model, known).mean(axis=0)

        def changed(queries: Ints, change: Floats) -> Floats:
            return np.asarray(weights[queries][:, None, None] * change)

        return changed


@dataclass(kw_only=True, eq=False)
class GeoRisk(Objective):
    """The change of GeoRisk in the population of the baselines and the model, times c.

    With "frozen" marginals a swap changes the z of its own query only, as SIGIR'16 has it. With
    "exact" ones it changes that of every query, since the model's total changes; a swap that would
    then count against its own direction counts nothing. The factor c keeps hessians as large as
    LambdaMART's: without it no leaf would pass LightGBM's least hessian.
    """

    declared: ClassVar[Declaration] = Declaration(
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

    def swapped(self, model: Floats, known: QueryData) -> SwapChange:
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


OBJECTIVES: dict[str, type[Objective]] = {
    kind.declared.id: kind for kind in (Plain, URisk, TSaro, TFaro, GeoRisk)
}
"""Every objective by its id."""
