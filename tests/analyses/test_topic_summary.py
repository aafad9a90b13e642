"""What `topics` answers first: the topics on which most runs lose, on one screen."""

from __future__ import annotations

import json

import numpy as np
import pytest

from riskcli import Options, ScoreMatrix, topic_table
from riskcli.analyses.topics import TopicTable
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran
from tests.helpers.strategies import Floats
from tests.helpers.tables import table_of

FILES = [SAMPLES / f"{name}.run" for name in ("boldRerank", "indriCASP", "steadyHand", "caspPlus")]
BASE = [0.5, 0.5, 0.5, 0.0, 0.4]
RUNS = [
    [0.4, 0.1, 0.6, 0.0, 0.4],
    [0.3, 0.2, 0.4, 0.0, 0.5],
    [0.2, 0.3, 0.6, 0.0, 0.3],
]  # all lose on 1 and 2; one on 3; 4 is 0 for all; one loses on 5


def table(runs: Floats | list[list[float]], *named: str, measure: str = "m") -> TopicTable:
    values = np.array([BASE, *runs])
    names = ("prod", *(f"r{i}" for i in range(1, len(values))))
    matrix = ScoreMatrix(measure, names, tuple("12345"), values)
    return topic_table(matrix, "prod", runs=named)


def texts(shown: TopicTable, rule: str) -> list[str]:
    return [each.text for each in shown.verdict.by(rule)]


def test_the_topics_on_which_every_run_loses_are_named_the_most_hurt_first() -> None:
    shown = table(RUNS)
    assert texts(shown, "hurts") == ["2 topics lose in 3 of 3 runs: 2, 1."]
    assert texts(shown, "ruins") == [
        "More than half of the runs lose over a fifth on 2 of 5 topics."
    ]
    assert texts(shown, "fails") == ["1 topic is 0 for every run: 4."]
    assert [each.topics for each in shown.verdict] == [("2", "1"), ("2", "1"), ("4",)]


def test_each_sentence_turns_with_its_facts() -> None:
    kept = [[0.6, *RUNS[0][1:]], [*RUNS[1][:1], 0.6, *RUNS[1][2:]], RUNS[2]]
    assert texts(table(kept), "hurts") == ["No topic loses in every run; 2, 1 do in 2 of 3."]
    assert texts(table([BASE, BASE]), "hurts") == ["No run loses on any topic."]
    nearly = [[0.41, 0.45, 0.5, 0.0, 0.4]] * 2
    assert not texts(table(nearly), "ruins"), "a fifth itself is not over a fifth"
    answered = [*RUNS[:2], [0.2, 0.3, 0.6, 0.1, 0.3]]
    assert not texts(table(answered), "fails"), "one run finds something"
    logs = ScoreMatrix(
        "gm_map", ("prod", "r1", "r2"), ("1", "2"), np.log([[0.9, 0.8], [0.2, 0.1], [0.3, 0.3]])
    )
    assert {each.rule for each in topic_table(logs, "prod").verdict} == {"hurts"}, "no fifths, no 0"


def test_the_table_counts_runs_and_names_the_worst() -> None:
    (shown,) = table(RUNS).screen(80)
    rows = [[cell.text for cell in row] for row in shown.rows]
    assert rows == [
        ["2", "3", "3", "-0.3000", "r1", "-0.4000"],
        ["1", "3", "2", "-0.2000", "r3", "-0.3000"],
        ["5", "1", "1", "0.0000", "r3", "-0.1000"],
        ["3", "1", "0", "0.0333", "r2", "-0.1000"],
    ]  # by runs that lose, then over a fifth


def test_the_order_of_topics_and_alphas_change_nothing() -> None:
    values = np.array([BASE, *RUNS])
    matrix = ScoreMatrix("m", ("prod", "r1", "r2", "r3"), tuple("12345"), values)
    plain = topic_table(matrix, "prod")
    for options, order in (
        (Options(alphas=(0, 5)), "loss"),
        (Options(convention="minus"), "topic"),
    ):
        other = topic_table(matrix, "prod", options=options, order=order)  # type: ignore[arg-type]
        assert other.hard == plain.hard and str(other.verdict) == str(plain.verdict)


