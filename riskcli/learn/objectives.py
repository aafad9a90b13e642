"""What a ranker can be trained for: LambdaMART, U-CRO, T-SARO, T-FARO and GeoRisk."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from riskcli.core.arrays import Floats, divided
from riskcli.core.choices import check_words
from riskcli.core.messages import UsageError
from riskcli.learn.choices import Marginals, QueryRisk, Spread
from riskcli.learn.lambdas import Ints, SwapChange
from riskcli.learn.objective import Declaration, Objective, QueryData
from riskcli.risk import population
from riskcli.risk.paired import Paired


@dataclass(kw_only=True, eq=False)
class Plain(Objective):
    """The effectiveness measure alone, as LightGBM's lambdarank maximises it.

    Every model trained for risk is compared with it; a baseline serves only to report the risk.
    """

    declared: ClassVar[Declaration] = Declaration(
        "plain", "LambdaMART", "ΔM",
        "SIGIR'12, Eq. 8", stop="mean",
    )  # fmt: skip

    needs_baseline: ClassVar[bool] = False

    def swapped(self, model: Floats, data: QueryData) -> SwapChange:  # noqa: ARG002
        return lambda _queries, change: change


@dataclass(kw_only=True, eq=False)
class URisk(Objective):
    """The change of URisk: a swap counts 1 + alpha times as far as it happens below the baseline.

    These are the four cases of SIGIR'12. Eq. 9 of SIGIR'16 is another thing: it jumps where a swap
    crosses the baseline's effectiveness.
    """

    declared: ClassVar[Declaration] = Declaration(
        "urisk", "U-CRO", "w(δ_q + ΔM) − w(δ_q), w(δ) = δ where δ ≥ 0, else (1 + α) δ",
        "SIGIR'12, section 4.3 and theorem 1", stop="urisk",
    )  # fmt: skip

    def swapped(self, model: Floats, data: QueryData) -> SwapChange:
        changes = [weighted_change(model, baseline, self.alpha) for baseline in data.baselines]
        return mean_over(changes)


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
        objective = self._objective
        if objective is None or not np.array_equal(objective.baseline, baseline):  # type: ignore[arg-type]
            objective = self._objective = URisk(baseline=baseline, **self._options)
        return objective(grades, scores, None, lengths)


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
    "se", delta_q / SE (SIGIR'16, Eq. 10), which with thousands of queries is alpha for
    every loss and 0 for every win. `spread` "first" keeps the s_w of the first iteration
    (SIGIR'14, section 6.3), "current" takes that of each iteration.
    """

    declared: ClassVar[Declaration] = Declaration(
        "tsaro", "T-SARO", "U-CRO with α′_q = [1 − Φ(T_R,q)] α, T_R,q = w_q / s_w",
        "SIGIR'14, Eq. 24 and 25; SIGIR'16, Eq. 10", stop="urisk",
    )  # fmt: skip

    tr: QueryRisk = "weighted"
    spread: Spread = "current"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_words(tr=(self.tr, QueryRisk), spread=(self.spread, Spread))

    def swapped(self, model: Floats, data: QueryData) -> SwapChange:
        alphas = self.alphas(model, data)
        pairs = zip(data.baselines, alphas, strict=True)
        return mean_over([weighted_change(model, baseline, own) for baseline, own in pairs])

    def alphas(self, model: Floats, data: QueryData) -> Floats:
        """alpha' of every query (column) against every baseline (row)."""
        pairs = [Paired(model[None], baseline) for baseline in data.baselines]
        errors = np.array([pair.urisk_se(self.alpha)[0] for pair in pairs])
        if self.spread == "first":
            errors = _after_first_iteration(errors, data)
        unit = errors if self.tr == "se" else errors * np.sqrt(len(model))
        each = [
            pair.weighted(self.alpha) if self.tr == "weighted" else pair.delta for pair in pairs
        ]
        # 0 where all queries are alike, so alpha' is alpha / 2 there.
        t = divided(np.concatenate(each), unit[:, None])
        return np.asarray(self.alpha * (1 - ndtr(t)))


def _after_first_iteration(errors: Floats, data: QueryData) -> Floats:
    """The errors after the first tree, once there is one; until then those at hand."""
    seen: list[Floats] = data.memory.setdefault("errors", [])
    if len(seen) < 2:
        seen.append(errors)
    return seen[-1]


@dataclass(kw_only=True, eq=False)
class TFaro(TSaro):
    """Every swap of a query counts 1 + alpha' times, be it above or below the baseline.

    With several baselines, pooled by their mean on each query, this is T*-FARO (SIGIR'16).
    """

    declared: ClassVar[Declaration] = Declaration(
        "tfaro", "T-FARO", "(1 + α′_q) ΔM, α′_q as in T-SARO",
        "SIGIR'14, Eq. 26; with several baselines T*-FARO, SIGIR'16, section 6", stop="urisk",
    )  # fmt: skip

    def swapped(self, model: Floats, data: QueryData) -> SwapChange:
        weights = 1 + self.alphas(model, data).mean(axis=0)

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
        "georisk", "GeoRisk", "c [√((S + ΔM)/c · Φ(Z′/c)) − √(S/c · Φ(Z/c))]",
        "SIGIR'16, section 6", stop="georisk",
    )  # fmt: skip
    pools: ClassVar[tuple[str, ...]] = ("mean",)

    marginals: Marginals = "frozen"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_words(marginals=(self.marginals, Marginals))

    def swapped(self, model: Floats, data: QueryData) -> SwapChange:
        return _Swaps(model, data.baselines, self.alpha, self.marginals == "exact").changed

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
    def _population(self) -> population.Population:
        totals = self._totals[None]
        return population.Population(self.model[None], totals, totals.sum(axis=1))

    @cached_property
    def _own(self) -> Floats:
        """What each query adds to ZRisk."""
        return population.shortfalls_weighted(self._population.z[0], self.alpha)

    @cached_property
    def _before(self) -> tuple[float, float]:
        """ZRisk and GeoRisk of the model as it is."""
        own = self._population
        return float(own.zrisk(self.alpha)[0]), float(own.georisk(self.alpha)[0])

    @cached_property
    def _sums(self) -> population.SumsByShare:
        return population.SumsByShare(self.model, self._totals)

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
        size, (zrisk, georisk) = len(self.model), self._before
        new_total = np.maximum(float(self.model.sum()) + change, 0.0)
        new_grand = float(self._population.grand_total[0]) + change
        share = divided(new_total, new_grand)
        expected = share * np.maximum(self._totals[queries] + change, 0.0)
        z = population.standardised(self.model[queries] + change, expected)
        new_own = population.shortfalls_weighted(z, self.alpha)
        if self.exact:
            above, below = self._sums.without(queries, share)
            new_zrisk = above - (1 + self.alpha) * below + new_own
        else:
            new_zrisk = zrisk - self._own[queries] + new_own
        weight = size * (population.georisk_of(new_total / size, new_zrisk / size) - georisk)
        return np.where(weight * change > 0, weight, 0.0) if self.exact else weight


OBJECTIVES: dict[str, type[Objective]] = {
    kind.declared.id: kind for kind in (Plain, URisk, TSaro, TFaro, GeoRisk)
}
"""Every objective by its id."""
