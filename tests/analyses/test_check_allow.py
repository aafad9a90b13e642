"""Known losers: exceptions of rules on single topics, with a day and a reason."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from riskcli.analyses.check.allow import KnownLoser, read_allowed
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.verdict import Gate
from riskcli.core.messages import InputError
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

TODAY = date.today()
LATER, BEFORE = TODAY + timedelta(days=30), TODAY - timedelta(days=1)
NEW, OLD = SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run"


def loser(topic: str, until: date = LATER, **more: str) -> KnownLoser:
    return KnownLoser(topic, until, "being fixed", **more)


def values() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Two candidates; topic 1 loses 0.4, topic 2 loses 0.2, the others gain."""
    base = np.full(50, 0.5) + np.arange(50) / 500
    run = base + 0.05 + np.arange(50) / 1000
    run[:2] = base[:2] - [0.4, 0.2]
    return np.array([base, run, run])


def judged(rules: list[str], *allow: KnownLoser, policy: str = "none", **more: object) -> Gate:
    topics = tuple(map(str, range(1, 51)))
    matrix = ScoreMatrix("m", ("prod", "new1", "new2"), topics, values())
    if "groups" in more:
        matrix = matrix.labelled(more["groups"])  # type: ignore[arg-type]
    return judge(matrix, "prod", policy, rules=rules, allow=allow)


def outcomes(gate: Gate) -> list[str]:
    return [finding.outcome for finding in gate.verdicts[0].findings]


@pytest.mark.parametrize(
    ("rule", "without", "with_1", "with_both"),
    [
        ("max_loss <= 0.1", "fail", "fail", "pass"),
        ("max_loss <= 0.3", "fail", "pass", "pass"),
        ("loss(1) <= 0", "fail", "pass", "pass"),
        ("loss(2) <= 0", "fail", "fail", "pass"),
        ("score(1) >= 0.4", "fail", "pass", "pass"),
        ("losses <= 1", "fail", "pass", "pass"),
        ("losses20 <= 0", "fail", "fail", "pass"),
        ("loss_share(0.1) <= 0.1", "inconclusive", "inconclusive", "pass"),
        ("delta_q10 >= -0.1", "inconclusive", "inconclusive", "pass"),
        ("mean_diff > 0.1", "fail", "fail", "fail"),
        ("urisk@20 >= 0", "fail", "fail", "fail"),
        ("risk <= 0.001", "fail", "fail", "fail"),
        ("wins >= 49", "fail", "fail", "fail"),
        ("max_gain <= 0.01", "fail", "fail", "fail"),
    ],
)
def test_rules_that_limit_losses_on_topics_are_not_asked_of_them_and_no_others(
    rule: str, without: str, with_1: str, with_both: str
) -> None:
    found = [judged([rule], *allow) for allow in ((), (loser("1"),), (loser("1"), loser("2")))]
    assert [outcomes(gate)[0] for gate in found] == [without, with_1, with_both]
    figures = [gate.verdicts[0].findings[0].value for gate in found]
    assert figures[0] == figures[1] == figures[2], "an exception changes no figure"


def test_figures_tests_and_sentences_on_losses_keep_all_topics() -> None:
    rules = ["max_loss <= 0.3"]
    plain, allowed = (judged(rules, *allow, policy="strict") for allow in ((), (loser("1"),)))
    for ours, theirs in zip(plain.verdicts, allowed.verdicts, strict=True):
        pairs = zip(ours.findings[:3], theirs.findings[:3], strict=True)
        assert all(a == b for a, b in pairs), "mean, GeoRisk and TRisk are as they were"
        assert (ours.mean, ours.losses, ours.ruined) == (theirs.mean, theirs.losses, theirs.ruined)
    assert [f.outcome for f in plain.verdicts[0].findings[3:]] == ["fail", "fail"]
    assert [f.outcome for f in allowed.verdicts[0].findings[3:]] == ["pass", "pass"]


def test_a_share_is_tested_on_the_other_topics_alone() -> None:
    found = judged(["loss_share(0.1) <= 0.1"], loser("1"))
    exact = found.verdicts[0].findings[0]
    assert exact.p == pytest.approx(0.9**49 + 49 * 0.1 * 0.9**48)


