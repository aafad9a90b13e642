"""Every risk number against brute force, which shares no code with the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, ScoreMatrix, Significance, UsageError, risk_table
from riskcli.analyses.score import ComparisonTable
from riskcli.core.choices import Family
from riskcli.risk.comparison import VIRTUAL
from riskcli.risk.estimate import holm, rank
from riskcli.risk.paired import Paired
from riskcli.risk.population import Population
from riskcli.scores.comparisons import choose_baselines
from riskcli.scores.teams import Teams
from tests.helpers import reference
from tests.helpers.strategies import ALPHAS, Floats, named, score_values


def close(expected: Any) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def column(table: ComparisonTable, name: str) -> list[float | None]:
    result = table.result()
    return [row[result.columns.index(name)] for row in result.rows]


def agree(mine: float | None, expected: float | None) -> bool:
    """Equal, where None of the one is None, NaN or infinite of the other."""
    if mine is None or math.isnan(mine):
        return expected is None or not math.isfinite(expected)
    return expected is not None and mine == close(expected)


# ---------------------------------------------------------------- paired measures


@given(score_values(min_topics=2), ALPHAS)
def test_paired_measures_equal_brute_force(values: Floats, alpha: float) -> None:
    baseline = values[0].tolist()
    table = risk_table(named(values), "r0", options=Options(alphas=(alpha,)))
    columns = {
        name: column(table, name)
        for name in (
            "wins",
            "ties",
            "losses",
            "losses20",
            "reward",
            "risk",
            "urisk",
            "urisk_se",
            "mean_diff",
            "reward_risk_ratio",
            "win_loss_ratio",
        )
    }
    for row in range(1, len(values)):
        run = values[row].tolist()
        wins, ties, losses = reference.wins_ties_losses(run, baseline)
        assert [columns[name][row] for name in ("wins", "ties", "losses")] == [wins, ties, losses]
        assert columns["losses20"][row] == reference.losses20(run, baseline)
        assert agree(columns["reward"][row], reference.reward(run, baseline))
        assert agree(columns["risk"][row], reference.risk(run, baseline))
        assert agree(columns["mean_diff"][row], reference.gain(run, baseline))
        assert agree(columns["win_loss_ratio"][row], reference.ratio(wins, losses))
        expected = reference.trisk(run, baseline, alpha)
        assert agree(columns["urisk"][row], expected["urisk"])
        if not nearly_constant(run, baseline):
            assert agree(columns["urisk_se"][row], expected["se"])


def nearly_constant(run: list[float], baseline: list[float]) -> bool:
    """Differences that are equal but for rounding, where the reference keeps the rounding."""
    delta = reference.deltas(run, baseline)
    return max(delta) - min(delta) < 1e-9


@given(score_values(min_topics=2), ALPHAS)
def test_trisk_equals_brute_force(values: Floats, alpha: float) -> None:
    table = risk_table(named(values), "r0", options=Options(alphas=(alpha,)))
    trisk, p = column(table, "trisk"), column(table, "trisk_p")
    for row in range(1, len(values)):
        run, baseline = values[row].tolist(), values[0].tolist()
        if not nearly_constant(run, baseline):
            expected = reference.trisk(run, baseline, alpha)
            assert agree(trisk[row], expected["t"])
            assert agree(p[row], expected["p"])


@given(score_values(min_topics=3))
def test_trisk_at_alpha_0_is_the_paired_t_test(values: Floats) -> None:
    paired = Paired(values, values[0])
    for row in range(1, len(values)):
        if not nearly_constant(values[row].tolist(), values[0].tolist()):
            t = stats.ttest_rel(values[row], values[0]).statistic
            assert paired.trisk(0.0)[row] == close(t)


@given(score_values(min_topics=3), ALPHAS)
def test_standard_error_equals_sigir14s_jackknife(values: Floats, alpha: float) -> None:
    errors = Paired(values, values[0]).urisk_se(alpha)
    for row in range(1, len(values)):
        if not nearly_constant(values[row].tolist(), values[0].tolist()):
            literal = reference.jackknife_se(values[row].tolist(), values[0].tolist(), alpha)
            assert errors[row] == pytest.approx(literal, rel=1e-7, abs=1e-12)


DEGENERATE = {
    "equal to the baseline": ([0.2, 0.4, 0.6], [0.2, 0.4, 0.6], 0.0, 0.0, 1.0),
    "constant gain": ([0.3, 0.5, 0.7], [0.2, 0.4, 0.6], 0.1, math.inf, None),
    "constant loss": ([0.1, 0.3, 0.5], [0.2, 0.4, 0.6], -0.6, -math.inf, None),
    "one topic differs, gain": ([0.2, 0.4, 0.9], [0.2, 0.4, 0.6], 0.1, 1.0, 0.4226497308103742),
    "one topic differs, loss": ([0.2, 0.4, 0.3], [0.2, 0.4, 0.6], -0.6, -1.0, 0.4226497308103742),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_comparisons(case: str) -> None:
    """alpha = 5. A constant difference has no spread, though its scores are rounded."""
    run, baseline, urisk, trisk, p = DEGENERATE[case]
    paired = Paired(np.array([run]), np.array(baseline))
    assert paired.urisk(5.0)[0] == pytest.approx(urisk)
    assert paired.trisk(5.0)[0] == pytest.approx(trisk)
    table = risk_table(
        ScoreMatrix("m", ("b", "x"), ("1", "2", "3"), np.array([baseline, run])),
        "b",
        options=Options(alphas=(5.0,)),
    )
    assert column(table, "trisk_p")[1] == (None if p is None else pytest.approx(p))
    assert column(table, "trisk")[1] == (None if math.isinf(trisk) else pytest.approx(trisk))


def test_one_topic_has_no_trisk_and_says_so() -> None:
    matrix = ScoreMatrix("m", ("a", "b"), ("1",), np.array([[0.5], [0.25]]))
    table = risk_table(matrix, "a")
    assert column(table, "urisk") == [None, pytest.approx(-0.5)]
    for name in ("trisk", "trisk_p", "mean_p", "zrisk_p", "georisk_p", "urisk_se"):
        assert column(table, name) == [None, None]
    assert "too-few-topics" in [note.code for note in table.notes]


def test_the_baselines_own_row_has_no_paired_values() -> None:
    matrix = named(np.array([[0.5, 0.25, 0.3], [0.25, 0.5, 0.4], [0.1, 0.2, 0.7]]))
    frame = risk_table(matrix, "r1").to_frame().set_index("run")
    paired = [
        "mean_diff",
        "mean_p",
        "wins",
        "ties",
        "losses",
        "losses20",
        "reward",
        "risk",
        "urisk",
        "urisk_se",
        "trisk",
        "trisk_p",
        "zrisk_diff",
        "georisk_p",
        "rank_urisk",
    ]
    assert all(frame.loc["r1", paired].isna())
    assert frame.loc[["r0", "r2"], paired].notna().to_numpy().all()
    assert all(frame.loc["r1", ["mean", "zrisk", "georisk", "rank_mean", "rank_georisk"]].notna())


def test_losses20_needs_a_loss_of_more_than_a_fifth() -> None:
    baseline = np.array([0.5, 0.5, 0.0, 1.0])
    paired = Paired(np.array([[0.4, 0.39, 0.0, 0.5]]), baseline)
    assert paired.losses20.tolist() == [2]
    by_rank = np.float64(1 - 0.8) * np.float64(0.8) ** np.arange(20.0)  # RBP of one document
    exactly = Paired(by_rank[None, 1:], by_rank[:-1])
    assert exactly.losses20.tolist() == [0]
    assert paired.losses.tolist() == [3]


# ---------------------------------------------------------------- population measures


@given(score_values(), ALPHAS)
def test_zrisk_and_georisk_equal_brute_force_among_all_runs(values: Floats, alpha: float) -> None:
    population, matrix = Population.of_all(values), values.tolist()
    for row in range(len(values)):
        assert population.zrisk(alpha)[row] == close(reference.zrisk(matrix, row, alpha))
        assert population.georisk(alpha)[row] == close(reference.georisk(matrix, row, alpha))


@given(score_values(min_runs=3), ALPHAS, st.data())
def test_zrisk_and_georisk_equal_brute_force_among_the_baselines(
    values: Floats, alpha: float, data: st.DataObject
) -> None:
    members = sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1)))
    population, matrix = Population.of_baselines(values, members), values.tolist()
    for row in range(len(values)):
        expected = reference.zrisk_population(matrix, members, row, alpha)
        assert population.zrisk(alpha)[row] == close(expected)
        expected = reference.georisk_population(matrix, members, row, alpha)
        assert population.georisk(alpha)[row] == close(expected)


@given(score_values(), st.floats(0.01, 100), ALPHAS)
def test_a_run_proportional_to_its_population_has_zrisk_0(
    values: Floats, factor: float, alpha: float
) -> None:
    proportional = np.outer([1.0, factor, factor / 3], values.sum(axis=0))
    assert Population.of_all(proportional).zrisk(alpha).tolist() == [0.0, 0.0, 0.0]


@given(score_values())
def test_z_sums_to_0_with_expected_weights(values: Floats) -> None:
    """The expected scores of a run add up to its total (below Eq. 5 of SIGIR'16)."""
    population = Population.of_all(values)
    assert population.expected.sum(axis=1) == close(values.sum(axis=1))


def test_zrisk_grows_with_the_square_root_of_the_scores_scale() -> None:
    values = np.array([[0.1, 0.5, 0.2], [0.4, 0.1, 0.3]])
    whole, quarter = (Population.of_all(scale * values).zrisk(1.0) for scale in (1.0, 0.25))
    assert quarter == pytest.approx(whole / 2)


def test_negative_scores_leave_zrisk_empty_and_are_named() -> None:
    matrix = named(np.array([[0.5, -0.25], [0.25, 0.5]]))
    table = risk_table(matrix, "r1")
    assert column(table, "zrisk") == [None, None] == column(table, "rank_georisk")
    assert column(table, "urisk")[0] == pytest.approx(-0.625)
    message = next(note.message for note in table.notes if note.code == "negative-score")
    assert "r0" in message and "t1" in message and "-0.25" in message


# ---------------------------------------------------------------- laws


@given(score_values(), ALPHAS, ALPHAS, st.floats(0, 1))
def test_urisk_and_zrisk_are_linear_in_alpha(
    values: Floats, one: float, other: float, share: float
) -> None:
    between = share * one + (1 - share) * other
    paired, population = Paired(values, values[0]), Population.of_all(values)
    for measure in (paired.urisk, population.zrisk):
        expected = share * measure(one) + (1 - share) * measure(other)
        assert measure(between) == close(expected)


@given(score_values(min_runs=3), st.sampled_from(["r0", *VIRTUAL]), ALPHAS, st.data())
@settings(max_examples=50)
def test_nothing_changes_when_topics_and_runs_are_shuffled(
    values: Floats, baseline: str, alpha: float, data: st.DataObject
) -> None:
    matrix = named(values)
    runs = data.draw(st.permutations(range(len(values))))
    topics = data.draw(st.permutations(range(values.shape[1])))
    shuffled = ScoreMatrix(
        "score",
        tuple(matrix.runs[i] for i in runs),
        tuple(matrix.topics[j] for j in topics),
        values[np.ix_(runs, topics)],
    )
    options = Options(alphas=(alpha,))
    straight = risk_table(matrix, baseline, options=options).to_frame().set_index("run")
    mixed = risk_table(shuffled, baseline, options=options).to_frame().set_index("run")
    for name in ("mean", "urisk", "zrisk", "georisk", "wins", "zrisk_lo", "georisk_hi"):
        left, right = straight[name], mixed[name].reindex(straight.index)
        assert left.astype(float).to_numpy() == pytest.approx(
            right.astype(float).to_numpy(), nan_ok=True, rel=1e-7, abs=1e-9
        )


def test_rank_shares_the_smaller_and_skips_what_is_undefined() -> None:
    values = np.array([0.2, np.nan, 0.5, 0.2, -np.inf, np.inf])
    assert rank(values) == pytest.approx([3, np.nan, 2, 3, 5, 1], nan_ok=True)


def test_values_that_are_equal_but_for_rounding_share_a_rank() -> None:
    """Both lose and gain 0.1 in all; the sums differ in the last bit."""
    values = np.array([[0.3, 0.4], [0.5, 0.2], [0.2, 0.5]])
    frame = risk_table(named(values), "r0", options=Options(alphas=(0.0,))).to_frame()
    assert frame["rank_urisk"].tolist()[1:] == [1, 1]
    assert rank(np.array([0.1 + 0.2, 0.3, 1e16, 0.2])).tolist() == [2, 2, 1, 4]
    assert rank(np.array([1e-17, 0.0, -1e-17, 0.5, 1e-9])).tolist() == [3, 3, 3, 1, 2]


@given(st.integers(-8, 8))
def test_a_value_just_below_a_power_of_ten_is_equal_to_it(power: int) -> None:
    """One topic of three gains: TRisk is 1, whatever the gain, but for the last bit."""
    whole = 10.0**power
    assert rank(np.array([np.nextafter(whole, 0), whole])).tolist() == [1, 1]
    assert rank(np.array([whole * (1 - 1e-10), whole])).tolist() == [2, 1]


# ---------------------------------------------------------------- baselines


@given(score_values(), st.sampled_from(["mean", "median", "max", "min"]))
def test_virtual_baselines_equal_brute_force(values: Floats, pool: reference.Pool) -> None:
    matrix = named(values)
    (baseline,) = choose_baselines(matrix.runs, values, [f"@{pool}"])
    expected = reference.virtual_baseline(values.tolist(), pool)
    assert baseline.scores == close(expected)
    assert baseline.members == ()


def test_a_topic_where_all_runs_are_equal_is_a_tie_with_the_mean() -> None:
    """Without care, (0.1 + 0.1 + 0.1) / 3 exceeds 0.1 by rounding, and is three losses."""
    matrix = named(np.array([[0.1, 0.3], [0.1, 0.5], [0.1, 0.2]]))
    assert column(risk_table(matrix, "@mean"), "losses") == [1, 0, 1]
    assert column(risk_table(matrix, "@mean"), "ties") == [1, 1, 1]


@given(score_values(min_runs=3), st.sampled_from(["mean", "median", "max", "min"]), st.data())
def test_pooled_baselines_equal_brute_force(
    values: Floats, pool: reference.Pool, data: st.DataObject
) -> None:
    members = sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=2)))
    matrix = named(values)
    (baseline,) = choose_baselines(matrix.runs, values, [f"r{m}" for m in members], pool)
    expected = reference.pooled_baseline(values.tolist(), members, pool)
    assert baseline.scores == close(expected)
    assert baseline.own_row is None


