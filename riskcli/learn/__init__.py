"""Learning to rank with less risk: objectives for LightGBM, features, training and comparison.

    from riskcli.learn import URisk

    objective = URisk(alpha=1, baseline=bm25_of_training_documents)
    lightgbm.train({"objective": objective, "metric": "None"}, data, valid_sets=[validation],
                   feval=objective.measure(bm25_of_validation_documents))

The objectives need numpy alone. What trains needs LightGBM, the extra `learn`.
"""

from __future__ import annotations

from riskcli.learn.feature_files import read_features
from riskcli.learn.objectives import (
    OBJECTIVES,
    DistributedURisk,
    GeoRisk,
    Objective,
    Plain,
    TFaro,
    TSaro,
    URisk,
    xgboost_objective,
)

__all__ = [
    "OBJECTIVES",
    "DistributedURisk",
    "GeoRisk",
    "Objective",
    "Plain",
    "TFaro",
    "TSaro",
    "URisk",
    "read_features",
    "xgboost_objective",
]
