"""The effectiveness measure alone: LambdaMART, the comparator of every risk-trained model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from riskcli.core.arrays import Floats
from riskcli.learn.lambdas import SwapChange
from riskcli.learn.objectives.objective import Declared, Known, Objective


@dataclass(kw_only=True, eq=False)
class Plain(Objective):
    """What LightGBM's lambdarank maximises; a baseline serves only to report the risk."""

    declared: ClassVar[Declared] = Declared(
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

    def swapped(self, model: Floats, known: Known) -> SwapChange:  # noqa: ARG002
        return lambda _queries, change: change
