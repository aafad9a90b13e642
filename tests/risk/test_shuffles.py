"""The test against virtual baselines, and rank intervals: enumerations, laws, error rates."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, Significance, UsageError, risk_table
from riskcli.risk.estimate import CORRECTIONS
from riskcli.risk.losses import PUBLISHED, Cubic
from riskcli.risk.measures import statistics
from riskcli.risk.shuffles import Key, ShuffleTest, of_means, of_statistics, shuffle_tests
from tests.helpers import reference
from tests.helpers.examples import equal_runs
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

ZRISK, GEORISK = statistics()
KEYS = [(statistic, alpha) for statistic in (ZRISK, GEORISK) for alpha in (0.0, 5.0)]
SMALL = np.array(
    [[0.9, 0.1, 0.6, 0.35], [0.4, 0.15, 0.2, 0.5], [0.55, 0.0, 0.1, 0.3]],
)


def means_test(values: Floats, baseline: Floats, shuffles: int, seed: int) -> ShuffleTest:
    return shuffle_tests([of_means(values, baseline)], shuffles, seed)[None]


def literal_t(matrix: list[list[float]], measure: str, alpha: float, pool: str) -> list[float]:
    """|t| of each run: paired for the mean, else from influences, against the mean over runs."""
    topics = range(len(matrix[0]))
    if measure == "mean":
        baseline = reference.virtual_baseline(matrix, pool)  # type: ignore[arg-type]
        tests = [reference.mean_test(reference.deltas(row, baseline)) for row in matrix]
        return [abs(test["t"] or 0.0) for test in tests]
    rows = range(len(matrix))
    values = [reference.theta(matrix, i, measure, alpha) for i in rows]  # type: ignore[arg-type]
    psi = [reference.influence(matrix, i, measure, alpha) for i in rows]  # type: ignore[arg-type]
    found = []
    for i in rows:
        apart = [psi[i][q] - reference.mean(psi[k][q] for k in rows) for q in topics]
        se = (sum(v * v for v in apart) / (len(topics) * (len(topics) - 1))) ** 0.5
        found.append(abs(values[i] - reference.mean(values)) / se)
    return found


@pytest.mark.parametrize(
    ("measure", "alpha", "pool"),
    [("mean", 0.0, "mean"), ("mean", 0.0, "max"), ("zeta", 5.0, "mean"), ("georisk", 1.0, "mean")],
)
def test_p_values_equal_those_of_all_shuffles(measure: str, alpha: float, pool: str) -> None:
    """Three runs on four topics can be shuffled in 6^4 = 1,296 ways."""
    observed = literal_t(SMALL.tolist(), measure, alpha, pool)
    every = []
    for orders in product(permutations(range(3)), repeat=4):
        shuffled = [[float(SMALL[order[i], q]) for q, order in enumerate(orders)] for i in range(3)]
        every.append(literal_t(shuffled, measure, alpha, pool))
    sizes = np.array(every)
    order = np.argsort(observed)[::-1]
    alone, corrected, so_far = np.empty(3), np.empty(3), 0.0
    for step, run in enumerate(order):
        bound = observed[run] - 1e-9
        alone[run] = (sizes >= bound).mean()
        largest = sizes[:, : 3 - step].max(axis=1)
        so_far = corrected[run] = max(so_far, (largest >= bound).mean(), alone[run])
    shuffles = 20_000
    if measure == "mean":
        baseline: Floats = np.array(reference.virtual_baseline(SMALL.tolist(), pool))  # type: ignore[arg-type]
        test = means_test(SMALL, baseline, shuffles, 3)
    else:
        key = (ZRISK if measure == "zeta" else GEORISK, alpha)
        test = shuffle_tests([of_statistics(SMALL, [key])], shuffles, 3)[key]
    assert test.t == pytest.approx(observed)
    plan = Options(alphas=(alpha,), significance=Significance(shuffles=shuffles, seed=3))
    table = risk_table(named(SMALL), f"@{pool}", options=plan).to_frame()
    printed = table[f"{measure.replace('zeta', 'zrisk')}_p_adj"].to_numpy(dtype=float)
    holm = CORRECTIONS["holm"](alone)
    assert np.abs(corrected - holm).max() > 0.02, "Holm would pass as well"
    stepped = test.step_down(np.ones(3, dtype=bool))
    for mine, exact in ((test.p, alone), (stepped, corrected), (printed, corrected)):
        noise = 4 * np.sqrt(exact * (1 - exact) / shuffles) + 1 / shuffles
        assert (np.abs(mine - exact) <= noise).all()


@settings(max_examples=25, deadline=None)
@given(score_values(min_runs=3, max_runs=5, min_topics=3), ALPHAS, st.booleans())
def test_errors_equal_those_of_literal_influences(
    values: Floats, alpha: float, smooth: bool
) -> None:
    expected = np.outer(values.sum(axis=1), values.sum(axis=0)) / max(values.sum(), 1e-300)
    assume(values.any(axis=1).all() and not (np.abs(values - expected) < 1e-12).any())
    loss: reference.Loss = "smooth" if smooth else "linear"
    alpha = 0.0 if smooth else alpha
    keys = [(ZRISK, alpha), (GEORISK, alpha)]
    tests = shuffle_tests([of_statistics(values, keys, PUBLISHED if smooth else None)], 9, 1)
    rows = range(len(values))
    for statistic, measure in ((ZRISK, "zeta"), (GEORISK, "georisk")):
        psi = np.array(
            [reference.influence(values.tolist(), i, measure, alpha, loss) for i in rows]  # type: ignore[arg-type]
        )
        squares = ((psi - psi.mean(axis=0)) ** 2).sum(axis=1)
        error = np.sqrt(squares / (values.shape[1] * (values.shape[1] - 1)))
        assert tests[statistic, alpha].error == pytest.approx(error, rel=1e-6, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(score_values(min_runs=3, min_topics=3), st.randoms(use_true_random=False))
def test_the_order_of_runs_and_topics_changes_nothing(values: Floats, random: object) -> None:
    generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    rows, columns = (generator.permutation(size) for size in values.shape)
    mixed = values[rows][:, columns]
    names = [f"{m}_{part}" for m in ("mean", "zrisk", "georisk") for part in ("p", "p_adj")]
    one = risk_table(named(values), "@median").to_frame()[names].to_numpy(dtype=float)
    other = risk_table(named(mixed), "@median").to_frame()[names].to_numpy(dtype=float)
    assert other == pytest.approx(one[rows], nan_ok=True)


def test_alphas_share_their_shuffles() -> None:
    values = np.random.default_rng(2).beta(1, 3, (5, 20))
    together = risk_table(named(values), "@mean", options=Options(alphas=(0.0, 5.0))).to_frame()
    alone = risk_table(named(values), "@mean", options=Options(alphas=(5.0,))).to_frame()
    names = ["zrisk_p", "georisk_p", "georisk_p_adj", "georisk_diff_lo"]
    both = together[together["alpha"] == 5][names].to_numpy(dtype=float)
    assert both == pytest.approx(alone[names].to_numpy(dtype=float))


def test_the_seed_is_recorded_and_decides() -> None:
    values = np.random.default_rng(2).beta(1, 3, (5, 20))

    def p(seed: int) -> list[float]:
        plan = Options(significance=Significance(seed=seed))
        table = risk_table(named(values), "@mean", options=plan)
        assert table.settings["seed"] == seed and table.settings["shuffles"] == 999
        return table.to_frame()["georisk_p"].tolist()

    assert p(1) == p(1) != p(2)
    with pytest.raises(UsageError, match="at least 999"):
        Significance(shuffles=500)


def test_equal_runs_have_p_1_and_a_constant_difference_none() -> None:
    values = np.tile(np.linspace(0.1, 0.8, 12), (3, 1))
    test = means_test(values, values.mean(axis=0), 99, 1)
    assert test.p.tolist() == [1, 1, 1]
    values[0] += 0.1
    assert np.isnan(means_test(values, values[1], 99, 1).p[0])


@pytest.mark.parametrize("gamma", [0.05, 0.0005, 0.0003])
def test_critical_value_is_where_p_reaches_gamma(gamma: float) -> None:
    """At .0005 only a t above all 2,997 shuffled ones is significant; at .0003 none is."""
    sizes = np.random.default_rng(4).random((999, 3))
    test = ShuffleTest(np.zeros(3), np.ones(3), sizes, 0.0)
    (critical,) = set(test.critical(gamma).tolist())
    assert np.isinf(critical) == (gamma == 0.0003)
    least = min(critical, 1e9)
    for t, significant in ((least * (1 + 1e-9), gamma > 0.0003), (least * (1 - 1e-9), False)):
        beside = ShuffleTest(np.full(3, t), np.ones(3), sizes, 0.0)
        assert (beside.p < gamma).tolist() == [significant] * 3


@pytest.mark.slow
def test_family_error_where_all_runs_are_equal() -> None:
    """Any flag: within three Monte Carlo standard errors of .05, in every column, for each."""
    simulations, topics = 300, 25
    generator = np.random.default_rng(20161)
    flagged: dict[str, int] = {}
    for number in range(simulations):
        values = equal_runs(generator, topics)
        tests = {
            f"mean {pool.__name__}": means_test(values, pool(values, axis=0), 199, number)
            for pool in (np.mean, np.median, np.max, np.min)
        }
        for key, test in shuffle_tests([of_statistics(values, KEYS)], 199, number).items():
            tests[f"risk {KEYS.index(key)}"] = test  # type: ignore[arg-type]
        for name, test in tests.items():
            any_flag = (test.step_down(np.ones(8, dtype=bool)) < 0.05).any()
            flagged[name] = flagged.get(name, 0) + bool(any_flag)
    margin = 3 * np.sqrt(0.05 * 0.95 / simulations)
    assert all(count / simulations <= 0.05 + margin for count in flagged.values()), flagged
    assert sum(flagged.values()) / simulations / len(flagged) >= 0.03, flagged


@pytest.mark.parametrize("pool", [np.mean, np.median])
@pytest.mark.parametrize("smooth", [None, PUBLISHED])
def test_shared_shuffles_give_what_shuffles_of_one_test_give(
    pool: Callable[..., Floats], smooth: Cubic | None
) -> None:
    values = np.random.default_rng(8).random((5, 12))
    both = [of_means(values, pool(values, axis=0)), of_statistics(values, KEYS, smooth)]
    together = shuffle_tests(both, 99, 4)
    alone: dict[Key, ShuffleTest] = {}
    for one in both:
        alone |= shuffle_tests([one], 99, 4)
    assert list(together) == [None, *KEYS] == list(alone)
    for key, test in alone.items():
        assert np.array_equal(together[key].shuffled, test.shuffled)
        assert np.array_equal(together[key].t, test.t)


def test_a_matrix_too_large_to_shuffle_is_tested_by_t_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(2).random((4, 30))
    codes = [note.code for note in risk_table(named(values), "@mean").notes]
    assert "not-shuffled" not in codes
    monkeypatch.setattr("riskcli.risk.inference.MOST_SHUFFLED_CELLS", 119)
    table = risk_table(named(values), "@mean")
    assert "not-shuffled" in [note.code for note in table.notes]
    expected = stats.ttest_rel(values[1], values.mean(axis=0)).pvalue
    assert table.to_frame()["mean_p"][1] == pytest.approx(expected)
    assert "not-shuffled" not in [note.code for note in risk_table(named(values), "r0").notes]


# ---------------------------------------------------------------- ranks
