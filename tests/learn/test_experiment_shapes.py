"""The shape of the papers' tables, on made data: SIGIR'12 Table 1, SIGIR'14 Table 3, SIGIR'16
Table 7. Models are trained on one half of the queries and looked at on the other.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from benchmarks.make_features import make_features
from riskcli.learn import GeoRisk, Objective, Plain, TFaro, TSaro, URisk

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")

Floats = NDArray[np.float64]
QUERIES, DOCUMENTS = 1600, 16
HALF = QUERIES // 2
TREES = {
    "num_leaves": 8, "min_data_in_leaf": 100, "learning_rate": 0.1, "num_threads": 1,
    "verbosity": -1, "metric": "None", "force_row_wise": True, "deterministic": True,
}  # fmt: skip
ALPHAS = (1.0, 5.0, 20.0)
MADE = make_features(QUERIES, DOCUMENTS, 8, seed=5)
BM25 = MADE.baseline
SEVERAL = {
    "bm25": BM25,
    **{f"near{n}": BM25 + 0.4 * MADE.features[:, 1] + 0.3 * n * MADE.features[:, 5]
       for n in (1, 2, 3)},
}  # fmt: skip
"""BM25 and rankers that are nearer to what can be learned, as SIGIR'16 has them."""


@dataclass(frozen=True)
class OnTest:
    """A model's effectiveness on the test queries, and that of what it is compared with."""

    model: Floats
    bm25: Floats
    several: Floats

    @property
    def mean(self) -> float:
        return float(self.model.mean())

    @property
    def losses(self) -> Floats:
        """To BM25, by query."""
        return np.maximum(self.bm25 - self.model, 0)

    @property
    def losses_to_several(self) -> Floats:
        """The mean over the baselines, by query."""
        return np.asarray(np.maximum(self.several - self.model, 0).mean(axis=0))


@cache
def on_test(kind: type[Objective], alpha: float = 0.0) -> OnTest:
    rows = slice(0, HALF * DOCUMENTS)
    rest = slice(HALF * DOCUMENTS, None)
    own: Any = SEVERAL if kind is GeoRisk else {"bm25": BM25}
    objective = kind(alpha=alpha, baseline={name: scores[rows] for name, scores in own.items()})
    data = lightgbm.Dataset(MADE.features[rows], MADE.grades[rows], group=MADE.sizes[:HALF])
    booster = lightgbm.train({**TREES, "objective": objective}, data, 60)
    scores = {name: scores[rest] for name, scores in SEVERAL.items()}
    known = GeoRisk().prepare(MADE.grades[rest], MADE.sizes[HALF:], scores)
    model = known.queries.effectiveness(booster.predict(MADE.features[rest]))
    return OnTest(model, known.baselines[0], known.baselines)


def falls(values: list[float]) -> bool:
    return all(before > after for before, after in itertools.pairwise(values))


def significant(one: Floats, other: Floats) -> bool:
    return bool(stats.ttest_rel(one, other).pvalue < 0.01)


@pytest.mark.parametrize("kind", [URisk, TSaro])
def test_mean_and_risk_fall_with_alpha(kind: type[Objective]) -> None:
    found = [on_test(Plain), *(on_test(kind, alpha) for alpha in ALPHAS)]
    assert falls([one.mean for one in found])
    assert falls([float(one.losses.mean()) for one in found])
    assert significant(found[0].losses, found[1].losses)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_saro_falls_less_in_mean_than_u_cro(alpha: float) -> None:
    assert on_test(URisk, alpha).mean < on_test(TSaro, alpha).mean < on_test(Plain).mean


@pytest.mark.parametrize("alpha", ALPHAS)
def test_faro_stays_near_plain_and_still_loses_less(alpha: float) -> None:
    plain, faro = on_test(Plain), on_test(TFaro, alpha)
    assert abs(faro.mean - plain.mean) < 0.015
    assert significant(plain.losses, faro.losses)
    assert faro.losses.mean() < plain.losses.mean()


def test_faro_falls_far_less_than_u_cro_at_a_high_alpha() -> None:
    plain = on_test(Plain).mean
    assert plain - on_test(TFaro, 20.0).mean < 0.3 * (plain - on_test(URisk, 20.0).mean)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_georisk_loses_less_against_several_baselines(alpha: float) -> None:
    plain, geo = on_test(Plain), on_test(GeoRisk, alpha)
    assert geo.losses_to_several.mean() < plain.losses_to_several.mean()
    assert significant(plain.losses_to_several, geo.losses_to_several) or alpha == 1.0
    assert abs(geo.mean - plain.mean) < 0.015
