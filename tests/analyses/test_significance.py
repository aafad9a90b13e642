"""All pairs of runs, their letters, Tukey's HSD, and explanations."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, ScoreMatrix, Significance, UsageError, risk_table
from riskcli.analyses.explain import explain_run
from riskcli.analyses.pairwise import compare_all, letters, randomised_tukey_hsd
from riskcli.analyses.significance import compare_pairs
from tests.helpers import reference
from tests.helpers.examples import golden_matrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

NO_CORRECTION = Significance(correction="none")


@settings(max_examples=40)
@given(score_values(min_runs=3, max_runs=5, min_topics=3, max_topics=6), ALPHAS)
def test_every_pair_equals_a_literal_jackknife(values: Floats, alpha: float) -> None:
    assume(values.any(axis=1).all())
    found = compare_pairs(
        named(values), of=["zrisk", "georisk"], options=Options(alphas=(alpha,))
    ).result()
    for row in found.rows:
        line = dict(zip(found.columns, row, strict=True))
        first, second = int(line["run"][1:]), int(line["other"][1:])
        measure: reference.Measure = "zeta" if line["of"] == "zrisk" else "georisk"
        expected = reference.difference_jackknife(values.tolist(), first, second, measure, alpha)
        scale = values.shape[1] if measure == "zeta" else 1
        if expected["se"] is not None and expected["se"] > 1e-9:
            assert line["diff"] / scale == pytest.approx(expected["estimate"], abs=1e-11)
            assert line["diff_se"] / scale == pytest.approx(expected["se"], abs=1e-10)
            assert line["p"] == pytest.approx(expected["p"], rel=1e-6, abs=1e-9)


@settings(max_examples=40)
@given(score_values(min_runs=3, min_topics=3))
def test_means_in_pairs_equal_scipys_paired_t_test(values: Floats) -> None:
    found = compare_pairs(named(values), of="mean").result()
    p = {(row[0], row[1]): row[found.columns.index("p")] for row in found.rows}
    assert len(p) == len(values) * (len(values) - 1) // 2
    for first, second in combinations(range(len(values)), 2):
        delta = values[first] - values[second]
        if np.ptp(delta) > 1e-9:
            expected = stats.ttest_rel(values[first], values[second]).pvalue
            assert p[f"r{first}", f"r{second}"] == pytest.approx(expected)
        elif not delta.any():
            assert p[f"r{first}", f"r{second}"] == 1.0


def test_the_family_is_all_pairs_and_holm_is_the_default() -> None:
    found = compare_pairs(named(golden_matrix()), of="georisk")
    (table,) = found.tables
    assert table.pairs.family == 15 and table.correction == "holm"
    expected = reference.holm(table.pairs.p.tolist())
    assert table.pairs.p_adjusted.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("of", ["mean", "zrisk", "georisk"])
def test_between_baseline_gives_the_numbers_of_the_risk_table(of: str) -> None:
    options = Options(baselines=("r0",), alphas=(5.0,))
    result = compare_pairs(
        named(golden_matrix()), of=[of], between="baseline", options=options
    ).result()
    frame = risk_table(named(golden_matrix()), options=options).to_frame().set_index("run")
    assert len(result.rows) == 5
    for row in result.rows:
        line = dict(zip(result.columns, row, strict=True))
        mine = frame.loc[line["run"]]
        for name, column in (("diff", f"{of}_diff"), ("p", f"{of}_p"), ("p_adj", f"{of}_p_adj")):
            assert line[name] == pytest.approx(mine[column])
        assert line["diff_lo"] < line["diff"] < line["diff_hi"]
        assert line["value"] - line["other_value"] == pytest.approx(line["diff"])


def test_an_empty_run_is_compared_with_none_but_has_a_mean() -> None:
    values = golden_matrix()
    values[4] = 0.0
    result = compare_pairs(named(values), of=["mean", "georisk"]).result()
    tested = {
        (row[0], row[1], row[3]): row[result.columns.index("p")] is not None for row in result.rows
    }
    assert tested["r0", "r4", "mean"] and not tested["r0", "r4", "georisk"]
    assert tested["r0", "r1", "georisk"]


def test_urisk_has_no_pairs_and_says_where_to_look() -> None:
    with pytest.raises(UsageError, match="compare with a baseline: see score"):
        compare_pairs(named(golden_matrix()), of="trisk")


# ---------------------------------------------------------------- letters


@given(st.integers(1, 8), st.data())
def test_two_runs_share_a_letter_unless_they_differ(runs: int, data: st.DataObject) -> None:
    pairs = list(combinations(range(runs), 2))
    apart = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    found = letters(runs, range(runs), sorted(apart))
    for one, other in pairs:
        assert bool(set(found[one]) & set(found[other])) == ((one, other) not in apart)
    assert all(found)
    assert "a" in found[0]


def test_letters_worked_by_hand() -> None:
    """Best and worst differ; the one between differs from neither."""
    assert letters(3, [0, 1, 2], [(0, 2)]) == ["a", "ab", "b"]
    assert letters(3, [2, 1, 0], [(0, 2)]) == ["b", "ab", "a"]
    assert letters(2, [0, 1], []) == ["a", "a"]
    assert letters(2, [0, 1], [(0, 1)]) == ["a", "b"]


def test_more_than_26_groups_have_names_of_two_letters() -> None:
    runs = 30
    found = letters(runs, range(runs), list(combinations(range(runs), 2)))
    assert found[0] == "a" and found[25] == "z" and found[26] == "aa" and found[29] == "ad"
    chained = letters(
        runs, range(runs), [(i, j) for i, j in combinations(range(runs), 2) if j - i > 1]
    )
    assert chained[27] == "aa,ab"


# ---------------------------------------------------------------- Tukey's HSD


def exact_tukey(values: Floats) -> dict[tuple[int, int], float]:
    """p by all ways to turn the signs of topics, around each topic's mean."""
    around = values - values.mean(axis=0)
    largest = [
        max(pairwise_t(around * np.array(signs)).values())
        for signs in product((-1, 1), repeat=values.shape[1])
    ]
    return {
        pair: float(np.mean([size >= t - 1e-9 for size in largest]))
        for pair, t in pairwise_t(values).items()
    }


