"""Intervals, tests and corrections: golden numbers, literal delete-one loops, hand-worked cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, ScoreMatrix, Significance, UsageError, risk_table
from riskcli.core.choices import Correction
from riskcli.risk.baselines import Baseline
from riskcli.risk.comparison import Comparison
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import (
    Jackknife,
    Statistic,
    delete_each_topic,
    error_and_heaviest,
    influence,
    influence_error,
)
from riskcli.risk.measures import georisk, zrisk
from riskcli.risk.population import Population
from riskcli.risk.resampling import swap_tests
from riskcli.risk.significance import adjust
from tests.helpers import reference
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

Name = Literal["zrisk", "georisk"]
STATISTICS: dict[str, Statistic] = {"zrisk": zrisk.STATISTIC, "georisk": georisk.STATISTIC}
NAMES: tuple[tuple[Name, reference.Measure], ...] = (("zrisk", "zeta"), ("georisk", "georisk"))


def golden_matrix() -> Floats:
    """The matrix of the simulation study (section 9, point 6)."""
    values = np.array(
        [[((7 * i + 3) * (5 * q + 2) % 101) / 101 for q in range(20)] for i in range(6)]
    )
    values[2, 4] = 0.0
    values[3] = 0.9 * values[0]
    return values


GOLDEN: dict[tuple[Name, float], dict[str, float]] = {
    ("georisk", 5.0): {
        "diff": -0.0572900755,
        "se": 0.0541176949,
        "se_ij": 0.0533843606,
        "p": 0.30304661,
    },
    ("zrisk", 5.0): {
        "diff": -0.0704707873,
        "se": 0.1510826445,
        "se_ij": 0.1469253055,
        "p": 0.64620511,
    },
    ("georisk", 0.0): {"diff": -0.0608423896, "se": 0.0451317015, "p": 0.19347753},
    ("zrisk", 0.0): {"diff": 0.0071118105, "se": 0.0138226242, "p": 0.61283198},
}


@pytest.mark.parametrize(("name", "alpha"), GOLDEN)
def test_golden_matrix(name: Name, alpha: float) -> None:
    values, golden = golden_matrix(), GOLDEN[name, alpha]
    comparison = Comparison(values, Baseline("r0", (0,), values[0]))
    error = Jackknife(comparison).left_out(STATISTICS[name], alpha, 0.05).error[1]
    assert error == pytest.approx(golden["se"], abs=5.1e-11)
    frame = risk_table(named(values), "r0", options=Options(alphas=(alpha,))).to_frame()
    row = frame.set_index("run").loc["r1"]
    scale = 20.0 if name == "zrisk" else 1.0
    assert row[f"{name}_diff"] / scale == pytest.approx(golden["diff"], abs=5.1e-11)
    assert row[f"{name}_p"] == pytest.approx(golden["p"], abs=5.1e-9)
    if "se_ij" in golden:
        assert influence_difference_error(values, 1, 0, name, alpha) == pytest.approx(
            golden["se_ij"], abs=5.1e-11
        )


def influence_difference_error(
    values: Floats, run: int, baseline: int, name: Name, alpha: float
) -> float:
    found = influence(values, values.sum(axis=0), values.sum(), alpha)
    influences = found.on_zeta if name == "zrisk" else found.on_georisk
    return float(influence_error(influences[run] - influences[baseline]))


def test_an_almost_equal_copy_is_significantly_less_risky_by_zrisk() -> None:
    """The documented trap: 0.9 of another's scores moves ZRisk/c by .036 with p = 4e-6."""
    values = golden_matrix()
    frame = risk_table(named(values), "r0", options=Options(alphas=(5.0,))).to_frame()
    row = frame.set_index("run").loc["r3"]
    assert row["zrisk_diff"] / 20 == pytest.approx(0.036, abs=5e-4)
    assert row["zrisk_p"] == pytest.approx(4e-6, abs=5e-7)


# ---------------------------------------------------------------- the exact jackknife