def test_globs_name_sets_and_exact_names_win_over_globs() -> None:
    runs, values = ("a1", "a2", "b", "a*"), np.arange(8.0).reshape(4, 2)
    assert choose_baselines(runs, values, ["a?"])[0].members == (0, 1, 3)
    assert choose_baselines(runs, values, ["a*"])[0].members == (3,)
    assert choose_baselines(runs, values, ["b"])[0].name == "b"
    assert choose_baselines(runs, values, ["b", "a1"])[0].name == "mean(a1,b)"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["indriCAPS"], "did you mean indriCASP"),
        (["@average"], "unknown virtual baseline '@average'"),
        (["@mean", "indriCASP"], "a virtual baseline cannot be combined"),
        (["@mean", "@max"], "a virtual baseline cannot be combined"),
    ],
)
def test_wrong_baselines_are_refused_with_a_hint(wanted: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_baselines(("indriCASP", "x"), np.ones((2, 2)), wanted)


def test_each_baseline_in_turn_and_the_average_over_them() -> None:
    """The macro-average of SIGIR'16, Table 7: a member is averaged over the other baselines."""
    values = np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.4], [0.3, 0.3, 0.9]])
    table = risk_table(named(values), ["r0", "r1"], options=Options(pool="each"))
    frame = table.to_frame().set_index(["baseline", "run"])
    assert list(dict.fromkeys(frame.index.get_level_values(0))) == ["r0", "r1", "each(r0,r1)"]
    for name in ("urisk", "trisk", "wins", "risk", "reward_risk_ratio"):
        single = frame[name].astype(float)
        mean = (single["r0", "r2"] + single["r1", "r2"]) / 2
        assert single["each(r0,r1)", "r2"] == pytest.approx(mean)
        assert single["each(r0,r1)", "r0"] == single["r1", "r0"]
    assert frame.loc["each(r0,r1)", ["trisk_p", "georisk_p", "mean_p"]].isna().to_numpy().all()


