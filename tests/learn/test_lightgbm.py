"""The objectives within LightGBM: at alpha 0 its own lambdarank, and the traps around it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from riskcli import UsageError
from riskcli.learn import GeoRisk, Objective, Plain, TFaro, TSaro, URisk, xgboost_objective

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")

Floats = NDArray[np.float64]
QUIET: dict[str, Any] = {
    "verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True,
    "num_leaves": 15, "min_data_in_leaf": 20, "learning_rate": 0.1, "metric": "None",
}  # fmt: skip
EXP = "nDCG(dcg='exp-log2')@{}"


class Made:
    """Features, grades and groups, where one feature is a baseline."""

    def __init__(self, seed: int = 0, queries: int = 60, size: int = 12) -> None:
        random = np.random.default_rng(seed)
        self.sizes = np.full(queries, size)
        count = queries * size
        self.features = random.normal(size=(count, 6))
        worth = self.features[:, 0] + 0.7 * self.features[:, 1] + random.normal(size=count)
        self.grades = np.digitize(worth, [0.8, 1.6, 2.4]).astype(float)
        self.baseline = self.features[:, 0] + 0.3 * random.normal(size=count)

    def dataset(self, **given: Any) -> Any:
        return lightgbm.Dataset(self.features, self.grades, group=self.sizes, **given)


def trained(objective: Any, data: Any, rounds: int = 10, **given: Any) -> Any:
    return lightgbm.train({**QUIET, **given, "objective": objective}, data, rounds)


def leaves(booster: Any) -> list[Floats]:
    """The values of each tree's leaves."""
    count = booster.num_trees()
    numbers = [booster.dump_model()["tree_info"][tree]["num_leaves"] for tree in range(count)]
    return [
        np.array([booster.get_leaf_output(tree, leaf) for leaf in range(number)])
        for tree, number in enumerate(numbers)
    ]


def assert_same_leaves(ours: Any, theirs: Any, trees: int) -> None:
    for mine, other in list(zip(leaves(ours), leaves(theirs), strict=True))[:trees]:
        assert mine == pytest.approx(other, abs=1e-3)


@pytest.mark.parametrize("rows", [5, 30])
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize(
    "objective",
    [Plain, lambda **given: URisk(alpha=0, **given), lambda **given: TFaro(alpha=0, **given)],
)
def test_without_alpha_the_trees_are_lambdaranks(objective: Any, norm: bool, rows: int) -> None:
    made = Made()
    theirs = trained(
        "lambdarank", made.dataset(), lambdarank_truncation_level=rows, lambdarank_norm=norm
    )
    own = objective(
        baseline=made.baseline, effectiveness=EXP.format(rows), truncation=rows, ties="file",
        normalize=norm,
    )  # fmt: skip
    assert_same_leaves(trained(own, made.dataset()), theirs, trees=10)


@pytest.mark.parametrize("norm", [True, False])
def test_lightgbms_own_example_gives_lambdaranks_trees(shared: Path, norm: bool) -> None:
    folder = shared / "lambdarank-example"
    if not folder.is_dir():
        pytest.skip("LightGBM's example of lambdarank is absent from the shared data")
    features, grades = svmlight(folder / "rank.train.gz")
    sizes = np.loadtxt(folder / "rank.train.query", dtype=int)

    def data() -> Any:
        return lightgbm.Dataset(features, grades, group=sizes)

    rows = 30
    theirs = trained("lambdarank", data(), lambdarank_truncation_level=rows, lambdarank_norm=norm)
    own = Plain(effectiveness=EXP.format(rows), truncation=rows, ties="file", normalize=norm)
    ours = trained(own, data())
    assert_same_leaves(ours, theirs, trees=10)
    apart = np.abs(ours.predict(features) - theirs.predict(features)).max()
    assert apart <= 1e-3