@given(score_values(max_runs=5, max_topics=7), ALPHAS)
def test_deleting_each_topic_equals_a_literal_loop(values: Floats, alpha: float) -> None:
    deleted = delete_each_topic(Population.of_all(values))
    zeta, values_of_georisk = (
        STATISTICS[name].tested(deleted, alpha) for name in ("zrisk", "georisk")
    )
    matrix = values.tolist()
    for topic in range(values.shape[1]):
        left = reference.without_topic(matrix, topic)
        for run in range(len(values)):
            assert zeta[run, topic] == pytest.approx(
                reference.theta(left, run, "zeta", alpha), abs=1e-12, rel=1e-12
            )
            # Near 0 the square root turns an error of 1e-24 into one of 1e-12.
            assert values_of_georisk[run, topic] == pytest.approx(
                reference.theta(left, run, "georisk", alpha), abs=1e-10, rel=1e-12
            )


def check(row: Any, name: Name, expected: reference.Estimate, scale: float) -> None:
    if expected["p"] is None:
        assert np.isnan(row[f"{name}_p"])
        return
    assert row[f"{name}_diff"] / scale == pytest.approx(expected["estimate"], abs=1e-11)
    assert row[f"{name}_p"] == pytest.approx(expected["p"], rel=1e-6, abs=1e-9)


def borderline(expected: reference.Estimate) -> bool:
    """A standard error at the level of rounding, where t is noise over noise."""
    return expected["se"] is not None and expected["se"] < 1e-9


@settings(max_examples=60)
@given(score_values(max_runs=5, max_topics=7), ALPHAS)
def test_difference_to_a_baseline_run_equals_a_literal_jackknife(
    values: Floats, alpha: float
) -> None:
    frame = risk_table(named(values), "r0", options=Options(alphas=(alpha,))).to_frame()
    for run in range(1, len(values)):
        for name, measure in NAMES:
            expected = reference.difference_jackknife(values.tolist(), run, 0, measure, alpha)
            if not borderline(expected):
                check(frame.iloc[run], name, expected, values.shape[1] if name == "zrisk" else 1)


@settings(max_examples=60)
@given(score_values(max_runs=5, max_topics=7), ALPHAS)
def test_own_intervals_equal_literal_ones(values: Floats, alpha: float) -> None:
    frame = risk_table(named(values), "r0", options=Options(alphas=(alpha,))).to_frame()
    matrix, topics = values.tolist(), values.shape[1]
    for run, row in enumerate(frame.to_dict("records")):
        expected: dict[str, reference.Ends] = {"mean": reference.mean_interval(matrix[run])}
        if values[run].any():
            expected["zrisk"] = reference.zeta_interval(matrix, run, alpha)
            expected["georisk"] = reference.georisk_interval(matrix, run, alpha)
        if run > 0:
            expected["urisk"] = reference.urisk_interval(matrix[run], matrix[0], alpha)
        for name, ends in expected.items():
            mine = row[f"{name}_lo"], row[f"{name}_hi"]
            scale = topics if name == "zrisk" else 1
            if ends is None or np.isnan(mine[0]):
                # Where nothing varies but for rounding, the two may disagree on what is rounding.
                assert np.isnan(mine[0]) or mine[1] - mine[0] < 1e-4 * scale
                assert ends is None or ends[1] - ends[0] < 1e-4
            else:
                shown = np.array(mine) / scale
                assert shown == pytest.approx(np.array(ends), rel=1e-6, abs=1e-7)


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