@pytest.mark.parametrize("family", ["column", "all"])
def test_baselines_taken_in_turn_are_one_family_of_tests(family: Family) -> None:
    """Of each column at each alpha; the legend says so, and the others hold as many tests as ever.

    TRisk at alpha 0 and the mean are one test: they share its place where all is one family.
    """
    values = np.random.default_rng(5).beta(1, 3, (5, 30))
    options = Options(pool="each", alphas=(0.0, 5.0), significance=Significance(family=family))
    table = risk_table(named(values), ["r0", "r1", "r2"], options=options)
    frame = table.to_frame()
    frame = frame[~frame["baseline"].str.startswith("each")]
    for name in ("mean", "trisk", "zrisk", "georisk"):
        for alpha in (0.0, 5.0) if family == "column" else ():
            column = frame[frame["alpha"] == alpha].dropna(subset=[f"{name}_p"])
            p = column[f"{name}_p"].to_numpy(dtype=float)
            assert len(p) == 12
            assert column[f"{name}_p_adj"].to_numpy(dtype=float) == pytest.approx(holm(p))
    sizes = {size for block in table.blocks for size in block.families.values()}
    assert sizes == ({12} if family == "column" else {6 * 12})
    scope = "Holm over 12 tests, all baselines together" if family == "column" else "72 tests in"
    assert scope in " ".join(str(table).split())
    alone = risk_table(named(values), "r0", options=options)
    assert {size for block in alone.blocks for size in block.families.values()} <= {4, 24}


