"""The exact jackknife: golden numbers and literal delete-one loops."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, risk_table
from riskcli.risk.comparison import Baseline, Comparison
from riskcli.risk.jackknife import Jackknife, error_and_heaviest, influence, influence_error
from riskcli.risk.losses import PUBLISHED
from riskcli.risk.population import Population
from tests.helpers import reference
from tests.helpers.examples import NAMES, STATISTICS, Name, golden_matrix
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

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
    _, influences = found.of(STATISTICS[name])
    return float(influence_error(influences[run] - influences[baseline]))


def test_an_almost_equal_copy_is_significantly_less_risky_by_zrisk() -> None:
    """The documented trap: 0.9 of another's scores moves ZRisk/c by .036 with p = 4e-6."""
    values = golden_matrix()
    frame = risk_table(named(values), "r0", options=Options(alphas=(5.0,))).to_frame()
    row = frame.set_index("run").loc["r3"]
    assert row["zrisk_diff"] / 20 == pytest.approx(0.036, abs=5e-4)
    assert row["zrisk_p"] == pytest.approx(4e-6, abs=5e-7)


@given(score_values(max_runs=5, max_topics=7), ALPHAS)
def test_deleting_each_topic_equals_a_literal_loop(values: Floats, alpha: float) -> None:
    deleted = Population.of_all(values).without_each()
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
            others = matrix[:run] + matrix[run + 1 :]
            expected["urisk"] = reference.urisk_interval(
                matrix[run], matrix[0], alpha, others=others
            )
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


@given(score_values(min_topics=3), ALPHAS)
def test_influences_sum_to_0(values: Floats, alpha: float) -> None:
    found = influence(values, values.sum(axis=0), float(values.sum()), alpha)
    alive = values.sum(axis=1) > 0
    for statistic in STATISTICS.values():
        _, influences = found.of(statistic)
        assert influences[alive].sum(axis=1) == pytest.approx(0, abs=1e-9)


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


@pytest.mark.parametrize(("name", "scale"), [("zrisk", 20.0), ("georisk", 1.0)])
def test_deviations_are_those_of_literal_pseudo_values(name: Name, scale: float) -> None:
    """Of 20 topics: 20 theta - 19 theta without the topic, less their mean, as the table has it."""
    values = golden_matrix()
    found = Jackknife(Comparison(values, Baseline("r0", (0,), values[0])))
    deviations = found.deviations(STATISTICS[name], 5.0)
    matrix, measure = values.tolist(), dict(NAMES)[name]
    for run in range(len(values)):
        without = [
            reference.theta(reference.without_topic(matrix, topic), run, measure, 5.0)
            for topic in range(20)
        ]
        expected = 19 * scale * (np.mean(without) - np.array(without))
        assert deviations[run] == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_what_is_left_out_has_these_deviations() -> None:
    """ZRisk's come whole where the loss is smooth; otherwise they are put together of two parts."""
    values = golden_matrix()
    baseline = Baseline("r0", (0,), values[0])
    smooth = Jackknife(Comparison(values, baseline, smooth=PUBLISHED))
    for statistic in STATISTICS.values():
        left_out = smooth.left_out(statistic, 0.0, 0.05)
        assert left_out.deviations == pytest.approx(smooth.deviations(statistic, 0.0), rel=1e-9)
    linear = Jackknife(Comparison(values, baseline))
    assert linear.left_out(STATISTICS["zrisk"], 5.0, 0.05).deviations is None