@settings(max_examples=60)
@given(score_values(min_runs=3, max_runs=5, max_topics=6), ALPHAS, st.sampled_from(["all", "own"]))
def test_difference_to_a_set_equals_a_literal_jackknife(
    values: Floats, alpha: float, population: str
) -> None:
    """In the population of the baselines, run and set are measured among themselves only."""
    members = [0, 1]
    rule: Literal["all", "baselines"] = "all" if population == "all" else "baselines"
    options = Options(alphas=(alpha,), population=rule)
    frame = risk_table(named(values), ["r0", "r1"], options=options).to_frame()
    for run in range(len(values)):
        rows = list(range(len(values)))
        if population == "own":
            rows = [0, 1] if run in members else [0, 1, run]
        matrix = [values[row].tolist() for row in rows]
        if sum(map(sum, matrix[:2])) == 0:
            continue
        for name, measure in NAMES:
            expected = reference.set_jackknife(matrix, rows.index(run), [0, 1], measure, alpha)
            if not borderline(expected):
                check(frame.iloc[run], name, expected, values.shape[1] if name == "zrisk" else 1)


def test_identical_runs_have_difference_0_and_p_1() -> None:
    values = golden_matrix()
    values[4] = values[0]
    row = risk_table(named(values), "r0", options=Options(alphas=(5.0,))).to_frame().iloc[4]
    for name in ("mean", "zrisk", "georisk"):
        assert (row[f"{name}_diff"], row[f"{name}_p"], row[f"{name}_flag"]) == (0, 1, "")
    assert (row["urisk"], row["trisk"], row["trisk_p"]) == (0, 0, 1)


def test_a_run_of_zeros_has_a_value_but_neither_interval_nor_p() -> None:
    values = golden_matrix()
    values[4] = 0.0
    table = risk_table(named(values), "r0", options=Options(alphas=(5.0,)))
    row = table.to_frame().iloc[4]
    assert (row["zrisk"], row["georisk"]) == (0, 0)
    empty = [
        f"{name}_{part}"
        for name in ("zrisk", "georisk")
        for part in ("lo", "hi", "diff", "p", "p_adj")
    ]
    assert row[empty].isna().all()
    assert "only-zeros" in [note.code for note in table.notes]


# ---------------------------------------------------------------- influence functions


@given(score_values(min_topics=3), ALPHAS)
def test_influences_sum_to_0(values: Floats, alpha: float) -> None:
    found = influence(values, values.sum(axis=0), float(values.sum()), alpha)
    alive = values.sum(axis=1) > 0
    assert found.on_zeta[alive].sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert found.on_georisk[alive].sum(axis=1) == pytest.approx(0, abs=1e-9)


def at_a_kink(values: Floats) -> bool:
    """A score equal to its expectation but for rounding: the weight jumps from 1 to 1 + alpha."""
    expected = Population.of_all(values).expected
    departure = np.abs(values - expected)
    return bool(((departure < 1e-12) & (values > 0)).any())


@settings(max_examples=50)
@given(score_values(max_topics=7), ALPHAS)
def test_influence_errors_equal_brute_force(values: Floats, alpha: float) -> None:
    assume(not at_a_kink(values))
    for name, measure in NAMES:
        mine = influence_difference_error(values, 1, 0, name, alpha)
        expected = reference.difference_influence_se(values.tolist(), 1, 0, measure, alpha)
        assert mine == pytest.approx(expected or 0.0, rel=1e-7, abs=1e-10)


def test_influence_and_jackknife_errors_agree_on_the_golden_matrix() -> None:
    values = golden_matrix()
    comparison = Comparison(values, Baseline("r0", (0,), values[0]))
    for name in ("zrisk", "georisk"):
        for alpha in (0.0, 1.0, 5.0, 10.0):
            exact = Jackknife(comparison).left_out(STATISTICS[name], alpha, 0.05).error
            for run in (1, 2, 4, 5):
                quick = influence_difference_error(values, run, 0, name, alpha)
                assert 0.85 < quick / exact[run] < 1.20


# ---------------------------------------------------------------- the swap test