def test_default_population_is_all_runs_or_two_named_baselines() -> None:
    values = np.array([[0.5, 0.2], [0.1, 0.6], [0.3, 0.3]])
    populations = {
        wanted: risk_table(named(values), wanted.split()).blocks[0].population
        for wanted in ("r0", "@mean", "r0 r1")
    }
    assert populations == {"r0": "all", "@mean": "all", "r0 r1": "baselines"}


@pytest.mark.parametrize("teams", [Teams(), Teams({"r0": "a", "r1": "a"})])
def test_a_virtual_baseline_has_no_population_of_baselines(teams: Teams) -> None:
    options = Options(population="baselines", teams=teams)
    with pytest.raises(UsageError, match="needs a baseline that is a run"):
        risk_table(named(np.eye(3)), "@mean", options=options)


@pytest.mark.parametrize("alpha", [-1.0, math.nan, math.inf])
def test_alpha_must_be_a_number_of_at_least_0(alpha: float) -> None:
    with pytest.raises(UsageError, match="alpha"):
        Options(alphas=(alpha,))


@pytest.mark.parametrize("gamma", [0.0, 1.0, -1.0, math.nan])
def test_gamma_must_lie_between_0_and_1(gamma: float) -> None:
    with pytest.raises(UsageError, match="gamma"):
        Significance(gamma=gamma)
