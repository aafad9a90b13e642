"""A gate whose documents are partly judged, against every completion of the judgements."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import riskcli
from riskcli import Evaluation, Rules
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.core.arrays import Floats
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers import reference
from tests.helpers.inprocess import riskeval

TOPICS = 5
MEASURE = "P@3"
Grades = dict[str, dict[str, int]]


def case(seed: int, worse: float) -> tuple[dict[str, dict[str, list[str]]], Grades]:
    """Rankings of three of six documents a topic, up to three unjudged; `new` is worse so often."""
    rng = random.Random(seed)
    runs: dict[str, dict[str, list[str]]] = {"new": {}, "old": {}}
    grades: Grades = {}
    for topic in map(str, range(TOPICS)):
        documents = [f"{topic}{letter}" for letter in "abcdef"]
        runs["new"][topic], runs["old"][topic] = (rng.sample(documents, 3) for _ in runs)
        grades[topic] = {
            docno: int(rng.random() < (1 - worse if docno in runs["new"][topic] else worse))
            for docno in documents
        }
        seen = [*dict.fromkeys(runs["new"][topic] + runs["old"][topic])]
        for docno in rng.sample(seen, rng.choice([0, 0, 1, 2])):
            del grades[topic][docno]
    return runs, grades


def evaluated(runs: dict[str, dict[str, list[str]]], grades: Grades, rule: str) -> Evaluation:
    scored = {
        run: {
            topic: {d: -float(rank) for rank, d in enumerate(found)} for topic, found in own.items()
        }
        for run, own in runs.items()
    }
    rules = Rules(topics="judged", unjudged=rule)  # type: ignore[arg-type]
    return riskcli.score_runs(scored, grades, [MEASURE], rules=rules)


def completions(
    runs: dict[str, dict[str, list[str]]], grades: Grades
) -> list[tuple[Floats, Floats]]:
    """The baseline's scores and the candidate's by each completion."""
    by_topic = []
    for topic, known in grades.items():
        new, old = runs["new"][topic], runs["old"][topic]
        unjudged = [docno for docno in dict.fromkeys(new + old) if docno not in known]
        scores = set()
        for given in product((0, 1), repeat=len(unjudged)):
            full = known | dict(zip(unjudged, given, strict=True))
            scores.add((reference.precision(old, full, 3), reference.precision(new, full, 3)))
        by_topic.append(sorted(scores))
    return [(np.array(c)[:, 0], np.array(c)[:, 1]) for c in product(*by_topic)]


MONOTONE: dict[str, Callable[[Floats, Floats], bool]] = {
    "mean_diff >= -0.1": lambda old, new: bool((new - old).mean() >= -0.1),
    "mean >= baseline - 0.05": lambda old, new: bool(new.mean() >= old.mean() - 0.05),
    "urisk@2 > -0.2": lambda old, new: bool(
        np.where(new < old, 3 * (new - old), new - old).mean() > -0.2
    ),
    "losses <= 1": lambda old, new: bool((new < old - 1e-12).sum() <= 1),
    "wins > 1": lambda old, new: bool((new > old + 1e-12).sum() > 1),
    "max_loss <= 0.4": lambda old, new: bool((old - new).max() <= 0.4),
    "loss(2) <= 0": lambda old, new: bool(old[2] - new[2] <= 1e-12),
    "risk < 0.12": lambda old, new: bool(np.maximum(old - new, 0).mean() < 0.12),
}
OTHERS: dict[str, Callable[[Floats, Floats], bool]] = {
    "mean >= 0.4": lambda _old, new: bool(new.mean() >= 0.4),
    "mean >= 1.1 * baseline": lambda old, new: bool(new.mean() >= 1.1 * old.mean()),
    "losses20 <= 1": lambda old, new: bool(((old > 0) & (new - old < -0.2 * old)).sum() <= 1),
    "wins == 2": lambda old, new: bool((new > old + 1e-12).sum() == 2),
    "max_loss != 0": lambda old, new: bool(max((old - new).max(), 0) > 1e-12),
}
CASES = [(seed, worse) for worse in (0.3, 0.5, 0.8) for seed in range(4)]


def test_rules_say_what_all_completions_say() -> None:
    seen: dict[str, set[str]] = {}
    for seed, worse in CASES:
        runs, grades = case(seed, worse)
        gate = judge(evaluated(runs, grades, "bounds"), "old", "none", rules=[*MONOTONE, *OTHERS])
        every = completions(runs, grades)
        for finding in gate.verdicts[0].findings:
            holds = {(MONOTONE | OTHERS)[finding.rule](old, new) for old, new in every}
            if finding.outcome == "fail":
                assert holds == {False}, finding
            if finding.rule in MONOTONE:
                expected = "inconclusive" if len(holds) > 1 else "pass" if True in holds else "fail"
                assert finding.outcome == expected, (finding, holds)
                seen.setdefault(finding.rule, set()).add(finding.outcome)
    assert all(outcomes == {"pass", "fail", "inconclusive"} for outcomes in seen.values()), seen


def test_a_score_stays_open_where_run_and_baseline_gain_alike() -> None:
    grades = {topic: {f"{topic}a": 1, f"{topic}b": 0} for topic in "12"}
    same = {topic: [f"{topic}new", f"{topic}b", f"{topic}a"] for topic in "12"}
    expected = {
        "mean >= 0.5": "inconclusive",  # with the unjudged documents relevant it is 2 / 3
        "score(1) >= 0.5": "inconclusive",
        "georisk >= 0.9": "inconclusive",
        "mean >= baseline + 0.1": "fail",  # the difference is 0, whatever they are
        "mean_diff > 0": "fail",
        "trisk > 0": "fail",
        "losses <= 0": "pass",
    }
    runs = {"new": same, "old": same}
    gate = judge(evaluated(runs, grades, "bounds"), "old", "none", rules=[*expected])
    assert {each.rule: each.outcome for each in gate.verdicts[0].findings} == expected


def of_test(scores: Evaluation | ScoreMatrix, name: str, **more: Any) -> RuleOutcome:
    findings = judge(scores, "old", "standard", **more).verdicts[0].findings
    return next(each for each in findings if each.test is not None and each.test.of == name)


def t_of(delta: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nan_to_num(delta.mean() / (delta.std(ddof=1) / np.sqrt(len(delta)))))


CRITICAL = float(stats.t.ppf(1 - 0.05 / 2, TOPICS - 1))
"""Two tests are corrected together."""


@pytest.mark.parametrize("worse", [0.6, 0.85, 0.95])
def test_the_mean_fails_only_where_all_completions_do(worse: float) -> None:
    said = []
    for seed in range(7):
        runs, grades = case(seed, worse)
        bounds, zero = (of_test(evaluated(runs, grades, r), "mean") for r in ("bounds", "zero"))
        found = [t_of(new - old) for old, new in completions(runs, grades)]
        if zero.outcome == "inconclusive":  # the same difference on every topic
            assert bounds.why == zero.why
            continue
        if bounds.outcome == "fail":
            assert zero.outcome == "fail"
            assert max(found) < -CRITICAL
        if bounds.outcome == "inconclusive":
            assert zero.outcome == "fail" or min(found) < -CRITICAL
            assert bounds.why.startswith("not decidable from these judgements: the mean difference")
        if bounds.outcome == "pass":
            assert zero.outcome == "pass"
            assert min(found) >= -CRITICAL
        said.append(bounds.outcome)
    assert len(set(said)) > 1


def test_a_margin_is_kept_only_by_all_completions() -> None:
    said = []
    for seed, margin in product(range(6), (0.3, 0.9)):
        runs, grades = case(seed, 0.3)
        bounds = of_test(evaluated(runs, grades, "bounds"), "mean", margin=margin)
        found = [t_of(new - old + margin) for old, new in completions(runs, grades)]
        if bounds.outcome == "pass":
            assert min(found) > stats.t.ppf(0.95, TOPICS - 1)
        said.append(bounds.outcome)
    assert {"pass", "inconclusive"} <= set(said)


def test_georisks_margin_is_kept_only_where_the_worst_completion_keeps_it() -> None:
    said = []
    for seed, margin in product(range(8), (0.1, 0.25)):
        runs, grades = case(seed, 0.5)
        margins = {"georisk": margin}
        bounds = of_test(evaluated(runs, grades, "bounds"), "georisk", margin=margins)
        worst = np.array(min(completions(runs, grades), key=lambda c: float((c[1] - c[0]).mean())))
        lowest = ScoreMatrix(MEASURE, ("old", "new"), tuple(map(str, range(TOPICS))), worst)
        if bounds.outcome == "pass":
            assert of_test(lowest, "georisk", margin=margins).outcome == "pass"
        said.append(bounds.outcome)
    assert {"pass", "inconclusive"} <= set(said)


def test_georisk_is_not_monotone_and_fails_only_where_nothing_is_open() -> None:
    said = []
    for seed in range(6):
        runs, grades = case(seed, 0.95)
        zero, bounds = (of_test(evaluated(runs, grades, r), "georisk") for r in ("zero", "bounds"))
        is_open = any(
            len({*scores}) > 1
            for scores in zip(*(new.tolist() for _, new in completions(runs, grades)), strict=True)
        )
        if is_open and zero.outcome == "fail":
            assert bounds.outcome == "inconclusive"
        said.append((zero.outcome, bounds.outcome))
    assert ("fail", "inconclusive") in said


def test_what_no_grade_changes_is_judged_as_ever() -> None:
    runs, grades = case(1, 0.5)
    rules = ["topics >= 5", "topics >= 6", "judged >= 0.1", "judged > 1", "losses_possible <= 5"]
    gate = judge(evaluated(runs, grades, "bounds"), "old", "none", rules=rules)
    outcomes = [each.outcome for each in gate.verdicts[0].findings]
    assert outcomes == ["pass", "fail", "pass", "fail", "pass"]


# ---------------------------------------------------------------- exit codes


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A candidate with a document a topic that nobody judged, first, and in `full` is relevant."""
    lines: dict[str, list[str]] = {
        name: [] for name in ("new.run", "old.run", "part", "full", "none")
    }
    for topic in range(1, 31):
        order = {"new.run": ["x", "a", "b"], "old.run": ["a", "b", "c"]}
        for name, found in order.items():
            lines[name] += [
                f"{topic} Q0 {d} {n} {9 - n} {name[:3]}\n" for n, d in enumerate(found, 1)
            ]
        known = [f"{topic} 0 {docno} {int(docno == 'ab'[topic % 2])}\n" for docno in "abc"]
        lines["part"] += known
        lines["full"] += [*known, f"{topic} 0 x 1\n"]
        lines["none"] += [*known, f"{topic} 0 x {int(topic % 10 == 0)}\n"]
    for name, own in lines.items():
        (tmp_path / name).write_text("".join(own))
    return tmp_path


@pytest.mark.parametrize(
    ("qrels", "more", "code"),
    [
        ("part", (), 1),
        ("part", ("--unjudged", "bounds"), 3),
        ("part", ("--unjudged", "bounds", "--inconclusive", "pass"), 0),
        ("part", ("--unjudged", "bounds", "--inconclusive", "fail"), 1),
        ("part", ("--unjudged", "bounds", "--require", "judged >= 0.8"), 1),
        ("full", ("--unjudged", "bounds"), 0),
        ("none", ("--unjudged", "bounds"), 1),
    ],
)
def test_exit_codes(files: Path, qrels: str, more: tuple[str, ...], code: int) -> None:
    call = ("check", "new.run", "-b", "old.run", "-q", qrels, "-m", "nDCG@3", "--policy", "lenient")
    ran = riskeval(*call, *more, cwd=files)
    assert ran.code == code, ran
    assert ("not decidable from these judgements" in " ".join(ran.out.split())) == (
        "bounds" in more and qrels == "part" and "--require" not in more
    )
