"""Rules on groups of topics: read, refused in words, and judged on the group's topics alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riskcli import ScoreMatrix, UsageError
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.rules import parse_rule
from tests.helpers.inprocess import riskeval

TYPES = {str(i): "tail" if i % 3 else "head" for i in range(30)}
HALVES = {str(i): "tail" if i < 15 else "rest" for i in range(30)}


def scores(groups: dict[str, dict[str, str]] | None = None) -> ScoreMatrix:
    generator = np.random.default_rng(4)
    values = generator.uniform(0.1, 0.9, size=(2, 30))
    matrix = ScoreMatrix("AP", ("base", "new"), tuple(map(str, range(30))), values)
    return matrix.labelled(groups) if groups else matrix


def outcome(rule: str, groups: dict[str, dict[str, str]]) -> tuple[str, float | None, str]:
    gate = judge(scores(groups), "base", "none", rules=[rule])
    (found,) = gate.verdicts[0].findings
    return found.outcome, found.value, found.why


def test_rules_are_read() -> None:
    rule = parse_rule("urisk@1[tail] > -0.02")
    assert (rule.quantity, rule.alpha, rule.group) == ("urisk", 1.0, "tail")
    assert parse_rule("mean_diff[type=a b] >= 0").group == "type=a b"
    assert parse_rule("""max_loss[ 'x < "y"' ] <= 0.3""").group == 'x < "y"'
    rule = parse_rule("worst_group( urisk@5 ) >= -0.03")
    assert (rule.quantity, rule.alpha, rule.group) == ("urisk", 5.0, "")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("mean[] > 0", r"found '\[\] > 0', expected a group in brackets"),
        ("mean[tail > 0", "expected a group in brackets"),
        ("worst_group(mean > 0", "expected a closing bracket"),
        ("worst_group(1) > 0", "expected a quantity such as mean_diff"),
        ("worst_group > 0", "nothing is called 'worst_group'"),
        ("mean[tial] > 0", r"no group is called 'tial'; did you mean tail. .the groups are type=h"),
        ("mean[tail] > 0", "'tail' is a group of several groupings: name type=tail or half=tail"),
        ("mean_flag[head] == better", "mean_flag is not known by group"),
        ("worst_group(mean_p) > 0.05", "mean_p is not known by group"),
        ("worst_group(foo) > 0.05", "nothing is called 'foo'"),
        ("worst_group(loss) > 0.05", "loss needs a topic"),
    ],
)
def test_wrong_rules_are_refused_in_words(rule: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        outcome(rule, {"type": TYPES, "half": HALVES})


def test_without_groups_the_cure_is_named() -> None:
    for rule in ("mean[tail] > 0", "worst_group(mean) > 0"):
        with pytest.raises(UsageError, match="no topic has a group; say which with --groups FILE"):
            judge(scores(), "base", "none", rules=[rule])


@pytest.mark.parametrize("quantity", ["mean_diff", "urisk@5", "losses20", "georisk", "max_loss"])
def test_a_rule_on_a_group_is_that_on_its_topics(quantity: str) -> None:
    matrix = scores()
    columns = [i for i, group in enumerate(TYPES.values()) if group == "tail"]
    alone = judge(matrix.of_topics(columns), "base", "none", rules=[f"{quantity} > 0"])
    _, value, _ = outcome(f"{quantity}[tail] > 0", {"type": TYPES})
    assert value == alone.verdicts[0].findings[0].value
    assert outcome(f"{quantity}[type=tail] > 0", {"type": TYPES})[1] == value


@pytest.mark.parametrize("quantity", ["mean_diff", "urisk@5", "losses20"])
def test_the_worst_group_is_the_one_that_decides(quantity: str) -> None:
    groups = {"type": TYPES, "half": HALVES}
    names = ("type=tail", "type=head", "half=tail", "half=rest")
    each = [outcome(f"{quantity}[{name}] > 0", groups)[1] for name in names]
    values = [value for value in each if value is not None]
    assert len(values) == 4
    for comparison, worst in ((">=", min(values)), ("<=", max(values))):
        assert outcome(f"worst_group({quantity}) {comparison} {worst}", groups)[:2] == (
            "pass",
            worst,
        )
        off = worst + (1e-6 if comparison == ">=" else -1e-6)
        found, value, why = outcome(f"worst_group({quantity}) {comparison} {off}", groups)
        assert (found, value) == ("fail", worst)
        assert why.startswith(f"in {names[values.index(worst)]} it is ")


def test_an_exact_rule_on_every_group_is_broken_by_any() -> None:
    groups = {"type": TYPES}
    assert outcome("worst_group(topics) == 20", groups)[:2] == ("fail", 10)
    assert outcome("worst_group(topics) == 10", groups)[:2] == ("fail", 20)
    assert outcome("worst_group(topics) != 30", groups)[0] == "pass"


def test_a_gate_with_groups_and_no_rule_on_them_says_so() -> None:
    gate = judge(scores({"type": TYPES}), "base")
    assert "groups-unused" in [note.code for note in gate.notes]
    gate = judge(scores({"type": TYPES}), "base", rules=["worst_group(mean) > 0"])
    assert "groups-unused" not in [note.code for note in gate.notes]


@pytest.mark.parametrize("kept", ["base.csv", "base.json"])
def test_the_program_judges_groups_against_a_kept_baseline(tmp_path: Path, kept: str) -> None:
    matrix = scores()
    matrix.of_runs([0]).to_frame().to_csv(tmp_path / "b.csv")
    matrix.of_runs([1]).to_frame().to_csv(tmp_path / "new.csv")
    (tmp_path / "g.json").write_text(json.dumps(TYPES))
    assert riskeval("matrix", "b.csv", "-o", kept, cwd=tmp_path).code == 0
    for bound, code in (("-1", 0), ("1", 1)):
        ran = riskeval(
            "check", "new.csv", "-b", kept, "--policy", "none", "--groups", "g.json",
            "--require", f"worst_group(mean_diff) >= {bound}", cwd=tmp_path,
        )  # fmt: skip
        assert ran.code == code, ran.err
