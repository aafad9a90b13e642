"""`riskeval sweep --over baseline`: ECIR'14's tables and test, and brute force."""

from __future__ import annotations

import itertools
import json
from itertools import permutations, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import UsageError, baseline_bias
from riskcli.analyses import baseline_bias as analysis
from riskcli.analyses.baseline_bias import (
    _compared,
    _kendall_w,
    _urisk_and_similarity,
    bias_of,
    biases,
    each_as_baseline,
    friedman,
    principal_components,
)
from riskcli.risk.comparison import VIRTUAL
from tests.helpers import reference
from tests.helpers.console import ROOT, on_terminal
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES
from tests.helpers.shared_data import shared
from tests.helpers.strategies import ALPHAS, Floats, named, score_values
from tests.helpers.tables import paper_table, table_of

FEW_SHUFFLES = patch.object(analysis, "LEAST_SHUFFLES", 9)
"""For tests of what is not shuffled."""


def test_ecir14_friedman_as_printed() -> None:
    """Table 2, zero diagonal included: p = 0.0003 as printed; chi2 and W are not."""
    table = paper_table("ecir14_table2_each_run_as_baseline_alpha10")
    matrix = np.array([[float(row[other["run"]]) for other in table] for row in table])
    found = friedman(matrix)
    assert round(found.chi2, 2) == 27.25
    assert round(found.p, 4) == 0.0003
    assert round(found.w, 3) == 0.487
    assert found.degrees == 7


@given(
    st.integers(3, 6).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 4).map(float), min_size=k, max_size=k), min_size=2, max_size=7
        )
    )
)
def test_friedman_equals_brute_force_and_scipy(blocks: list[list[float]]) -> None:
    matrix = np.array(blocks).T
    found, expected = friedman(matrix), reference.friedman(matrix.tolist())
    if expected is None:
        assert np.isnan(found.chi2) and np.isnan(found.p)
        return
    assert found.chi2 == pytest.approx(expected["chi2"], abs=1e-9)
    assert found.p == pytest.approx(expected["p"])
    assert found.w == pytest.approx(expected["w"], abs=1e-9)
    assert found.chi2 == pytest.approx(stats.friedmanchisquare(*matrix).statistic, abs=1e-9)


@settings(max_examples=50)
@given(score_values(), ALPHAS)
def test_each_run_as_baseline_equals_brute_force(values: Floats, alpha: float) -> None:
    matrix = [row.tolist() for row in values]
    with FEW_SHUFFLES:
        bias = baseline_bias(named(values), alpha=alpha)
    (one,) = bias.parts
    assert one.baselines[-3:] == ("@mean", "@median", "@max")
    for place, name in enumerate(one.baselines):
        baseline = VIRTUAL[name](values).tolist() if name in VIRTUAL else matrix[place]
        for i, run in enumerate(matrix):
            expected = reference.urisk(run, baseline, alpha)
            assert one.figures.urisk[i, place] == pytest.approx(expected, abs=1e-9)
            own = i == place
            assert np.isnan(one.ranks[i, place]) == own
            similarity = one.figures.similarity[i, place]
            if np.ptp(run) > 1e-6 and np.ptp(baseline) > 1e-6:
                r = np.corrcoef(run, baseline)[0, 1]
                assert similarity == pytest.approx(r, abs=1e-9)
            elif np.ptp(run) == 0:
                assert np.isnan(similarity)


def test_tau_b_and_bias_leave_the_baseline_out() -> None:
    values = np.random.default_rng(3).random((7, 20))
    (one,) = baseline_bias(named(values), alpha=5.0).parts
    means = values.mean(axis=1)
    others = [i for i in range(7) if i != 2]
    urisk = one.figures.urisk[others, 2]
    tau = reference.kendall_tau_b(means[others].tolist(), urisk.tolist())
    assert one.figures.tau_b[2] == pytest.approx(tau)
    similarity = [np.corrcoef(values[i], values[2])[0, 1] for i in others]
    fit = stats.linregress(means[others], urisk)
    residual = urisk - fit.intercept - fit.slope * means[others]
    assert one.figures.bias[2] == pytest.approx(np.corrcoef(similarity, residual)[0, 1])
    r = {
        (a, b): np.corrcoef(x, y)[0, 1]
        for (a, x), (b, y) in itertools.combinations(
            (("s", similarity), ("u", urisk), ("m", means[others])), 2
        )
    }
    partial = (r["s", "u"] - r["s", "m"] * r["u", "m"]) / np.sqrt(
        (1 - r["s", "m"] ** 2) * (1 - r["u", "m"] ** 2)
    )
    assert one.figures.partial[2] == pytest.approx(partial)


