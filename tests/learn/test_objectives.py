"""Objectives of learning to rank: gradients against literal swaps, and an example by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from riskcli import UsageError, score_runs
from riskcli.learn import (
    OBJECTIVES,
    DistributedURisk,
    GeoRisk,
    Objective,
    Plain,
    TFaro,
    TSaro,
    URisk,
)
from riskcli.learn.lambdas import Queries, rank
from riskcli.learn.swaps import SwapMeasure, swap_measure
from riskcli.risk.population import Population
from tests.helpers import learning
from tests.helpers.learning import Data, Literal, measured

Floats = NDArray[np.float64]
EXP10 = "nDCG(dcg='exp-log2')@10"


def derivatives(objective: Objective, data: Data) -> tuple[Floats, Floats]:
    known = objective.prepare(data.grades, data.sizes, objective.baseline)
    return objective.derivatives(data.scores, known)


def swap_weights(objective: Objective, data: Data) -> dict[tuple[int, int], tuple[float, float]]:
    """Change of the measure and of the objective, a pair of documents each."""
    known = objective.prepare(data.grades, data.sizes, objective.baseline)
    ranked, model = rank(known.queries, data.scores)
    changed = objective.swapped(model, known)
    found = {}
    for part in ranked:
        bucket = part.bucket
        documents = np.take_along_axis(bucket.documents, part.order, axis=1)
        change = objective.swaps.changes(part.worth, bucket.scale, documents.shape[1] - 1)
        weight = changed(bucket.queries, change)
        for q, i, j in zip(*np.nonzero(change), strict=True):
            pair = (int(documents[q, i]), int(documents[q, j]))
            found[pair] = (float(change[q, i, j]), float(weight[q, i, j]))
    return found


# The example: three queries of three documents, with scores .3, .1, 0; sigma 1, alpha 1.

GOLDEN = Data(
    sizes=(3, 3, 3),
    grades=np.array([0, 1, 2, 2, 0, 1, 1, 0, 0.0]),
    scores=np.array([0.3, 0.1, 0.0] * 3),
    baselines=(
        np.array([1, 2, 3, 1, 3, 2, 2, 3, 1.0]),
        np.array([2, 1, 3, 3, 1, 2, 3, 2, 1.0]),
    ),
)
B, B2 = GOLDEN.baselines
COMMON: dict[str, Any] = {"normalize": False, "truncation": 10, "ties": "file", "alpha": 1.0}
PAIRS = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (6, 7), (6, 8)]
"""Documents that swap: 1-2, 1-3, 2-3 of the first query, and so on."""
PRINTED: dict[str, tuple[Objective, list[float]]] = {
    "plain": (
        Plain(**COMMON),
        [0.101646, 0.413117, 0.072119, -0.304939, -0.275412, 0.036060, -0.369070, -0.5],
    ),
    "U-CRO": (
        URisk(baseline=B, **COMMON),
        [0.203292, 0.826235, 0.144238, -0.304939, -0.275412, 0.036060, -0.369070, -0.630930],
    ),
    "T-SARO": (
        TSaro(baseline=B, **COMMON),
        [0.191462, 0.778153, 0.135845, -0.304939, -0.275412, 0.036060, -0.369070, -0.538888],
    ),
    "T-FARO": (
        TFaro(baseline=B, **COMMON),
        [0.191462, 0.778153, 0.135845, -0.394296, -0.356116, 0.046626, -0.478689, -0.648507],
    ),
    "GeoRisk, exact": (
        GeoRisk(baseline={"b": B, "b2": B2}, marginals="exact", **COMMON),
        [0.053871, 0.206700, 0.038446, -0.105911, -0.091322, 0.011028, -0.132842, -0.200855],
    ),
    "GeoRisk, frozen": (
        GeoRisk(baseline={"b": B, "b2": B2}, **COMMON),
        [0.067910, 0.261048, 0.048455, -0.162560, -0.142267, 0.017538, -0.201391, -0.295553],
    ),
}
GRADIENTS = {
    "plain": ".293201 -.018027 -.275173 -.254476 .156204 .098273 -.378922 .166143 .212779",
    "U-CRO": ".586401 -.036055 -.550346 -.254476 .156204 .098273 -.434640 .166143 .268497",
    "T-SARO": ".552277 -.033957 -.518320 -.254476 .156204 .098273 -.395471 .166143 .229328",
    "T-FARO": ".552277 -.033957 -.518320 -.329046 .201976 .127070 -.491466 .215490 .275977",
    "GeoRisk, exact": ".148358 -.009437 -.138921 -.086540 .053467 .033073 -.145276 .059801 .085475",
}
HESSIANS = {
    "plain": ".126149 .043144 .118975 .142804 .084470 .076319 .213580 .091351 .122229",
    "U-CRO": ".252298 .086288 .237949 .142804 .084470 .076319 .245587 .091351 .154236",
}
SIX_DECIMALS = 6e-7


@pytest.mark.parametrize("name", PRINTED)
def test_swaps_of_the_example(name: str) -> None:
    objective, printed = PRINTED[name]
    weights = swap_weights(objective, GOLDEN)
    assert [weights[pair][1] for pair in PAIRS] == pytest.approx(printed, abs=SIX_DECIMALS)
    assert len(weights) == len(PAIRS)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_the_example(name: str) -> None:
    grad, hess = derivatives(PRINTED[name][0], GOLDEN)
    assert grad == pytest.approx([float(x) for x in GRADIENTS[name].split()], abs=SIX_DECIMALS)
    if name in HESSIANS:
        assert hess == pytest.approx([float(x) for x in HESSIANS[name].split()], abs=SIX_DECIMALS)


@pytest.mark.parametrize(
    ("tr", "printed"),
    [
        ("weighted", [0.883613, 0.293033, 0.297013]),
        ("plain", [0.724620, 0.293033, 0.297013]),
        ("se", [0.849287, 0.172794, 0.177952]),
    ],
)
def test_the_alphas_of_the_example(tr: Any, printed: list[float]) -> None:
    objective = TSaro(baseline=B, tr=tr, **COMMON)
    known = objective.prepare(GOLDEN.grades, GOLDEN.sizes, B)
    _, model = rank(known.queries, GOLDEN.scores)
    assert objective.alphas(model, known)[0] == pytest.approx(printed, abs=SIX_DECIMALS)


def test_effectiveness_and_risk_of_the_example() -> None:
    objective = URisk(baseline=B, **COMMON)
    derivatives(objective, GOLDEN)
    seen = objective.history[0]
    assert seen["mean"] == pytest.approx((0.586883 + 0.963940 + 1) / 3, abs=SIX_DECIMALS)
    assert seen["urisk"] == pytest.approx(-0.026702, abs=SIX_DECIMALS)
    assert seen["trisk"] == pytest.approx(-0.066793, abs=SIX_DECIMALS)
    assert seen["georisk"] == pytest.approx(0.626908, abs=SIX_DECIMALS)
    several = GeoRisk(baseline={"b": B, "b2": B2}, **COMMON)
    derivatives(several, GOLDEN)
    assert several.history[0]["georisk"] == pytest.approx(0.627338, abs=SIX_DECIMALS)


# Any data, against literal swaps.

MEASURES: list[tuple[str, str, int | None]] = [
    (EXP10, "exp", 10),
    ("nDCG(dcg='exp-log2')@3", "exp", 3),
    ("nDCG@5", "ndcg", 5),
    ("nDCG", "ndcg", None),
    ("ERR@4", "err", 4),
    ("ERR", "err", None),
    ("AP", "ap", None),
    ("AP@4", "ap", 4),
]
ALPHAS = (0.0, 1.0, 5.0, 20.0)
Start = Callable[[Sequence[Sequence[float]], float], Callable[..., learning.OfModel]]
LITERAL: dict[str, tuple[Callable[..., Objective], Start, bool]] = {
    "urisk": (URisk, learning.u_cro, False),
    "tsaro": (TSaro, learning.t_saro, False),
    "tsaro se": (
        lambda **given: TSaro(tr="se", **given),
        lambda b, a: learning.t_saro(b, a, "se"),
        False,
    ),
    "tfaro": (TFaro, learning.t_faro, False),
    "tfaro plain": (
        lambda **given: TFaro(tr="plain", **given),
        lambda b, a: learning.t_faro(b, a, "plain"),
        False,
    ),
    "georisk": (GeoRisk, learning.georisk_frozen, False),
    "georisk exact": (
        lambda **given: GeoRisk(marginals="exact", **given),
        learning.georisk_exact,
        True,
    ),
}


@pytest.mark.parametrize(("name", "short", "k"), MEASURES)
def test_swaps_change_the_measure_as_scoring_anew_does(
    name: str, short: str, k: int | None
) -> None:
    for seed in range(20):
        data = learning.made(seed)
        found = swap_weights(Plain(effectiveness=name, discount="cut", ties="file"), data)
        expected = Literal(measured(short, k), learning.plain).swaps(data)
        # Pairs that are both below the cutoff, or both relevant to AP, change nothing.
        for pair, (change, _) in expected.items():
            assert found.get(pair, (0.0, 0.0))[0] == pytest.approx(change, abs=1e-13)
        assert set(found) <= set(expected)


@pytest.mark.parametrize(("name", "short", "k"), MEASURES)
def test_measures_are_those_of_the_reference(name: str, short: str, k: int | None) -> None:
    for seed in range(20):
        data = learning.made(seed)
        queries = Queries(data.grades, data.sizes, swap_measure(name), ties="file")
        expected = data.effectiveness(measured(short, k), data.scores)
        assert queries.effectiveness(data.scores) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("name", [name for name, _, _ in MEASURES])
def test_measures_are_those_that_score_has_pytrec_eval_compute(name: str) -> None:
    for seed in range(20):
        data = learning.made(seed, ties=False)
        queries = Queries(data.grades, data.sizes, swap_measure(name), ties="file")
        run: dict[str, dict[str, float]] = {}
        grades: dict[str, dict[str, int]] = {}
        for number, query in enumerate(data.queries()):
            names = [str(document) for document in range(query.start, query.stop)]
            run[str(number)] = dict(zip(names, data.scores[query].tolist(), strict=True))
            grades[str(number)] = dict(zip(names, map(int, data.grades[query]), strict=True))
        (matrix,) = score_runs({"run": run}, grades, name).matrices
        assert matrix.topics == tuple(str(number) for number in queries.counted)
        assert queries.effectiveness(data.scores) == pytest.approx(matrix.values[0], abs=1e-14)


def agree(found: tuple[Floats, Floats], expected: tuple[Floats, Floats]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert np.abs(ours - theirs).max() <= 1e-10 * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", LITERAL)
def test_gradients_are_those_of_literal_swaps(name: str, alpha: float) -> None:
    """One baseline or three of their own; ties, one-document queries, none relevant; both norms."""
    kind, start, clamped = LITERAL[name]
    for seed, (measure, short, k) in enumerate(MEASURES * 2):
        data = learning.made(seed, baselines=1 + 2 * (seed % 2), ties=seed % 3 > 0)
        scored = [data.effectiveness(measured(short, k), scores) for scores in data.baselines]
        normalize = seed % 4 < 2
        objective = kind(
            baseline=dict(enumerate_names(data.baselines)),
            alpha=alpha,
            effectiveness=measure,
            discount="cut",
            ties="file",
            normalize=normalize,
            truncation=3 + seed % 9,
            sigma=0.5 + seed % 3,
            **({} if name.startswith("georisk") else {"pool": "each"}),
        )
        expected = Literal(
            measured(short, k),
            start(scored, alpha),
            rows=3 + seed % 9,
            sigma=0.5 + seed % 3,
            normalize=normalize,
            clamped=clamped,
        ).gradients(data)
        agree(derivatives(objective, data), expected)


def enumerate_names(baselines: Sequence[Floats]) -> list[tuple[str, Floats]]:
    return [(f"b{number}", scores) for number, scores in enumerate(baselines)]


@pytest.mark.parametrize("pool", ["mean", "median", "max", "min"])
@pytest.mark.parametrize("kind", [URisk, TSaro, TFaro])
def test_pooled_baselines_are_one_baseline(kind: Callable[..., Objective], pool: str) -> None:
    data = learning.made(3, baselines=3)
    of_ranking = measured("exp", 10)
    scored = [data.effectiveness(of_ranking, scores) for scores in data.baselines]
    pools: Mapping[str, Callable[..., Any]] = {
        "mean": np.mean, "median": np.median, "max": np.max, "min": np.min,
    }  # fmt: skip
    whole = np.zeros(len(data.sizes))
    relevant = [data.grades[query].max() > 0 for query in data.queries()]
    whole[relevant] = pools[pool](scored, axis=0)
    several = kind(baseline=dict(enumerate_names(data.baselines)), pool=pool, ties="file")
    agree(derivatives(several, data), derivatives(kind(baseline=whole, ties="file"), data))


@pytest.mark.parametrize("kind", [URisk, TSaro, TFaro])
def test_at_alpha_0_they_are_the_plain_objective(kind: Callable[..., Objective]) -> None:
    data = learning.made(5)
    expected = derivatives(Plain(), data)
    agree(derivatives(kind(alpha=0, baseline=data.baselines[0]), data), expected)


def test_u_cro_is_the_four_cases_of_the_paper() -> None:
    """SIGIR'12, section 4.3.2: A1, A2, B1 and B2, as printed."""
    for seed in range(30):
        data = learning.made(seed)
        objective = URisk(baseline=data.baselines[0], alpha=2.0, discount="cut", ties="file")
        model = data.effectiveness(measured("exp", 10), data.scores)
        baseline = data.effectiveness(measured("exp", 10), data.baselines[0])
        weights = swap_weights(objective, data)
        for number, query in enumerate(data.counted()):
            m, b = model[number], baseline[number]
            for (upper, _), (change, weight) in weights.items():
                if not query.start <= upper < query.stop:
                    continue
                if m <= b:
                    stays = m + change <= b
                    expected = 3 * change if stays else change + 2 * (b - m)
                else:
                    stays = m + change >= b
                    expected = change if stays else 2 * (m - b) + 3 * change
                assert weight == pytest.approx(expected, abs=1e-12)