def test_swap_test_equals_exhaustive_enumeration() -> None:
    """Ten topics have 1,024 label swaps; B random ones estimate the same share."""
    values = golden_matrix()[[0, 1, 4], :10]
    swaps = 40_000
    tests = swap_tests(
        values[1], values[0], values.sum(axis=0), float(values.sum()), 5.0,
        Significance(swaps=swaps, seed=1), tuple(STATISTICS.values()),
    )  # fmt: skip
    mine = {name: test.p for name, test in zip(STATISTICS, tests, strict=True)}
    for name, measure in NAMES:
        exact = reference.swap_test(values.tolist(), 1, 0, measure, 5.0)
        noise = 4 * np.sqrt(exact * (1 - exact) / swaps)
        assert mine[name] == pytest.approx(exact, abs=noise + 1 / swaps)


def test_swap_test_is_repeatable_and_its_settings_are_recorded() -> None:
    plan = Significance(test="swap", swaps=9_999, seed=7)
    values = golden_matrix()
    tables = [
        risk_table(named(values), "r0", options=Options(alphas=(5.0,), significance=plan))
        for _ in range(2)
    ]
    first, second = (table.to_frame()["georisk_p"].tolist() for table in tables)
    assert first[1:] == second[1:] and 0 < min(first[1:]) <= 1
    assert tables[0].settings["seed"] == 7 and tables[0].settings["swaps"] == 9_999
    jackknifed = risk_table(named(values), "r0", options=Options(alphas=(5.0,))).to_frame()
    assert first[1] == pytest.approx(jackknifed["georisk_p"][1], abs=0.05)
    assert first[1] != jackknifed["georisk_p"][1]


def test_swap_test_of_identical_runs_is_1_and_never_0() -> None:
    values = golden_matrix()
    totals, grand = values.sum(axis=0), float(values.sum())
    every = tuple(STATISTICS.values())
    plan = Significance(seed=1)
    same = swap_tests(values[0], values[0], totals, grand, 5.0, plan, every)
    assert [test.p for test in same] == [1.0, 1.0]
    better = np.linspace(0.6, 0.9, 20)
    (test,) = swap_tests(
        better, better / 3, better * 4 / 3, float(better.sum() * 4 / 3), 0.0, plan,
        (georisk.STATISTIC,),
    )  # fmt: skip
    assert test.p == pytest.approx(1e-4, rel=2)


@pytest.mark.parametrize("baseline", ["@mean", "r*"])
def test_swap_test_needs_one_run_as_baseline(baseline: str) -> None:
    plan = Options(significance=Significance(test="swap"))
    with pytest.raises(UsageError, match="one run as the baseline"):
        risk_table(named(golden_matrix()), baseline, options=plan)


def test_too_few_swaps_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 9999"):
        Significance(test="swap", swaps=100)


# ---------------------------------------------------------------- corrections


HAND_WORKED: dict[Correction, list[float]] = {  # p of four tests, worked by hand
    "none": [0.01, 0.04, 0.03, 0.005],
    "bonferroni": [0.04, 0.16, 0.12, 0.02],
    "holm": [0.03, 0.06, 0.06, 0.02],  # 4*.005, 3*.01, 2*.03, max(.06, 1*.04)
    "bh": [0.02, 0.04, 0.04, 0.02],  # .04*4/4, min(.04, .03*4/3), min(.04, .01*4/2), .005*4
}


@pytest.mark.parametrize("method", HAND_WORKED)
def test_corrections_worked_by_hand(method: Correction) -> None:
    adjusted, size = adjust(np.array([0.01, 0.04, 0.03, 0.005]), method)
    assert adjusted == pytest.approx(HAND_WORKED[method])
    assert size == 4


@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_equal_their_definitions(p: list[float | None]) -> None:
    values = np.array([np.nan if v is None else v for v in p])
    definitions: dict[Correction, Callable[[list[float | None]], list[float | None]]] = {
        "holm": reference.holm,
        "bonferroni": reference.bonferroni,
        "bh": reference.benjamini_hochberg,
    }
    for method, definition in definitions.items():
        adjusted, size = adjust(values, method)
        expected = [np.nan if v is None else v for v in definition(p)]
        assert adjusted == pytest.approx(np.array(expected), nan_ok=True)
        assert size == sum(v is not None for v in p)