def test_a_baseline_favours_runs_that_resemble_it() -> None:
    """Two families of runs with equal means: under a baseline of the one, the other looks risky."""
    rng = np.random.default_rng(14)
    profiles = rng.random((2, 60))
    profiles *= 0.5 / profiles.mean(axis=1, keepdims=True)
    values = np.clip(np.repeat(profiles, 6, axis=0) + rng.normal(0, 0.1, (12, 60)), 0, 1)
    (one,) = baseline_bias(named(values), alpha=10.0).parts
    assert one.figures.bias[:12].min() > 0.4
    assert one.figures.partial[:12].min() > 0.9


def test_bias_needs_four_other_runs_that_vary() -> None:
    three = np.array([0.1, 0.2, 0.3])
    assert np.isnan(bias_of(three, three, three)).all()
    four = np.array([0.1, 0.2, 0.3, 0.5])
    assert np.isnan(bias_of(four, 2 * four + 1, four)).all()  # all of URisk is in the mean
    assert np.isnan(bias_of(np.ones(4), four**2, four)).all()


@settings(max_examples=50)
@given(score_values(min_runs=3))
def test_components_hold_the_variance_and_the_distances(values: Floats) -> None:
    everything = principal_components(values, values.mean(axis=0, keepdims=True), 99)
    if np.ptp(values, axis=0).max() < 1e-6:
        return
    assert everything.explained.sum() == pytest.approx(1)
    assert (np.diff(everything.explained) <= 1e-12).all()
    coordinates = everything.coordinates
    assert coordinates[-1] == pytest.approx(0, abs=1e-9)
    for i in range(len(values)):
        size = np.linalg.norm(values[i] - values.mean(axis=0))
        assert np.linalg.norm(coordinates[i]) == pytest.approx(size, abs=1e-9)


def test_the_command_in_all_parts() -> None:
    shared = ("sweep", "--over", "baseline", SAMPLES, "-m", "ERR@20", "-a", "10")
    matrix = table_of(riskeval(*shared).out)
    assert len(matrix) == 9 * 12
    score = table_of(riskeval("score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-a", "10").out)
    mine = {r["run"]: r for r in matrix if r["baseline"] == "indriCASP"}
    for row in score:
        if row["run"] != "indriCASP":
            assert float(mine[row["run"]]["urisk"]) == pytest.approx(float(row["urisk"]))
            assert mine[row["run"]]["rank_urisk"] == row["rank_urisk"]
    found = json.loads(riskeval(*shared, "-f", "json", "--part", "friedman").out)
    (test,) = found["rows"]
    assert test["df"] == 8 and 0 < test["w"] <= 1
    assert len(found["baselines"]) == 12 and len(found["components"]) == 24
    shown = riskeval(*shared, "-f", "table", "--full").out
    assert "has no such meaning" in " ".join(shown.split())


@pytest.mark.parametrize("columns", [80, 160])
def test_the_tables_fit(columns: int) -> None:
    command = "riskeval sweep --over baseline sample_runs/"
    code, shown = on_terminal(f"{command} --full 2>/dev/null", columns)
    assert code == 0 and max(map(len, shown.splitlines())) <= columns
    assert "Kendall's W" in shown and "PC1" in shown


def test_wrong_calls() -> None:
    ran = riskeval("sweep", "--over", "baseline", SAMPLES, "-a", "1,5")
    assert (ran.code, ran.out) == (2, "") and "one alpha" in ran.err
    with pytest.raises(UsageError, match="two runs"):
        baseline_bias(named(np.array([[0.5, 0.6]])))
    with pytest.raises(UsageError, match="at least 0"):
        baseline_bias(named(np.array([[0.5], [0.6]])), alpha=-1.0)


# ---------------------------------------------------------------- equal runs


@settings(max_examples=40)
@given(score_values(min_runs=2, max_runs=6))
def test_w_of_a_matrix_is_friedmans(values: Floats) -> None:
    expected = friedman(values).w
    assert _kendall_w(values) == pytest.approx(expected, nan_ok=True)


@settings(max_examples=40)
@given(score_values(min_runs=4, min_topics=3), st.sampled_from([0.0, 1.0, 10.0]))
def test_the_figures_of_a_shuffle_are_those_of_a_matrix(values: Floats, alpha: float) -> None:
    assume(np.ptp(values, axis=1).min() > 1e-6)
    with FEW_SHUFFLES:
        found = each_as_baseline(values, alpha)
    runs = len(values)
    urisk, similarity = _urisk_and_similarity(values, found.scores[runs:], alpha)
    assert urisk == pytest.approx(found.urisk, abs=1e-12)
    assert similarity == pytest.approx(found.similarity, abs=1e-9, nan_ok=True)
    bias, partial = biases(found.similarity, found.urisk, values.mean(axis=1))
    for mine, expected in ((bias, found.bias), (partial, found.partial)):
        both = np.isfinite(mine) & np.isfinite(expected)
        # A correlation of what is all but constant is rounding over rounding.
        assert np.abs(mine[both] - expected[both]).max(initial=0.0) < 1e-5 or both.sum() < 2