def test_the_papers_claim_of_consistency_does_not_hold() -> None:
    """SIGIR'16: a better model has a higher GeoRisk. Here it improves on one of five topics."""
    baselines = np.full((4, 5), 0.5)
    before, after = np.array([0.8, 0.4, 0.4, 0.4, 0.4]), np.array([0.9, 0.4, 0.4, 0.4, 0.4])
    printed = {2: (0.458306, 0.460132), 5: (0.410108, 0.399436), 10: (0.326995, 0.296346)}
    for alpha, (first, second) in printed.items():
        for model, expected in ((before, first), (after, second)):
            population = Population.of_baselines(np.vstack([baselines, model]), range(4))
            assert population.georisk(alpha)[-1] == pytest.approx(expected, abs=SIX_DECIMALS)


def test_exact_marginals_never_pull_a_better_document_down() -> None:
    wrong = 0
    for seed in range(40):
        data = learning.made(seed, baselines=2)
        shared: dict[str, Any] = {
            "baseline": dict(enumerate_names(data.baselines)), "alpha": 10.0, "discount": "cut",
        }  # fmt: skip
        for change, weight in swap_weights(GeoRisk(marginals="exact", **shared), data).values():
            assert weight * change >= 0
            wrong += weight == 0
        for change, weight in swap_weights(GeoRisk(**shared), data).values():
            assert weight * change > 0
    assert wrong > 0  # so there was something to clamp