def test_a_run_that_is_named_or_alone_says_where_it_loses() -> None:
    named = table(RUNS, "r1", "r3")
    assert texts(named, "loses") == [
        "r1 loses on 2 of 5 topics against prod, over a fifth on 1; most on 2 (0.500 to 0.100).",
        "r3 loses on 3 of 5 topics against prod, over a fifth on 3; most on 1 (0.500 to 0.200).",
    ]
    assert [display.verdict for display in named.screen(80)] == [
        (text,) for text in texts(named, "loses")
    ]
    assert texts(table(RUNS[:1]), "loses") == texts(named, "loses")[:1]
    assert texts(table([BASE]), "loses") == ["r1 loses on 0 of 5 topics against prod."]
    assert texts(named.top(1), "loses") == texts(named, "loses"), "of all topics, shown or not"


def test_against_the_mean_of_all_runs_their_mean_change_is_no_news() -> None:
    matrix = ScoreMatrix("m", ("a", "b", "c"), tuple("12345"), np.array(RUNS))
    headings = [heading.text for heading in topic_table(matrix, "@mean").screen(80)[0].headings]
    assert "mean change" not in headings and "worst run" in headings


def test_the_mark_is_explained_where_the_other_statistic_is_beyond() -> None:
    generator = np.random.default_rng(1)
    base = 0.3 + 0.02 * generator.random(40)
    run = np.array([*(base[:-1] - 0.15), base[-1] - 0.29])
    matrix = ScoreMatrix("m", ("prod", "r1"), tuple(map(str, range(40))), np.array([base, run]))
    shown = topic_table(matrix, "prod", runs="r1")
    (part,) = shown.parts
    tj, flag = part.columns["tj"], part.columns["flag"]
    odd = (np.abs(tj) < part.critical) & (flag != "")
    assert odd.any(), "marked though TJ is not beyond"
    caption = " ".join(shown.displays(80)[-1].caption)
    assert f"TR, TJ or both lie beyond ±{part.critical:.2f}; the mark stands beside TJ" in caption


# ---------------------------------------------------------------- the command


def topics(*arguments: str) -> Ran:
    return riskeval("topics", *FILES, "-b", "indriCASP", "-q", QRELS, "--quiet", *arguments)


@pytest.mark.parametrize("asked", [(), ("-m", "ERR@20"), ("-m", "ERR@20", "-a", "0,1,5")])
def test_a_screen_answers_and_the_rest_is_asked_for(asked: tuple[str, ...]) -> None:
    lines = topics("-f", "table", *asked).out.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 80
    assert "--run NAME" in " ".join(lines)
    full = topics("-f", "table", "--full", *asked).out
    assert full.count("Over all 50 topics") == 3 * (2 if not asked else 1) * (
        3 if "-a" in asked else 1
    )
    assert full.splitlines()[0] == lines[0]


def test_what_is_asked_for_by_name_column_or_number_is_shown() -> None:
    for asked in (("--run", "*"), ("--columns", "delta,w"), ("--top", "2")):
        assert topics("-f", "table", "-m", "ERR@20", *asked).out.count("Over all 50 topics") == 3, (
            asked
        )


def test_programs_and_files_get_every_topic_of_every_run() -> None:
    rows = table_of(topics("-m", "ERR@20").out)
    assert len(rows) == 3 * 50
    document = json.loads(topics("-m", "ERR@20", "-f", "json").out)
    assert len(document["rows"]) == 3 * 50
    assert {each["rule"] for each in document["verdicts"]} <= {"hurts", "ruins", "fails"}
    assert topics("-m", "ERR@20", "-f", "markdown").out.count("\n|") == 3 * 53
