"""T-SARO: like U-CRO, with an alpha that each query's own risk decides (SIGIR'14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import QueryRisk, Spread, check_words
from riskcli.core.special import ndtr
from riskcli.learn.lambdas import SwapChange
from riskcli.learn.objectives.objective import Declared, Known, Objective
from riskcli.learn.objectives.urisk import mean_over, weighted_change
from riskcli.risk.paired import Paired


@dataclass(kw_only=True, eq=False)
class TSaro(Objective):
    """A query's alpha' is alpha times the chance of a worse result than its own T_R.

    `tr` is what T_R stands for: "weighted", w_q / s_w (SIGIR'14, Eq. 21); "plain", delta_q / s_w;
    "se", delta_q / SE (SIGIR'14, 5.2; SIGIR'16), which with thousands of queries is alpha for
    every loss and 0 for every win. `spread` "first" keeps the s_w of the first iteration
    (SIGIR'14, section 6.1), "current" takes that of each iteration.
    """

    declared: ClassVar[Declared] = Declared(
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

    def swapped(self, model: Floats, known: Known) -> SwapChange:
        alphas = self.alphas(model, known)
        pairs = zip(known.baselines, alphas, strict=True)
        return mean_over([weighted_change(model, baseline, own) for baseline, own in pairs])

    def alphas(self, model: Floats, known: Known) -> Floats:
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


def _after_first_iteration(errors: Floats, known: Known) -> Floats:
    """The errors after the first tree, once there is one; until then those at hand."""
    seen: list[Floats] = known.memory.setdefault("errors", [])
    if len(seen) < 2:
        seen.append(errors)
    return seen[-1]