# Traps.


def sorted_by_grade(queries: int = 40, size: int = 12) -> Data:
    random = np.random.default_rng(1)
    grades = random.choice([0, 0, 0, 1, 2], size=(queries, size)).astype(float)
    grades = -np.sort(-grades, axis=1)
    baseline = random.normal(size=grades.size)
    return Data((size,) * queries, grades.ravel(), np.zeros(grades.size), (baseline,))


def test_the_first_iteration_does_not_reward_a_file_sorted_by_grade() -> None:
    data = sorted_by_grade()
    shuffled, as_filed = Plain(), Plain(ties="file")
    for objective in (shuffled, as_filed):
        derivatives(objective, data)
    assert as_filed.history[0]["mean"] == pytest.approx(1.0)
    random = np.random.default_rng(2)
    chance = [
        np.mean(data.effectiveness(measured("exp", 10), random.normal(size=len(data.grades))))
        for _ in range(20)
    ]
    assert shuffled.history[0]["mean"] == pytest.approx(np.mean(chance), abs=5 * np.std(chance))


def test_scores_far_apart_and_extreme_stay_finite() -> None:
    data = learning.made(2, baselines=2)
    for scale in (0.0, 1e3, 1e6, 1e300):
        far = Data(data.sizes, data.grades, data.scores * scale, data.baselines)
        for kind in OBJECTIVES.values():
            given: dict[str, Any] = {
                "baseline": dict(enumerate_names(data.baselines)),
                "alpha": 20.0,
            }
            for found in derivatives(kind(**given), far):
                assert np.isfinite(found).all()
            assert (derivatives(kind(**given), far)[1] >= 0).all()