def svmlight(path: Path) -> tuple[Floats, Floats]:
    """LightGBM's example, read without the package."""
    grades, rows = [], []
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        grade, *pairs = line.split()
        grades.append(float(grade))
        rows.append({int(pair.split(":")[0]): float(pair.split(":")[1]) for pair in pairs})
    features = np.zeros((len(rows), max(max(row) for row in rows) + 1))
    for number, row in enumerate(rows):
        features[number, list(row)] = list(row.values())
    return features, np.array(grades)


@pytest.mark.parametrize("kind", [URisk, TSaro, TFaro, GeoRisk])
def test_training_lowers_the_risk(kind: type[Objective]) -> None:
    """On the training data, with as many trees, by far more than chance; and it still learns."""
    made = Made(queries=600)
    ends = []
    for one in (kind, Plain):
        objective = one(alpha=5, baseline=made.baseline, truncation=12)
        trained(objective, made.dataset(), 40)
        ends.append(objective.history[-1])
    own, plain = ends
    assert own["risk"] < 0.7 * plain["risk"]
    assert own["georisk"] > plain["georisk"]
    assert own["reward"] > 0.7 * plain["reward"]


def test_early_stopping_is_on_the_measure_trained_for() -> None:
    """The first metric, on the validation queries' own baseline."""
    made, valid = Made(1), Made(2)
    objective = URisk(alpha=5, baseline=made.baseline)
    curve: dict[str, Any] = {}
    data = made.dataset()
    booster = lightgbm.train(
        {**QUIET, "objective": objective},
        data,
        60,
        valid_sets=[valid.dataset(reference=data)],
        feval=objective.measure(valid.baseline),
        callbacks=[
            lightgbm.early_stopping(10, verbose=False),
            lightgbm.record_evaluation(curve),
        ],
    )
    assert list(curve["valid_0"]) == ["urisk"]
    assert booster.best_iteration == 1 + int(np.argmax(curve["valid_0"]["urisk"]))
    known = objective.prepare(valid.grades, valid.sizes, valid.baseline)
    model = known.queries.effectiveness(booster.predict(valid.features))
    delta = model - known.baselines[0]
    expected = np.where(delta < 0, 6 * delta, delta).mean()
    assert curve["valid_0"]["urisk"][booster.best_iteration - 1] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("kind", [Plain, URisk, GeoRisk])
def test_lgbmranker_trains_the_same_trees(kind: type[Objective]) -> None:
    pytest.importorskip("sklearn", reason="LGBMRanker needs scikit-learn, which is absent")
    made = Made()
    settings = {key: value for key, value in QUIET.items() if key != "metric"}
    ranker = lightgbm.LGBMRanker(
        objective=kind(baseline=made.baseline), n_estimators=10, min_child_samples=20,
        **{k: v for k, v in settings.items() if k != "min_data_in_leaf"},
    )  # fmt: skip
    objective = kind(baseline=made.baseline)
    ranker.fit(
        made.features, made.grades, group=made.sizes,
        eval_set=[(made.features, made.grades)], eval_group=[made.sizes],
        eval_metric=objective.measure(made.baseline),
    )  # fmt: skip
    booster = trained(kind(baseline=made.baseline), made.dataset())
    ours = booster.predict(made.features)
    assert ranker.booster_.predict(made.features) == pytest.approx(ours, abs=1e-12)
    shown = list(ranker.evals_result_["training"][kind.declared.stop])
    assert len(shown) == 10