def test_the_family_is_a_column_or_the_whole_table() -> None:
    values = golden_matrix()
    by_column = risk_table(named(values), "r0", options=Options(alphas=(0.0, 5.0)))
    assert by_column.blocks[0].families == dict.fromkeys(["mean", "trisk", "zrisk", "georisk"], 5)
    plan = Options(alphas=(0.0, 5.0), significance=Significance(family="all"))
    together = risk_table(named(values), "r0", options=plan)
    assert together.blocks[1].families == dict.fromkeys(["mean", "trisk", "zrisk", "georisk"], 30)
    frame = together.to_frame()
    # The mean is one test at either alpha, and TRisk at alpha 0 is the same test again.
    plain, weighted = frame[frame["alpha"] == 0], frame[frame["alpha"] == 5]
    assert plain["trisk_p"].tolist()[1:] == pytest.approx(plain["mean_p"].tolist()[1:])
    once = [
        (plain, "mean"), (plain, "zrisk"), (plain, "georisk"),
        (weighted, "trisk"), (weighted, "zrisk"), (weighted, "georisk"),
    ]  # fmt: skip
    p = np.concatenate([part[f"{name}_p"].to_numpy(dtype=float)[1:] for part, name in once])
    expected = np.array(reference.holm(p.tolist()), dtype=float)
    adjusted = [part[f"{name}_p_adj"].to_numpy(dtype=float)[1:] for part, name in once]
    assert np.concatenate(adjusted) == pytest.approx(expected)
    for again in ((weighted, "mean"), (plain, "trisk")):
        mine = again[0][f"{again[1]}_p_adj"].to_numpy(dtype=float)[1:]
        assert mine == pytest.approx(expected[:5])


@given(score_values(min_runs=3), st.sampled_from([0.01, 0.05, 0.5]))
@settings(max_examples=40)
def test_flags_follow_the_adjusted_p_and_the_sign(values: Floats, gamma: float) -> None:
    plan = Options(alphas=(1.0,), significance=Significance(gamma=gamma))
    frame = risk_table(named(values), "r0", options=plan).to_frame()
    for name, effect in (("mean", "mean_diff"), ("trisk", "urisk"), ("georisk", "georisk_diff")):
        for _, row in frame.iterrows():
            significant = row[f"{name}_p_adj"] < gamma
            way = "better" if row[effect] > 0 else "worse"
            assert row[f"{name}_flag"] == (way if significant and row[effect] else "")


# ---------------------------------------------------------------- means and effect size


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
    table = risk_table(named(values), baseline, options=Options(alphas=(alpha,)))
    return {note.code for note in table.notes if note.warning}


def spread(runs: int, topics: int) -> Floats:
    return np.random.default_rng(5).random((runs, topics))


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
        inference = Inference(comparison, Significance())
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


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_heaviest_topic_is_the_outermost_of_either_side(sign: float) -> None:
    """Deleting topic q moves the mean by its deviation over c - 1."""
    values = sign * np.array([0.0, 0.1, -0.1, 0.05, 1.0])
    without = (values.sum() - values) / 4
    error, heaviest = error_and_heaviest(without[None])
    deviations = values - values.mean()
    assert heaviest[0] == pytest.approx((deviations**2).max() / (deviations**2).sum())
    assert error[0] == pytest.approx(stats.sem(values))


def test_equal_values_have_neither_error_nor_a_heaviest_topic() -> None:
    error, heaviest = error_and_heaviest(np.full((1, 7), 0.1))
    assert (error.tolist(), heaviest.tolist()) == ([0.0], [0.0])


def test_matrix_of_one_run_is_its_own_population() -> None:
    matrix = ScoreMatrix("m", ("a",), ("1", "2", "3"), np.array([[0.1, 0.2, 0.4]]))
    row = risk_table(matrix, "@mean").to_frame().iloc[0]
    assert (row["zrisk"], row["zrisk_p"], row["losses"]) == (0, 1, 0)
