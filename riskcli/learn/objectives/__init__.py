"""What a ranker can be trained for: a module an objective, each listed here."""

from __future__ import annotations

from riskcli.learn.objectives.georisk import GeoRisk
from riskcli.learn.objectives.objective import Declared, Objective, xgboost_objective
from riskcli.learn.objectives.plain import Plain
from riskcli.learn.objectives.tfaro import TFaro
from riskcli.learn.objectives.tsaro import TSaro
from riskcli.learn.objectives.urisk import DistributedURisk, URisk

OBJECTIVES: dict[str, type[Objective]] = {
    kind.declared.id: kind for kind in (Plain, URisk, TSaro, TFaro, GeoRisk)
}
"""Every objective by its id."""

__all__ = [
    "OBJECTIVES",
    "Declared",
    "DistributedURisk",
    "GeoRisk",
    "Objective",
    "Plain",
    "TFaro",
    "TSaro",
    "URisk",
    "xgboost_objective",
]
