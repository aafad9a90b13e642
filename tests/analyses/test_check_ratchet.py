"""The ratchet: what is compared with what, on which topics, and what becomes of its file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks import ratchet as simulation
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.ratchet import COMMITS, AuditPlan, Build, Ratchet, audited
from riskcli.core.messages import UsageError
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

TOPICS = [f"t{number}" for number in range(40)]
LENIENT = ("--policy", "lenient")
ANY = ("--policy", "none", "--require", "mean >= 0")


@pytest.fixture(autouse=True)
def no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever service runs the tests."""
    for name in COMMITS:
        monkeypatch.delenv(name, raising=False)


def scores(seed: int, shift: float = 0.0) -> list[float]:
    """A system's scores: those of topics, with a little noise of its own."""
    base = np.random.default_rng(1).uniform(0.2, 0.7, len(TOPICS))
    noise = np.random.default_rng(seed).normal(0, 0.01, len(TOPICS))
    return [float(each) for each in base + noise + shift]


def saved(folder: Path, name: str, values: Sequence[float], topics: Sequence[str] = TOPICS) -> Path:
    file = folder / f"{name}.csv"
    cells = [f"{name},{topic},AP,{score!r}" for topic, score in zip(topics, values, strict=True)]
    file.write_text("\n".join(["run,topic,measure,score", *cells]) + "\n", encoding="utf-8")
    return file


def check(file: Path, state: Path, *more: str) -> Ran:
    return riskeval("check", file, "--ratchet", state, *more)


def begun(folder: Path, *more: str) -> tuple[Path, list[float]]:
    """A ratchet, and the scores of its anchor."""
    first, state = scores(2), folder / "state.json"
    ran = check(saved(folder, "first", first), state, *more)
    assert ran.code == 0, ran.err
    return state, first


