"""Learning to rank with less risk: objectives for LightGBM, features, training and comparison.

    from riskcli.learn import URisk

    objective = URisk(alpha=1, baseline=bm25_of_training_documents)
    lightgbm.train({"objective": objective, "metric": "None"}, data, valid_sets=[validation],
                   feval=objective.measure(bm25_of_validation_documents))

The objectives need numpy alone. What trains needs LightGBM, the extra `learn`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riskcli.learn.feature_files import read_features
    from riskcli.learn.objective import Objective, xgboost_objective
    from riskcli.learn.objectives import OBJECTIVES, GeoRisk, Plain, TFaro, TSaro, URisk
    from riskcli.learn.objectives import DistributedURisk as DistributedURisk

__all__ = [
    "OBJECTIVES", "DistributedURisk", "GeoRisk", "Objective", "Plain", "TFaro", "TSaro", "URisk",
    "read_features", "xgboost_objective",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Late: the help of `riskeval train` imports this package, and needs no numpy.
    from riskcli.learn import feature_files, objective, objectives

    owners = (objectives, objective, feature_files)
    return next(getattr(owner, name) for owner in owners if hasattr(owner, name))
