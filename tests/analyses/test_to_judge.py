"""What to judge next: which documents, in which order, and the file that assessors' tools read."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import riskcli
from riskcli import Rules, UsageError
from riskcli.analyses.to_judge import PoolToJudge
from riskcli.scores.files import POOL_TAG
from tests.helpers.inprocess import riskeval
from tests.helpers.program import Ran

TOPICS = range(1, 13)
DEPTH = 6
BOUNDS = Rules(measures=("nDCG@6",), unjudged="bounds")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Three runs that share documents; half of what they find is judged, and all in `full`."""
    rng = random.Random(5)
    full, half = [], []
    runs: dict[str, list[str]] = {"old": [], "new": [], "third": []}
    for topic in TOPICS:
        documents = [f"d{topic}-{number}" for number in range(10)]
        for name, lines in runs.items():
            found = rng.sample(documents, 8)
            lines += [
                f"{topic} Q0 {docno} {rank} {99 - rank} {name}\n"
                for rank, docno in enumerate(found, 1)
            ]
        grades = [f"{topic} 0 {docno} {rng.choice([0, 0, 1, 2])}\n" for docno in documents]
        grades[0] = f"{topic} 0 {documents[0]} 2\n"
        full += grades
        half += [grades[0], *rng.sample(grades[1:], 5)]
    for name, lines in {**runs, "full": full, "half": half}.items():
        (tmp_path / (name if name in ("full", "half") else f"{name}.run")).write_text(
            "".join(lines)
        )
    return tmp_path


def evaluated(here: Path, qrels: str = "half", rules: Rules = BOUNDS) -> riskcli.Evaluation:
    return riskcli.evaluate(sorted(here.glob("*.run")), qrels=here / qrels, rules=rules)


def judged_in(here: Path, qrels: str = "half") -> set[tuple[str, str]]:
    lines = map(str.split, (here / qrels).read_text().splitlines())
    return {(topic, docno) for topic, _, docno, _ in lines}


def tops(here: Path, *runs: str) -> set[tuple[str, str]]:
    """The first documents of these runs."""
    lines = [line.split() for run in runs for line in (here / f"{run}.run").read_text().split("\n")]
    return {(line[0], line[2]) for line in lines if line and int(line[3]) <= DEPTH}


def named(pool: PoolToJudge) -> list[tuple[str, str]]:
    return [(each.topic, each.docno) for each in pool.documents]


def test_it_names_what_nobody_judged_in_either_top_once(here: Path) -> None:
    scores = evaluated(here)
    pair = riskcli.to_judge(scores, "old", "new")
    assert set(named(pair)) == tops(here, "old", "new") - judged_in(here)
    every = riskcli.to_judge(scores, "old")
    assert set(named(every)) == tops(here, "old", "new", "third") - judged_in(here)
    for pool in (pair, every):
        assert max(Counter(named(pool)).values()) == 1
        shares = [each.share for each in pool.documents]
        assert shares == sorted(shares, reverse=True) and shares[-1] > 0
    assert (pair.compared, every.compared) == (1, 2)


def test_once_they_are_judged_nothing_is_left_to_judge(here: Path) -> None:
    pool = riskcli.to_judge(evaluated(here), "old", "new")
    lines = (here / "full").read_text().splitlines(keepends=True)
    more = [line for line in lines if (line.split()[0], line.split()[2]) in named(pool)]
    (here / "more").write_text((here / "half").read_text() + "".join(more))
    then = riskcli.to_judge(evaluated(here, "more"), "old", "new")
    assert then.documents == () and then.text == "" and repr(then) == "(nothing to judge)\n"


def test_the_file_is_a_run_in_form_and_no_run_by_its_tag(here: Path) -> None:
    pool = riskcli.to_judge(evaluated(here), "old")
    pool.write(here / "pool")
    lines = [line.split(" ") for line in (here / "pool").read_text().splitlines()]
    assert [(line[0], line[2]) for line in lines] == named(pool)
    assert {(line[1], line[5]) for line in lines} == {("Q0", POOL_TAG)}
    assert [int(line[4]) for line in lines] == list(range(len(lines), 0, -1))
    for topic in TOPICS:
        ranks = [int(line[3]) for line in lines if line[0] == str(topic)]
        assert ranks == list(range(1, len(ranks) + 1))
    alone = riskeval("score", "pool", "-q", "half", cwd=here)
    assert alone.code == 2 and "a result of riskeval, expected runs" in alone.err
    (here / "full").rename(here / "full.md")
    beside = riskeval("score", ".", "-q", "half", "-m", "AP", "-f", "csv", cwd=here)
    assert beside.code == 0 and POOL_TAG not in beside.out and "pool" in beside.err
    pool.write(here / "pool")  # its own file is replaced