def test_folds_of_cv_take_their_own_rows_of_the_baseline() -> None:
    """lgb.cv hands over subsets: gradients and evaluations are of these documents alone."""
    made = Made()
    objective = URisk(alpha=5, baseline=made.baseline)
    queries = np.arange(len(made.sizes))
    parts = [queries[number::3] for number in range(3)]
    folds = []
    for part in parts:
        held_out = np.isin(np.repeat(queries, made.sizes), part)
        folds.append((np.flatnonzero(~held_out), np.flatnonzero(held_out)))
    found = lightgbm.cv(
        {**QUIET, "objective": objective}, made.dataset(free_raw_data=False), 8, folds=folds,
        feval=objective.measure(made.baseline), stratified=False,
    )  # fmt: skip
    by_hand = []
    for train, test in folds:
        own = URisk(alpha=5, baseline=made.baseline[train])
        sizes = np.full(len(train) // 12, 12)
        # The same bins as lgb.cv, which makes them of all data.
        whole = made.dataset(free_raw_data=False).construct()
        part = lightgbm.Dataset(
            made.features[train], made.grades[train], group=sizes, reference=whole
        )
        booster = trained(own, part, 8)
        known = own.prepare(made.grades[test], np.full(len(test) // 12, 12), made.baseline[test])
        model = known.queries.effectiveness(booster.predict(made.features[test]))
        delta = model - known.baselines[0]
        by_hand.append(np.where(delta < 0, 6 * delta, delta).mean())
    assert found["valid urisk-mean"][-1] == pytest.approx(np.mean(by_hand), abs=1e-9)


def test_a_baseline_by_query_cannot_be_cut_up() -> None:
    made = Made()
    objective = URisk(baseline=np.full(60, 0.5))
    trained(objective, made.dataset(), 2)
    subset = made.dataset(free_raw_data=False).subset(np.arange(240, 480))
    with pytest.raises(UsageError, match="give one score for each document of the whole"):
        trained(objective, subset, 2)


def test_a_part_of_a_part_takes_its_own_rows_of_the_baseline() -> None:
    made = Made()
    whole = made.dataset(free_raw_data=False)
    rows = np.arange(240, 600)[120:300]
    part = whole.subset(np.arange(240, 600)).subset(np.arange(120, 300))
    part.construct().set_group(made.sizes[:15])  # LightGBM forgets them in parts of parts
    objective = URisk(alpha=5, baseline=made.baseline)
    trained(objective, part, 1)
    own = URisk(alpha=5).prepare(made.grades[rows], made.sizes[:15], made.baseline[rows])
    delta = own.queries.effectiveness(np.zeros(len(rows))) - own.baselines[0]
    assert objective.history[0]["risk"] == pytest.approx(np.maximum(-delta, 0).mean())


def test_weights_multiply_gradients_as_lambdaranks_do() -> None:
    made = Made()
    weights = np.repeat(np.random.default_rng(3).uniform(0.5, 2, size=60), 12)
    theirs = trained("lambdarank", made.dataset(weight=weights), lambdarank_truncation_level=12)
    own = Plain(effectiveness=EXP.format(12), truncation=12, ties="file")
    assert_same_leaves(trained(own, made.dataset(weight=weights)), theirs, trees=10)


def test_scores_to_start_from_are_seen() -> None:
    """init_score is part of the scores that gradients are taken at, but not of predictions."""
    made = Made()
    start = 3.0 * made.baseline
    cold, warm = (URisk(baseline=made.baseline, truncation=12) for _ in range(2))
    trained(cold, made.dataset(), 2)
    booster = trained(warm, made.dataset(init_score=start), 2)
    known = warm.prepare(made.grades, made.sizes, made.baseline)
    assert warm.history[0]["mean"] == pytest.approx(known.baselines[0].mean())
    assert cold.history[0]["mean"] < warm.history[0]["mean"]
    after = known.queries.effectiveness(start + booster.predict(made.features))
    again = URisk(baseline=made.baseline, truncation=12)
    trained(again, made.dataset(init_score=start), 3)
    assert again.history[2]["mean"] == pytest.approx(after.mean(), abs=1e-9)


def test_bagging_by_query_shows_all_documents_to_the_objective() -> None:
    made = Made()
    objective = URisk(baseline=made.baseline, truncation=12)
    booster = trained(
        objective, made.dataset(), 5, bagging_by_query=True, bagging_fraction=0.5, bagging_freq=1
    )
    known = objective.prepare(made.grades, made.sizes, made.baseline)
    for number in range(1, 5):
        scores = booster.predict(made.features, num_iteration=number)
        expected = known.queries.effectiveness(scores).mean()
        assert objective.history[number]["mean"] == pytest.approx(expected, abs=1e-9)


def test_documents_without_pairs_do_not_stop_the_training() -> None:
    """Their hessian is 0; LightGBM's least hessian keeps them from leaves of their own."""
    made = Made()
    grades = made.grades.copy()
    grades[: 30 * 12] = 0  # half of all queries have no relevant document
    data = lightgbm.Dataset(made.features, grades, group=made.sizes)
    booster = trained(URisk(baseline=made.baseline), data, 20, min_data_in_leaf=1)
    assert booster.num_trees() == 20
    assert max(len(values) for values in leaves(booster)) > 2


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_alpha_weighs_queries_against_each_other_not_steps(share: float) -> None:
    """Where a query loses whatever happens, gradients and hessians are both 1 + alpha times
    LambdaMART's, so that their quotient, a leaf's value, stays: alpha tells only where some
    queries lose and others win.
    """
    made = Made()
    always_lost, always_won = 2.0, 0.0
    lost = np.arange(len(made.sizes)) < share * len(made.sizes)
    baseline = np.where(lost, always_lost, always_won)
    given: dict[str, Any] = {"min_sum_hessian_in_leaf": 1e-9, "min_data_in_leaf": 100}
    plain, gentle, strict = (
        leaves(trained(URisk(alpha=alpha, baseline=baseline), made.dataset(), **given))
        for alpha in (0.0, 1.0, 20.0)
    )
    for one, two, three in zip(plain, gentle, strict, strict=True):
        if share == 1:
            assert two == pytest.approx(one, rel=1e-4) and three == pytest.approx(one, rel=1e-4)
    same = len(strict[0]) == len(plain[0]) and np.allclose(strict[0], plain[0], rtol=1e-4)
    assert same == (share == 1)


def test_georisk_splits_among_thousands_of_queries() -> None:
    """Without the factor c its hessians would be too small for any leaf."""
    made = Made(queries=3000, size=6)
    booster = trained(GeoRisk(baseline={"a": made.baseline, "b": made.features[:, 1]}),
                      made.dataset(), 3)  # fmt: skip
    assert min(len(values) for values in leaves(booster)) == 15


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    made = Made()
    booster = trained(URisk(baseline=made.baseline), made.dataset())
    booster.save_model(tmp_path / "model.txt")
    again = lightgbm.Booster(model_file=tmp_path / "model.txt")
    assert (again.predict(made.features) == booster.predict(made.features)).all()


def test_a_data_set_without_groups_is_refused() -> None:
    made = Made()
    data = lightgbm.Dataset(made.features, made.grades)
    with pytest.raises(UsageError, match="no query groups"):
        trained(URisk(baseline=made.baseline), data)


@pytest.mark.parametrize("kind", [Plain, URisk, GeoRisk])
def test_xgboost_gets_the_same_gradients(kind: type[Objective]) -> None:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is absent")
    made = Made()
    weights = np.random.default_rng(1).uniform(0.5, 2, size=60)
    matrix = xgboost.DMatrix(made.features, made.grades, group=made.sizes, weight=weights)
    scores = np.random.default_rng(2).normal(size=len(made.grades))
    found = xgboost_objective(kind(baseline=made.baseline))(scores, matrix)
    objective = kind(baseline=made.baseline)
    known = objective.prepare(made.grades, made.sizes, made.baseline)
    expected = objective.derivatives(scores, known)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs * np.repeat(weights, 12), rel=1e-6)
    booster = xgboost.train(
        {"max_depth": 3, "nthread": 1, "base_score": 0}, matrix, 5,
        obj=xgboost_objective(kind(baseline=made.baseline)),
    )  # fmt: skip
    ranked = known.queries.effectiveness(booster.predict(matrix))
    assert ranked.mean() > known.queries.effectiveness(np.zeros(len(made.grades))).mean() + 0.1


def test_the_same_data_give_the_same_model() -> None:
    made = Made()
    first, second = (
        trained(TSaro(alpha=2, baseline=made.baseline), made.dataset()) for _ in range(2)
    )
    assert first.model_to_string() == second.model_to_string()