def test_equal_runs_in_all_shuffles() -> None:
    """Three runs on three topics: 6^3 ways to shuffle them."""
    values = np.array([[0.9, 0.2, 0.5], [0.4, 0.3, 0.1], [0.6, 0.7, 0.2]])
    every = []
    for orders in product(permutations(range(3)), repeat=3):
        columns = [values[list(order), q] for q, order in enumerate(orders)]
        shuffled = np.stack(columns, axis=1)
        urisk = [[reference.urisk(list(x), list(b), 10.0) for b in shuffled] for x in shuffled]
        expected = reference.friedman(urisk)
        assert expected is not None
        every.append(expected["w"])
    found = each_as_baseline(values, 10.0)
    assert found.equal_runs.w.mean[0] == pytest.approx(np.mean(every), abs=0.02)
    p = np.mean(np.array(every) >= found.friedman.w - 1e-12)
    assert found.equal_runs.w.p[0] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 999) + 0.001)


def test_p_values_of_shuffles_count_the_sample_itself() -> None:
    """(count + 1) / (B + 1), twice that of the smaller tail; never 0."""
    replicates = np.array([[0.1, -0.5], [0.2, 0.5], [0.3, np.nan], [0.4, 0.0]])
    found = _compared(replicates, np.array([0.9, 0.5]), runs=0)
    assert found.p.tolist() == [2 * 1 / 5, 2 * 2 / 4]
    assert found.mean == pytest.approx([0.25, 0.0])
    assert _compared(replicates, np.array([-9.0, 0.0]), runs=0).p.tolist() == [2 / 5, 1.0]
    pooled = _compared(replicates, np.array([0.25, np.nan]), runs=2)  # seven known replicates
    assert pooled.p[0] == pytest.approx(2 * (3 + 1) / 8) and np.isnan(pooled.p[1])
    ordered = 0.1 * np.arange(8)[:, None] + 0.02 * np.random.default_rng(1).random((8, 30))
    assert each_as_baseline(ordered, 1.0).equal_runs.w.p.tolist() == [1 / 1000]


def test_web_2012_is_no_more_consistent_than_equal_runs() -> None:
    """The audit's figures: chi2 16.46 with p .021, W .294; equal runs .374, p .837."""
    runs, qrels = shared("trec-web-2012", "runs"), shared("trec-web-2012", "qrels.txt.gz")
    call = (
        "sweep",
        "--over",
        "baseline",
        runs,
        "-q",
        qrels,
        "-m",
        "ERR@20",
        "-a",
        "10",
        "--part",
        "friedman",
    )
    (row,) = json.loads(riskeval(*call, "-f", "json").out)["rows"]
    assert (row["chi2"], row["p"], row["w"]) == pytest.approx((16.46, 0.021, 0.294), abs=6e-3)
    assert row["w_equal"] == pytest.approx(0.374, abs=0.01)
    assert row["w_p"] == pytest.approx(0.837, abs=0.05)


def test_ties_that_rounding_breaks_are_ties() -> None:
    """By the exact fractions; the values differ in the last digits only."""
    scores = ROOT / "docs" / "examples" / "eight-systems.csv"
    found = json.loads(
        riskeval(
            "sweep", "--over", "baseline", scores, "-a", "10", "-f", "json", "--part", "friedman"
        ).out
    )
    assert found["rows"][0]["chi2"] == pytest.approx(31.07, abs=5e-3)
    rows = json.loads(
        riskeval(
            "sweep", "--over", "baseline", scores, "-a", "10", "-f", "json", "--part", "baselines"
        ).out
    )
    tau = {row["baseline"]: row["tau_b"] for row in rows["rows"]}
    assert tau["@max"] == pytest.approx(1)
    expected = {"s1": 0.520, "s3": 0.058, "s6": 0.404}
    assert {name: tau[name] for name in expected} == pytest.approx(expected, abs=6e-4)
    call = (
        "sweep",
        "--over",
        "measure",
        scores,
        "-b",
        "@mean",
        "-a",
        "0",
        "--of",
        "mean",
        "--of",
        "urisk",
    )
    for row in json.loads(riskeval(*call, "-f", "json").out)["rows"]:
        assert [row[name] for name in ("tau_b", "tau_ap", "rbo_ext")] == pytest.approx([1, 1, 1])
