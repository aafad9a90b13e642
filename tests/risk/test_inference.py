"""Intervals, tests and corrections: golden numbers, literal delete-one loops, hand-worked cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, ScoreMatrix, Significance, risk_table
from riskcli.risk.comparison import Baseline, Comparison
from riskcli.risk.inference import Inference
from tests.helpers import reference
from tests.helpers.examples import STATISTICS, golden_matrix
from tests.helpers.strategies import ALPHAS, Floats, named, score_values


@settings(max_examples=60)
@given(score_values(min_topics=3), ALPHAS)
def test_nothing_that_cannot_be_negative_has_an_interval_below_0(
    values: Floats, alpha: float
) -> None:
    frame = risk_table(named(values), "r0", options=Options(alphas=(alpha,))).to_frame()
    assert not (frame[["mean_lo", "georisk_lo"]] < 0).to_numpy().any()
    for name in ("mean", "georisk", "zrisk"):
        low, value, high = (frame[f"{name}{end}"] for end in ("_lo", "", "_hi"))
        known = low.notna()
        assert (low[known] <= value[known]).all() and (value[known] <= high[known]).all()


BASELINES = st.sampled_from(["r0", "r*", "@mean", "@median", "@max", "@min"])


@settings(max_examples=80, deadline=None)
@given(score_values(min_runs=3, min_topics=3), ALPHAS, BASELINES, st.sampled_from([0.05, 0.3]))
def test_an_interval_leaves_0_out_exactly_where_p_is_below_gamma(
    values: Floats, alpha: float, baseline: str, gamma: float
) -> None:
    plan = Options(alphas=(alpha,), significance=Significance(gamma=gamma))
    check_intervals_against_p(values, baseline, plan)


@pytest.mark.parametrize("seed", range(3))
def test_so_it_does_by_swaps(seed: int) -> None:
    values = np.random.default_rng(seed).beta(1, 2, (4, 12))
    plan = Significance(test="swap", gamma=0.2)
    check_intervals_against_p(values, "r0", Options(alphas=(5.0,), significance=plan))


def check_intervals_against_p(values: Floats, baseline: str, options: Options) -> None:
    gamma = options.significance.gamma
    for row in risk_table(named(values), baseline, options=options).to_frame().to_dict("records"):
        for name in ("mean", "zrisk", "georisk"):
            p, low, high = (row[f"{name}_{part}"] for part in ("p", "diff_lo", "diff_hi"))
            assert np.isnan(p) == np.isnan(low) == np.isnan(high)
            if not np.isnan(p) and abs(p - gamma) > 1e-9:
                assert (p < gamma) == (low > 0 or high < 0)


@settings(max_examples=50)
@given(score_values(min_topics=3))
def test_mean_columns_equal_scipy(values: Floats) -> None:
    frame = risk_table(named(values), "r0").to_frame()
    for run in range(1, len(values)):
        delta = values[run] - values[0]
        if np.ptp(delta) > 1e-9:
            test = stats.ttest_rel(values[run], values[0])
            assert frame["mean_p"][run] == pytest.approx(test.pvalue)
            assert frame["mean_dz"][run] == pytest.approx(
                reference.cohen_dz(values[run].tolist(), values[0].tolist())
            )
            c, dz = len(delta), delta.mean() / delta.std(ddof=1)
            spread = stats.t.isf(0.025, c - 1) * (1 / c + dz * dz / (2 * (c - 1))) ** 0.5
            ends = frame["mean_dz_lo"][run], frame["mean_dz_hi"][run]
            assert ends == pytest.approx((dz - spread, dz + spread), rel=1e-6, abs=1e-9)
            margin = stats.t.isf(0.025, len(delta) - 1) * delta.std(ddof=1) / len(delta) ** 0.5
            ends = frame["mean_diff_lo"][run], frame["mean_diff_hi"][run]
            assert ends == pytest.approx((delta.mean() - margin, delta.mean() + margin))


def test_gamma_sets_the_level_of_the_intervals() -> None:
    values = golden_matrix()
    wide, narrow = (
        risk_table(named(values), "r0", options=Options(significance=Significance(gamma=gamma)))
        .to_frame()
        .iloc[1]
        for gamma in (0.01, 0.2)
    )
    for name in ("mean", "urisk", "zrisk", "georisk"):
        assert wide[f"{name}_lo"] < narrow[f"{name}_lo"] < narrow[f"{name}_hi"] < wide[f"{name}_hi"]
    for name in ("mean", "zrisk", "georisk"):
        lengths = [row[f"{name}_diff_hi"] - row[f"{name}_diff_lo"] for row in (wide, narrow)]
        expected = stats.t.isf(0.005, 19) / stats.t.isf(0.1, 19)
        assert lengths[0] / lengths[1] == pytest.approx(expected)


# ---------------------------------------------------------------- warnings


def codes(values: Floats, baseline: str = "r0", alpha: float = 1.0) -> set[str]:
    gains = replace(named(values), measure="gain")
    table = risk_table(gains, baseline, options=Options(alphas=(alpha,)))
    return {note.code for note in table.notes if note.warning}


def spread(runs: int, topics: int) -> Floats:
    return np.random.default_rng(5).random((runs, topics))


@pytest.mark.parametrize("baseline", ["r1", "@mean"])
def test_one_heavy_topic_is_told_whatever_tests_the_difference(baseline: str) -> None:
    values = spread(4, 30)
    values[0, 3] += 30
    table = risk_table(replace(named(values), measure="gain"), baseline)
    (said,) = (note.message for note in table.notes if note.code == "one-heavy-topic")
    for name in ("mean", "zrisk"):
        assert f"{name} " in said.split(" r0 (")[1].split(")")[0]


def test_warnings_appear_when_they_apply_and_only_then() -> None:
    clean = spread(4, 30)
    assert codes(clean) == set()
    assert codes(spread(4, 24)) - {"one-heavy-topic"} == {"few-topics"}
    near = clean.copy()
    near[1] = near[0]
    near[1, :9] += 0.1
    assert codes(near) == {"few-differing-topics"}
    near[1, 0] += 5
    assert codes(near) == {"few-differing-topics", "one-heavy-topic"}
    near[1, 0] -= 5
    near[1, :10] += 0.1
    assert codes(near) == set()
    sparse = clean.copy()
    sparse[:, :11] = 0.0
    assert codes(sparse, alpha=1.0) == set()
    assert codes(sparse, alpha=0.0) == {"many-zeros"}
    single = clean.copy()
    single[2, 1:] = 0.0
    assert codes(single) - {"one-heavy-topic"} == {"single-topic-run"}
    shifted = clean.copy()
    shifted[1] = shifted[0] + 0.1
    assert codes(shifted) == {"constant-difference"}
    assert codes(spread(4, 2)) == {"too-few-topics"}


def test_two_topics_are_not_tested() -> None:
    """With one degree of freedom two topics that say the same gave p = 1e-15."""
    frame = risk_table(named(np.array([[0.2, 0.4], [0.3, 0.5], [0.5, 0.9]])), "r0").to_frame()
    empty = [
        name
        for name in frame.columns
        if name.endswith(("_lo", "_hi", "_p", "_p_adj")) and name != "run"
    ]
    assert frame[empty].isna().to_numpy().all()
    assert (
        (frame[[name for name in frame.columns if name.endswith("_flag")]] == "").to_numpy().all()
    )
    assert frame[["mean", "zrisk", "georisk"]].notna().to_numpy().all()


# ---------------------------------------------------------------- calibration


def calibration(alpha: float, simulations: int, seed: int) -> dict[str, float]:
    """Rejections among exchangeable runs, and coverage of the own intervals (study, 9.5)."""
    truth = {
        ("georisk", 0.0): 0.40077,
        ("georisk", 5.0): 0.30938,
        ("zrisk", 0.0): 0.0,
        ("zrisk", 5.0): -0.53025,
    }
    generator = np.random.default_rng(seed)
    runs, topics = 10, 50
    counts = dict.fromkeys(["georisk", "zrisk", "georisk cover", "zrisk cover"], 0)
    for _ in range(simulations):
        easy = generator.standard_normal((1, topics))
        noise = generator.standard_normal((runs, topics))
        values = 1 / (1 + np.exp(1 - easy - 0.9 * noise))
        comparison = Comparison(values, Baseline("r0", (0,), values[0]))
        inference = Inference(comparison, Significance(), tuple(STATISTICS.values()), (alpha,))
        for name, scale in (("zrisk", 50.0), ("georisk", 1.0)):
            known = inference.of_statistic(STATISTICS[name], alpha)
            assert known.p is not None and known.low is not None and known.high is not None
            counts[name] += bool(known.p[1] < 0.05)
            low, high = known.low[1] / scale, known.high[1] / scale
            counts[f"{name} cover"] += bool(low <= truth[name, alpha] <= high)
    return {name: count / simulations for name, count in counts.items()}


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_calibration(alpha: float) -> None:
    """Type I error and coverage; the bounds are three Monte Carlo standard errors wide."""
    found = calibration(alpha, simulations=2000, seed=20161)
    assert 0.035 <= found["georisk"] <= 0.065
    assert 0.035 <= found["zrisk"] <= 0.065
    assert 0.935 <= found["georisk cover"] <= 0.965
    assert 0.930 <= found["zrisk cover"] <= 0.965


def test_matrix_of_one_run_is_its_own_population() -> None:
    matrix = ScoreMatrix("m", ("a",), ("1", "2", "3"), np.array([[0.1, 0.2, 0.4]]))
    row = risk_table(matrix, "@mean").to_frame().iloc[0]
    assert (row["zrisk"], row["zrisk_p"], row["losses"]) == (0, 1, 0)