def test_a_share_of_no_topic_at_all_is_not_tested() -> None:
    every = [loser(str(topic)) for topic in range(1, 51)]
    values = np.array([np.full(50, 0.5), np.full(50, 0.1)])
    losing = ScoreMatrix("m", ("prod", "new"), tuple(e.topic for e in every), values)
    gate = judge(losing, "prod", "none", rules=["loss_share(0.1) <= 0.1"], allow=every)
    (finding,) = gate.verdicts[0].findings
    assert finding.outcome == "inconclusive" and finding.topics_needed is None
    assert finding.why == "all topics are allowed to lose, which leaves none to test"
    assert "settle" not in gate.to_text("table")


def test_it_holds_for_the_measure_and_the_candidates_that_it_names() -> None:
    rule = ["loss(1) <= 0"]
    for allowed, expected in (
        (loser("1", run="new2"), ["fail", "pass"]),
        (loser("1", run="new*"), ["pass", "pass"]),
        (loser("1", measure="m"), ["pass", "pass"]),
        (loser("1", measure="ERR@20"), ["fail", "fail"]),
    ):
        gate = judged(rule, allowed)
        assert [verdict.outcome for verdict in gate.verdicts] == expected


def test_a_group_is_asked_without_it_too() -> None:
    groups = {str(topic): "tail" if topic < 10 else "head" for topic in range(1, 51)}
    rules = ["max_loss[tail] <= 0.3", "worst_group(losses) <= 1", "loss_share(0.3)[tail] <= 0.3"]
    assert outcomes(judged(rules, groups=groups))[:2] == ["fail", "fail"]
    assert outcomes(judged(rules, loser("1"), groups=groups))[:2] == ["pass", "pass"]


def told(gate: Gate) -> dict[str, str]:
    return {note.code: note.message for note in gate.notes if note.code.startswith("allow")}


def test_the_last_day_counts_and_the_day_after_does_not() -> None:
    rule = ["loss(1) <= 0"]
    assert judged(rule, loser("1", TODAY)).passed
    over = judged(rule, loser("1", BEFORE))
    assert not over.passed and not over.verdict.by("allowed")
    text = f"1 was allowed to lose until {BEFORE} (being fixed): no longer"
    assert told(over) == {"allow-expired": text}
    assert text in over.to_text("table") and text in over.to_text("csv")


@pytest.mark.parametrize(
    ("rules", "allowed", "text"),
    [
        (["max_loss <= 0.3"], loser("7"), "7 need not be allowed to lose: no candidate"),
        (["max_loss <= 0.3"], loser("1", run="old*"), "1 need not be allowed to lose: no cand"),
        (["loss(2) <= 0"], loser("1"), "or no rule limits that"),
        (["mean >= 0"], loser("1"), "or no rule limits that"),
        (
            ["max_loss <= 0.3"],
            loser("123"),
            "123 need not be allowed to lose: none of the topics judged here; did you",
        ),
    ],
)
def test_one_that_is_not_needed_is_told(rules: list[str], allowed: KnownLoser, text: str) -> None:
    gate = judged(rules, allowed)
    assert text in told(gate)["allow-unneeded"] and not gate.verdict.by("allowed")


def test_every_verdict_says_who_is_allowed_until_when_and_why() -> None:
    gate = judged(["max_loss <= 0.3"], loser("1"))
    (said,) = gate.verdict.by("allowed")
    assert said.text == f"1 is allowed to lose until {LATER} (being fixed)."
    assert said.topics == ("1",) and said.runs == ("new1", "new2")
    assert said.text in " ".join(gate.of_runs(["new1"]).to_text("markdown").split())


@pytest.mark.parametrize("rule", ["max_loss <= 0.3", "loss_share(0.3) <= 0.08"])
def test_what_an_exception_allows_is_not_put_down_to_the_rule(rule: str) -> None:
    gate = judged([rule], loser("1", run="new1")).of_runs(["new1"])
    (first, *_) = gate.verdicts
    assert first.passed
    gate = replace(gate, verdicts=(first,))
    kept, ruins = (gate.verdict.by(each)[0].text for each in ("gate", "ruins"))
    assert kept == f"pass: for new1 {rule} (but for losses allowed) holds."
    assert ruins.endswith(f", which {rule} and an exception allow.")
    unneeded = judged(["losses20 <= 2"], loser("1")).verdict.by("ruins")[0].text
    assert unneeded.endswith(", which losses20 <= 2 allows."), "it holds with them, too"


# ---------------------------------------------------------------- the file


def check(file: Path, *more: object, text: str) -> Ran:
    file.write_text(text)
    call = ("check", NEW, "-b", OLD, "-m", "ERR@20", "-q", QRELS, "--allow", file, *more)
    return riskeval(*map(str, call))