def pairwise_t(values: Floats) -> dict[tuple[int, int], float]:
    """|t| of every pair by the paired t test."""
    found = {}
    for i, j in combinations(range(len(values)), 2):
        test = reference.mean_test([float(x) for x in values[i] - values[j]])
        found[i, j] = abs(test["t"] or 0.0)
    return found


def test_tukey_equals_all_turns_of_signs() -> None:
    values = golden_matrix()[[0, 1, 4], 3:11]
    exact = exact_tukey(values)
    p = randomised_tukey_hsd(values, 40_000, seed=3)
    for mine, expected in zip(p, exact.values(), strict=True):
        assert mine == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 40_000))


def test_tukey_holds_its_level_where_one_run_is_more_variable() -> None:
    """By plain ranges of means a run of eightfold deviation made the family error .151."""
    generator = np.random.default_rng(12)
    simulations, wrong = 300, 0
    spread = np.array([0.4, *[0.05] * 7])[:, None]
    for number in range(simulations):
        values = 0.1 * generator.standard_normal((1, 25)) + spread * generator.standard_normal(
            (8, 25)
        )
        wrong += bool((randomised_tukey_hsd(values, 199, number) < 0.05).any())
    assert wrong / simulations < 0.05 + 3 * 0.0126


def test_tukey_is_repeatable_recorded_and_never_0() -> None:
    values = np.vstack([np.full(30, 0.1), np.linspace(0.8, 0.9, 30), np.linspace(0.1, 0.9, 30)])
    plan = Options(significance=Significance(seed=5))
    tables = [compare_pairs(named(values), of="mean", options=plan, tukey=True) for _ in range(2)]
    first, second = (table.tables[0].pairs.p_adjusted for table in tables)
    assert first.tolist() == second.tolist()
    assert first[0] == pytest.approx(1 / 10_000)
    assert tables[0].settings["seed"] == 5 and tables[0].settings["replicates"] == 9_999


