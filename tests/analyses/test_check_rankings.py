"""Rules on the rankings themselves: topics without an answer, what is judged, what moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riskcli import churn_table, evaluate
from riskcli.analyses.check.verdict import FORMATS
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

PARTIAL, OLD = SAMPLES / "partial46.run", SAMPLES / "indriCASP.run"
CASP = SAMPLES / "caspPlus.run"
ERR = ("-m", "ERR@20", "-q", QRELS, "--policy", "none")
MISSING = ("101", "116", "133", "135")


def check(*arguments: object, new: Path = PARTIAL, old: Path = OLD) -> Ran:
    call = ("check", new, "-b", old, "-m", "ERR@20", "-q", QRELS, "--policy", "none", *arguments)
    return riskeval(*map(str, call))


def value(rule: str, **more: Path) -> float:
    (row,) = json.loads(check("--require", rule, "-f", "json", **more).out)["rows"]
    return float(row["value"])


def test_unanswered_counts_the_candidates_own_missing_topics() -> None:
    assert value("unanswered <= 0") == 4
    assert check("--require", "unanswered <= 3").code == 1
    assert check("--require", "unanswered <= 4").code == 0
    assert value("unanswered <= 0", new=OLD.with_name("boldRerank.run"), old=PARTIAL) == 0
    ran = check("--require", "unanswered <= 0", "--topics", "common")
    assert ran.code == 0, "topics that some run does not answer are left out for all"


@pytest.mark.parametrize("order", [(PARTIAL, CASP), (CASP, PARTIAL)])
def test_of_repeats_a_topic_counts_that_one_of_them_leaves_unanswered(
    order: tuple[Path, Path],
) -> None:
    rule = ("--repeats", "--require", "unanswered <= 3")
    ran = riskeval("check", *order, "-b", OLD, *ERR, *rule, "-f", "json")
    (row,) = json.loads(ran.out)["rows"]
    assert (ran.code, row["value"]) == (1, 4)


def test_repeats_have_no_ranking_that_could_move() -> None:
    ran = riskeval("check", PARTIAL, CASP, "-b", OLD, *ERR, "--repeats", "--require", "rbo >= 0")
    assert ran.code == 2 and "have no ranking of their own" in ran.err
    assert "scores alone" not in ran.err


def test_by_group_they_are_those_of_the_group(tmp_path: Path) -> None:
    groups = tmp_path / "groups.tsv"
    lines = [f"{topic}\t{'early' if topic < 120 else 'late'}" for topic in range(101, 151)]
    groups.write_text("\n".join(["topic\tgroup", *lines]))
    for group, passes in (("early", "unanswered[early] <= 2"), ("late", "overlap[late] >= 0")):
        ran = check("--require", passes, "--groups", groups)
        assert ran.code == 0, (group, ran.err)
    assert check("--require", "unanswered[early] <= 1", "--groups", groups).code == 1


@pytest.mark.parametrize("quantity", ["unanswered", "judged"])
def test_of_scores_nobody_knows_what_is_answered_or_judged(quantity: str, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("run,101,102,103\nold,0.5,0.4,0.3\nnew,0.5,0.6,0.2\n")
    ran = riskeval("check", scores, "-b", "old", "--policy", "none", "--require", f"{quantity} > 0")
    assert ran.code == 2 and "judged or answered is known of runs, not of files" in ran.err
    kept = tmp_path / "kept.json"
    riskeval("matrix", OLD, "-q", QRELS, "-m", "ERR@20", "-o", kept)
    assert value(f"{quantity} > 0", old=kept) > 0, "the candidate is a run"


def test_judged_is_the_share_of_the_first_documents_that_is() -> None:
    table = riskeval("score", PARTIAL, OLD, "-b", "indriCASP", "-q", QRELS, "-m", "ERR@20",
                     "--columns", "run,judged", "-f", "json")  # fmt: skip
    (row,) = [row for row in json.loads(table.out)["rows"] if row["run"] == "partial46"]
    assert value("judged >= 0.8") == row["judged"]


@pytest.mark.parametrize("name", ["distance", "rbo", "overlap"])
def test_what_moved_is_the_mean_over_topics_of_what_churn_says(name: str) -> None:
    evaluation = evaluate([PARTIAL, OLD], qrels=QRELS)
    (part,) = {p.run: p for p in churn_table(evaluation, "indriCASP").parts}.values()
    expected = float(part.moves.columns[name].mean())
    assert value(f"{name} <= 2") == pytest.approx(expected)
    assert value(f"{name} <= 2", old=PARTIAL.with_name("caspPlus.run")) != expected
    assert "1" in check("--require", f"{name} > {expected + 1e-6}").out[:1000]
    assert check("--require", f"{name} > {expected + 1e-6}").code == 1
    assert check("--require", f"{name} > {expected - 1e-6}").code == 0


def test_judges_of_other_topics_are_refused_for_what_moved(tmp_path: Path) -> None:
    lines = QRELS.read_text().splitlines(keepends=True)
    judges = [tmp_path / "few.txt", tmp_path / "all.txt"]
    judges[0].write_text("".join(line for line in lines if line > "12"))
    judges[1].write_text("".join(lines))
    call = ("check", PARTIAL, "-b", OLD, "-m", "ERR@20", "--policy", "none")
    told = riskeval(*call, "-q", judges[0], "-q", judges[1], "--require", "rbo >= 0")
    assert told.code == 2 and "judges have other topics: name one --qrels" in told.err
    assert riskeval(*call, "-q", judges[1], "-q", judges[0], "--require", "rbo >= 0").code == 0


def test_what_moved_is_not_known_of_scores(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    riskeval("matrix", OLD, "-q", QRELS, "-m", "ERR@20", "-o", kept)
    ran = check("--require", "overlap >= 0.5", old=kept)
    assert ran.code == 2 and "has scores alone, give the run itself" in ran.err


@pytest.mark.parametrize("form", [f.name for f in FORMATS if f.name not in ("auto", "xlsx")])
def test_missing_topics_are_named_in_every_format(form: str, tmp_path: Path) -> None:
    """In a report that passes, too."""
    file = tmp_path / "report"
    ran = check("--require", "wins >= 0", "--report", f"{form}={file}")
    assert ran.code == 0
    if form == "parquet":
        from pyarrow import parquet

        text = str(parquet.read_table(file).to_pylist())
    else:
        text = " ".join(file.read_text().split())
    assert f"partial46 (4: {', '.join(MISSING)})" in text
    assert f"partial46 (4: {', '.join(MISSING)})" in ran.err


def test_a_few_are_named_and_how_many_more(tmp_path: Path) -> None:
    run = tmp_path / "few.run"
    kept = [line for line in OLD.read_text().splitlines() if line.split()[0] > "140"]
    run.write_text("\n".join(line.replace("indriCASP", "few") for line in kept))
    ran = check("--require", "wins >= 0", new=run)
    assert "few (40: 101, 102, 103, 104, 105 and 35 more)" in " ".join(ran.out.split())