@pytest.mark.parametrize("discount", ["full", "cut"])
@pytest.mark.parametrize("marginals", ["frozen", "exact"])
def test_georisk_where_everything_is_zero(marginals: Any, discount: Any) -> None:
    """A model and baselines that find nothing: e = 0, T = 0, N = 0, and swaps that leave there."""
    grades = np.array([0, 0, 0, 0, 1.0] * 3)
    scores = np.array([5, 4, 3, 2, 1.0] * 3)
    objective = GeoRisk(
        baseline={"a": scores, "b": scores},
        effectiveness="nDCG@2",
        marginals=marginals,
        discount=discount,
    )
    data = Data((5, 5, 5), grades, scores, (scores,))
    grad, hess = derivatives(objective, data)
    assert np.isfinite(grad).all() and np.isfinite(hess).all()
    assert (grad.reshape(3, 5)[:, 4] < 0).all()


def test_a_model_that_equals_its_baseline_halves_alpha() -> None:
    data = learning.made(4)
    objective = TSaro(baseline=data.scores, alpha=3.0)
    known = objective.prepare(data.grades, data.sizes, data.scores)
    _, model = rank(known.queries, data.scores)
    assert (objective.alphas(model, known) == 1.5).all()


def test_georisk_has_hessians_of_the_size_of_lambdamarts() -> None:
    random = np.random.default_rng(3)
    sizes, count = (10,) * 500, 5000
    grades = random.choice([0, 0, 1, 2], size=count).astype(float)
    scores = random.normal(size=count)
    data = Data(sizes, grades, scores, (grades + random.normal(size=count),))
    plain, geo = (
        derivatives(kind(baseline=data.baselines[0]), data)[1].mean() for kind in (Plain, GeoRisk)
    )
    assert 0.1 < geo / plain < 10