def test_tukey_of_identical_runs_is_1() -> None:
    assert randomised_tukey_hsd(np.full((3, 5), 0.25), 9_999, 1).tolist() == [1, 1, 1]


@settings(max_examples=30)
@given(score_values(min_runs=3, min_topics=4), st.sampled_from([0.05, 0.2]))
def test_intervals_of_all_pairs_are_those_of_their_tests(values: Floats, gamma: float) -> None:
    """Of means as scipy has them, of GeoRisk by a literal jackknife; without 0 where p < gamma."""
    plan = Options(alphas=(5.0,), significance=Significance(gamma=gamma, correction="none"))
    means, georisks = compare_pairs(named(values), options=plan).tables
    for table in (means, georisks):
        pairs = table.pairs
        for k, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            if np.isnan(pairs.p[k]) or np.ptp(values[i] - values[j]) < 1e-6:
                continue
            assert (pairs.p[k] < gamma) == (pairs.low[k] > 0 or pairs.high[k] < 0)
            if table is means:
                known = stats.ttest_rel(values[i], values[j]).confidence_interval(1 - gamma)
                low, high = known.low, known.high
            else:
                literal = reference.difference_jackknife(
                    values.tolist(), int(i), int(j), "georisk", 5.0, level=1 - gamma
                )
                low, high = literal["lo"], literal["hi"]
            assert (pairs.low[k], pairs.high[k]) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


def test_a_family_of_the_whole_table_counts_what_is_not_shown() -> None:
    """`--of georisk --family all` corrects for the tests of every measure, as the table does."""
    matrix = named(np.random.default_rng(6).beta(2, 2, (5, 12)))
    options = Options(significance=Significance(family="all"))
    (table,) = compare_pairs(matrix, "r0", of="georisk", options=options).tables
    whole = risk_table(matrix, "r0", options=options).to_frame()["georisk_p_adj"]
    assert table.pairs.p_adjusted.tolist() == whole.tolist()[1:]
    (column,) = compare_pairs(matrix, "r0", of="georisk").tables
    assert (table.pairs.p_adjusted > column.pairs.p_adjusted).any()


def test_tukey_keeps_the_family_wise_error() -> None:
    """Five exchangeable runs: the chance of any flag is gamma; bounds of three standard errors."""
    generator = np.random.default_rng(11)
    simulations, wrong = 400, 0
    for number in range(simulations):
        easy = generator.standard_normal((1, 25))
        values = 1 / (1 + np.exp(1 - easy - 0.9 * generator.standard_normal((5, 25))))
        wrong += bool((randomised_tukey_hsd(values, 499, number) < 0.05).any())
    assert 0.05 - 3 * 0.0109 < wrong / simulations < 0.05 + 3 * 0.0109


# ---------------------------------------------------------------- explanations


@settings(max_examples=30)
@given(score_values(min_topics=3), st.sampled_from(["mean", "urisk", "trisk", "zrisk", "georisk"]))
def test_the_last_step_of_an_explanation_is_the_value_of_the_table(values: Floats, of: str) -> None:
    options = Options(baselines=("r0",), alphas=(5.0,))
    frame = risk_table(named(values), options=options).to_frame().set_index("run")
    found = explain_run(named(values), run="r1", of=of, options=options, worst=values.shape[1])
    shown, expected = found.steps[-1][1], float(str(frame.loc["r1", of]))
    assert shown == pytest.approx(expected) or (np.isinf(shown) and np.isnan(expected))
    test = dict(found.test)
    if test:
        assert test["p, two-sided"] == pytest.approx(frame.loc["r1", f"{of}_p"])
        assert test["p corrected (Holm)"] == pytest.approx(frame.loc["r1", f"{of}_p_adj"])
    total = sum(share.contribution for share in found.topics)
    sums = {"mean": "mean_diff", "urisk": "urisk", "trisk": "urisk"}
    if of in sums:
        assert total / values.shape[1] == pytest.approx(frame.loc["r1", sums[of]], abs=1e-12)
    else:
        assert total == pytest.approx(frame.loc["r1", "zrisk"], abs=1e-12)


