"""Agreement of rankings against definitions and examples worked by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options, UsageError, ranking_agreement
from riskcli.core.choices import Loss
from riskcli.risk.rank_agreement import kendall_tau_b, rank_biased_overlap, tau_ap
from tests.helpers import reference
from tests.helpers.console import on_terminal
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES, Key
from tests.helpers.strategies import Floats, named, score_values
from tests.helpers.tables import table_of

VALUES = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=9)


@given(VALUES, st.randoms(use_true_random=False))
def test_tau_b_equals_scipy(x: list[float], random: object) -> None:
    y = [float(value) for value in np.random.default_rng(len(x)).permutation(x)]
    expected = stats.kendalltau(x, y).statistic
    assert kendall_tau_b(np.array(x), np.array(y)) == pytest.approx(expected, nan_ok=True)


@given(st.permutations(range(7)), st.permutations(range(7)))
def test_tau_ap_equals_its_definition(truth: list[int], estimate: list[int]) -> None:
    mine = tau_ap(np.array(truth), np.array(estimate))
    expected = reference.tau_ap([str(i) for i in truth], [str(i) for i in estimate])
    assert mine == pytest.approx(expected)


def test_tau_ap_by_hand() -> None:
    """2/(n - 1) sum C(i)/(i - 1) - 1: a swap at the top costs more than one at the bottom."""
    truth = np.arange(4)
    assert tau_ap(truth, truth) == 1
    assert tau_ap(truth, truth[::-1]) == -1
    # 1 0 2 3: C = 0, 2, 3 of 1, 2, 3
    assert tau_ap(truth, np.array([1, 0, 2, 3])) == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    # 0 1 3 2: C = 1, 2, 2 of 1, 2, 3
    assert tau_ap(truth, np.array([0, 1, 3, 2])) == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)
    assert math.isnan(tau_ap(np.array([0]), np.array([0])))


LISTS = st.tuples(st.permutations(range(8)), st.permutations(range(10)))


@settings(max_examples=80)
@given(LISTS, st.integers(1, 8), st.integers(1, 10), st.sampled_from([0.5, 0.8, 0.9, 0.98]))
def test_rbo_equals_the_sums_of_the_definition(
    lists: tuple[list[int], list[int]], short: int, long: int, p: float
) -> None:
    one, other = lists[0][:short], lists[1][:long]
    mine = rank_biased_overlap(one, other, p)
    expected = reference.rbo([str(i) for i in one], [str(i) for i in other], p)
    assert mine.least == pytest.approx(expected["min"], abs=1e-10)
    assert mine.residual == pytest.approx(expected["residual"], abs=1e-10)
    assert mine.extrapolated == pytest.approx(expected["ext"], abs=1e-10)
    back = rank_biased_overlap(other, one, p)
    assert back.least == pytest.approx(mine.least)
    assert back.extrapolated == pytest.approx(mine.extrapolated)


def test_rbo_by_hand() -> None:
    """p = 1/2, <a b> and <b a>: X_1 = 0, X_2 = 2; (1 - p) sum p^(d-1) X_d/d."""
    found = rank_biased_overlap("ab", "ba", 0.5)  # type: ignore[arg-type]
    # depth 2 gives 1/4; below it only 2 of d agree: 2 (1 - p)/p (ln 2 - 1/2 - 1/8)
    assert found.least == pytest.approx(1 / 4 + 2 * (math.log(2) - 5 / 8))
    assert found.least + found.residual == pytest.approx(1 / 2)  # all below depth 1 agree
    assert found.extrapolated == pytest.approx(1 / 2)
    same = rank_biased_overlap("abc", "abc", 0.9)  # type: ignore[arg-type]
    assert same.extrapolated == pytest.approx(1) and same.least + same.residual == pytest.approx(1)
    apart = rank_biased_overlap("abc", "xyz", 0.9)  # type: ignore[arg-type]
    assert apart.extrapolated == apart.least == 0
    assert apart.residual == pytest.approx(reference.rbo(list("abc"), list("xyz"), 0.9)["max"])
    nothing = rank_biased_overlap([], [1], 0.9)
    assert (nothing.least, nothing.residual) == (0, 1)


@pytest.mark.parametrize("persistence", [0.0, 1.0, -0.5, float("nan")])
def test_a_wrong_persistence_is_refused(persistence: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        rank_biased_overlap([1], [1], persistence)


@settings(max_examples=40)
@given(score_values(min_runs=3), st.sampled_from(["linear", "smooth"]))
def test_agreement_is_over_runs_that_both_rank(values: Floats, loss: Loss) -> None:
    found = ranking_agreement(named(values), "r0", options=Options(loss=loss))
    frame = found.to_frame()
    kinds = len(found.rankings)
    assert kinds == (9 if loss == "smooth" else 5) and len(frame) == kinds * (kinds - 1)
    for row in frame.to_dict("records"):
        paired = {"urisk", "trisk"} & {row["of"], row["other_of"]}
        assert row["runs"] == len(values) - bool(paired)
        assert -1 <= row["tau_ap"] <= 1
        most = row["rbo_min"] + row["rbo_residual"]
        assert 0 <= row["rbo_min"] <= row["rbo_ext"] + 1e-9 and row["rbo_ext"] <= most + 1e-9
    mean = {r.of.id: r for r in found.rankings if r.loss == "linear"}
    x = [mean["mean"].values[f"r{i}"] for i in range(1, len(values))]
    y = [mean["urisk"].values[f"r{i}"] for i in range(1, len(values))]
    mine = frame[(frame["of"] == "mean") & (frame["other_of"] == "urisk")]["tau_b"].iloc[0]
    tau = reference.kendall_tau_b(x, y)
    assert (tau is None and math.isnan(mine)) or mine == pytest.approx(tau)


def test_rankings_are_compared_from_their_best_run() -> None:
    """RBO and tau_AP weigh the top: turned round, the same two rankings agree otherwise."""
    values = np.random.default_rng(4).beta(1, 2, (8, 10))
    found = ranking_agreement(named(values), "r0", options=Options(alphas=(5.0,)))
    frame, known = found.to_frame(), {ranking.of.id: ranking.values for ranking in found.rankings}
    turned = 0
    for row in frame[(frame["of"] != "urisk") & (frame["other_of"] != "urisk")].to_dict("records"):
        one, other = (known[row[name]] for name in ("of", "other_of"))
        runs = [run for run in one if not (math.isnan(one[run]) or math.isnan(other[run]))]
        first, second = (sorted(runs, key=lambda run: -each[run]) for each in (one, other))
        expected = reference.rbo(first, second)
        assert row["rbo_min"] == pytest.approx(expected["min"])
        assert row["tau_ap"] == pytest.approx(reference.tau_ap(first, second))
        backwards = reference.rbo(first[::-1], second[::-1])
        turned += abs(backwards["min"] - expected["min"]) > 0.01
    assert turned > 2


def test_the_command_compares_measures_and_losses() -> None:
    shared = ("sweep", "--over", "measure", SAMPLES, "-b", "indriCASP", "-a", "1")
    rows = table_of(riskeval(*shared, "--of", "georisk", "--loss", "smooth").out)
    assert {(r["measure"], r["loss"]) for r in rows} == {
        (m, loss) for m in ("ERR@20", "nDCG@20") for loss in ("linear", "smooth")
    }
    assert len(rows) == 12
    found = json.loads(riskeval(*shared, "-f", "json", Key("depth", "3")).out)
    assert found["settings"]["depth"] == 3 and len(found["rows"]) == 90


@pytest.mark.parametrize("columns", [80, 160])
def test_the_tables_fit(columns: int) -> None:
    command = "riskeval sweep --over measure sample_runs/ -b indriCASP --loss smooth --full"
    code, shown = on_terminal(f"{command} 2>/dev/null", columns)
    assert code == 0 and max(map(len, shown.splitlines())) <= columns
    assert "τ_AP" in shown and "extrapolated" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-a", "1,5"], "one alpha"),
        (["--of", "geo"], "did you mean georisk"),
        ([Key("persistence", "1")], "between 0 and 1"),
        (["-b", "indri*", "-b", "caspPlus", "--pool", "each"], "pooled"),
    ],
)
def test_wrong_calls(arguments: list[str], words: str) -> None:
    ran = riskeval("sweep", "--over", "measure", SAMPLES, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


CALL = ("sweep", "--over", "measure", SAMPLES, "-b", "indriCASP", "-m", "ERR@20", "--quiet")


def test_it_says_which_rankings_agree_most_and_least() -> None:
    document = json.loads(riskeval(*CALL, "-f", "json").out)
    taus = {row["tau_b"] for row in document["rows"]}
    (said,) = [each for each in document["verdicts"] if each["rule"] == "rankings-agree"]
    assert (said["numbers"]["most"], said["numbers"]["least"]) == (max(taus), min(taus))
    shown = " ".join(riskeval(*CALL, "-f", "table").out.split())
    assert said["text"] in shown and f"({min(taus):.2f})." in shown


def test_the_answer_has_the_order_of_the_score_table() -> None:
    score = table_of(riskeval("score", *CALL[3:], "-f", "tsv").out)
    table = riskeval(*CALL, "-f", "table").out
    lines = {line.split()[0]: line.split()[1:] for line in table.splitlines() if "  " in line}
    for title in ("Mean", "URisk", "TRisk", "ZRisk", "GeoRisk"):
        ranks = {row["run"]: row[f"rank_{title.lower()}"] for row in score}
        assert [ranks[run] for run in lines[title][:3]] == ["1", "2", "3"]
    assert "τ_AP" not in table.replace("τ_AP and RBO", "")
    full = riskeval(*CALL, "-f", "table", "--full").out
    assert full.startswith(table.rstrip()) and "RBO_min + residual" in full


def test_one_run_that_is_first_everywhere_is_named() -> None:
    generator = np.random.default_rng(5)
    values = generator.uniform(0.2, 0.4, (5, 12))
    values[3] += 0.5
    agreement = ranking_agreement(named(values), "r0")
    (first,) = agreement.verdict.by("first-by-all")
    assert first.runs == ("r3",) and first.text == "r3 is first by every ranking."
    assert not agreement.verdict.by("first-by")


def test_different_first_runs_are_named_with_their_measures() -> None:
    base, safe, bold = [0.5] * 4, [0.6, 0.6, 0.6, 0.6], [0.9, 0.9, 0.9, 0.3]
    matrix = named(np.array([base, safe, bold]))
    verdict = ranking_agreement(matrix, "r0", of=["mean", "urisk"], alpha=9.0).verdict
    (first,) = verdict.by("first-by")
    assert first.text == "Who is first depends on the measure: r2 by Mean, r1 by URisk."
    assert first.runs == ("r2", "r1") and not verdict.by("first-by-all")
    best = named(np.array([[0.95] * 4, safe, bold]))
    (first,) = ranking_agreement(best, "r0", of=["mean", "urisk"]).verdict.by("first-by")
    assert first.text.endswith("r0 by Mean, r2 by URisk; r0 has no place by URisk.")


def test_equal_runs_are_first_together() -> None:
    agreement = ranking_agreement(named(np.array([[0.1, 0.2], [0.4, 0.6], [0.4, 0.6]])), "r0")
    assert agreement.verdict.by("first-by-all")[0].text == "r1 and r2 are first by every ranking."
    (answer,) = agreement.screen(80)
    assert [cell.text for cell in answer.rows[0][1:4]] == ["r1", "= r2", "r0"]
