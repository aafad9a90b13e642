"""What a gate answers first: its sentences, and a row a candidate on one screen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riskcli import ScoreMatrix
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.analyses.check.verdict import Gate
from riskcli.output.verdict import Statement
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran
from tests.helpers.strategies import Floats, named

ONE = ("-m", "ERR@20", "-q", QRELS)
BASE = 0.2 + 0.5 * np.random.default_rng(3).random(50)


def judged(*runs: Floats, **asked: object) -> Gate:
    values = np.array([BASE, *runs])
    names = ("prod", *(f"new{row}" for row in range(1, len(values))))
    matrix = ScoreMatrix("m", names, tuple(str(151 + i) for i in range(values.shape[1])), values)
    return judge(matrix, "prod", **asked)  # type: ignore[arg-type]


def noisy(shift: float, seed: int) -> Floats:
    return BASE + shift + 0.02 * np.random.default_rng(seed).standard_normal(50)


def losing(*shares: float) -> Floats:
    """The baseline, that share of the score less on the first topics, a little more elsewhere."""
    kept = 1 - np.array([*shares, *[0.0] * (50 - len(shares))])
    return np.where(kept < 1, BASE * kept, BASE + 0.01 * np.sin(np.arange(50)) + 0.03)


def said(gate: Gate, rule: str) -> Statement:
    (statement,) = gate.verdict.by(rule)
    return statement


# ---------------------------------------------------------------- sentences: one candidate


@pytest.mark.parametrize(
    ("shift", "asked", "text"),
    [
        (0.05, {}, "pass: for new1 neither Mean nor GeoRisk is significantly lower."),
        (0.05, {"policy": "lenient"}, "pass: for new1 Mean is not significantly lower."),
        (-0.05, {"policy": "lenient"}, "FAIL: for new1 Mean is significantly lower (-0.05"),
        (
            0.05,
            {"policy": "none", "rules": ["max_loss <= 0.3", "wins >= 51"]},
            "FAIL: for new1 wins >= 51 is broken (",
        ),
        (0.05, {"policy": "none", "rules": ["wins >= 1"]}, "pass: for new1 wins >= 1 holds."),
        (
            0.0,
            {"policy": "lenient", "margin": 0.02},
            "pass: for new1 a loss of Mean above 0.02 is ruled out.",
        ),
        (
            0.0,
            {"policy": "lenient", "margin": 0.0001},
            "inconclusive: for new1 a loss of Mean above 0.0001 is not ruled out, and no loss is",
        ),
    ],
)
def test_the_outcome_is_said_with_its_reason(
    shift: float, asked: dict[str, object], text: str
) -> None:
    gate = judged(noisy(shift, 1), **asked)
    statement = said(gate, "gate")
    assert statement.text.startswith(text)
    assert statement.runs == ("new1", "prod") and statement.about == "m"
    assert statement.numbers["mean"] == pytest.approx(noisy(shift, 1).mean())


def test_a_pass_names_the_topics_that_it_ruins_and_the_worst_of_them() -> None:
    gate = judged(losing(0.21, 0.9, 0.19, 0.5))
    assert gate.passed, "the others gain more"
    statement = said(gate, "ruins")
    worst = f"({BASE[1]:.3f} to {0.1 * BASE[1]:.3f})"
    assert (
        statement.text
        == f"It loses over a fifth on 3 of 50 topics, most on 152 {worst}; no rule limits that."
    )
    assert statement.topics[0] == "152" and {*statement.topics} == {"151", "152", "154"}
    assert statement.numbers["lost_over_a_fifth"] == 3
    assert statement.numbers["largest_loss"] == pytest.approx(0.9 * BASE[1])


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (["losses20 <= 15"], ", which losses20 <= 15 allows."),
        (["losses20 <= 2"], ", which losses20 <= 2 does not allow."),
        (["max_loss <= 1"], ", which max_loss <= 1 allows."),
        (["losses <= 4"], ", which losses <= 4 allows."),
        (["losses <= 4", "losses20 <= 1"], ", which losses20 <= 1 does not allow."),
        (["loss_share(0.01) <= 0.1"], ", which loss_share(0.01) <= 0.1 leaves open."),
        (["delta_q50 >= -0.01"], ", which delta_q50 >= -0.01 allows."),
        (["loss(152) <= 1"], "; rules limit that in part."),
        (["score(152) >= 0"], "; rules limit that in part."),
        (["loss(155) <= 1"], "; no rule limits that."),
        (["losses20 >= 1"], "; no rule limits that."),
        (["max_gain <= 1", "mean >= 0", "risk <= 1"], "; no rule limits that."),
        ([], "; no rule limits that."),
    ],
)
def test_what_it_ruins_is_allowed_by_a_rule_or_limited_by_none(rules: list[str], text: str) -> None:
    gate = judged(losing(0.21, 0.9, 0.19, 0.5), rules=rules)
    assert said(gate, "ruins").text.endswith(text)


def test_a_pass_lists_what_lost_most_as_a_failure_lists_who_is_to_blame() -> None:
    passing, failing = judged(losing(0.21, 0.9)), judged(losing(0.21, 0.9), rules=["losses <= 0"])
    assert passing.passed and not failing.passed
    for gate, words in ((passing, "lost most: 152 ("), (failing, "topics to blame: 152 (")):
        assert words in gate.to_text("table")
        assert {*map(tuple, gate.to_frame()["worst_topics"])} == {("152", "151")}


def test_a_pass_says_which_loss_it_would_have_seen() -> None:
    one = judged(noisy(0.01, 2))
    seen = one.verdicts[0].seen_from
    text = f"a mean lower by {seen:.2g} is seen with probability 0.8"
    for format in ("table", "markdown", "html", "latex", "github"):
        assert text in " ".join(one.to_text(format).split()), format
    assert said(one, "gate").numbers["seen_from"] == seen
    two = judged(noisy(0.01, 2), noisy(0.1, 3), noisy(-0.2, 3))
    ends = sorted(v.seen_from or 0 for v in two.verdicts if v.passed)
    text = f"mean lower by {ends[0]:.2g} to {ends[1]:.2g} is seen with probability 0.8"
    assert said(two, "unproven").text == f"A {text}; see --margin."
    within = judged(noisy(0.1, 2), noisy(0.1, 3), margin=0.02, policy="lenient")
    assert said(within, "power").text.startswith("A mean lower by") and within.passed
    untested = judged(noisy(0.01, 2), policy="none", rules=["wins >= 1"])
    assert "is seen" not in untested.to_text("table"), "no test of the mean is made"


def test_nothing_is_ruined_by_a_fifth_itself_nor_where_the_baseline_has_nothing() -> None:
    gate = judged(losing(0.199))
    assert said(gate, "ruins").text == "It loses over a fifth on no topic."
    assert said(gate, "ruins").numbers["lost_over_a_fifth"] == 0


def test_logarithms_have_no_fifths() -> None:
    values = np.log(np.array([BASE, 0.5 * BASE]))
    matrix = ScoreMatrix("gm_map", ("prod", "new1"), tuple(map(str, range(50))), values)
    gate = judge(matrix, "prod", policy="lenient")
    assert not gate.verdict.by("ruins") and gate.verdict.by("gate")


def test_a_pass_for_want_of_significance_is_no_proof_and_one_within_a_margin_is() -> None:
    for asked, unproven in (
        ({}, True),
        ({"policy": "lenient", "margin": 0.02}, False),
        ({"policy": "none", "rules": ["wins >= 1"]}, False),
    ):
        gate = judged(noisy(0.01, 2), **asked)
        assert gate.passed and bool(gate.verdict.by("unproven")) is unproven, asked
    assert not judged(noisy(-0.05, 2)).verdict.by("unproven"), "a failure needs no such word"


def test_how_many_topics_would_decide_it() -> None:
    gate = judged(noisy(0.0, 1), policy="lenient", margin=0.0001)
    needed = gate.verdicts[0].findings[0].topics_needed
    assert needed and f"{needed} topics settle it" in said(gate, "undecided").text
    assert not judged(noisy(0.0, 1), policy="lenient", margin=0.02).verdict.by("undecided")


# ---------------------------------------------------------------- sentences: several candidates


@pytest.mark.parametrize(
    ("shifts", "text"),
    [
        ((0.05, 0.05), "pass: both candidates pass; baseline prod, m on 50 topics."),
        ((0.05, 0.05, 0.05), "pass: all 3 candidates pass; "),
        ((0.05, -0.05, -0.06), "FAIL: only 1 of 3 candidates passes: new1; "),
        ((-0.05, -0.05), "FAIL: none of 2 candidates passes; "),
        ((-0.06, 0.05, 0.05, 0.05, 0.05), "FAIL: new1 fails, 4 of 5 candidates pass; "),
    ],
)
def test_how_many_pass_and_who(shifts: tuple[float, ...], text: str) -> None:
    gate = judged(*(noisy(shift, seed) for seed, shift in enumerate(shifts, start=5)))
    assert said(gate, "gate").text.startswith(text)
    assert said(gate, "gate").numbers["passed"] == sum(shift > 0 for shift in shifts)
    assert gate.passed is text.startswith("pass")


def test_what_the_only_pass_costs_and_what_several_do() -> None:
    only = judged(losing(0.9, 0.5), noisy(-0.05, 1))
    assert said(only, "ruins").text.startswith("new1 loses over a fifth on 2 of 50 topics, most on")
    several = judged(losing(0.9, 0.5), losing(0.9), noisy(-0.2, 1))
    expected = "Those that pass lose over a fifth on 1 (new2) to 2 (new1) of 50 topics; no rule"
    assert said(several, "ruins").text == f"{expected} limits that.", "not those that fail"
    none = judged(noisy(0.01, 1), noisy(0.02, 2))
    assert said(none, "ruins").text == "No candidate that passes loses over a fifth on any topic."
    assert not judged(noisy(-0.05, 1), noisy(-0.05, 2)).verdict.by("ruins")


@pytest.mark.parametrize("counted", ["pass", "fail"])
def test_what_is_not_decided_is_named_and_how_it_counts(counted: str) -> None:
    gate = judged(
        noisy(0.05, 1), noisy(0.0, 2), policy="lenient", margin=0.0001, inconclusive=counted
    )
    statement = said(gate, "undecided")
    as_what = "a pass" if counted == "pass" else "a failure"
    assert statement.text.startswith(f"new2 is not decided, which counts as {as_what};")
    first = "pass" if counted == "pass" else "inconclusive"
    assert said(gate, "gate").text.startswith(f"{first}: 1 of 2 candidates passes: new1; ")
    assert gate.passed is (counted == "pass")


def test_the_rule_is_said_in_a_sentence_with_its_tests() -> None:
    two = judged(noisy(0.05, 1), noisy(0.05, 2))
    assert two.rule == (
        "Rule: neither Mean nor GeoRisk is significantly lower (one-sided, Holm over 4 tests, "
        "significance level 0.05)."
    )
    within = judged(noisy(0.05, 1), noisy(0.05, 2), margin=0.02, rules=["losses20 <= 5"])
    assert within.rule == (
        "Rules: GeoRisk is not significantly lower (one-sided, Holm over 4 tests, significance "
        "level 0.05); a loss of Mean above 0.02 is ruled out (one-sided, Holm over 2 tests, "
        "significance level 0.05); losses20 <= 5."
    )
    strict = judged(noisy(0.05, 1), policy="strict")
    assert strict.rule.startswith("Rules: none of Mean, GeoRisk and TRisk@1 is significantly lower")


# ---------------------------------------------------------------- one screen


def many(passing: int, failing: int) -> Gate:
    shifts = [0.02 + 0.02 * i for i in range(passing)] + [-0.1 - 0.02 * i for i in range(failing)]
    return judged(*(noisy(shift, seed) for seed, shift in enumerate(shifts)))


def names_shown(text: str) -> list[str]:
    rows = [
        line.split() for line in text.splitlines() if line.startswith(("pass  new", "FAIL  new"))
    ]
    return [row[1] for row in rows]


@pytest.mark.parametrize(
    "asked", [{}, {"margin": 0.02}, {"policy": "strict"}, {"rules": ["wins > 3"]}]
)
def test_sixteen_candidates_fit_a_screen_each_in_a_row(asked: dict[str, object]) -> None:
    runs = [noisy(0.01 * (i % 5) - 0.02, i) for i in range(16)]
    lines = judged(*runs, **asked).to_text("table", width=80).splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 80
    assert len(names_shown("\n".join(lines))) >= 14


def test_passes_come_first_and_the_best_mean_of_each() -> None:
    text = many(3, 3).to_text("table")
    assert names_shown(text) == ["new3", "new2", "new1", "new4", "new5", "new6"]
    assert text == many(3, 3).to_text("table")


def test_the_rarer_outcome_is_never_hidden() -> None:
    for passing, failing in ((30, 2), (2, 30)):
        text = many(passing, failing).to_text("table", width=80)
        lines = [
            line[:4] for line in text.splitlines() if line.startswith(("pass  new", "FAIL  new"))
        ]
        rare = "FAIL" if failing == 2 else "pass"
        assert lines.count(rare) == 2 and len(text.splitlines()) <= 25
        shown = len(lines) - 2
        common = "pass" if failing == 2 else "FAIL"
        assert f"Not shown: {30 - shown} {common}." in text


def test_a_broken_rule_is_marked_and_no_other() -> None:
    gate = judged(losing(0.9), noisy(-0.05, 1), rules=["max_loss <= 0.2"], policy="lenient")
    rows = {row[1].text: row for row in gate.screen(80)[0].rows}
    headings = [heading.text for heading in gate.screen(80)[0].headings]
    change, largest = headings.index("Mean"), headings.index("max_loss\n<= 0.2")
    assert [rows["new1"][i].mark for i in (change, largest)] == ["", "worse"]
    assert [rows["new2"][i].mark for i in (change, largest)] == ["worse", ""]


def check(*arguments: str | Path) -> Ran:
    return riskeval("check", SAMPLES, "-b", "indriCASP", *ONE, "--quiet", *arguments)


def test_one_screen_by_default_the_rules_of_one_and_everything_on_request() -> None:
    short, one, full = check(), check("--run", "boldRerank"), check("--full")
    assert {ran.code for ran in (short, one, full)} == {1}
    assert short.out.startswith("FAIL: oldTFIDF fails, 7 of 8 candidates pass; baseline indriCASP,")
    assert "not significantly lower  " not in short.out
    lines = one.out.splitlines()
    assert lines[0].startswith("FAIL: oldTFIDF fails, 7 of 8"), "the gate's answer is that of all"
    assert (
        "It loses over a fifth on 11 of 50 topics, most on 138 (0.592 to 0.003); no rule" in lines
    )
    assert one.out.count("against indriCASP, ERR@20") == 1
    assert full.out.count("against indriCASP, ERR@20") == 9
    assert check("--run", "boldRerank", "--run", "*TF*").out.count("against indriCASP, ERR@20") == 2
    wrong = check("--run", "boldrerank")
    assert wrong.code == 2 and "boldRerank" in wrong.err


def test_reports_and_programs_get_everything_whatever_the_screen_shows(tmp_path: Path) -> None:
    report = tmp_path / "all.html"
    check("--run", "boldRerank", "--report", f"html={report}")
    assert report.read_text().count("against indriCASP, ERR@20") == 9
    assert "<p>FAIL: oldTFIDF fails, 7 of 8 candidates pass; " in report.read_text()
    document = json.loads(check("--run", "boldRerank", "-f", "json").out)
    assert len(document["rows"]) == 16
    assert [each["rule"] for each in document["verdicts"]] == [
        "gate", "ruins", "unproven", "unjudged",
    ]  # fmt: skip


def test_two_measures_are_columns_of_one_screen() -> None:
    ran = riskeval("check", SAMPLES, "-b", "indriCASP", "-q", QRELS, "--quiet")
    lines = ran.out.splitlines()
    assert len(lines) <= 25 and sum(line.startswith(("pass  ", "FAIL  ")) for line in lines) == 8
    assert any("ERR@20" in line and "nDCG@20" in line for line in lines[:9])


def test_a_file_left_out_is_said_first(tmp_path: Path) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text("101 Q0 d 1 high bad\n")
    call = ("-b", SAMPLES / "indriCASP.run", *ONE, "--on-error", "skip")
    ran = riskeval("check", SAMPLES / "boldRerank.run", bad, *call)
    assert ran.code == 1 and ran.out.startswith("FAIL: 1 file left out, which fails whatever")
    both = riskeval("check", SAMPLES / "boldRerank.run", SAMPLES / "caspPlus.run", bad, *call)
    assert both.code == 1 and "1 file left out, which fails too." in " ".join(both.out.split())
    assert both.out.startswith("FAIL: both candidates pass")


def test_what_cannot_be_tested_has_a_dash() -> None:
    """A difference that is the same on every topic has no p."""
    base = np.random.default_rng(1).uniform(0.3, 0.6, 30).round(2)
    for runs in ([base, base - 0.25], [base, base - 0.25, base + 0.25]):
        gate = judge(named(np.array(runs)), "r0")
        for text in (gate.to_text("table"), gate.to_text("table", full=True)):
            assert "nan" not in text
    assert "–" in judge(named(np.array([base, base - 0.25])), "r0").to_text("table")


def test_no_loss_is_seen_where_none_can_be_tested_nor_one_below_a_score_of_0() -> None:
    constant = judged(BASE - 0.05, policy="lenient")
    assert said(constant, "gate").text.endswith("cannot be tested on these scores.")
    assert "is seen with" not in " ".join(constant.to_text("table").split())
    two = ScoreMatrix("m", ("prod", "new"), ("1", "2"), np.array([[0.5, 0.3], [0.6, 0.2]]))
    found = judge(two, "prod", "lenient")
    assert (found.verdicts[0].seen_from or 0) > 0.4, "more than the baseline could lose"
    assert "is seen with" not in " ".join(found.to_text("table").split())


def test_more_topics_settle_nothing_where_judgements_are_missing() -> None:
    topics, judgements = (
        RuleOutcome("a", "inconclusive", 0, 0, "", topics_needed=2017),
        RuleOutcome("b", "inconclusive", 0, 0, "", open_to_judgements=True),
    )
    for findings, needed in (((topics,), 2017), ((topics, judgements), None)):
        found = judged(noisy(0.0, 1), noisy(0.0, 2))
        of = tuple(replace(each, findings=findings) for each in found.verdicts)
        for gate in (replace(found, verdicts=of), replace(found, verdicts=of[:1])):
            text = " ".join(each.text for each in gate.verdict.all)
            assert ("2017 topics settle it" in text) is (needed is not None), text