def kept(state: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(state.read_bytes())["ratchet"]
    return record


def split(state: Path) -> tuple[list[int], list[int]]:
    """Places of the gate's topics and of the audit's."""
    gate, audit = Ratchet.of(kept(state)).split(TOPICS)
    return gate.tolist(), audit.tolist()


def test_repeats_without_a_common_name_are_one_candidate_call_after_call(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    files = [saved(tmp_path, n, scores(i, i / 50)) for i, n in enumerate("abcdef")]
    for first in (0, 2, 4):
        ran = check(files[first], state, str(files[first + 1]), "--repeats", "--policy", "lenient")
        assert ran.code == 0, ran.err
    assert kept(state)["steps"] == 2


def test_what_is_said_of_missing_topics_is_of_those_that_the_verdict_is_on(tmp_path: Path) -> None:
    """Else `unanswered <= 0` holds above a line that names four of the audit's."""
    state, one = tmp_path / "state.json", ("-q", str(QRELS), "-m", "ERR@20")
    assert check(SAMPLES / "indriCASP.run", state, *one).code == 0
    topics = [str(topic) for topic in range(101, 151)]
    gate, audit = ([topics[i] for i in places] for places in Ratchet.of(kept(state)).split(topics))
    lines = (SAMPLES / "caspPlus.run").read_text().splitlines(keepends=True)
    for missing, said in ((audit[:4], ""), ([*audit[:4], gate[0]], f"part (1: {gate[0]})")):
        (tmp_path / "part.run").write_text(
            "".join(line for line in lines if line.split()[0] not in missing)
        )
        more = ("--require", "unanswered <= 0", "--report", f"junit={tmp_path / 'out.xml'}")
        named = ("--run-names", "file", "--policy", "none")
        ran = check(tmp_path / "part.run", state, *one, *named, *more)
        assert ran.code == bool(said), ran.err
        for text in (ran.err, (tmp_path / "out.xml").read_text()):
            assert ("unanswered topics score 0: " + said in text) is bool(said), text
            assert audit[0] not in text


# ---------------------------------------------------------------- the first build, and the next


def test_the_first_call_makes_the_file_and_says_so(tmp_path: Path) -> None:
    file, state = saved(tmp_path, "first", scores(2)), tmp_path / "state.json"
    ran = check(file, state)
    assert ran.code == 0 and f"{state} now holds first, its anchor" in ran.err
    assert "nothing was compared, for there was no ratchet yet: first is its anchor" in " ".join(
        ran.out.split()
    )
    assert "50 % of the topics are set aside" in " ".join(ran.out.split())
    for format in ("json", "csv", "junit", "sarif", "github", "markdown", "codequality"):
        again = check(file, tmp_path / f"{format}.state", "-f", format)
        assert again.code == 0 and "nan" not in again.out.lower(), format
    document = json.loads(check(file, tmp_path / "other.json", "-f", "json").out)
    (row,) = document["rows"]
    assert document["passed"] and row["rule"] == "first build" and row["outcome"] == "pass"
    assert document["anchor"]["steps"] == 0 and document["anchor"]["alarm"] is False
    assert document["anchor"]["mean_diff"] is None


def test_a_candidate_is_judged_against_the_run_accepted_last_on_the_topics_of_the_gate(
    tmp_path: Path,
) -> None:
    state, first = begun(tmp_path)
    gate, audit = split(state)
    assert sorted(gate + audit) == [*range(40)] and len(gate) == len(audit) == 20
    last = first
    for number in range(1, 4):
        now = scores(10 + number, 0.01 * number)
        ran = check(saved(tmp_path, f"c{number}", now), state, "-f", "json")
        document = json.loads(ran.out)
        assert ran.code == 0 and document["passed"], ran
        change = np.array(now) - np.array(last)
        found = {row["rule"]: row for row in document["rows"]}["mean not significantly lower"]
        assert found["value"] == pytest.approx(change[gate].mean())
        total = (np.array(now) - np.array(first))[audit]
        mean, reach = total.mean(), stats.t.ppf(0.975, 19) * stats.sem(total)
        anchor = document["anchor"]
        figures = [anchor[name] for name in ("mean_diff", "lo", "hi")]
        assert figures == pytest.approx([mean, mean - reach, mean + reach])
        assert (anchor["steps"], anchor["looks"], anchor["topics"]) == (number, 0, 20)
        assert kept(state)["accepted"]["name"] == f"c{number}" and kept(state)["steps"] == number
        last = now


def test_a_refused_candidate_changes_nothing_and_is_no_change(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    assert check(saved(tmp_path, "good", scores(3, 0.01)), state).code == 0
    before = state.read_bytes()
    ran = check(saved(tmp_path, "bad", scores(4, -0.1)), state)
    assert ran.code == 1 and state.read_bytes() == before
    assert "is left unchanged: bad is not accepted" in ran.err
    assert ", without this run: 1 accepted change, mean +0.0" in " ".join(ran.out.split())


def test_what_was_lost_is_said_with_whose_loss_it_is_and_when_it_is_tested(tmp_path: Path) -> None:
    state, _ = begun(tmp_path, "--look-every", "2", "--looks", "1")
    said = []
    for name, values in (("bad", scores(4, -0.1)), *((f"c{n}", scores(n)) for n in (3, 5, 6))):
        ran = check(saved(tmp_path, name, values), state, *(() if name == "bad" else ANY))
        said.append(" ".join(ran.out.split()))
    assert "anchor, first, no change was accepted. Change 2 is the next" in _plain(said[0])
    assert "first: 1 accepted change, mean" in _plain(said[1])
    assert "used. Change 2 is the next at which it is tested." in said[1]
    assert "Change 4 is the next" in said[2] and "is the next" not in said[3]


def _plain(said: str) -> str:
    return re.sub(r" \(SHA-256 \w+\)", "", said)


def test_annotations_say_what_was_lost_since_the_anchor_on_a_pass_too(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    ran = check(saved(tmp_path, "good", scores(3, 0.01)), state, "-f", "github")
    (line,) = [each for each in ran.out.splitlines() if each.startswith("::notice")]
    assert ran.code == 0 and "passed: 1 of 1; " in line
    assert "Since the anchor, first (SHA-256 " in line and ": 1 accepted change, mean +0.0" in line


def test_what_is_not_decided_is_not_accepted_whatever_it_counts_as(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    before = state.read_bytes()
    values = [score + (-1) ** n * 0.02 for n, score in enumerate(scores(2))]
    near = saved(tmp_path, "near", values)
    for counts_as, code in (((), 3), (("--inconclusive", "pass"), 0)):
        ran = check(near, state, *LENIENT, "--margin", "0.001", *counts_as)
        assert ran.code == code and state.read_bytes() == before, ran


def test_the_baseline_has_the_name_of_the_candidate_or_another(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    again = saved(tmp_path, "first", scores(5, 0.01))
    ran = check(again, state, "-f", "json")
    assert {row["baseline"] for row in json.loads(ran.out)["rows"]} == {"first (baseline)"}
    assert kept(state)["accepted"]["name"] == "first"


def test_the_file_is_scores_that_every_command_reads(tmp_path: Path) -> None:
    state, first = begun(tmp_path)
    now = scores(3, 0.01)
    ran = riskeval("check", saved(tmp_path, "now", now), "-b", state)
    assert ran.code == 2 and "what --ratchet wrote is given with --ratchet" in ran.err
    assert check(saved(tmp_path, "now", now), state).code == 0
    ran = riskeval("score", state, "-b", "anchor", "-f", "json")
    row = next(row for row in json.loads(ran.out)["rows"] if row["run"] == "accepted")
    assert row["mean"] == pytest.approx(np.mean(now))
    assert row["baseline_mean"] == pytest.approx(np.mean(first))


# ---------------------------------------------------------------- the audit


def looked(folder: Path, shift: float, *more: str) -> tuple[Path, Ran]:
    """A ratchet that looks at each change, and a look at a change by so much."""
    state, _ = begun(folder, "--look-every", "1")
    return state, check(saved(folder, "now", scores(3, shift)), state, *ANY, *more)


def test_a_loss_since_the_anchor_is_an_alarm_that_names_both_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_COMMIT_SHA", "0123456789abcdef")
    state, ran = looked(tmp_path, -0.05, "-f", "json")
    document = json.loads(ran.out)
    assert ran.code == 1 and document["anchor"]["alarm"] is True and not document["passed"]
    row = next(row for row in document["rows"] if row["rule"] == "no loss since the anchor")
    assert row["outcome"] == "fail" and row["worst_topics"] == []
    assert row["p_adj"] == pytest.approx(10 * row["p"])
    (said,) = [each for each in document["verdicts"] if each["rule"] == "anchor"]
    assert "ALARM: 1 change from the anchor, first (commit 0123456789)" in said["text"]
    assert "to now (commit 0123456789)" in said["text"]
    assert said["text"].endswith("Undo what lost it, or take the loss with --new-anchor.")
    (gate,) = [each for each in document["verdicts"] if each["rule"] == "gate"]
    assert "for now the mean has fallen since the anchor (-0.0" in gate["text"]
    assert kept(state)["steps"] == kept(state)["looks"] == 0, "an alarm accepts nothing"
    for format in ("table", "junit", "github", "sarif", "codequality", "markdown", "csv"):
        ran = check(tmp_path / "now.csv", state, *ANY, "-f", format)
        assert ran.code == 1 and "no loss since the anchor" in ran.out, format
        if format in ("github", "codequality"):  # which the gate's topics have no part in
            assert "ALARM" in ran.out and "to blame" not in ran.out


def test_a_look_that_finds_nothing_is_counted(tmp_path: Path) -> None:
    state, ran = looked(tmp_path, 0.01)
    assert ran.code == 0 and kept(state)["looks"] == kept(state)["steps"] == 1
    assert "no loss since the anchor" in ran.out
    said = " ".join(ran.out.split())
    assert "no loss is shown since the anchor" in said and "anchor holds" not in said


def test_looks_come_after_so_many_accepted_changes(tmp_path: Path) -> None:
    state, _ = begun(tmp_path, "--look-every", "2")
    told = []
    for seed in range(3, 8):
        ran = check(saved(tmp_path, f"c{seed}", scores(seed)), state, *ANY)
        told.append("no loss since the anchor" in ran.out)
    assert told == [False, True, False, True, False]
    assert (kept(state)["steps"], kept(state)["looks"]) == (5, 2)


def test_spent_looks_leave_it_open_until_there_is_a_new_anchor(tmp_path: Path) -> None:
    state, _ = begun(tmp_path, "--look-every", "1", "--looks", "1")
    assert check(saved(tmp_path, "one", scores(3)), state, *ANY).code == 0
    before = state.read_bytes()
    two = saved(tmp_path, "two", scores(4))
    ran = check(two, state, *ANY)
    assert ran.code == 3 and "its looks (1) are spent" in " ".join(ran.out.split())
    assert check(two, state, *ANY, "--inconclusive", "pass").code == 0
    assert state.read_bytes() == before
    assert check(two, state, *ANY, "--new-anchor").code == 0
    assert check(saved(tmp_path, "three", scores(4, 0.01)), state, *ANY).code == 0


def test_a_new_anchor_takes_a_loss_knowingly_and_keeps_the_topics(tmp_path: Path) -> None:
    state, ran = looked(tmp_path, -0.05)
    assert ran.code == 1
    before = split(state)
    ran = check(tmp_path / "now.csv", state, *ANY, "--new-anchor")
    assert ran.code == 0 and "The anchor is now (SHA-256 " in " ".join(ran.out.split())
    assert "1 accepted change, mean -0.0" in " ".join(ran.out.split())
    record = kept(state)
    assert (record["anchor"]["name"], record["steps"], record["looks"]) == ("now", 0, 0)
    assert split(state) == before
    rows = json.loads(state.read_bytes())["rows"]
    by_run = {
        name: [r["score"] for r in rows if r["run"] == name] for name in ("anchor", "accepted")
    }
    assert by_run["anchor"] == by_run["accepted"] == pytest.approx(scores(3, -0.05))


def test_a_build_that_changes_nothing_spends_nothing(tmp_path: Path) -> None:
    """Nightly builds of the same system are not changes."""
    state, _ = begun(tmp_path, "--look-every", "1", "--looks", "1")
    before = state.read_bytes()
    same = saved(tmp_path, "same", scores(2))
    for _ in range(3):
        ran = check(same, state, *ANY)
        assert ran.code == 0 and state.read_bytes() == before
        assert "scores as the run accepted last" in ran.err
        assert "no change was accepted" in " ".join(ran.out.split())
    assert check(same, state, *ANY, "--new-anchor").code == 0
    assert kept(state)["anchor"]["name"] == "same"


def test_what_is_not_accepted_is_in_no_figure_of_the_accepted_runs(tmp_path: Path) -> None:
    """Spent looks: the gate passes the candidate, and the audit does not."""
    state, _ = begun(tmp_path, "--look-every", "1", "--looks", "1")
    call = (state, *ANY, "-f", "json")
    one = json.loads(check(saved(tmp_path, "one", scores(3, 0.002)), *call).out)["anchor"]
    ran = check(saved(tmp_path, "two", scores(4, 0.05)), *call)
    assert ran.code == 3 and json.loads(ran.out)["anchor"] == one


def test_a_new_anchor_has_no_figures_yet(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    ran = check(saved(tmp_path, "now", scores(3, 0.02)), state, "--new-anchor", "-f", "json")
    anchor = json.loads(ran.out)["anchor"]
    assert (anchor["anchor"]["name"], anchor["steps"], anchor["mean_diff"]) == ("now", 0, None)


@pytest.mark.parametrize("order", [("all", "odd"), ("odd", "all")])
def test_judges_of_other_topics_share_the_topics_that_are_set_aside(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    lines = QRELS.read_text(encoding="utf-8").splitlines()
    (tmp_path / "all").write_text("\n".join(lines) + "\n", encoding="utf-8")
    odd = [line for line in lines if int(line.split()[0]) % 2]
    (tmp_path / "odd").write_text("\n".join(odd) + "\n", encoding="utf-8")
    state = tmp_path / "state.json"
    judges = [word for name in order for word in ("-q", tmp_path / name)]
    call = (*judges, "-m", "ERR@20", "--ratchet", state, *ANY, "-f", "json")
    for run in ("indriCASP", "neuralMix"):
        ran = riskeval("check", SAMPLES / f"{run}.run", *call)
        assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    known = [str(topic) for topic in range(101, 151)]
    gate, audit = Ratchet.of(kept(state)).split(known)
    told = {s["about"]: s["numbers"] for s in document["verdicts"] if s["rule"] == "gate"}
    for measure, figures in document["anchor"]["measures"].items():
        own = {topic for topic in known if "[all]" in measure or int(topic) % 2}
        assert figures["topics"] == len({known[place] for place in audit} & own)
        assert told[measure]["topics"] == len({known[place] for place in gate} & own)


def test_a_measure_is_never_left_behind(tmp_path: Path) -> None:
    state, run = tmp_path / "state.json", SAMPLES / "caspPlus.run"
    call = ("check", run, "-q", QRELS, "--ratchet", state, "-m")
    assert riskeval(*call, "ERR@20,nDCG@20").code == 0
    before = state.read_bytes()
    for other in ("ERR@20", "ERR@20,nDCG@20,AP"):
        ran = riskeval(*call, other)
        assert ran.code == 2 and "other-" in ran.err and "to begin anew" in ran.err
    assert state.read_bytes() == before


def test_weights_of_topics_stay_those_that_it_was_begun_with(tmp_path: Path) -> None:
    weights, other = tmp_path / "w.tsv", tmp_path / "other.tsv"
    for file, heavy in ((weights, 5), (other, 9)):
        lines = [f"{topic}\t{heavy if n < 9 else 1}\n" for n, topic in enumerate(TOPICS)]
        file.write_text("topic\tweight\n" + "".join(lines), encoding="utf-8")
    state, _ = begun(tmp_path, "--weights", str(weights))
    now = saved(tmp_path, "now", scores(3, 0.01))
    for more in ((), ("--weights", str(other))):
        ran = check(now, state, *more)
        assert ran.code == 2 and "it was begun with other weights of topics" in ran.err
    assert check(now, state, "--weights", str(weights)).code == 0
    (tmp_path / "plain").mkdir()
    plain, _ = begun(tmp_path / "plain")
    ran = check(now, plain, "--weights", str(weights))
    assert ran.code == 2 and "it was begun with no weights of topics" in ran.err


def test_of_calls_at_once_each_accepted_one_is_counted(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    accepted = 0
    for step in range(1, 4):
        files = [saved(tmp_path, f"c{step}{n}", scores(step * 2 + n, 0.01 * step)) for n in (0, 1)]
        call = (sys.executable, "-m", "riskcli", "check", "--ratchet", state, *ANY, "-f", "json")
        calls = [
            subprocess.Popen(
                [*call, file], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT
            )
            for file in files
        ]
        for each in calls:
            _, told = each.communicate(timeout=120)
            assert each.returncode == 0 or b"changed" in told
            accepted += each.returncode == 0
    assert kept(state)["steps"] == accepted >= 3


def test_a_change_by_one_measure_alone_is_a_change() -> None:
    last, now = scores(2), scores(3)
    of = [
        ScoreMatrix(name, ("a", "b", "c"), tuple(TOPICS), np.array([last, last, row]))
        for name, row in (("AP", last), ("RR", now))
    ]
    ratchet = Ratchet.begun(AuditPlan(), Build("a"), of)
    audit, _ = audited(ratchet, of, Build("c"), accepted=True)
    assert audit.ratchet.steps == 1 and not audit.stays


def test_a_file_left_out_accepts_nothing(tmp_path: Path) -> None:
    state, broken = tmp_path / "state.json", tmp_path / "broken.csv"
    broken.write_text("run,topic,measure,score\nx,1,AP,none\n", encoding="utf-8")
    for name, seed in (("first", 2), ("second", 3)):
        file = saved(tmp_path, name, scores(seed))
        call = ("check", file, broken, "--ratchet", state, *ANY, "--on-error", "skip")
        ran = riskeval(*call)
        assert ran.code == 1 and "is left unchanged" in ran.err, ran
        if state.exists():
            told = json.loads(riskeval(*call, "-f", "json").out)
            assert told["anchor"]["steps"] == 0 and len(told["skipped"]) == 1
        assert state.exists() == (name == "second")
        riskeval("check", file, "--ratchet", state, *ANY)


def test_a_human_part_is_refused_from_the_first_call_on(tmp_path: Path) -> None:
    state, run = tmp_path / "state.json", SAMPLES / "caspPlus.run"
    ran = riskeval("check", run, "-m", "nDCG@20", "-q", QRELS, "--human", QRELS, "--ratchet", state)
    assert ran.code == 2 and "scores alone" in ran.err and not state.exists()


def test_a_candidate_that_the_gate_refuses_becomes_no_anchor(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    before = state.read_bytes()
    assert check(saved(tmp_path, "bad", scores(4, -0.1)), state, "--new-anchor").code == 1
    assert state.read_bytes() == before


def test_the_same_loss_on_every_topic_is_not_decided_by_a_test(tmp_path: Path) -> None:
    state, first = begun(tmp_path, "--look-every", "1")
    equal = check(saved(tmp_path, "same", first), state, *ANY)
    assert equal.code == 0
    other, whole = tmp_path / "other.json", np.round(np.array(first) * 64) / 64
    assert check(saved(tmp_path, "base", whole.tolist()), other, "--look-every", "1").code == 0
    ran = check(saved(tmp_path, "flat", (whole - 0.0625).tolist()), other, *ANY)
    assert ran.code == 3 and "cannot be tested on these scores" in " ".join(ran.out.split())


def test_measures_share_the_error_of_a_look() -> None:
    topics = tuple(TOPICS)
    found = []
    for measures in (("AP",), ("AP", "RR")):
        rows = np.array([scores(2), scores(2), scores(3, -0.01)])
        of = [ScoreMatrix(name, ("a", "b", "c"), topics, rows) for name in measures]
        ratchet = Ratchet.begun(AuditPlan(look_every=1), Build("a"), of[:1])
        audit, looks = audited(ratchet, of, Build("c"), accepted=True)
        found.append(looks[0].p_adjusted)
        assert [each.measure for each in audit.drifts] == [*measures]
        assert ("measures" in audit.record()) == (len(measures) > 1)
    assert found[1] == pytest.approx(2 * (found[0] or 0))


# ---------------------------------------------------------------- topics that no verdict uses


@given(st.lists(st.text(min_size=1), min_size=6, max_size=60, unique=True), st.randoms())
def test_the_split_depends_on_names_and_salt_alone(names: list[str], random: Any) -> None:
    ratchet = Ratchet(AuditPlan(0.5), "salt", Build("a"), Build("a"))
    gate, audit = ratchet.split(names)
    assert sorted([*gate, *audit]) == [*range(len(names))]
    assert len(audit) == round(len(names) / 2)
    shuffled = random.sample(names, len(names))
    _, again = ratchet.split(shuffled)
    assert {shuffled[place] for place in again} == {names[place] for place in audit}


def test_each_share_is_set_aside_and_other_salts_set_aside_others() -> None:
    halves = set()
    for salt in "abcdefgh":
        ratchet = Ratchet(AuditPlan(0.2), salt, Build("a"), Build("a"))
        _, audit = ratchet.split(TOPICS)
        assert len(audit) == 8
        halves.add(tuple(audit))
    assert len(halves) == 8


@given(st.integers(0, 2**32))
def test_no_verdict_of_the_gate_uses_the_topics_of_the_audit(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = generator.uniform(0.1, 0.9, (2, len(TOPICS)))
    matrix = ScoreMatrix("AP", ("old", "new"), tuple(TOPICS), rows)
    ratchet = Ratchet.begun(AuditPlan(), Build("old"), [matrix.of_runs([0])])
    gate, audit = ratchet.split(TOPICS)
    other = rows.copy()
    other[:, audit] = generator.uniform(0.1, 0.9, (2, len(audit)))
    verdicts = [
        judge(ScoreMatrix("AP", ("old", "new"), tuple(TOPICS), each).of_topics(gate.tolist()),
              "old", "strict").result().rows
        for each in (rows, other)
    ]  # fmt: skip
    assert verdicts[0] == verdicts[1]


def test_a_rule_on_a_topic_of_the_audit_is_refused(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    gate, audit = split(state)
    now = saved(tmp_path, "now", scores(3, 0.01))
    assert check(now, state, "--require", f"loss({TOPICS[gate[0]]}) <= 1").code == 0
    ran = check(now, state, "--require", f"loss({TOPICS[audit[0]]}) <= 1")
    assert ran.code == 2 and "is set aside for the audit" in ran.err


def test_the_first_build_shows_nothing_of_the_audit(tmp_path: Path) -> None:
    values, state = scores(2), tmp_path / "state.json"
    ran = check(saved(tmp_path, "first", values), state)
    gate, _ = split(state)
    assert f"mean {np.mean(np.array(values)[gate]):.4f} on 20 topics" in ran.out


# ---------------------------------------------------------------- what is refused


def test_the_plan_of_the_file_wins_and_a_warning_says_where_it_differs(tmp_path: Path) -> None:
    state, _ = begun(tmp_path, "--looks", "5", "--audit", "0.4")
    now = saved(tmp_path, "now", scores(3))
    ran = check(now, state, "--looks", "5", "--audit", "0.3", "--gamma", "0.01")
    assert ran.code == 0 and "--looks" not in ran.err
    assert (
        "for its audit what it was begun with: --audit 0.4, not 0.3 and --gamma 0.05, not 0.01"
        in ran.err
    )
    assert kept(state)["plan"] == {"audit": 0.4, "looks": 5, "look_every": 10, "gamma": 0.05}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-b", "first"), "leave out --baseline"),
        (("--baseline-sha256", "0" * 64), "leave out --baseline-sha256"),
        (("--unjudged", "bounds"), "leave out --unjudged bounds"),
        (("--to-judge", "pool.txt"), "leave out --unjudged bounds (and --to-judge)"),
        (("--audit", "1"), "is not in the range"),
        (("--ratchet", "-", "-o", "out.json"), "it must be a plain file"),
        (("--ratchet", "."), "it must be a plain file"),
        (("--ratchet", "none/state.json"), "there is no folder none"),
        (("--audit", "0.01"), "each needs 3"),
    ],
)
def test_calls_that_are_refused(tmp_path: Path, more: tuple[str, ...], message: str) -> None:
    state = tmp_path / "state.json"
    ran = riskeval(
        "check", saved(tmp_path, "now", scores(3)), "--ratchet", state, *more, cwd=tmp_path
    )
    assert ran.code == 2 and message in ran.err, ran
    assert not state.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ("--policy", "nosuch"), ("--require", "nosuch > 1"), ("--require", "loss(nosuch) <= 0"),
        ("--margin", "zrisk=1"), ("--gamma", "2"), ("--population", "nosuch"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_first_call_refuses_what_the_next_would(tmp_path: Path, wrong: tuple[str, ...]) -> None:
    file, state = saved(tmp_path, "first", scores(2)), tmp_path / "state.json"
    ran = check(file, state, *wrong)
    assert ran.code == 2 and not state.exists(), ran


def test_nobody_can_allow_the_audit(tmp_path: Path) -> None:
    state, _ = begun(tmp_path, "--look-every", "1")
    gate, audit = split(state)
    exceptions = tmp_path / "allow.toml"
    entries = [
        f'[[allow]]\ntopic = "{topic}"\nuntil = 2999-01-01\nwhy = "known"\n' for topic in TOPICS
    ]
    exceptions.write_text("".join(entries), encoding="utf-8")
    rules = ("--policy", "none", "--require", "max_loss <= 0.001", "--allow", str(exceptions))
    ran = check(saved(tmp_path, "bad", scores(3, -0.05)), state, *rules, "-f", "json")
    document = json.loads(ran.out)
    by_rule = {row["rule"]: row["outcome"] for row in document["rows"]}
    assert ran.code == 1 and document["anchor"]["alarm"] is True
    assert by_rule == {"max_loss <= 0.001": "pass", "no loss since the anchor": "fail"}
    for topic in (TOPICS[place] for place in audit):
        assert f"{topic} is set aside for the audit, which allows nothing" in ran.err
    assert not any(f"{TOPICS[place]} is set aside" in ran.err for place in gate)


def test_one_candidate_a_call(tmp_path: Path) -> None:
    files = [saved(tmp_path, name, scores(3)) for name in ("one", "two")]
    ran = riskeval("check", *files, "--ratchet", tmp_path / "state.json")
    assert ran.code == 2 and "one candidate a call, found one, two" in ran.err


def test_its_options_need_it(tmp_path: Path) -> None:
    files = [saved(tmp_path, name, scores(3)) for name in ("one", "two")]
    for option in (("--new-anchor",), ("--audit", "0.5"), ("--looks", "3"), ("--look-every", "2")):
        ran = riskeval("check", *files, "-b", "two", *option)
        assert ran.code == 2 and "need --ratchet FILE" in ran.err


def test_a_file_that_is_no_ratchet_is_left_alone(tmp_path: Path) -> None:
    now = saved(tmp_path, "now", scores(3))
    scores_kept = tmp_path / "kept.json"
    assert riskeval("matrix", now, "-o", scores_kept).code == 0
    empty, broken = tmp_path / "empty.json", tmp_path / "broken.json"
    empty.write_bytes(b"")
    broken.write_text('{"ratchet": {"plan": 3}}', encoding="utf-8")
    for state in (scores_kept, empty, broken):
        before = state.read_bytes()
        ran = check(saved(tmp_path, "next", scores(4)), state)
        assert ran.code == 2 and state.read_bytes() == before and "Traceback" not in ran.err, ran
        assert state.name in ran.err


def test_a_file_that_was_edited_is_refused(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    edited = state.read_text(encoding="utf-8").replace('"looks": 10', '"looks": 9')
    state.write_text(edited, encoding="utf-8")
    ran = check(saved(tmp_path, "now", scores(3)), state)
    assert ran.code == 2 and "altered" in ran.err and state.read_text(encoding="utf-8") == edited


def test_other_topics_and_measures_are_refused_with_the_way_on(tmp_path: Path) -> None:
    state, _ = begun(tmp_path)
    before = state.read_bytes()
    fewer = saved(tmp_path, "fewer", scores(3)[1:], TOPICS[1:])
    ran = check(fewer, state)
    assert (
        ran.code == 2
        and "its topics are others" in ran.err
        and "to begin anew, move state.json away" in ran.err
    )
    text = (tmp_path / "first.csv").read_text(encoding="utf-8").replace(",AP,", ",RR,")
    (tmp_path / "rr.csv").write_text(text, encoding="utf-8")
    ran = check(tmp_path / "rr.csv", state)
    assert ran.code == 2 and "begin anew" in ran.err and state.read_bytes() == before


def test_other_judgements_are_refused_or_leave_it_unchanged(tmp_path: Path) -> None:
    """What they say of either run may be different."""
    lower = tmp_path / "lower.qrels"
    lines = QRELS.read_text(encoding="utf-8").splitlines()
    lower.write_text("\n".join(f"{line.rsplit(None, 1)[0]} {min(int(line.split()[3]), 1)}"
                               for line in lines) + "\n", encoding="utf-8")  # fmt: skip
    state, run = tmp_path / "state.json", SAMPLES / "caspPlus.run"
    call = ("check", run, "-m", "nDCG@20", "--ratchet", state, "-q")
    assert riskeval(*call, QRELS).code == 0
    before = state.read_bytes()
    ran = riskeval(*call, lower)
    assert ran.code == 2 and "other-judgements" in ran.err
    ran = riskeval(*call, lower, "--other-judgements", "allow")
    assert ran.code in (0, 1) and "judged by scores from other judgements" in ran.err
    assert state.read_bytes() == before
    other = ("check", SAMPLES / "neuralMix.run", *call[2:], QRELS, *ANY)
    assert riskeval(*other).code == 0 and kept(state)["steps"] == 1
    assert kept(state)["accepted"]["sha256"] is not None


def test_a_file_that_another_call_replaced_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, _ = begun(tmp_path)
    other = state.read_bytes().replace(b"\n", b" \n", 1)

    def meanwhile(*given: Any, **named: Any) -> Any:
        state.write_bytes(other)
        return judge(*given, **named)

    monkeypatch.setattr("riskcli.analyses.check.ratchet_file.judge", meanwhile)
    ran = check(saved(tmp_path, "now", scores(3)), state)
    assert ran.code == 2 and ": changed: " in ran.err and state.read_bytes() == other


def test_plans_that_make_no_sense() -> None:
    for plan in ({"audit": 0.0}, {"audit": 1.0}, {"looks": 0}, {"look_every": 0}):
        with pytest.raises(UsageError, match="expected a share between 0 and 1"):
            AuditPlan(**plan)


# ---------------------------------------------------------------- a hundred changes


@pytest.mark.slow
def test_a_gate_alone_drifts_and_the_audit_sees_it() -> None:
    """A small part of the table in the documentation."""
    known, generator = simulation.shapes(), np.random.default_rng(5)
    lossy = simulation.Cell((-0.002,), 25, 100)
    found = [simulation.run(lossy, known, generator) for _ in range(6)]
    assert all(each.alarm is not None and each.alarm <= 40 for each in found)
    assert np.mean([each.drift for each in found]) > -0.06
