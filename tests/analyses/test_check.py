"""The gate: its little language, its presets, its verdicts, and every format they leave in."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

import numpy as np
import pytest
import xmlschema
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import stats

from riskcli import Options, ScoreMatrix, Significance, UsageError, risk_table
from riskcli.analyses.check.case import column_quantities
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.rules import COMPARISONS, POLICIES, Bound, parse_rule
from riskcli.analyses.check.verdict import FORMATS, Gate
from riskcli.output.measure_words import columns
from riskcli.output.problems import MARKER
from riskcli.risk.paired import power, smallest_loss, topics_needed
from tests.helpers.console import ROOT, terminal_environment
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key, Ran
from tests.helpers.strategies import Floats

ONE = ("-m", "ERR@20", "-q", QRELS)
NEW, OLD = SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run"


# ---------------------------------------------------------------- the grammar


@pytest.mark.parametrize(
    ("text", "quantity", "alpha", "topic", "comparison", "bound"),
    [
        ("trisk >= -2", "trisk", None, None, ">=", Bound(-2.0)),
        ("losses20<=5", "losses20", None, None, "<=", Bound(5.0)),
        ("georisk >= baseline", "georisk", None, None, ">=", Bound(0.0, 1.0)),
        ("urisk@5 > -0.01", "urisk", 5.0, None, ">", Bound(-0.01)),
        ("mean >= baseline - 0.005", "mean", None, None, ">=", Bound(-0.005, 1.0)),
        ("mean >= 0.98 * baseline", "mean", None, None, ">=", Bound(0.0, 0.98)),
        ("mean >= baseline * 98%", "mean", None, None, ">=", Bound(0.0, 0.98)),
        ("mean >= 2 * (baseline - 1) + 3", "mean", None, None, ">=", Bound(1.0, 2.0)),
        ("max_loss <= 0.3", "max_loss", None, None, "<=", Bound(0.3)),
        ("loss(151) <= 0", "loss", None, "151", "<=", Bound(0.0)),
        ("loss('wt (a)-51') <= 0", "loss", None, "wt (a)-51", "<=", Bound(0.0)),
        ("georisk_flag != worse", "georisk_flag", None, None, "!=", Bound(word="worse")),
        ("mean > 1e-3", "mean", None, None, ">", Bound(0.001)),
        ("  mean  ==  .5 ", "mean", None, None, "==", Bound(0.5)),
    ],
)
def test_rules_parse(
    text: str, quantity: str, alpha: float | None, topic: str | None, comparison: str, bound: Bound
) -> None:
    rule = parse_rule(text)
    assert (rule.quantity, rule.alpha, rule.topic) == (quantity, alpha, topic)
    assert rule.comparison == comparison and rule.text == text.strip()
    assert (rule.bound.offset, rule.bound.slope) == pytest.approx((bound.offset, bound.slope))
    assert rule.bound.word == bound.word


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", 0, "a quantity"),
        (">= 3", 0, "a quantity"),
        ("mean", 4, "one of >="),
        ("mean = 3", 5, "one of >="),
        ("mean >> 3", 6, "a number or baseline"),
        ("mean >= ", 8, "a number or baseline"),
        ("mean >= 3 4", 10, "nothing more"),
        ("mean >= base", 8, "a number or baseline"),
        ("urisk@ > 3", 7, "a value of alpha"),
        ("loss() > 3", 4, "a topic in brackets"),
        ("loss(1 > 3", 4, "a topic in brackets"),
        ("mean > (1 + 2", 13, "a closing bracket"),
        ("mean > baseline * baseline", 16, "no product of baseline"),
        ("mean > better", 7, "a number after >"),
        ("mean > 1e999", 7, "a finite number"),
        ("mean ≥ 3", 5, "one of >="),
        ("mean > " + "(" * 60 + "1", 57, "fewer brackets"),
    ],
)
def test_errors_point_at_the_place(text: str, place: int, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    lines = str(caught.value).splitlines()
    assert expected in lines[0]
    assert lines[-2] == f"  {text}"
    assert lines[-1].index("^") - 2 == place


@given(
    st.text(alphabet="mean@urisk()><=!'+-*%.0123456789 eE\"baseline\t\n", max_size=40) | st.text()
)
def test_any_text_parses_or_is_refused_with_its_text(text: str) -> None:
    try:
        rule = parse_rule(text)
    except UsageError as error:
        assert repr(text) in str(error)
    else:
        assert rule.comparison in COMPARISONS and math.isfinite(rule.bound.value(0.5))


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(-9, 9), st.sampled_from(list(COMPARISONS)))
def test_bounds_are_arithmetic(value: float, offset: float, baseline: float, sign: str) -> None:
    rule = parse_rule(f"mean {sign} 2 * baseline - ({offset:.6f})")
    expected = 2 * baseline - float(f"{offset:.6f}")
    assert rule.holds(value, baseline) == COMPARISONS[sign](value, expected)


# ---------------------------------------------------------------- verdicts


def matrix(values: Floats) -> ScoreMatrix:
    runs = ("prod", *(f"new{row}" for row in range(1, len(values))))
    return ScoreMatrix("m", runs, tuple(str(151 + i) for i in range(values.shape[1])), values)


def gate(values: Floats, policy: str = "none", *rules: str, alpha: float = 1.0) -> Gate:
    parsed = [parse_rule(rule) for rule in rules]
    return judge(matrix(values), "prod", policy=policy, rules=parsed, alpha=alpha)


def fifty(shift: float, seed: int = 5, noise: float = 0.1) -> Floats:
    generator = np.random.default_rng(seed)
    base = 0.2 + 0.5 * generator.random(50)
    run = base + shift + noise * generator.standard_normal(50)
    return np.asarray(np.clip(np.array([base, run]), 0, 1))


_NUMBERS = [c.name for c in column_quantities() if c.kind != "flag" and c.name in columns()]


@pytest.mark.parametrize("column", _NUMBERS)
def test_every_column_can_be_ruled_on_and_is_the_tables_own(column: str) -> None:
    values = fifty(-0.02)
    plan = Options(alphas=(5.0,), significance=Significance(correction="none"))
    row = risk_table(matrix(values), "prod", options=plan).to_frame().set_index("run").loc["new1"]
    expected = float(str(row[column]))
    (finding,) = gate(values, "none", f"{column}@5 >= -1000").verdicts[0].findings
    assert finding.passed and finding.value == pytest.approx(expected)
    slack = 1e-9 * max(1.0, abs(expected))
    for text, passes in (
        (f"{column}@5 >= {expected - slack:.17g}", True),
        (f"{column}@5 > {expected + slack:.17g}", False),
    ):
        assert gate(values, "none", text).passed is passes


@pytest.mark.parametrize(
    "column",
    [c.name for c in column_quantities() if c.kind == "flag" and c.name in columns()],
)
def test_flags_are_compared_with_words(column: str) -> None:
    assert not gate(fifty(-0.1), "none", f"{column} != worse").passed
    assert gate(fifty(-0.1), "none", f"{column} == worse").passed
    assert gate(fifty(0.0, noise=0.0), "none", f"{column} == none").passed
    with pytest.raises(UsageError, match="better, worse or none"):
        gate(fifty(0.0), "none", f"{column} > 3")


TOPIC_SCORES = np.array([[0.5, 0.2, 0.9], [0.6, 0.2, 0.4]])


@pytest.mark.parametrize(
    ("rule", "passes"),
    [
        ("max_loss <= 0.5", True),
        ("max_loss <= 0.49", False),
        ("max_gain >= 0.0999", True),
        ("max_gain <= 0.1001", True),
        ("loss(153) <= 0.4", False),
        ("loss(151) <= 0", True),
        ("loss(151) == -0.1", True),
        ("score(153) >= baseline - 0.6", True),
        ("score(153) >= baseline", False),
        ("mean >= baseline", False),
        ("mean >= baseline - 0.14", True),
        ("georisk >= baseline", False),
        ("zrisk >= baseline", True),
        ("losses <= 1", True),
        ("wins > 1", False),
        ("topics == 3", True),
    ],
)
def test_rules_hold_or_fail(rule: str, passes: bool) -> None:
    values = np.round(TOPIC_SCORES, 12)
    if rule == "loss(151) == -0.1":
        values[:, 0] = [0.5, 0.625]
        rule = "loss(151) == -0.125"
    assert gate(values, "none", rule).passed is passes


def test_the_largest_loss_of_a_gain_is_0_and_so_is_the_largest_gain_of_a_loss() -> None:
    lower, higher = np.full(3, 0.25), np.full(3, 0.5)
    assert gate(np.array([lower, higher]), "none", "max_loss == 0", "max_gain == 0.25").passed
    assert gate(np.array([higher, lower]), "none", "max_gain == 0", "max_loss == 0.25").passed


def test_the_means_of_both_are_told() -> None:
    found = gate(TOPIC_SCORES, "none", "mean > 0")
    (verdict,) = found.verdicts
    assert (verdict.mean, verdict.baseline_mean) == pytest.approx((0.4, 1.6 / 3))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("meen > 1", "did you mean mean"),
        ("loss > 1", "needs a topic, as in loss"),
        ("mean(151) > 1", r"takes no topic: loss\(151\) and score\(151\) do"),
        ("urisk(5) > 1", "alpha stands after @, as in urisk@5"),
        ("loss(999) > 1", "no topic '999'"),
        ("urisk > baseline", "has no urisk to compare"),
        ("mean == worse", "is a number, not a word"),
        ("max_loss == worse", "is a number, not a word"),
    ],
)
def test_rules_that_say_nothing_are_refused(rule: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gate(TOPIC_SCORES, "none", rule)


def test_a_failure_says_by_how_much_what_would_pass_and_who_is_to_blame() -> None:
    found = gate(TOPIC_SCORES, "none", "max_loss <= 0.3").verdicts[0]
    (finding,) = found.failures
    assert finding.why == "it is 0.5, 0.2 off; <= 0.3 passes"
    assert [(loss.topic, loss.candidate, loss.baseline) for loss in found.losses] == [
        ("153", 0.4, 0.9)
    ]


def test_an_undefined_quantity_fails_its_rule() -> None:
    finding = gate(np.array([[0.5], [0.4]]), "none", "trisk > -5").verdicts[0].findings[0]
    assert not finding.passed and "undefined" in finding.why


def test_presets_differ_in_what_they_ask() -> None:
    names = {
        name: [finding.rule for finding in gate(fifty(0.0), name).verdicts[0].findings]
        for name in ("lenient", "standard", "strict")
    }
    assert names["lenient"] == ["mean not significantly lower"]
    assert names["standard"] == [*names["lenient"], "georisk not significantly lower"]
    assert names["strict"] == [
        *names["standard"],
        "trisk@1 not significantly lower",
        "max_loss <= 0.3",
    ]


@pytest.mark.parametrize("name", ["lenient", "standard", "strict"])
def test_presets_fail_a_clear_loss_and_pass_a_clear_gain(name: str) -> None:
    assert not gate(fifty(-0.1), name).passed
    assert gate(fifty(+0.1), name).passed


@pytest.mark.parametrize("name", ["lenient", "standard", "strict"])
def test_a_candidate_equal_to_the_baseline_passes(name: str) -> None:
    assert gate(fifty(0.0, noise=0.0), name).passed


def test_p_values_are_one_sided_and_corrected_over_tests_and_candidates() -> None:
    values = np.vstack([fifty(-0.03), fifty(-0.02, seed=5)[1:], fifty(0.05)[1:]])
    verdicts = gate(values, "standard").verdicts
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    frame = risk_table(matrix(values[:2]), "prod").to_frame().set_index("run")
    two_sided = float(str(frame.loc["new1", "mean_p"]))
    assert findings[0].p == pytest.approx(two_sided / 2)
    p = sorted(finding.p for finding in findings if finding.p is not None)
    assert len(p) == 6
    smallest = next(finding for finding in findings if finding.p == p[0])
    assert smallest.p_adjusted == pytest.approx(6 * p[0])


@pytest.mark.parametrize("shift", [-0.03, 0.02])
@pytest.mark.parametrize("margin", [None, 0.005, 0.2])
def test_p_values_of_the_mean_are_those_of_scipys_one_sided_tests(
    shift: float, margin: float | None
) -> None:
    """Without a margin that the loss is 0, with one that it is as large as the margin."""
    values = fifty(shift)
    found = judge(matrix(values), "prod", policy="lenient", margin=margin)
    (finding,) = found.verdicts[0].findings
    delta = values[1] - values[0]
    less = stats.ttest_1samp(delta, 0.0, alternative="less").pvalue
    expected = less
    if margin is not None and (finding.outcome != "fail"):
        expected = stats.ttest_1samp(delta, -margin, alternative="greater").pvalue
    assert finding.p == pytest.approx(expected)
    if margin is not None and finding.outcome == "inconclusive":
        assert expected >= 0.05 and less >= 0.05


def test_p_of_no_difference_is_1() -> None:
    (finding,) = gate(fifty(0.0, noise=0.0), "lenient").verdicts[0].findings
    assert finding.p == 1.0


def test_a_verdict_does_not_depend_on_other_candidates() -> None:
    """Only the correction counts them."""
    alone = gate(fifty(-0.03), "standard").verdicts[0]
    crowd = gate(np.vstack([fifty(-0.03), fifty(0.3)[1:]]), "standard").verdicts[0]
    assert [f.p for f in alone.findings] == [f.p for f in crowd.findings]
    assert [f.value for f in alone.findings] == [f.value for f in crowd.findings]


@pytest.mark.slow
def test_false_alarms_stay_below_gamma() -> None:
    """Exchangeable runs; the bound is three Monte Carlo standard errors wide."""
    generator, simulations = np.random.default_rng(3), 600
    alarms = {"lenient": 0, "standard": 0}
    for _ in range(simulations):
        noise = 0.6 * generator.standard_normal((2, 50))
        values = 1 / (1 + np.exp(1 - generator.standard_normal((1, 50)) - noise))
        for name in alarms:
            alarms[name] += not gate(values, name).passed
    limit = 0.05 + 3 * (0.05 * 0.95 / simulations) ** 0.5
    assert all(0.005 < count / simulations < limit for count in alarms.values())


def test_power_is_told_from_the_observed_variance() -> None:
    values = fifty(0.0)
    found = judge(matrix(values), "prod", policy="lenient", detect=0.001)
    spread = float(np.std(values[1] - values[0], ddof=1))
    assert found.verdicts[0].seen_from == pytest.approx(smallest_loss(spread, 50, 0.05))
    (note,) = [note for note in found.notes if note.code == "low-power"]
    assert "with 50 topics losses are detected in four of five cases from" in note.message
    quiet = judge(matrix(values), "prod", policy="lenient", detect=0.5)
    assert "low-power" not in [note.code for note in quiet.notes]


def test_power_without_a_correction_is_that_of_the_level() -> None:
    """Several tests, none of them corrected: each is at the level itself."""
    values, plan = fifty(0.0), Significance(correction="none")
    found = judge(matrix(values), "prod", policy="standard", significance=plan)
    spread = float(np.std(values[1] - values[0], ddof=1))
    assert found.verdicts[0].seen_from == pytest.approx(smallest_loss(spread, 50, 0.05))


def test_a_loss_under_a_margin_names_the_tests_that_its_p_value_is_corrected_over() -> None:
    """Losses of the mean and of GeoRisk are one family, the margin of the mean is another."""
    mean, georisk = judge(matrix(fifty(-0.03)), "prod", margin=0.001).verdicts[0].findings
    alone = judge(matrix(fifty(-0.03)), "prod", "lenient", margin=0.001).verdicts[0].findings[0]
    assert mean.outcome == alone.outcome == "fail" and mean.p == alone.p
    assert mean.p and georisk.p
    assert mean.p_adjusted == pytest.approx(max(mean.p, 2 * min(mean.p, georisk.p)))
    assert "(Holm, 2 tests)" in mean.why and "(Holm, 1 test)" in alone.why


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "candidates"), [("lenient", 1), ("standard", 3)])
def test_the_loss_that_the_gate_announces_is_seen_four_times_in_five(
    policy: str, candidates: int
) -> None:
    generator, seen, simulations = np.random.default_rng(8), 0, 300
    spread, topics = 0.1, 30
    tests = len(POLICIES[policy].tests) * candidates
    loss = smallest_loss(spread, topics, 0.05 / tests)
    assert loss is not None
    for _ in range(simulations):
        base = np.full(topics, 0.5)
        noise = spread * generator.standard_normal((candidates, topics))
        noise[0] -= loss
        values = np.clip(np.vstack([base, base + noise]), 0, 1)
        (verdict, *_) = judge(matrix(values), "prod", policy=policy).verdicts
        seen += verdict.findings[0].outcome == "fail"
    assert 0.73 < seen / simulations < 0.9


# ---------------------------------------------------------------- margins


def outcome(values: Floats, margin: float, **given: Any) -> str:
    """What the lenient gate makes of one candidate."""
    (verdict,) = judge(matrix(values), "prod", policy="lenient", margin=margin, **given).verdicts
    return verdict.outcome


def pair(shift: float, noise: float, topics: int = 50) -> Floats:
    """A baseline and a candidate whose differences have that very mean and deviation."""
    delta = np.random.default_rng(3).standard_normal(topics)
    delta = shift + noise * (delta - delta.mean()) / delta.std(ddof=1)
    return np.vstack([np.full(topics, 0.5), 0.5 + delta])


def test_a_margin_parts_passes_failures_and_what_is_not_decided() -> None:
    assert outcome(pair(0.0, 0.01), 0.02) == "pass"
    assert outcome(pair(-0.01, 0.01), 0.02) == "pass", "a loss within the margin, for certain"
    assert outcome(pair(-0.05, 0.05), 0.02) == "fail"
    assert outcome(pair(0.0, 0.2), 0.02) == "inconclusive"
    constant = np.vstack([np.full(50, 0.5), np.full(50, 0.49)])
    assert outcome(constant, 0.02) == "inconclusive", "there is no spread to test with"


@settings(max_examples=60)
@given(st.floats(-0.1, 0.1), st.floats(0.005, 0.2), st.floats(0.005, 0.1), st.integers(5, 80))
def test_an_outcome_is_what_one_sided_t_tests_say(
    shift: float, noise: float, margin: float, topics: int
) -> None:
    from scipy import stats

    values = pair(shift, noise, topics)
    delta = values[1] - values[0]
    excluded = float(stats.ttest_1samp(delta, -margin, alternative="greater").pvalue)
    lower = float(stats.ttest_1samp(delta, 0.0, alternative="less").pvalue)
    assume(min(abs(excluded - 0.05), abs(lower - 0.05)) > 1e-9)
    expected = "pass" if excluded < 0.05 else "fail" if lower < 0.05 else "inconclusive"
    assert outcome(values, margin) == expected


def test_an_inconclusive_verdict_counts_as_asked_and_says_how_many_topics_settle_it() -> None:
    values = pair(0.0, 0.2)
    strict = judge(matrix(values), "prod", policy="lenient", margin=0.02)
    assert not strict.passed
    assert judge(matrix(values), "prod", policy="lenient", margin=0.02, inconclusive="pass").passed
    (finding,) = strict.verdicts[0].findings
    assert finding.topics_needed == topics_needed(0.02, 0.2, 0.05)
    assert f"{finding.topics_needed} topics settle it" in finding.why
    with pytest.raises(UsageError, match="expected one of pass, fail"):
        judge(matrix(values), "prod", margin=0.02, inconclusive="maybe")  # type: ignore[arg-type]


@pytest.mark.slow
def test_false_passes_are_as_rare_as_the_level_says() -> None:
    """A true loss of the margin passes with the chance of the level, one of half as announced."""
    generator, simulations, passes = np.random.default_rng(4), 2000, {0.02: 0, 0.01: 0}
    for loss in passes:
        for _ in range(simulations):
            delta = -loss + 0.1 * generator.standard_normal(50)
            values = np.vstack([np.full(50, 0.5), 0.5 + delta])
            passes[loss] += outcome(values, 0.02) == "pass"
    assert 0.035 < passes[0.02] / simulations < 0.065
    assert passes[0.01] / simulations == pytest.approx(power(0.01, 0.1, 50, 0.05), abs=0.03)


@pytest.mark.parametrize(
    ("policy", "margin", "message"),
    [
        ("lenient", {"georisk": 0.1}, "a margin for 'georisk': the policy lenient tests mean"),
        ("standard", {"geo": 0.1}, "did you mean georisk"),
        ("standard", -0.1, "expected a number above 0"),
        ("strict", {"trisk": 1.0}, "tests mean, georisk"),
    ],
)
def test_a_margin_that_no_test_can_take_is_refused(policy: str, margin: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judge(matrix(fifty(0.0)), "prod", policy=policy, margin=margin)


def test_power_is_that_of_simulated_t_tests() -> None:
    from scipy import stats

    generator = np.random.default_rng(6)
    deltas = -0.05 + 0.2 * generator.standard_normal((20_000, 40))
    p = np.asarray(stats.ttest_1samp(deltas, 0.0, axis=1, alternative="less").pvalue)
    assert power(0.05, 0.2, 40, 0.05) == pytest.approx(float((p < 0.05).mean()), abs=0.012)


@settings(max_examples=40)
@given(st.floats(0.01, 0.3), st.integers(3, 400), st.sampled_from([0.05, 0.01, 0.005]))
def test_topics_and_losses_are_each_others_inverse(
    spread: float, topics: int, level: float
) -> None:
    loss = smallest_loss(spread, topics, level)
    assert loss is not None
    needed = topics_needed(loss * (1 + 1e-9), spread, level)
    assert needed is not None and needed <= topics
    assert topics == 3 or power(loss, spread, topics - 1, level) < 0.8


# ---------------------------------------------------------------- the command


def check(*arguments: str | Path, **environment: str) -> Ran:
    return riskeval("check", NEW, "-b", OLD, *ONE, *arguments, variables=environment)


def test_exit_codes() -> None:
    assert check().code == 0
    assert check("--policy", "strict").code == 1
    assert check("--require", "mean >").code == 2
    assert check("--policy", "strickt").code == 2
    assert riskeval("check", NEW, *ONE).code == 2
    assert check("--policy", "none").code == 2


def test_a_store_is_used_and_changes_no_verdict(tmp_path: Path) -> None:
    store = tmp_path / "store"
    first, again = (check("--store", store, "-f", "csv") for _ in range(2))
    assert first == again == check("-f", "csv")
    held = riskeval("store", "ls", store, "-f", "json").out
    assert [row["runs"] for row in json.loads(held)["rows"]] == [2, 2]


def test_the_verdict_in_a_few_lines() -> None:
    text = check("--policy", "strict", "-f", "table").out
    assert text.startswith("FAIL: for boldRerank max_loss <= 0.3 is broken (0.5881).\n")
    assert "FAIL: boldRerank against indriCASP, ERR@20" in text.splitlines()
    assert "FAIL  max_loss <= 0.3" in text
    assert "topics to blame: 138 (0.592 to 0.003)" in text
    assert "a mean lower by 0.14 is seen with probability 0.8" in " ".join(text.split())


def test_json_has_a_row_a_rule() -> None:
    document = json.loads(check("--policy", "strict", "-f", "json").out)
    assert document["passed"] is False
    assert [row["passed"] for row in document["rows"]] == [True, True, True, False]
    assert document["settings"]["policy"] == "strict"
    assert [entry["kind"] for entry in document["inputs"]] == ["run", "run", "qrels"]


def test_junit_is_valid_and_several_reports_are_written_at_once(tmp_path: Path) -> None:
    junit, summary = tmp_path / "out.xml", tmp_path / "summary.md"
    ran = check(
        "--policy", "strict", "--report", f"junit={junit}", "--report", f"markdown={summary}"
    )
    assert ran.code == 1
    schema = xmlschema.XMLSchema(Path(__file__).parents[1] / "junit.xsd")
    schema.validate(str(junit))
    assert junit.read_text() == check("--policy", "strict", "-f", "junit").out
    assert junit.read_text().count("<failure") == 1
    assert "**FAIL**" in summary.read_text()
    assert check("--report", "pdf=x").code == 2


def test_junit_stays_valid_with_hostile_names(tmp_path: Path) -> None:
    run = tmp_path / "bad.run"
    tag, judged = '<b>&"\x1b[2J', "sim12-en0000-01-24662"  # judged for topic 101, and not relevant
    run.write_text("".join(f"{t} Q0 {judged} 1 1.0 {tag}\n" for t in range(101, 151)))
    ran = riskeval("check", run, "-b", OLD, *ONE, "-f", "junit", Key("max-bytes", "100000"))
    assert ran.code == 1
    xmlschema.XMLSchema(Path(__file__).parents[1] / "junit.xsd").validate(ran.out)


def test_github_annotations_and_job_summary(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    ran = check(
        "--policy",
        "strict",
        "-f",
        "github",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    first, last = ran.out.splitlines()
    title, file = "boldRerank%2C ERR@20%3A max_loss <= 0.3", "sample_runs/boldRerank.run"
    assert first.startswith(f"::error title={title},file={file}::it is 0.5881")
    assert last == "::notice title=riskeval check::passed: 0 of 1"
    assert summary.read_text().startswith(f"before\n\n{MARKER}\n### FAIL: boldRerank against ")
    check("--policy", "strict", GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().count("### FAIL: boldRerank") == 1


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "parquet"])
def test_a_baseline_kept_as_a_file_gives_the_same_verdict(tmp_path: Path, suffix: str) -> None:
    kept = tmp_path / f"prod.{suffix}"
    assert riskeval("matrix", OLD, *ONE, "-o", kept).code == 0
    ran = riskeval("check", NEW, "-b", kept, *ONE, "--policy", "strict")
    assert ran.code == 1
    assert ran.out == check("--policy", "strict").out
    assert ("does not say by which measure" in ran.err) == (suffix in ("csv", "tsv"))


def test_several_measures_are_kept_in_the_long_form(tmp_path: Path) -> None:
    kept = tmp_path / "prod.csv"
    assert riskeval("matrix", OLD, "-q", QRELS, "--long", "-o", kept).code == 0
    ran = riskeval("check", NEW, "-b", kept, "-q", QRELS)
    assert ran.code == 0 and "nDCG@20" in ran.out


@pytest.mark.parametrize(
    ("made", "checked", "code"),
    [
        (["-m", "ERR@20"], ["-m", "nDCG@20"], "other-measure"),
        (["-m", "ERR@20", "--max-grade", "5"], ["-m", "ERR@20"], "other-settings"),
        (["-m", "ERR@20", "--topics", "judged"], ["-m", "ERR@20"], "other-settings"),
        (["-m", "P@5", "--score-precision", "double"], ["-m", "P@5"], "other-settings"),
    ],
)
def test_a_kept_baseline_made_otherwise_is_an_error(
    tmp_path: Path, made: list[str], checked: list[str], code: str
) -> None:
    kept = tmp_path / "prod.json"
    assert riskeval("matrix", OLD, "-q", QRELS, *made, "-o", kept).code == 0
    ran = riskeval("check", NEW, "-b", kept, "-q", QRELS, *checked)
    assert (ran.code, ran.out) == (2, "") and f"{kept}: {code}" in ran.err


def test_a_kept_baseline_of_other_topics_or_several_runs_is_an_error(tmp_path: Path) -> None:
    kept = tmp_path / "prod.csv"
    kept.write_text("run,101,102\nprod,0.5,0.5\n")
    ran = riskeval("check", NEW, "-b", kept, *ONE)
    assert ran.code == 2 and "other-topics" in ran.err
    kept.write_text("run,101\na,0.5\nb,0.5\n")
    ran = riskeval("check", NEW, "-b", kept, *ONE)
    assert ran.code == 2 and "not-one-run" in ran.err


def test_list_rules_needs_nothing_else() -> None:
    ran = riskeval("help", "rules")
    assert ran.code == 0
    for word in ("losses20", "loss(TOPIC)", "georisk_flag", "max_loss", "strict", ">="):
        assert word in ran.out


def test_a_broken_candidate_cannot_pass(tmp_path: Path) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text("101 Q0 d 1 high bad\n")
    ran = riskeval("check", NEW, bad, "-b", OLD, *ONE, "--on-error", "skip")
    assert ran.code == 1 and "LEFT OUT" in ran.err


# ---------------------------------------------------------------- margins and outcomes at the door


def test_a_margin_parts_exit_codes_and_says_what_would_settle_it() -> None:
    near = ("check", SAMPLES / "plainBM25.run", "-b", OLD, *ONE, "--policy", "lenient")
    ran = riskeval(*near, "--margin", "0.001")
    assert ran.code == 3 and ran.out.startswith("inconclusive: for plainBM25 a loss of Mean above")
    assert "inconclusive: plainBM25 against indriCASP, ERR@20" in ran.out.splitlines()
    assert "topics settle it in four of five cases" in " ".join(ran.out.split())
    assert riskeval(*near, "--margin", "0.001", "--inconclusive", "pass").code == 0
    assert riskeval(*near, "--margin", "0.001", "--inconclusive", "fail").code == 1
    rows = json.loads(riskeval(*near, "--margin", "mean=0.001", "-f", "json").out)["rows"]
    assert [row["outcome"] for row in rows] == ["inconclusive"] and rows[0]["topics_needed"] > 50
    assert "is not a number" in riskeval(*near, "--margin", "small").err


def test_a_gate_takes_one_baseline_that_is_a_run() -> None:
    for names in (("nope",), ("@mean",), ("*",), ("indriCASP", "plainBM25")):
        given = [part for name in names for part in ("-b", name)]
        ran = riskeval("check", SAMPLES, *given, *ONE)
        assert (ran.code, ran.out) == (2, ""), names


def test_a_verdict_is_a_table_in_a_pipe_and_annotations_in_actions() -> None:
    call = ("check", NEW, "-b", OLD, *ONE)
    printed = riskeval(*call).out
    assert printed.startswith("pass: for boldRerank")
    assert "pass: boldRerank against indriCASP, ERR@20" in printed.splitlines()
    assert riskeval(*call, "-f", "tsv").out.startswith("candidate\tbaseline\t")
    assert riskeval(*call, "-f", "auto").out == printed
    assert riskeval(*call, "-f", "auto", GITHUB_ACTIONS="true").out.startswith("::notice")


def test_names_in_junit_are_unique_and_files_left_out_are_errors(tmp_path: Path) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("1 Q0 a 1 x t\n")
    measures = ("-m", "ERR@20", "-m", "nDCG@20", "-q", QRELS)
    call = ("check", NEW, broken, "-b", OLD, *measures, "--on-error", "skip", "-f", "junit")
    ran = riskeval(*call, "--run-names", "file")
    assert ran.code == 1
    root = Tree.fromstring(ran.out)
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(cases)) == len(cases) == 5
    (error,) = root.iter("error")
    assert error.get("type") == "bad-score" and "broken.run:1" in str(error.get("message"))


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_reports_say_so_where_nothing_could_be_judged(tmp_path: Path, on_error: str) -> None:
    """A report that is missing, or old, looks like a pass."""
    (tmp_path / "broken.run").write_text("1 Q0 a 1 x t\n")
    for name in ("out.xml", "out.sarif", "quality.json"):
        (tmp_path / name).write_text("of the job before")
    reports = ("--report", "junit=out.xml", "--report", "sarif=out.sarif",
               "--report", "codequality=quality.json", "--report", "json=out.json")  # fmt: skip
    ran = riskeval("check", "broken.run", "-b", OLD, *ONE, "--on-error", on_error, *reports,
                   "-f", "github", cwd=tmp_path)  # fmt: skip
    assert ran.code == 2 and ran.err.count("\n") == 1 and "broken.run:1: bad-score" in ran.err
    assert ran.out.startswith("::error title=nothing was judged,file=broken.run,line=1::")
    xmlschema.XMLSchema(Path(__file__).parents[1] / "junit.xsd").validate(str(tmp_path / "out.xml"))
    (error,) = Tree.parse(tmp_path / "out.xml").iter("error")
    assert error.get("type") == "bad-score" and "broken.run:1" in str(error.get("message"))
    (result,) = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    (entry,) = json.loads((tmp_path / "quality.json").read_text())
    assert entry["check_name"] == "bad-score"
    error = json.loads((tmp_path / "out.json").read_text())["error"]
    assert (error["code"], error["path"], error["line"]) == ("bad-score", "broken.run", 1)
    assert "broken.run:1: bad-score" in error["message"]


WRONG: dict[str, tuple[str | Path, ...]] = {
    "a broken candidate": ("broken.run", "-b", OLD),
    "no run is left": ("broken.run", "-b", OLD, "--on-error", "skip"),
    "no file of rules": (NEW, "-b", OLD, "--require", "@missing"),
    "a broken rule": (NEW, "-b", OLD, "--require", "mean >"),
    "two baselines": (NEW, "-b", OLD, "-b", NEW),
    "no measure": (NEW, "-b", OLD, "-m", "nothing"),
    "a ratchet beside a baseline": (NEW, "-b", OLD, "--ratchet", "state.json"),
    "a result without a format": (NEW, "-b", OLD, "-o", "out.unknown"),
    "a report that cannot be written": (NEW, "-b", OLD, "--report", "json=none/out.json"),
    "a result that cannot be written": (NEW, "-b", OLD, "-o", "none/out.json"),
    "a result over a run": (NEW, "-b", OLD, "-f", "json", "-o", "good.run"),
    "a report over the baseline": (NEW, "-b", "kept.csv", "--report", "json=kept.csv"),
    "an unknown option": (NEW, "-b", OLD, "--nosuch"),
    "a number that is none": (NEW, "-b", OLD, "--margin", "x"),
    "no baseline": (NEW,),
    "an unknown format": (NEW, "-b", OLD, "-fnosuch"),
    "an unknown report": (NEW, "-b", OLD, "--report", "nosuch=out.no", "--report"),
    "no such settings": (NEW, "-b", OLD, "--config", "nosuch.toml"),
    "broken settings": (NEW, "-b", OLD, "--config", "broken.toml"),
    "an unknown option, a report over the baseline": (
        "--nosuch",
        NEW,
        "-b",
        "kept.csv",
        "--report",
        "json=kept.csv",
        "-ogood.run",
    ),
}
_NOT_HERE = {"auto"} | ({"xlsx"} if find_spec("openpyxl") is None else set())
EVERY_FORMAT = [each.name for each in FORMATS if each.name not in _NOT_HERE]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_no_report_of_the_job_before_is_left(tmp_path: Path, wrong: tuple[str | Path, ...]) -> None:
    """Whatever exits with 2 is told in every report, in a form that nobody takes for a pass."""
    (tmp_path / "broken.run").write_text("1 Q0 a 1 x t\n")
    (tmp_path / "broken.toml").write_text("alpha = = 1\n")
    (tmp_path / "good.run").write_bytes(OLD.read_bytes())
    assert riskeval("matrix", OLD, *ONE, "-o", tmp_path / "kept.csv").code == 0
    kept = {name: (tmp_path / name).read_bytes() for name in ("good.run", "kept.csv")}
    reports = [part for name in EVERY_FORMAT for part in ("--report", f"{name}=out.{name}")]
    passed = riskeval("check", NEW, "-b", OLD, *ONE, *reports, cwd=tmp_path)
    assert passed.code == 0
    before = {name: (tmp_path / f"out.{name}").read_bytes() for name in EVERY_FORMAT}
    ran = riskeval("check", *wrong, *ONE, *reports, cwd=tmp_path)
    assert ran.code == 2
    message = ran.err.strip().splitlines()[-1].removeprefix("riskeval: ")
    for name in EVERY_FORMAT:
        after = (tmp_path / f"out.{name}").read_bytes()
        assert after != before[name], name
        assert b"boldRerank against indriCASP" not in after, name
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["passed"] is False and "rows" not in document and document["riskeval"]
    assert set(document["error"]) == {"code", "message", "path", "line"}
    assert document["error"]["message"].splitlines()[-1] in message or "skip" in ran.err
    for suffix, separator in (("csv", ","), ("tsv", "\t")):
        with (tmp_path / f"out.{suffix}").open(newline="", encoding="utf-8") as stream:
            (row,) = csv.DictReader(stream, delimiter=separator)
        assert (row["passed"], row["outcome"], row["candidate"]) == ("False", "error", "")
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["passed"] is False
    (row,) = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert row["passed"] is False and row["outcome"] == "error"
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept


CRASHING = """
import os, signal, sys
from riskcli.cli.reading import Inputs
from riskcli.core import supervisor
from riskcli.__main__ import start
def crash(*_, **__):
    with supervisor.Natively("some.parquet", "bad-parquet", "Arrow crashes on it"):
        if IN_A_FILE:
            os.kill(os.getpid(), signal.SIGNAL)
    os.kill(os.getpid(), signal.SIGNAL)
