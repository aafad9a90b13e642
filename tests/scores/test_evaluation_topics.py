"""`--only-topics`: some of the topics, and nothing of the others."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import riskcli
from riskcli.scores.matrix import some_topics, topics_asked
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

RULES = riskcli.Rules(measures=("ERR@20",), only_topics=("101-110", "13*"))


def rows(out: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(out), delimiter="\t"))


def without_other_columns(path: Path, matrix: str) -> Path:
    """A table of scores with the topics 101 to 110 and 130 to 139 only, cut out by hand."""
    table = rows(matrix)
    kept = [i for i, t in enumerate(table[0]) if i == 0 or t < "111" or t.startswith("13")]
    lines = [",".join(row[i] for i in kept) for row in table]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert len(kept) == 21
    return path


@pytest.mark.parametrize("command", ["score", "significance", "topics", "sweep"])
def test_the_others_leave_no_trace(tmp_path: Path, command: str) -> None:
    matrix = riskeval("matrix", SAMPLES, "-m", "ERR@20", "-f", "tsv").out
    cut = without_other_columns(tmp_path / "cut.csv", matrix)
    rest = ("-b", "indriCASP", "-f", "tsv", "--quiet")
    asked = riskeval(command, SAMPLES, "-m", "ERR@20", "--only-topics", "101-110,13*", *rest)
    wanted = riskeval(command, cut, "-m", "ERR@20", *rest)
    assert asked.code == wanted.code == 0, asked.err + wanted.err
    assert asked.out == wanted.out


def test_what_is_asked_for_is_recorded_and_counted(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("# the first\n101-103 105\n999\n", encoding="utf-8")
    only = f"@{tmp_path / 'some.txt'}"
    ran = riskeval("score", SAMPLES, "--only-topics", only, "-f", "json", "-m", "ERR@20")
    assert "4 of 50 topics evaluated" in ran.err
    assert "warning: asked for, but not among the topics to evaluate: 999" in ran.err
    document = json.loads(ran.out)
    assert document["settings"]["only_topics"] == ["101-103", "105", "999"]
    assert {row["topics"] for row in document["rows"]} == {4}


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_run_that_answers_only_others_scores_0(on_error: str) -> None:
    """partial46 lacks topic 101; a run that answers no topic at all is still refused."""
    call = ("score", SAMPLES, "--on-error", on_error, "-m", "ERR@20", "-f", "tsv")
    ran = riskeval(*call, "--only-topics", "101-102")
    assert ran.code == 0 and "unanswered topics score 0: partial46 (1)" in ran.err
    ran = riskeval(*call, "--only-topics", "101")
    assert ran.code == 0 and "unanswered topics score 0: partial46 (1)" in ran.err
    means = {row[0]: row[6] for row in rows(ran.out)[1:]}
    assert len(means) == 9 and means["partial46"] == "0.0"


def test_a_store_keeps_all_topics_whatever_was_asked_for(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "store"), "-f", "tsv", "-m", "ERR@20", "--quiet")
    riskeval("score", SAMPLES, "--only-topics", "101-110", *store)
    assert riskeval("score", SAMPLES, *store).out == riskeval("score", SAMPLES, *store[2:]).out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("999", "(999) is among the 50 topics to evaluate (101, 102, 103 and 47 more)"),
        ("60-70", "none of the topics asked for (60-70) is among"),
        (" , ", "no topic is named"),
        ("@nowhere.txt", "nowhere.txt: unreadable: No such file or directory"),
    ],
)
def test_a_wrong_list_is_one_line(asked: str, said: str) -> None:
    ran = riskeval("score", SAMPLES, "--only-topics", asked)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err.splitlines()[-1]


def test_settings_name_a_file_beside_them(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("101-110\n", encoding="utf-8")
    settings = tmp_path / "riskeval.toml"
    settings.write_text('only-topics = "@some.txt"\n', encoding="utf-8")
    call = ("score", SAMPLES, "-q", QRELS, "-f", "tsv", "-m", "ERR@20")
    assert {row[5] for row in rows(riskeval(*call, cwd=tmp_path).out)[1:]} == {"10"}
    settings.write_text('only-topics = "@../some.txt"\n', encoding="utf-8")
    refused = riskeval(*call, cwd=tmp_path)
    assert refused.code == 2 and "only-topics" in refused.err


def test_scores_of_other_topics_are_not_put_beside_each_other(tmp_path: Path) -> None:
    """Those that one of them lacks would score 0."""
    some, others = tmp_path / "some.json", tmp_path / "others.json"
    one, other = SAMPLES / "indriCASP.run", SAMPLES / "neuralMix.run"
    for path, run, only in ((some, one, "101-110"), (others, other, "101-120")):
        call = ("matrix", run, "-m", "ERR@20", "--only-topics", only, "-o", path)
        assert riskeval(*call).code == 0
    for second in (others, other):
        ran = riskeval("score", some, second, "-m", "ERR@20")
        assert ran.code == 2 and "was made with" in ran.err
    both = riskeval("score", some, others, "--only-topics", "101-110", "-f", "tsv", "--quiet")
    assert {row[5] for row in rows(both.out)[1:]} == {"10"}


def test_the_library_takes_them_for_files_and_in_memory() -> None:
    evaluation = riskcli.evaluate(SAMPLES, qrels=QRELS, rules=RULES)
    topics = evaluation.matrices[0].topics
    assert topics == (*map(str, range(101, 111)), *map(str, range(130, 140)))
    runs = {"one": {"1": {"d": 1.0}, "2": {"d": 1.0}}}
    qrels = {"1": {"d": 1}, "2": {"d": 1}}
    scored = riskcli.score_runs(runs, qrels, "AP", rules=riskcli.Rules(only_topics="2"))
    assert scored.matrices[0].topics == ("2",)


ids = st.from_regex(r"[0-9]{1,4}|[a-z]{1,2}", fullmatch=True)


@given(st.lists(ids, min_size=1, unique=True), st.integers(0, 9999), st.integers(0, 9999))
def test_a_range_holds_the_numbers_between_its_ends(topics: list[str], low: int, high: int) -> None:
    between = [t for t in topics if t.isdigit() and low <= int(t) <= high]
    asked = (f"{low}-{high}", topics[0])
    found, _ = some_topics(topics, asked)
    assert found == [t for t in topics if t in between or t == topics[0]]


def test_an_id_that_looks_like_a_range_is_that_id() -> None:
    assert some_topics(["1", "2", "1-2"], topics_asked("1-2"))[0] == ["1-2"]
    assert some_topics(["1", "2", "3"], topics_asked("2-"))[0] == ["2", "3"]
    assert some_topics(["q-1", "q-2", "r-1"], topics_asked("q-*"))[0] == ["q-1", "q-2"]
