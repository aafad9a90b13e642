"""T-FARO: LambdaMART with queries weighted by their risk (SIGIR'14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.learn.lambdas import SwapChange
from riskcli.learn.objectives.objective import Declared, Known
from riskcli.learn.objectives.tsaro import TSaro
from riskcli.learn.queries import Ints


@dataclass(kw_only=True, eq=False)
class TFaro(TSaro):
    """Every swap of a query counts 1 + alpha' times, be it above or below the baseline.

    With several baselines, pooled by their mean on each query, this is T*-FARO (SIGIR'16).
    """

    declared: ClassVar[Declared] = Declared(
        id="tfaro",
        title="T-FARO",
        summary="the effectiveness measure, queries weighted by how badly they lose",
        formula="(1 + α′_q) ΔM, α′_q as in T-SARO",
        source="SIGIR'14, Eq. 26; with several baselines T*-FARO, SIGIR'16, section 6",
        reading="Stays nearest to LambdaMART; the gentlest of the three.",
        stop="urisk",
    )

    def swapped(self, model: Floats, known: Known) -> SwapChange:
        weights = 1 + self.alphas(model, known).mean(axis=0)

        def changed(queries: Ints, change: Floats) -> Floats:
            return np.asarray(weights[queries][:, None, None] * change)

        return changed