def test_an_input_is_never_replaced_by_the_library(here: Path) -> None:
    pool = riskcli.to_judge(evaluated(here), "old")
    for name in ("new.run", "half"):
        before = (here / name).read_bytes()
        with pytest.raises(UsageError, match=r"never replaces|would replace"):
            pool.write(here / name)
        assert (here / name).read_bytes() == before


def test_what_a_gate_decides_is_not_asked_for(here: Path) -> None:
    """Nothing of a candidate that fails a rule for certain, whatever else is open."""
    scores = evaluated(here)
    gate = riskcli.judge(scores, "old")
    assert {verdict.outcome for verdict in gate.verdicts} == {"inconclusive"}
    assert riskcli.to_judge(scores, "old", gate=gate).compared == 2
    failed = riskcli.judge(scores, "old", rules=["topics > 99"])
    assert {verdict.outcome for verdict in failed.verdicts} == {"fail"}
    assert riskcli.to_judge(scores, "old", gate=failed).documents == ()


def test_a_mean_that_no_grade_turns_is_not_asked_for(here: Path) -> None:
    """The baseline has nothing: whatever the others' documents are, it is not above them."""
    lines = [f"{topic} Q0 none{n} {n} {9 - n} worst\n" for topic in TOPICS for n in range(1, 7)]
    (here / "worst.run").write_text("".join(lines))
    grades = "".join(f"{topic} 0 none{n} 0\n" for topic in TOPICS for n in range(1, 7))
    (here / "half").write_text((here / "half").read_text() + grades)
    assert riskcli.to_judge(evaluated(here), "worst", "new").documents == ()


def test_what_cannot_be_asked_is_refused_in_words(here: Path) -> None:
    with pytest.raises(UsageError, match=r"score runs .* with --unjudged bounds"):
        riskcli.to_judge(evaluated(here, rules=Rules(measures=("AP",))), "old")
    with pytest.raises(UsageError, match=r"nothing bounds .* NumRet"):
        riskcli.to_judge(
            evaluated(here, rules=Rules(measures=("NumRet",), unjudged="bounds")), "old"
        )
    with pytest.raises(UsageError, match=r"against one run, found '\*'"):
        riskcli.to_judge(evaluated(here), "*")


# ---------------------------------------------------------------- check --to-judge


def checked(here: Path, *more: str | Path, qrels: str = "half") -> Ran:
    call = ("check", "new.run", "third.run", "-b", "old.run", "-q", qrels, "-m", "nDCG@6")
    return riskeval(*call, *more, cwd=here)


def test_check_writes_them_and_judges_with_bounds(here: Path) -> None:
    ran = checked(here, "--to-judge", "pool", "-f", "json")
    assert ran.code == 3
    assert '"unjudged": "bounds"' in ran.out
    scores = evaluated(here)
    wanted = riskcli.to_judge(scores, "old", gate=riskcli.judge(scores, "old"))
    assert (here / "pool").read_text() == wanted.text
    count = len(wanted.documents)
    assert f"pool has {count} documents for 2 open comparisons, the most decisive" in ran.err
    assert checked(here, "--unjudged", "bounds", "-f", "json").out == ran.out
    assert "pool has" not in checked(here, "--to-judge", "pool", "--quiet").err


def test_where_all_is_judged_the_file_is_empty(here: Path) -> None:
    (here / "pool").write_text("an old one\n")
    ran = checked(here, "--to-judge", "pool", qrels="full")
    assert ran.code in (0, 1)
    assert (here / "pool").read_text() == ""
    assert "pool is empty: nothing that is open waits for a document" in ran.err


def test_check_refuses_what_cannot_be(here: Path) -> None:
    condensed = checked(here, "--to-judge", "pool", "--unjudged", "condensed")
    assert condensed.code == 2 and "--to-judge needs --unjudged bounds" in condensed.err
    kept = riskeval("matrix", "old.run", "-q", "half", "-m", "nDCG@6", "-o", "old.json", cwd=here)
    assert kept.code == 0
    for option in (("--to-judge", "pool"), ("--unjudged", "bounds")):
        call = ("check", "new.run", "-b", "old.json", "-q", "half", "-m", "nDCG@6")
        ran = riskeval(*call, *option, cwd=here)
        assert ran.code == 2 and "give the baseline as a run" in ran.err
    twice = checked(here, "--to-judge", "pool", "-o", "pool")
    assert twice.code == 2
    for output in ("new.run", "old.run", "half"):
        before = (here / output).read_bytes()
        ran = checked(here, "--to-judge", output)
        assert ran.code == 2 and (here / output).read_bytes() == before, ran
    assert not (here / "pool").exists()