ENTRY = '[[allow]]\ntopic = 138\nuntil = 2999-03-01\nwhy = "new tokenizer,\\n being fixed"\n'


def test_the_program_reads_them_and_records_the_file(tmp_path: Path) -> None:
    file = tmp_path / "exceptions.toml"
    rule = ("--require", "max_loss <= 0.58", "-f", "json")
    assert check(file, *rule, text="allow = []\n").code == 1
    ran = check(file, *rule, text=ENTRY + 'measure = "ERR@20"\nrun = "bold*"\n')
    assert ran.code == 0
    document = json.loads(ran.out)
    (said,) = [each for each in document["verdicts"] if each["rule"] == "allowed"]
    assert said["text"] == "138 is allowed to lose until 2999-03-01 (new tokenizer, being fixed)."
    (row,) = [row for row in document["rows"] if row["rule"] == "max_loss <= 0.58"]
    assert row["passed"] and row["value"] == pytest.approx(0.588, abs=1e-3)
    assert row["why"].startswith("it is 0.5762 without the losses allowed (138)")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert {"path": file.name, "sha256": sha256, "kind": "exceptions"} in document["inputs"]


@pytest.mark.parametrize("first", ["all", "odd"])
def test_judges_may_differ_in_topics(tmp_path: Path, first: str) -> None:
    """138 is a topic of one judge alone: there it is allowed to lose, and elsewhere not asked."""
    lines = QRELS.read_text().splitlines(keepends=True)
    (tmp_path / "all").write_text("".join(lines))
    (tmp_path / "odd").write_text("".join(x for x in lines if int(x.split()[0]) % 2))
    (tmp_path / "allow.toml").write_text(ENTRY)
    judges = [tmp_path / first, *({tmp_path / "all", tmp_path / "odd"} - {tmp_path / first})]
    call = ("check", NEW, "-b", OLD, "-q", judges[0], "-q", judges[1], "-m", "ERR@20",
            "--policy", "none", "--allow", tmp_path / "allow.toml")  # fmt: skip
    ran = riskeval(*call, "--require", "max_loss <= 0.58", "-f", "json")
    assert ran.code == 0 and "need not be allowed" not in ran.err, ran.err
    assert "138 is allowed to lose until" in ran.out
    ran = riskeval(*call, "--require", "loss(138) <= 0")
    assert ran.code == 2 and "no topic '138'" in ran.err, ran.err


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (ENTRY + "who = 'me'\n", 1, "entry 1: unknown key 'who'; did you mean why"),
        (ENTRY + ENTRY.replace("why", "wy"), 5, "entry 2: unknown key 'wy'; did you mean why"),
        ("[[allow]]\ntopic = 1\nwhy = 'x'\n", 1, "entry 1: until is '', expected a day"),
        (ENTRY.replace("2999-03-01", "'2999-03-01'"), 1, "expected a day such as 2027-03-01"),
        (ENTRY.replace("2999-03-01", "2999-03-01T10:00:00"), 1, "expected a day such as"),
        ("[[allow]]\ntopic = 1\nuntil = 2999-01-01\nwhy = ' '\n", 1, "why is ' ', expected a text"),
        (ENTRY.replace("138", "1.5"), 1, "topic is '1.5', expected a text"),
        (ENTRY + "run = 3\n", 1, "run is '3', expected a text"),
        (ENTRY + "\n" + ENTRY, 6, "entry 2: topic 138 is allowed twice"),
        ("[allow]\ntopic = 1\n", None, "expected entries [[allow]] and nothing else"),
        ("policy = 'none'\n" + ENTRY, None, "expected entries [[allow]] and nothing else"),
        ("allow = [1]\n", None, "expected entries [[allow]] and nothing else"),
        ("[[allow]\n", None, "not TOML"),
        (ENTRY.replace("2999-03-01", "2999-02-31"), None, "not TOML"),
    ],
)
def test_a_file_that_says_something_else_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    file = tmp_path / "exceptions.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_allowed(file)
    assert message in str(caught.value) and caught.value.line == line
    assert caught.value.code == "bad-exceptions"


def test_no_report_replaces_the_file(tmp_path: Path) -> None:
    file = tmp_path / "exceptions.toml"
    for more in ((), ("--require", "nothing > 1")):
        ran = check(file, "--report", f"json={file}", *more, text=ENTRY)
        assert ran.code == 2 and file.read_text() == ENTRY
