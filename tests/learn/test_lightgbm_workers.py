"""U-CRO over LightGBM's Dask interface: two workers, each with half of the queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.distributed import one_process, workers
from benchmarks.make_features import make_features
from riskcli.learn import URisk

pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")
pytest.importorskip("distributed", reason="Dask is not installed: pip install 'riskeval[cluster]'")
pytest.importorskip("dask.array", reason="Dask's arrays are not installed: pip install dask[array]")
pytest.importorskip("sklearn", reason="LightGBM's Dask interface needs scikit-learn")


LEAST = {"min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 2.0}
"""Sums are exact among workers, the documents in a leaf are only estimated from them."""


@pytest.mark.slow
def test_two_workers_train_the_trees_of_one_process() -> None:
    """Features have few values, all of which each worker sees: then bins are the same, too."""
    made = make_features(120, 16, 6, seed=3)
    coarse = np.clip(np.round(2 * made.features / made.features.std(axis=0)), -2, 2)
    made = replace(made, features=coarse)

    def alone(alpha: float) -> NDArray[np.float64]:
        objective = URisk(alpha=alpha, baseline=made.baseline, ties="file")
        return np.asarray(one_process(made, objective, 8, LEAST).predict(made.features))

    single = alone(5)
    assert len(np.unique(single)) > 50
    assert workers(made, 2, 8, LEAST) == pytest.approx(single, abs=1e-6)
    assert np.abs(alone(0) - single).max() > 0.01
