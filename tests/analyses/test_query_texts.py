"""What topics ask, beside their ids: in tables, rows, failures, and nowhere unasked."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import riskcli
from riskcli import ScoreMatrix
from riskcli.analyses.query_texts import QueryTexts
from riskcli.output.display import cut
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

TOPICS = [str(topic) for topic in range(101, 151)]
CALL = ("-q", QRELS, "-m", "nDCG@20", "-b", "indriCASP", "--quiet")
RUNS = [SAMPLES / f"{name}.run" for name in ("boldRerank", "indriCASP", "steadyHand")]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """A text for all topics but the last two, one of them hostile and long."""
    texts = {topic: f"query number {topic}" for topic in TOPICS[:-2]}
    texts["102"] = "\x1b[31mred \u202e and a text that is longer than any line has room for, " * 3
    file = tmp_path / "queries.jsonl"
    lines = (json.dumps({"_id": topic, "text": text}) for topic, text in texts.items())
    file.write_text("\n".join(lines))
    return file


def ran(command: str, *others: str | Path, code: int = 0, columns: int = 80) -> Ran:
    result = riskeval(command, *RUNS, *CALL, *others, COLUMNS=str(columns))
    assert result.code == code, result
    return result


COMMANDS: dict[str, tuple[tuple[str, ...], int]] = {
    "topics": (("topics",), 0),
    "topics --run": (("topics", "--run", "boldRerank"), 0),
    "topics --columns": (("topics", "--run", "boldRerank", "--columns", "score,z,churn"), 0),
    "explain": (("explain", "--run", "boldRerank", "--top", "50"), 0),
    "check": (("check",), 0),
    "check --run": (("check", "--policy", "strict", "--run", "boldRerank", "--top", "50"), 1),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("columns", [80, 160])
def test_a_screen_holds_and_no_control_reaches_it(queries: Path, name: str, columns: int) -> None:
    (command, *others), code = COMMANDS[name]
    call = (command, *others, "-f", "table")
    shown = ran(*call, "--queries", queries, code=code, columns=columns).out
    before = ran(*call, code=code, columns=columns).out
    assert "query number 1" in shown and "query number 1" not in before
    assert "\x1b" not in shown and "\u202e" not in shown
    assert max(map(len, shown.splitlines())) <= max(columns, *map(len, before.splitlines()))
    assert "Not shown" not in shown or "Not shown" in before


@pytest.mark.parametrize("name", ["topics --run", "explain"])
def test_rows_have_the_text_as_their_last_column(queries: Path, name: str) -> None:
    (command, *others), _ = COMMANDS[name]
    plain = json.loads(ran(command, *others, "-f", "json").out)
    asked = json.loads(ran(command, *others, "-f", "json", "--queries", queries).out)
    assert [*asked["rows"][0]] == [*plain["rows"][0], "query"]
    texts = {row.get("topic", row.get("what")): row.pop("query") for row in asked["rows"]}
    assert asked == plain
    assert texts["103"] == "query number 103" and texts["150"] == ""
    assert texts["102"] is not None and texts["102"].startswith("[31mred")


def test_a_gate_names_its_worst_topics_and_keeps_its_keys(queries: Path) -> None:
    call = ("check", "--policy", "strict")
    plain = json.loads(ran(*call, "-f", "json", code=1).out)
    asked = json.loads(ran(*call, "-f", "json", "--queries", queries, code=1).out)
    assert asked["rows"] == plain["rows"] and [*asked] == [*plain]
    worst = next(row["worst_topics"][0] for row in asked["rows"] if row["worst_topics"])
    named = f"{worst} query number {worst} (0."
    suite = ElementTree.fromstring(ran(*call, "-f", "junit", "--queries", queries, code=1).out)
    failures = [each.text or "" for each in suite.iter("failure")]
    assert any(f"topics to blame: {named}" in each for each in failures)
    for format in ("markdown", "github", "sarif"):
        shown = named.removesuffix(" (0.") if format == "markdown" else named
        assert shown in ran(*call, "-f", format, "--queries", queries, code=1).out, format
    said = " ".join(statement["text"] for statement in asked["verdicts"])
    assert "query number" not in said or "(0." in said


def test_one_note_counts_topics_without_a_text(queries: Path) -> None:
    for (command, *others), code in COMMANDS.values():
        call: list[str | Path] = [command, *RUNS, *CALL[:-1], *others, "--queries", queries]
        result = riskeval(*call)
        assert result.code == code
        assert result.err.count("--queries has no text for 2 of 50 topics") == 1
    queries.write_text("1\tone\n")
    for (command, *others), code in COMMANDS.values():  # perhaps the wrong file
        result = ran(command, *others, "--queries", queries, code=code)
        assert result.err.count("warning: --queries has no text for 50 of 50 topics") == 1


def test_a_wrong_file_of_queries_is_told_before_any_work(queries: Path) -> None:
    queries.write_text("no queries\n")
    for command in (("topics",), ("explain", "--run", "x"), ("check",)):
        result = riskeval(*command, "nowhere.run", *CALL, "--queries", queries)
        assert (result.code, result.out) == (2, "")
        assert f"{queries}:1: bad-queries: found 'no queries', expected" in result.err


def test_the_library_takes_a_mapping() -> None:
    matrix = ScoreMatrix("AP", ("a", "b"), ("51", "52"), np.array([[0.1, 0.2], [0.5, 0.1]]))
    queries = {"051": "Airbus\n subsidies\x1b", "52": ""}
    table = riskcli.topic_table(matrix, "b", queries=queries).to_frame()
    assert table["query"].tolist() == ["Airbus subsidies", ""]
    explained = riskcli.explain_run(matrix, "b", run="a", of="mean", queries=queries)
    assert explained.result().rows[-2][-1] == "Airbus subsidies"
    gate = riskcli.judge(matrix, "b", "none", rules=["loss(51) <= 0.1"], queries=queries)
    assert gate.verdicts[0].blame == "topics to blame: 51 Airbus subsidies (0.500 to 0.100)"


def test_leading_zeros_are_no_other_topic_but_an_exact_id_comes_first() -> None:
    texts = QueryTexts.of(
        {"051": "old", "51": "new", "x": "", "007": "bond"}, ("51", "051", "7", "x")
    )
    assert [texts.of_topic(topic) for topic in ("51", "051", "7", "x")] == [
        "new",
        "old",
        "bond",
        "",
    ]
    assert texts.notes(("51", "x"))[0].message == "--queries has no text for 1 of 2 topics"
    assert QueryTexts.of(None, ("51",)).notes(("51",)) == []


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("winter sports", 13, "winter sports"), ("winter sports", 12, "winter spor…"),
        ("winter sports", 8, "winter…"), ("日本語の文", 10, "日本語の文"),
        ("日本語の文", 9, "日本語の…"), ("日本語の文", 8, "日本語…"), ("a\x1bb", 9, "a\\x1bb"),
        ("", 3, ""), ("abc", 1, "…"),
    ],
)  # fmt: skip
def test_texts_are_cut_by_the_room_that_they_take(text: str, most: int, shown: str) -> None:
    assert cut(text, most) == shown