Inputs.evaluate = crash
start()
"""


@pytest.mark.parametrize(
    ("ended", "in_a_file", "code", "said"),
    [
        ("SIGSEGV", True, 2, "some.parquet: bad-parquet: Arrow crashes on it (SIGSEGV)"),
        ("SIGABRT", False, 70, "a fault in riskeval, please report it: native code crashed"
         " (SIGABRT)"),
        ("SIGKILL", False, -9, "killed"),
    ],
)  # fmt: skip
def test_a_gate_that_was_ended_is_told_in_the_reports(
    tmp_path: Path, ended: str, in_a_file: bool, code: int, said: str
) -> None:
    reports = ("--report", "json=out.json", "--report", "junit=out.xml")
    call = ("check", NEW, "-b", OLD, *ONE, *reports)
    assert riskeval(*call, cwd=tmp_path).code == 0
    crashing = CRASHING.replace("SIGNAL", ended).replace("IN_A_FILE", str(in_a_file))
    done = subprocess.run(
        [sys.executable, "-c", crashing, *map(str, call)], cwd=tmp_path, capture_output=True,
        text=True, check=False, env={**terminal_environment(), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"riskeval: {said}\n")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["passed"] is False and document["error"]["message"] == said
    (error,) = Tree.parse(tmp_path / "out.xml").iter("error")
    assert error.get("message") == said


ONE_PROCESS = """
import os
fork, forked = os.fork, []
def fork_once():
    if forked:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    forked.append(True)
    return fork()