def test_all_pairs_have_one_population_and_a_baseline_may_have_its_own() -> None:
    options = Options(population="baselines")
    with pytest.raises(UsageError, match="all pairs are compared in the population of all runs"):
        compare_pairs(named(golden_matrix()), options=options)
    (table,) = compare_pairs(named(golden_matrix()), "r0", of="georisk", options=options).tables
    assert table.population == "baselines"


def test_the_cautions_of_the_tests_against_a_baseline_are_told() -> None:
    """As `score` tells them of the same tests."""
    call = (SAMPLES, "-q", QRELS, "-m", "ERR@20", "-b", "indriCASP", "--population", "baselines")
    ran = riskeval("significance", *call, "--of", "mean", "--of", "zrisk", "--of", "georisk")
    assert ran.code == 0
    (heavy,) = (line for line in ran.err.splitlines() if "more than half of the variance" in line)
    assert heavy in riskeval("score", *call).err


def test_an_explanation_shows_the_t_of_the_test_that_was_taken() -> None:
    """Label swaps have no Student's t; their p comes from the replicates."""
    for test, has_t in (("jackknife", True), ("swap", False)):
        plan = Options(significance=Significance(test=test))  # type: ignore[arg-type]
        steps = dict(
            explain_run(named(golden_matrix()), "r0", run="r1", of="zrisk", options=plan).test
        )
        assert ("t" in steps) is ("SE of the difference" in steps) is has_t
        assert steps["degrees of freedom, c - 1"] == golden_matrix().shape[1] - 1
        if has_t:
            ratio = steps["difference to the baseline"] / steps["SE of the difference"]
            assert steps["t"] == pytest.approx(ratio)


def test_explanations_start_with_the_worst_topic() -> None:
    found = explain_run(named(golden_matrix()), "r0", run="r1", of="urisk", worst=3)
    costs = [share.contribution for share in found.topics]
    assert costs == sorted(costs) and len(costs) == 3
    assert costs[0] == pytest.approx(2 * (golden_matrix()[1] - golden_matrix()[0]).min())


