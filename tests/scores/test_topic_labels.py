"""Groups and weights of topics: every form that a file can have, and what is wrong with others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riskcli import ScoreMatrix, UsageError, evaluate
from riskcli.core.messages import InputError
from riskcli.scores.axes import NO_GROUP
from riskcli.scores.topic_labels import read_labels
from tests.helpers.inprocess import riskeval

SCORES = "run,1,2,3\na,0.1,0.2,0.3\nb,0.3,0.2,0.1\n"
TABLES = {
    "tsv": "topic\ttype\tload\n1\ttail\t3\n2\thead\t1\n3\ttail\t2\n",
    "csv": "type,load,qid\ntail,3,1\nhead,1,2\n\ntail,2,3\n",
    "bom": "\ufefftopic,type,load\r\n1,tail,3\r\n2,head,1\r\n3,tail,2\r\n",
    "object": json.dumps(
        {n: {"type": t, "load": w} for n, t, w in [("1", "tail", 3), ("2", "head", 1)]}
        | {"3": {"type": "tail", "load": 2}}
    ),
    "list": json.dumps(
        [
            {"topic": 1, "type": "tail", "load": 3},
            {"topic": "2", "type": "head", "load": 1},
            {"topic": 3, "type": "tail", "load": 2, "more": ["x"]},
        ]
    ),
    "lines": '{"qid": 1, "type": "tail", "load": 3}\n{"qid": 2, "type": "head", "load": 1}\n'
    '{"qid": 3, "type": "tail", "load": 2}\n',
}
XML = """<webtrack>
<topic number="1" type="faceted"><query>black bears</query><subtopic type="nav">x</subtopic></topic>
<topic number="2" type="ambiguous"><query>403b plans for all</query><level>hard</level></topic>
<topic number="3" type="faceted"><query>a b c d e f</query></topic>
</webtrack>
"""


def written(folder: Path, text: str | bytes, name: str = "labels") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("form", TABLES)
def test_every_form_of_a_table(tmp_path: Path, form: str) -> None:
    found = read_labels(written(tmp_path, TABLES[form]))
    types = {"1": "tail", "2": "head", "3": "tail"}
    assert found.groups((), "load") == {"type": types}
    assert found.groups(("type", "load"))["load"] == {"1": "3", "2": "1", "3": "2"}
    assert found.weights("load") == {"1": "3", "2": "1", "3": "2"}


def test_an_object_of_groups_or_weights(tmp_path: Path) -> None:
    assert read_labels(written(tmp_path, '{"1": "x", "2": null}')).groups(()) == {
        "group": {"1": "x"}
    }
    assert read_labels(written(tmp_path, '{"1": 0.5, "2": 2}')).weights() == {"1": "0.5", "2": "2"}


@pytest.mark.parametrize(
    "text",
    [
        XML,
        "<top>\n<num> Number: 1\n<title> black bears\n<desc> d\n</top>\n<top><num>2<title>a b c d"
        "</top>\n<top><num>3<title>a b c d e f</top>",
        '{"_id": "1", "text": "black bears"}\n{"_id": "2", "text": "a b c d"}\n'
        '{"_id": "3", "text": "a b c d e f"}\n',
        "1\tblack bears\n2\ta b c d\n3\ta b c d e f\n",
        "qid\tquery\n1\tblack bears\n2\ta b c d\n3\ta b c d e f\n",
        "1:black bears\n2:a b, c d\n3:a b c d e f\n",
    ],
)
def test_lengths_of_queries(tmp_path: Path, text: str) -> None:
    found = read_labels(written(tmp_path, text), ["length"])
    assert found.groups(["length"]) == {"length": {"1": "1-2", "2": "3-4", "3": "5+"}}


def test_fields_of_topics_are_groupings_by_name(tmp_path: Path) -> None:
    found = read_labels(written(tmp_path, XML))
    assert found.groups(["type", "level"]) == {
        "type": {"1": "faceted", "2": "ambiguous", "3": "faceted"},
        "level": {"2": "hard"},
    }
    with pytest.raises(UsageError, match=r"--group-by what to group by: .*type.*length"):
        found.groups(())
    with pytest.raises(InputError, match=r"no grouping is called 'typ'; did you mean type"):
        found.groups(["typ"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no label in this file"),
        ("topic\ttype\n", "no label in this file"),
        ("1\n2\n", ":1: bad-labels: the header is '1', expected a table"),
        ("topic,type\n1,x\n2,y\n1,z\n", ":4: bad-labels: topic '1' is there twice"),
        (
            "topic,type\n1,x,y\n",
            ":2: bad-labels: found '1, x, y', expected a topic and 2 columns",
        ),
        ("topic,type\n ,x\n", ":2: bad-labels: found ', x', expected a topic"),
        ("1\ttail\n2\thead\n", ":1: bad-labels: the header is '1, tail', expected a table"),
        ("q1,0.5\nq2,2\n", ":1: bad-labels: the header is 'q1, 0.5', expected a table"),
        ("topic,type,type\n1,x,y\n", ":1: bad-labels: the header is"),
        ('{"1": "a", "1": "b"}', "'1' is there twice"),
        ('{"1": "a"', ":1: bad-labels: not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1, 2]", "found 1, expected an object with a topic"),
        ('{"qid": 1, "type": "x"}\n{"type": "y"}\n', ":2: bad-labels: found {'type': 'y'}"),
        (b"topic,type\n1,\xff\n", ":2: encoding: this line is not UTF-8 text"),
        ('topic,type\n1,"' + "x" * 200_000, "not a table"),
        ("<topics><topic number='1'>", "no well-formed XML"),
        ("<!DOCTYPE t [<!ENTITY a 'b'>]><t/>", "DOCTYPE declares entities"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_labels(written(tmp_path, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("0", "the weight of topic 2 is '0', expected a number above 0; to leave it out, name"),
        ("-1", "the weight of topic 2 is '-1', expected a number above 0"),
        ("nan", "is 'nan', expected"),
        ("1e999", "is '1e999', expected"),
        ("much", "is 'much', expected"),
    ],
)
def test_a_weight_is_a_number_above_0(tmp_path: Path, weight: str, message: str) -> None:
    found = read_labels(written(tmp_path, f"topic,weight\n1,1\n2,{weight}\n3,1\n"))
    with pytest.raises(UsageError, match=message):
        matrix().labelled(weights=found.weights())


def test_a_topic_that_is_left_out_may_weigh_nothing(tmp_path: Path) -> None:
    """As the message on a weight of 0 says."""
    written(tmp_path, SCORES, "scores.csv")
    written(tmp_path, "topic,weight\n1,2\n2,0\n3,1\n", "w.csv")
    call = ("score", "scores.csv", "--weights", "w.csv")
    assert "name the others with --only-topics" in riskeval(*call, cwd=tmp_path).err
    assert riskeval(*call, "--only-topics", "1,3", cwd=tmp_path).code == 0


def matrix() -> ScoreMatrix:
    return ScoreMatrix("AP", ("a", "b"), ("1", "2", "3"), np.array([[0.1, 0.2, 0.3]] * 2))


def test_labels_of_the_library() -> None:
    labelled = matrix().labelled({"1": "x", "2": "y", "9": "y"}, {"1": 1, "2": 2, "3": 3})
    assert labelled.axes.groups_of(labelled.topics) == {"group": ["x", "y", NO_GROUP]}
    assert [note.message for note in labelled.provenance.notes] == [
        "'group': 1 topic not evaluated: 9",
        "1 topic without a group by 'group', shown as (none): 3",
    ]
    assert labelled.provenance.settings == {"groups": ["group"], "weights": True}
    weights = labelled.axes.weights_of(labelled.topics)
    assert weights is not None
    assert weights.tolist() == [0.5, 1.0, 1.5]
    both = labelled.labelled({"type": {"1": "t"}})
    assert list(both.axes.groups) == ["group", "type"]
    assert both.axes.weights == labelled.axes.weights


def test_weights_of_the_library_are_checked() -> None:
    with pytest.raises(UsageError, match="2 topics to evaluate without a weight: 2, 3; give them"):
        matrix().labelled(weights={"1": 1})
    for weight in (0, -1, float("inf"), None, "x", True):
        with pytest.raises(UsageError, match="the weight of topic 1 is"):
            matrix().labelled(weights={"1": weight, "2": 1, "3": 1})  # type: ignore[dict-item]


def test_the_program_records_labels_and_their_files(tmp_path: Path) -> None:
    written(tmp_path, SCORES, "scores.csv")
    written(tmp_path, TABLES["tsv"], "labels.tsv")
    ran = riskeval(
        "score", "scores.csv", "--groups", "labels.tsv", "--weights", "load", "-f", "json",
        cwd=tmp_path,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert (result["settings"]["groups"], result["settings"]["weights"]) == (["type"], True)
    assert [(each["kind"], len(each["sha256"])) for each in result["inputs"]][1:] == [
        ("groups", 64)
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--group-by", "type"], "name that file, too"),
        (["--weights", "load"], "load: unreadable: No such file"),
        (["--groups", "g.tsv", "--weights", "x"], "x: unreadable: No such file"),
        (
            ["--groups", "g.tsv", "--group-by", "typ"],
            "'typ'; did you mean type?",
        ),
        (["--groups", "others.tsv"], "no topic to evaluate has a group by 'type'"),
        (["--weights", "some.csv"], "2 topics to evaluate without a weight: 2, 3"),
        (["--groups", "none.tsv"], "none.tsv"),
        (["--groups", "."], "."),
    ],
)
def test_the_program_refuses_in_words(tmp_path: Path, arguments: list[str], message: str) -> None:
    written(tmp_path, SCORES, "scores.csv")
    written(tmp_path, TABLES["tsv"], "g.tsv")
    written(tmp_path, "topic\ttype\n8\tx\n", "others.tsv")
    written(tmp_path, "topic,weight\n1,2\n", "some.csv")
    ran = riskeval("score", "scores.csv", *arguments, cwd=tmp_path)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_an_output_never_replaces_the_labels(tmp_path: Path) -> None:
    written(tmp_path, SCORES, "scores.csv")
    labels = written(tmp_path, TABLES["tsv"], "g.tsv")
    ran = riskeval("score", "scores.csv", "--groups", "g.tsv", "-o", "g.tsv", cwd=tmp_path)
    assert ran.code == 2
    assert labels.read_text() == TABLES["tsv"]


def test_an_evaluation_labels_all_its_matrices(tmp_path: Path) -> None:
    scores = evaluate(written(tmp_path, SCORES, "scores.csv")).labelled({"1": "x", "2": "x"})
    (found,) = scores.matrices
    assert found.axes.groups["group"] == {"1": "x", "2": "x"}
    assert [note.code for note in scores.notes] == ["no-group"]
    assert scores.settings["groups"] == ["group"]