def test_queries_without_relevant_documents_do_not_count() -> None:
    data = learning.made(6)
    objective = URisk(baseline=data.baselines[0])
    grad, hess = derivatives(objective, data)
    for query in data.queries():
        if data.grades[query].max() <= 0:
            assert not grad[query].any() and not hess[query].any()
    relevant = [query for query in data.queries() if data.grades[query].max() > 0]
    kept = np.concatenate([np.arange(query.start, query.stop) for query in relevant])
    fewer = Data(
        tuple(query.stop - query.start for query in relevant),
        data.grades[kept],
        data.scores[kept],
        (data.baselines[0][kept],),
    )
    without = URisk(baseline=fewer.baselines[0], ties="file")
    again = derivatives(URisk(baseline=data.baselines[0], ties="file"), data)
    agree((again[0][kept], again[1][kept]), derivatives(without, fewer))


@pytest.mark.parametrize("kind", OBJECTIVES.values())
def test_one_query_of_one_document(kind: Callable[..., Objective]) -> None:
    data = Data((1,), np.array([2.0]), np.array([0.5]), (np.array([1.0]),))
    grad, hess = derivatives(kind(baseline=data.baselines[0]), data)
    assert grad.tolist() == [0.0] and hess.tolist() == [0.0]


def test_first_spread_is_kept_from_the_second_iteration() -> None:
    data = learning.made(8, ties=False)
    later = Data(data.sizes, data.grades, -data.scores, data.baselines)
    kept = TSaro(baseline=data.baselines[0], alpha=5.0, spread="first")
    known = kept.prepare(data.grades, data.sizes, data.baselines[0])
    models = [rank(known.queries, scores)[1] for scores in (np.zeros(len(data.grades)),
              data.scores, later.scores)]  # fmt: skip
    start, second, third = (kept.alphas(model, known) for model in models)
    fresh = TSaro(baseline=data.baselines[0], alpha=5.0)
    for model, found in zip(models[:2], (start, second), strict=True):
        assert found == pytest.approx(fresh.alphas(model, known))
    assert third != pytest.approx(fresh.alphas(models[2], known))
    assert kept.alphas(models[1], known) == pytest.approx(second)