@pytest.mark.parametrize(
    ("run", "of", "options", "message"),
    [
        ("r9", "mean", Options(), "no run is named 'r9'"),
        ("r1", "risky", Options(), "cannot explain 'risky'"),
        ("r1", "mean", Options(alphas=(0.0, 1.0)), "one alpha"),
        ("r0", "urisk", Options(baselines=("r0",)), "is the baseline itself"),
        ("r1", "mean", Options(baselines=("r0", "r2"), pool="each"), "one baseline"),
    ],
)
def test_what_cannot_be_explained(run: str, of: str, options: Options, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        explain_run(named(golden_matrix()), run=run, of=of, options=options)


# ---------------------------------------------------------------- the commands


def test_significance_command_writes_every_pair() -> None:
    ran = riskeval("significance", SAMPLES, "-m", "ERR@20")
    rows = list(csv.DictReader(io.StringIO(ran.out), delimiter="\t"))
    assert ran.code == 0 and len(rows) == 2 * 36
    assert {row["of"] for row in rows} == {"mean", "georisk"}
    baseline = riskeval("significance", SAMPLES, "-m", "ERR@20", "-b", "indriCASP")
    assert len(baseline.out.splitlines()) == 1 + 2 * 8


def test_significance_records_what_it_did() -> None:
    call = (
        "significance",
        SAMPLES,
        "-m",
        "ERR@20",
        "--of",
        "mean",
        "--correction",
        "tukey",
        "-f",
        "json",
    )
    document = json.loads(riskeval(*call).out)
    assert document["settings"]["tukey"] is True and document["settings"]["seed"] == 20161
    assert all(0 < row["p_adj"] <= 1 for row in document["rows"])
    table = riskeval(*call[:-1], "table").out
    assert "randomised Tukey HSD by t, 9999 replicates, seed 20161" in " ".join(table.split())


def test_wrong_calls_of_significance() -> None:
    ran = riskeval("significance", SAMPLES, "--correction", "tukey", "-b", "indriCASP")
    assert (ran.code, ran.out) == (2, "") and "Tukey" in ran.err
    ran = riskeval("significance", SAMPLES, "--population", "baselines")
    assert (ran.code, ran.out) == (2, "")


def test_explain_command() -> None:
    call = ("explain", SAMPLES, "-q", QRELS, "-m", "ERR@20", "--run", "oldTFIDF", "-b", "indriCASP")
    text = riskeval(*call, "-a", "5", "-f", "table").out
    assert "GeoRisk of oldTFIDF by ERR@20, α = 5, against indriCASP" in text
    assert "Flag worse" in text and "degrees of freedom" in text
    document = json.loads(riskeval(*call, "-f", "json").out)
    assert document["verdict"].startswith("Flag worse")
    ran = riskeval("explain", SAMPLES, "--run", "oldTFIDF", "-m", "AP,P@5")
    assert ran.code == 2 and "one measure at a time" in ran.err


def test_the_matrix_of_many_runs_is_shown_on_request(tmp_path: Path) -> None:
    values = np.random.default_rng(6).random((17, 30))
    file = tmp_path / "scores.csv"
    named(values).to_frame().to_csv(file)
    call = ("significance", file, "-m", "score", "--of", "mean", "-f", "table")
    brief, full = riskeval(*call), riskeval(*call, Key("matrix"))
    assert brief.code == full.code == 0, full.err
    assert brief.out.splitlines()[0] == full.out.splitlines()[0]
    assert "row - column" not in brief.out and "--full" in brief.out
    assert riskeval(*call, "--full").out == full.out
    assert "row - column" in full.out
    shown = values.mean(axis=1)
    gap = f"{np.sort(shown)[-1] - np.sort(shown)[0]:.3f}"
    assert gap in full.out


@pytest.mark.parametrize(
    "test",
    [
        (),
        (
            "--correction",
            "tukey",
        ),
    ],
)
def test_tables_of_two_topics_say_that_nothing_could_be_tested(
    tmp_path: Path, test: tuple[str, ...]
) -> None:
    file = tmp_path / "scores.csv"
    named(np.array([[0.2, 0.4], [0.3, 0.5], [0.5, 0.9]])).to_frame().to_csv(file)
    for call in (("significance", *test), ("significance", "-b", "r0"), ("score", "-b", "r0")):
        shown = riskeval(call[0], file, *call[1:], "-f", "table").out
        assert "either ▲ nor ▼: nothing could be tested." in shown
        assert "differ at" not in shown and "ranks:" not in shown and "letters" not in shown


def test_one_topic_has_pairs_without_tests() -> None:
    matrix = ScoreMatrix("m", ("a", "b"), ("1",), np.array([[0.5], [0.25]]))
    (row,) = compare_pairs(matrix, of="mean").result().rows
    assert row[9] == 0.25 and row[13] is None


def test_compare_all_keeps_identical_runs_at_p_1() -> None:
    deviations = np.array([[0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.3, -0.3, 0.0]])
    pairs = compare_all(np.array([1.0, 1.0, 2.0]), deviations, 0.05, "holm")
    assert pairs.p[0] == 1.0 and pairs.flag[0] == ""


@pytest.mark.parametrize("correction", ["bonferroni", "bh", "none"])
def test_ranks_go_by_holm_in_both_commands_whatever_the_marks_correction(correction: str) -> None:
    call = (SAMPLES, "-q", QRELS, "-m", "ERR@20", "--correction", correction, "-f", "json")
    pairs = json.loads(riskeval("significance", *call, "--of", "mean").out)["rows"]
    rows = json.loads(riskeval("score", *call).out)["rows"]
    brackets = {row["run"]: (row["rank_mean_lo"], row["rank_mean_hi"]) for row in rows}
    holm = json.loads(riskeval("score", *call[:-3], "holm", "-f", "json").out)["rows"]
    assert brackets == {r["run"]: (r["rank_mean_lo"], r["rank_mean_hi"]) for r in holm}
    table = riskeval("significance", *call[:-1], "table", "--of", "mean").out
    assert "by Holm's correction" in table and len(pairs) == 36
    assert "(Holm, whatever the marks' correction)" in " ".join(table.split())