os.fork = fork_once
"""


def test_an_end_that_no_process_is_left_to_tell_of_is_passed_on(tmp_path: Path) -> None:
    """Exit code 1 would be a gate that failed."""
    crashing = CRASHING.replace("SIGNAL", "SIGSEGV").replace("IN_A_FILE", "True")
    done = subprocess.run(
        [sys.executable, "-c", ONE_PROCESS + crashing, *map(str, ("check", NEW, "-b", OLD, *ONE))],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**terminal_environment(), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = "some.parquet: bad-parquet: Arrow crashes on it (SIGSEGV)"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"riskeval: {said}\n")


def test_a_gate_keeps_its_answer_where_nobody_reads_it(tmp_path: Path) -> None:
    for format in ("table", "json"):
        call = [
            sys.executable,
            "-m",
            "riskcli",
            "check",
            OLD,
            "-b",
            NEW,
            *ONE,
            "--require",
            "losses <= 0",
        ]
        with subprocess.Popen(
            [*map(str, call), "-f", format], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            process.stdout.close()
        assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_no_ratchet_goes_on_in_a_call_that_fails(tmp_path: Path) -> None:
    kept = tmp_path / "state.json"
    call = [sys.executable, "-m", "riskcli", "check", "--ratchet", kept, *ONE]
    assert riskeval("check", OLD, "--ratchet", kept, *ONE).code == 0
    before = kept.read_bytes()
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [*map(str, call), NEW], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, kept.read_bytes() == before) == (2, True), done.stderr


def test_the_result_in_a_file_says_so_too_and_stdout_holds_no_result(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('{"passed": true}')
    call = ("check", NEW, "-b", OLD, *ONE, "--require", "@missing")
    assert riskeval(*call, "-o", "old.json", cwd=tmp_path).code == 2
    assert json.loads((tmp_path / "old.json").read_text())["error"]["path"] == "missing"
    for format in ("json", "csv", "table"):
        assert riskeval(*call, "-f", format, cwd=tmp_path).out == ""


def test_a_report_that_would_be_written_over_an_input_never_is_even_before_it_is_read(
    tmp_path: Path,
) -> None:
    """The rules cannot be read, so that no run has been read when the reports are told."""
    assert riskeval("matrix", NEW, *ONE, "-o", tmp_path / "kept.csv").code == 0
    before = (tmp_path / "kept.csv").read_bytes()
    ran = riskeval("check", "kept.csv", "-b", OLD, *ONE, "--require", "@missing", "--report",
                   "json=./kept.csv", cwd=tmp_path)  # fmt: skip
    assert ran.code == 2 and (tmp_path / "kept.csv").read_bytes() == before


def test_what_the_shell_makes_an_output_is_kept_where_the_command_line_cannot_be_parsed(
    tmp_path: Path,
) -> None:
    """`-o *.csv`: scores that an earlier call kept."""
    for name, run in (("a.csv", NEW), ("b.csv", OLD)):
        assert riskeval("matrix", run, *ONE, "-o", tmp_path / name).code == 0
    before = [(tmp_path / name).read_bytes() for name in ("a.csv", "b.csv")]
    for wrong in ((), ("--nosuch",)):  # without a baseline, and with an unknown option
        ran = riskeval("check", *wrong, "-o", "a.csv", "b.csv", "--report=json=out.json",
                       cwd=tmp_path)  # fmt: skip
        assert ran.code == 2
        assert [(tmp_path / name).read_bytes() for name in ("a.csv", "b.csv")] == before
        assert json.loads((tmp_path / "out.json").read_text())["error"]["code"] == "wrong-call"
        (tmp_path / "out.json").unlink()


def test_the_summary_of_a_job_says_that_nothing_was_judged(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    ran = riskeval("check", NEW, "-b", "<b>nope", *ONE, GITHUB_ACTIONS="true",
                   GITHUB_STEP_SUMMARY=str(summary))  # fmt: skip
    assert ran.code == 2
    told = f"\n{MARKER}\n### FAIL: nothing was judged\n\n- no run and no file is"
    assert summary.read_text().startswith(told)
    assert "<b>" not in summary.read_text()


def test_a_wrong_call_is_an_error_in_the_reports_too(tmp_path: Path) -> None:
    for call, message in ((("-b", "nope"), "no file is named 'nope'"),
                           (("-b", OLD, "--margin", "foo=1"), "a margin for 'foo'"),
                           (("-b", OLD, "--population", QRELS), "not a population")):  # fmt: skip
        ran = riskeval("check", NEW, *call, *ONE, "-f", "junit")
        assert ran.code == 2
        (error,) = Tree.fromstring(ran.out).iter("error")
        assert message in str(error.get("message")) and message in ran.err
        auto = riskeval("check", NEW, *call, *ONE, "-f", "auto")
        assert (auto.code, auto.out) == (2, "")
    there = tmp_path / "none" / "out.xml"
    ran = riskeval("check", NEW, "-b", "nope", *ONE, "--report", f"junit={there}")
    assert ran.code == 2 and ran.err.startswith("riskeval: no run and no file is named 'nope'")


def test_what_is_not_decided_is_told_apart_in_every_report() -> None:
    near = ("check", SAMPLES / "plainBM25.run", "-b", OLD, *ONE, "--policy", "lenient",
            "--margin", "0.001", "-f")  # fmt: skip
    for format in ("table", "markdown", "github", "junit", "sarif", "codequality", "json", "tsv"):
        for counted in ("pass", "fail"):
            ran = riskeval(*near, format, "--inconclusive", counted)
            assert "inconclusive" in ran.out, format
            assert ran.code == (counted == "fail")


# ---------------------------------------------------------------- in a frozen population


def test_a_candidate_in_a_frozen_population_is_what_score_shows(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert riskeval("population", "freeze", SAMPLES, *ONE, "--quiet", "-o", file).code == 0
    call = (NEW, SAMPLES / "plainBM25.run", "-b", OLD, *ONE, "--population", file)
    rules = ("--require", "georisk > 0", "--require", "georisk >= baseline")
    ran = riskeval("check", *call, *rules, "--policy", "standard", "-f", "json")
    document = json.loads(ran.out)
    scored = json.loads(riskeval("score", *call, "--correction", "none", "-f", "json").out)
    rows = {row["run"]: row for row in scored["rows"]}
    assert document["settings"]["population"] == scored["settings"]["population"]
    for found in document["rows"]:
        row = rows[found["candidate"]]
        assert found["population"] == row["population"]
        if found["rule"] == "georisk > 0":
            assert found["value"] == row["georisk"]
        if found["rule"] == "georisk >= baseline":
            assert found["bound"] == pytest.approx(rows["indriCASP"]["georisk"], rel=1e-12)
        if found["rule"] == "georisk not significantly lower":
            assert found["value"] == row["georisk_diff"]
            one_sided = 1 - row["georisk_p"] / 2 if found["value"] > 0 else row["georisk_p"] / 2
            assert found["p"] == pytest.approx(one_sided, rel=1e-12)
    alone = json.loads(riskeval("check", *call[1:], *rules, "-f", "json").out)["rows"]
    both = [row for row in document["rows"] if row["candidate"] == "plainBM25"]
    assert [row["value"] for row in alone] == [row["value"] for row in both]
    text = " ".join(riskeval("check", *call).out.split())
    assert f"population of GeoRisk and ZRisk: {rows['boldRerank']['population']}, and" in text


def test_a_gates_population_is_that_of_the_pair_or_a_file(tmp_path: Path) -> None:
    plain = check("-f", "json")
    assert json.loads(plain.out)["settings"]["population"] == "baselines"
    assert check("-f", "json", "--population", "baselines").out == plain.out
    refused = check("--population", "all")
    assert refused.code == 2 and "--population is baselines, or a file" in refused.err
    file = tmp_path / "p.json"
    riskeval("population", "freeze", SAMPLES, "-q", QRELS, "-m", "P@10", "--quiet", "-o", file)
    other = check("--population", file)
    assert other.code == 2 and "p.json holds P@10, the scores are ERR@20" in other.err
    (tmp_path / "riskeval.toml").write_text('population = "p.json"\n')
    ran = riskeval("check", NEW, "-b", OLD, "-q", QRELS, "-m", "P@10", "-f", "json", cwd=tmp_path)
    assert json.loads(ran.out)["settings"]["population"].startswith("frozen:")


def test_summaries_of_two_gates_of_one_job_stand_apart(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    for _ in range(2):
        riskeval(
            "check", NEW, "-b", OLD, *ONE, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary)
        )
    parts = summary.read_text().split(f"\n{MARKER}\n### pass: boldRerank ")
    assert len(parts) == 3 and parts[0] == "" and parts[1] == parts[2]


# ---------------------------------------------------------------- reports beside the code


def test_sarif_and_code_quality_name_the_candidates_file_and_the_rule(tmp_path: Path) -> None:
    sarif, quality = tmp_path / "out.sarif", tmp_path / "quality.json"
    reports = ("--report", f"sarif={sarif}", "--report", f"codequality={quality}")
    assert check("--policy", "strict", *reports).code == 1
    log = json.loads(sarif.read_text())
    (run,) = log["runs"]
    assert log["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "riskeval check"
    (result,) = run["results"]
    assert result["level"] == "error" and "topics to blame: 138" in result["message"]["text"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    where = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert where == "sample_runs/boldRerank.run"
    (entry,) = json.loads(quality.read_text())
    assert entry["location"] == {"path": where, "lines": {"begin": 1}}
    assert entry["severity"] == "major" and entry["check_name"] == "max-loss-0.3"
    assert entry["fingerprint"] == result["partialFingerprints"]["riskeval/v1"]


def test_fingerprints_are_unique_and_stable_whatever_the_figures_are(tmp_path: Path) -> None:
    worse = tmp_path / "worse.run"
    judged = "sim12-en0000-01-24662"  # for topic 101, and not relevant
    worse.write_text("".join(f"{t} Q0 {judged} 1 1.0 worse\n" for t in range(101, 151)))
    call = ("check", worse, "-b", OLD, "-q", QRELS, "-m", "ERR@20,P@10", "-f", "codequality")
    first = json.loads(riskeval(*call).out)
    prints = [entry["fingerprint"] for entry in first]
    assert len(set(prints)) == len(prints) == 4
    again = json.loads(riskeval(*call, "--gamma", "0.01", "--correction", "none").out)
    assert [entry["fingerprint"] for entry in again] == prints


def test_relative_paths_stay_relative_and_hostile_names_are_quoted(tmp_path: Path) -> None:
    (tmp_path / "a b%.run").write_text("101 Q0 d 1 high bad\n")
    (tmp_path / "good.run").write_bytes(NEW.read_bytes())
    call = ("check", "good.run", "a b%.run", "-b", OLD, *ONE, "--on-error", "skip", "-f")
    log = json.loads(riskeval(*call, "sarif", cwd=tmp_path).out)
    (result,) = log["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "a%20b%25.run"
    assert location["region"] == {"startLine": 1} and result["ruleId"] == "bad-score"
    (entry,) = json.loads(riskeval(*call, "codequality", cwd=tmp_path).out)
    assert entry["location"] == {"path": "a b%.run", "lines": {"begin": 1}}


def test_findings_of_validate_are_sarif_and_code_quality_too(tmp_path: Path) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text("1 Q0 a 1 x t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 y t\n")
    log = json.loads(riskeval("validate", bad, "-f", "sarif").out)
    lines = [
        result["locations"][0]["physicalLocation"]["region"]["startLine"]
        for result in log["runs"][0]["results"]
        if result["ruleId"] == "bad-score"
    ]
    assert lines == [1, 3]
    entries = json.loads(riskeval("validate", bad, "-f", "codequality").out)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) >= 2


def test_lists_are_lists_in_json_and_one_text_elsewhere() -> None:
    rows = json.loads(check("--policy", "strict", "-f", "json").out)["rows"]
    assert [row["worst_topics"] for row in rows] == [["138", "123", "144"]] * 4
    lines = check("--policy", "strict", "-f", "csv").out.splitlines()
    assert "138;123;144" in lines[-1]
    frame = gate(TOPIC_SCORES, "none", "max_loss <= 0.3").to_frame()
    assert list(frame["worst_topics"][0]) == ["153"]


# ---------------------------------------------------------------- rules in files


def test_rules_of_a_file_are_judged_like_those_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("# ours\nmax_loss <= 0.3  # harsh\n\nmean >= baseline\n")
    ran = check("--policy", "none", "--require", f"@{tmp_path / 'rules.txt'}", "-f", "json")
    assert [row["rule"] for row in json.loads(ran.out)["rows"]] == [
        "max_loss <= 0.3",
        "mean >= baseline",
    ]
    given = ("--require", "max_loss <= 0.3", "--require", "mean >= baseline")
    assert check("--policy", "none", *given, "-f", "json").out == ran.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mean >= baseline\nmean >\n", "rules.txt:2: bad-rule: rule 'mean >': found the end"),
        ("# nothing\n", "rules.txt: empty-file: this file contains no rule"),
        (None, "rules.txt: unreadable: No such file"),
    ],
)
def test_a_file_of_rules_that_cannot_be_taken(
    tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "rules.txt").write_text(content)
    ran = check("--require", f"@{tmp_path / 'rules.txt'}")
    assert (ran.code, ran.out) == (2, "") and message in ran.err