def test_workers_get_the_gradients_of_one_machine() -> None:
    """Each worker sees some queries, and the baseline's effectiveness as their weights."""
    data = learning.made(11, queries=12)
    options: dict[str, Any] = {"alpha": 5.0, "ties": "file"}
    whole = URisk(baseline=data.baselines[0], **options)
    known = whole.prepare(data.grades, data.sizes, data.baselines[0])
    expected = whole.derivatives(data.scores, known)
    effectiveness = np.zeros(len(data.sizes))
    effectiveness[known.queries.counted] = known.baselines[0]
    weights = np.repeat(effectiveness, data.sizes)
    worker = DistributedURisk(**options)
    for part in (slice(0, 5), slice(5, 12)):
        sizes = np.array(data.sizes[part])
        start = sum(data.sizes[: part.start])
        rows = slice(start, start + int(sizes.sum()))
        for _ in range(2):
            found = worker(data.grades[rows], data.scores[rows], weights[rows], sizes)
            agree(found, (expected[0][rows], expected[1][rows]))
    with pytest.raises(UsageError, match="sample_weight must hold the baseline's effectiveness"):
        worker(data.grades, data.scores, None, data.sizes)


# Wrong requests.


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": -1.0}, "alpha is -1.0, expected a number of at least 0"),
        ({"pool": "sum"}, "pool is 'sum'"),
        ({"truncation": 0}, "truncation is 0"),
        ({"effectiveness": "P@10"}, "P@10 cannot be trained for, expected one of nDCG, ERR, AP"),
        ({"discount": "half"}, "discount is 'half'"),
    ],
)
def test_wrong_options_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        URisk(**given)


@pytest.mark.parametrize(
    ("grades", "sizes", "baseline", "message"),
    [
        ([1, 0.5, 0], [3], [1, 2, 3], "document 2 has the grade 0.5, expected a whole number"),
        ([1, 0, 0], [2], [1, 2, 3], "the query groups hold 2 documents, the data 3"),
        ([0, 0, 0], [3], [1, 2, 3], "no query has a relevant document"),
        ([1, 0, 0], [3], [1, 2], "a baseline has 2 numbers, expected one for each of the 3"),
        ([1, 0, 0], [3], None, "U-CRO needs a baseline"),
    ],
)
def test_wrong_data_are_refused(
    grades: list[float], sizes: list[int], baseline: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        URisk().prepare(grades, sizes, baseline)


def test_err_refuses_grades_above_its_highest() -> None:
    with pytest.raises(UsageError, match="grade 5, above the highest that ERR expects"):
        Plain(effectiveness="ERR@10").prepare([5, 0], [2], None)


def test_every_objective_is_declared() -> None:
    assert list(OBJECTIVES) == ["plain", "urisk", "tsaro", "tfaro", "georisk"]
    for kind in OBJECTIVES.values():
        assert kind.declared.formula and kind.declared.source


@pytest.mark.parametrize("name", ["nDCG@10", "ERR@5", "AP"])
def test_a_full_discount_counts_swaps_below_the_cutoff(name: str) -> None:
    full: SwapMeasure = swap_measure(name)
    worth = full.worth(np.array([[0.0] * 19 + [1.0]]))
    change = full.changes(worth, full.scale(worth), 15)
    assert change[0, 14, 19] > 0 and change[0, 0, 19] > 0
