"""U-CRO: trained for URisk (SIGIR'12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.learn.lambdas import SwapChange
from riskcli.learn.objectives.objective import Declared, Known, Objective
from riskcli.learn.queries import Ints
from riskcli.risk.paired import Paired


@dataclass(kw_only=True, eq=False)
class URisk(Objective):
    """The change of URisk: a swap counts 1 + alpha times as far as it happens below the baseline.

    These are the four cases of SIGIR'12. Eq. 9 of SIGIR'16 is another thing: it jumps where a swap
    crosses the baseline's effectiveness.
    """

    declared: ClassVar[Declared] = Declared(
        id="urisk",
        title="U-CRO",
        summary="reward less 1 + alpha times risk against the baseline",
        formula="w(δ_q + ΔM) − w(δ_q), w(δ) = δ where δ ≥ 0, else (1 + α) δ",
        source="SIGIR'12, section 4.3 and theorem 1",
        reading="Falls in mean effectiveness and in risk as alpha grows.",
        stop="urisk",
    )

    def swapped(self, model: Floats, known: Known) -> SwapChange:
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
