"""Rules on shares of topics: exact tests, corrected with the others; what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from riskcli import Significance, UsageError
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.losses import judge_losses
from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.analyses.check.rules import parse_rule
from riskcli.analyses.check.shares import Share
from riskcli.analyses.check.verdict import Gate
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import Floats

RULE = "loss_share(0.1) <= 0.1"


def losing(*losses: float, topics: int = 50, base: float = 0.5) -> Floats:
    """A candidate with these losses on its first topics, and small gains on the others."""
    delta = np.full(topics, 0.01)
    delta[: len(losses)] = -np.array(losses)
    return np.array([np.full(topics, base), base + delta])


def judged(*candidates: Floats, rules: list[str], policy: str = "none", **asked: object) -> Gate:
    values = np.vstack([candidates[0], *(each[1:] for each in candidates[1:])])
    runs = ("prod", *(f"new{row}" for row in range(1, len(values))))
    matrix = ScoreMatrix("m", runs, tuple(map(str, range(1, values.shape[1] + 1))), values)
    if "groups" in asked:
        matrix = matrix.labelled(asked.pop("groups"))  # type: ignore[arg-type]
    if "weights" in asked:
        matrix = matrix.labelled(weights=asked.pop("weights"))  # type: ignore[arg-type]
    return judge(matrix, "prod", policy, rules=rules, **asked)  # type: ignore[arg-type]


def only(gate: Gate) -> RuleOutcome:
    ((finding,),) = [verdict.findings for verdict in gate.verdicts]
    return finding


@pytest.mark.parametrize(
    ("lost", "topics", "outcome"),
    [
        (0, 28, "inconclusive"), (0, 29, "pass"), (1, 50, "pass"), (2, 50, "inconclusive"),
        (9, 50, "inconclusive"), (10, 50, "fail"), (4, 100, "pass"), (5, 100, "inconclusive"),
    ],
)  # fmt: skip
def test_it_passes_where_that_is_shown_fails_where_more_is_and_is_open_between(
    lost: int, topics: int, outcome: str
) -> None:
    gate = judged(losing(*[0.2] * lost, topics=topics), rules=[RULE])
    found = only(gate)
    assert found.outcome == outcome and found.value == pytest.approx(lost / topics)
    assert found.bound == 0.1
    less, more = stats.binom.cdf(lost, topics, 0.1), stats.binom.sf(lost - 1, topics, 0.1)
    assert found.p == pytest.approx(more if outcome == "fail" else less)
    assert gate.exit_code == {"pass": 0, "fail": 1, "inconclusive": 3}[outcome]
    assert bool(found.why) is (outcome != "pass")


def test_the_same_is_asked_by_a_quantile_of_the_differences() -> None:
    generator = np.random.default_rng(4)
    for _ in range(20):
        base = generator.random(60)
        run = np.clip(base + 0.15 * generator.standard_normal(60), 0, 1)
        pair = np.array([base, run])
        share = only(judged(pair, rules=["loss_share(0.2) <= 10%"]))
        quantile = only(judged(pair, rules=["delta_q10 >= -0.2"]))
        assert (share.outcome, share.p) == (quantile.outcome, quantile.p)
        assert quantile.value == np.sort(run - base)[5], "the 6th of 60 differences"


def test_a_quantile_has_an_upper_bound_likewise() -> None:
    """At most so many are above: the mirror image of the lower one."""
    gains = np.array([[0.5] * 50, [0.8] * 3 + [0.5] * 47])
    for rule, mirrored in (
        ("delta_q90 <= 0.2", "delta_q10 >= -0.2"),
        ("delta_q80 <= 0.2", "delta_q20 >= -0.2"),
        ("delta_q99 <= 0.2", "delta_q1 >= -0.2"),
    ):
        found = only(judged(gains, rules=[rule]))
        expected = only(judged(gains[::-1], rules=[mirrored]))
        assert found.outcome == expected.outcome and found.p == pytest.approx(expected.p)
    assert only(judged(gains, rules=["delta_q80 <= 0.2"])).outcome == "pass"


@pytest.mark.parametrize(("base", "loss"), [(0.3, 0.1), (0.4, 0.1), (0.7, 0.6), (0.8, 0.7)])
def test_a_loss_that_is_the_limit_but_for_rounding_is_none_beyond_it(
    base: float, loss: float
) -> None:
    """0.4 - 0.3 is above 0.1 in binary, 0.3 - 0.2 below it: decimals say that both are 0.1."""
    run = round(base - loss, 2)
    values = np.array([[base] * 50, [run] * 50])
    assert only(judged(values, rules=[f"loss_share({loss}) <= 0.1"])).value == 0
    assert only(judged(values, rules=[f"delta_q10 >= -{loss}"])).outcome == "pass"
    assert only(judged(values, rules=[f"delta_q10 <= -{loss}"])).outcome == "pass"
    values[1] -= 1e-9
    assert only(judged(values, rules=[f"loss_share({loss}) <= 0.1"])).value == 1


def test_p_values_are_corrected_with_those_of_the_policy_and_of_other_candidates() -> None:
    """What shows a rule broken joins the tests against no loss, what shows it kept the margins."""
    runs = [losing(0.2), losing(0.2, 0.2), losing(0.05)]
    gate = judged(*runs, rules=[RULE], policy="lenient", margin=0.05)
    shares = [verdict.findings[1] for verdict in gate.verdicts]
    assert [each.outcome for each in shares] == ["inconclusive", "inconclusive", "pass"]
    plain = stats.binom.cdf(0, 50, 0.1)
    means = [verdict.findings[0].p for verdict in gate.verdicts]
    assert max(p for p in means if p is not None) < plain, "the three means come first"
    assert shares[2].p_adjusted == pytest.approx(3 * plain), "then the smallest of three shares"
    assert "loss_share(0.1) <= 0.1 is shown (exact, one-sided, Holm over 6 tests" in gate.rule
    uncorrected = Significance(correction="none")
    gate = judged(*runs, rules=[RULE], significance=uncorrected)
    assert [v.outcome for v in gate.verdicts] == ["pass", "inconclusive", "pass"]


def test_a_gate_says_what_is_not_shown_and_how_many_topics_would_settle_it() -> None:
    gate = judged(losing(0.2, 0.3), rules=[RULE])
    text = "new1 loss_share(0.1) <= 0.1 is shown neither to hold nor to be broken"
    assert text in gate.verdict.by("gate")[0].text
    needed = only(gate).topics_needed
    assert needed == 116 and "116 topics settle it" in gate.verdict.by("undecided")[0].text
    assert only(gate).why.startswith("2 of 50 topics lose more than 0.1, which shows neither")


def test_a_group_is_tested_alone_and_each_group_by_a_rule_of_its_own() -> None:
    groups = {str(topic): "tail" if topic <= 40 else "head" for topic in range(1, 81)}
    values = losing(*[0.3] * 10, topics=80)
    rules = ["loss_share(0.1)[tail] <= 0.1", "loss_share(0.1)[head] <= 0.1"]
    (verdict,) = judged(values, rules=rules, groups=groups).verdicts
    assert [each.outcome for each in verdict.findings] == ["fail", "pass"]
    assert [each.value for each in verdict.findings] == [0.25, 0]
    with pytest.raises(UsageError, match="a rule of its own"):
        judged(values, rules=["worst_group(delta_q10) >= 0"], groups=groups)


@pytest.mark.parametrize(
    "rule",
    [
        "loss_share <= 0.1", "loss_share(151) <= baseline", "loss_share(x) <= 0.1",
        "loss_share(0.1) <= 0", "loss_share(0.1) <= 1", "loss_share(0.1) >= 0.1",
        "loss_share(0.1) < 0.1", "loss_share(0.1) == worse", "delta_q10 > 0", "delta_q10 == 0",
        "delta_q10 >= baseline",
    ],
)  # fmt: skip
def test_what_cannot_be_tested_is_refused_with_the_form_of_such_rules(rule: str) -> None:
    with pytest.raises(UsageError, match=r"has the form loss_share\(LOSS\) <= SHARE"):
        judged(losing(), rules=[rule])


@pytest.mark.parametrize("rule", ["delta_q0 >= 0", "delta_q100 >= 0", "delta_q >= 0"])
def test_there_are_quantiles_from_1_to_99(rule: str) -> None:
    with pytest.raises(UsageError, match="nothing is called"):
        judged(losing(), rules=[rule])


def test_weights_of_topics_are_refused() -> None:
    weights = {str(topic): float(topic) for topic in range(1, 51)}
    with pytest.raises(UsageError, match="leave out --weights"):
        judged(losing(), rules=[RULE], weights=weights)


def test_the_program_has_it_in_every_number_and_in_its_help() -> None:
    call = ("check", SAMPLES / "boldRerank.run", "-b", SAMPLES / "indriCASP.run", "-m", "ERR@20",
            "-q", QRELS, "--policy", "none", "--require", "loss_share(0.1) <= 0.05")  # fmt: skip
    ran = riskeval(*call, "-f", "json")
    (row,) = json.loads(ran.out)["rows"]
    assert ran.code == 1 and row["outcome"] == "fail"
    assert (row["value"], row["bound"]) == (0.18, 0.05)
    assert row["p"] == row["p_adj"] == pytest.approx(1 - stats.binom.cdf(8, 50, 0.05))
    told = riskeval("help", "rules").out
    assert "loss_share(LOSS)" in told and "delta_q10" in told and "unanswered" in told


def test_a_rule_is_as_sure_as_documents_that_nobody_judged_let_it_be(tmp_path: Path) -> None:
    """Thirty topics without a loss show it, unless unjudged documents could make losses."""
    qrels = "".join(f"{t} 0 a 1\n{t} 0 b 0\n{t} 0 c 0\n" for t in range(1, 31))
    old = "".join(f"{t} Q0 a 1 2 old\n{t} Q0 b 2 1 old\n" for t in range(1, 31))
    (tmp_path / "q.txt").write_text(qrels)
    (tmp_path / "old.run").write_text(old)
    codes = []
    for unjudged in (0, 1):
        new = "".join(
            f"{t} Q0 {'b' if t > unjudged else 'new'} 1 2 new\n{t} Q0 a 2 1 new\n"
            for t in range(1, 31)
        )
        (tmp_path / "new.run").write_text(new)
        call = ("check", tmp_path / "new.run", "-b", tmp_path / "old.run", "-m", "P@2", "-q",
                tmp_path / "q.txt", "--policy", "none", "--unjudged", "bounds")  # fmt: skip
        rule = "delta_q90 <= 0.1"  # not more than a tenth gain: an unjudged document may
        codes.append(riskeval(*call, "--require", rule).code)
        assert riskeval(*call, "--require", RULE).code == 0, "nothing can make it lose"
    assert codes == [0, 3]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_on_the_worst_shares_it_is_wrong_as_often_as_gamma_says(share: float) -> None:
    """The true share is the limit: neither may often be shown. Ties stand at it."""
    generator, number = np.random.default_rng(7), 1000
    rule, alone = parse_rule(f"loss_share(0.1) <= {share}"), Significance(correction="none")
    limit = 0.05 + 3 * (0.05 * 0.95 / number) ** 0.5
    for topics in (25, 50, 100):
        rows = []
        for _ in range(number):
            base = generator.integers(3, 10, topics) / 10
            kind = generator.random(topics)
            loss = np.where(kind < share, 0.3, np.where(kind < 2 * share, 0.1, -0.05))
            rows.append([Share.of(rule, np.array([base, base - loss]), loss > 0)])
        found = [outcome.outcome for (outcome,) in judge_losses(rows, alone)]
        assert max(found.count("pass"), found.count("fail")) / number < limit
        assert found.count("fail") / number > 0.005, "it does decide"
