"""The score matrix: topics are joined by name, once, and what is missing is settled and counted."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import ScoreMatrix, UsageError
from riskcli.core.choices import TopicRule
from riskcli.scores.matrix import join, topics_asked

Rows = dict[str, dict[str, float]]
NAN = math.nan


def part(rows: Rows) -> ScoreMatrix:
    """The runs of one file; a topic that one of them lacks is NaN there."""
    topics = tuple(dict.fromkeys(topic for row in rows.values() for topic in row))
    values = [[row.get(topic, NAN) for topic in topics] for row in rows.values()]
    return ScoreMatrix("AP", tuple(rows), topics, np.array(values).reshape(len(rows), len(topics)))


def joined(
    *parts: Rows, universe: list[str] | None = None, common: bool = False
) -> tuple[Rows, list[str]]:
    rule: TopicRule = "common" if common else "relevant"
    matrix, notes = join("AP", [part(rows) for rows in parts], universe, rule)
    rows = {
        run: dict(zip(matrix.topics, row, strict=True))
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
    }
    return rows, [note.message for note in notes]


# What is missing: unanswered topics score 0 and are counted, or are left out for every run


A = {"a": {"1": 0.5, "2": 0.25, "3": 1.0}}
B = {"b": {"2": 0.5, "3": 0.0}}

TRUTH: dict[str, tuple[list[Rows], list[str] | None, bool, Rows, list[str]]] = {
    "all answered": (
        [A, {"b": {"3": 0.1, "1": 0.2, "2": 0.3}}],
        None,
        False,
        {**A, "b": {"1": 0.2, "2": 0.3, "3": 0.1}},
        [],
    ),
    "one unanswered": (
        [A, B],
        None,
        False,
        {**A, "b": {"1": 0.0, "2": 0.5, "3": 0.0}},
        ["unanswered topics score 0: b (1)"],
    ),
    "one unanswered, common": (
        [A, B],
        None,
        True,
        {"a": {"2": 0.25, "3": 1.0}, "b": {"2": 0.5, "3": 0.0}},
        ["1 topic left out, not answered by every run: 1"],
    ),
    "a score of 0 is an answer": (
        [{"a": {"1": 0.0, "2": 0.0}}, {"b": {"1": 0.0, "2": 1.0}}],
        None,
        True,
        {"a": {"1": 0.0, "2": 0.0}, "b": {"1": 0.0, "2": 1.0}},
        [],
    ),
    "a topic that no run answers": (
        [A],
        ["1", "2", "3", "4"],
        False,
        {"a": {"1": 0.5, "2": 0.25, "3": 1.0, "4": 0.0}},
        ["unanswered topics score 0: a (1)"],
    ),
    "a topic that no run answers, common": (
        [A],
        ["1", "2", "3", "4"],
        True,
        A,
        ["1 topic left out, not answered by every run: 4"],
    ),
    "a topic outside of the universe": ([A], ["3", "1"], False, {"a": {"3": 1.0, "1": 0.5}}, []),
    "empty cells are unanswered": (
        [{"a": {"1": 0.5}, "b": {"2": 0.5}}],
        None,
        False,
        {"a": {"1": 0.5, "2": 0.0}, "b": {"1": 0.0, "2": 0.5}},
        ["unanswered topics score 0: a (1), b (1)"],
    ),
    "more than five are counted": (
        [{f"r{n}": {"1": 1.0} for n in range(7)}, {"x": {"1": 1.0, "2": 1.0}}],
        ["1", "2"],
        False,
        {**{f"r{n}": {"1": 1.0, "2": 0.0} for n in range(7)}, "x": {"1": 1.0, "2": 1.0}},
        ["unanswered topics score 0: r0 (1), r1 (1), r2 (1), r3 (1), r4 (1) and 2 more"],
    ),
    "negative scores stay": ([{"a": {"1": -1.5}}], None, False, {"a": {"1": -1.5}}, []),
}


@pytest.mark.parametrize(
    ("parts", "universe", "common", "rows", "notes"), TRUTH.values(), ids=TRUTH.keys()
)
def test_joining(
    parts: list[Rows], universe: list[str] | None, common: bool, rows: Rows, notes: list[str]
) -> None:
    found, said = joined(*parts, universe=universe, common=common)
    assert found == rows
    assert [list(row) for row in found.values()] == [list(row) for row in rows.values()]
    assert said == notes


REFUSED: dict[str, tuple[list[Rows], list[str] | None, bool, str]] = {
    "no topic in common": (
        [{"a": {"1": 1.0}}, {"b": {"2": 1.0}}],
        None,
        True,
        "no topic is answered by every run",
    ),
    "none of the universe's topics": (
        [A, {"b": {"001": 1.0}}],
        ["1", "2", "3", "4"],
        False,
        "run b answers none of the 4 topics evaluated (1, 2, 3 and 1 more)",
    ),
    "none, with common": (
        [A, {"b": {"001": 1.0}}],
        ["1"],
        True,
        "run b does not answer the one topic",
    ),
    "an empty universe": ([A], [], False, "no topic to evaluate"),
    "one run in two parts": ([A, {"a": {"4": 1.0}}], None, False, "run 'a' occurs twice"),
}


@pytest.mark.parametrize(
    ("parts", "universe", "common", "message"), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_cannot_be_joined_is_an_error(
    parts: list[Rows], universe: list[str] | None, common: bool, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        joined(*parts, universe=universe, common=common)
    assert message in str(caught.value)


def test_runs_and_topics_are_in_natural_order() -> None:
    rows, _ = joined({"r10": {"10": 1.0, "9": 2.0}}, {"r9": {"9": 3.0, "10": 4.0}})
    assert list(rows) == ["r9", "r10"]
    assert list(rows["r9"].items()) == [("9", 3.0), ("10", 4.0)]


def test_names_that_look_alike_are_different_topics() -> None:
    rows, _ = joined({"a": {"1": 0.1, "01": 0.2, "1.0": 0.3, "1e0": 0.4}})
    assert rows == {"a": {"1": 0.1, "01": 0.2, "1.0": 0.3, "1e0": 0.4}}


cells = st.floats(allow_nan=False, allow_infinity=False)
topics = st.sampled_from("123456789")
parts_of_runs = st.lists(st.dictionaries(topics, cells, min_size=1), min_size=1, max_size=5)


@given(parts_of_runs, st.randoms())
def test_the_order_of_files_and_topics_does_not_matter(
    rows: list[dict[str, float]], random: object
) -> None:
    parts: list[Rows] = [{f"r{place}": row} for place, row in enumerate(rows)]
    turned: list[Rows] = [
        {run: dict(reversed(row.items())) for run, row in p.items()} for p in reversed(parts)
    ]
    assert joined(*parts) == joined(*turned)


@given(parts_of_runs)
def test_every_score_is_kept_and_every_gap_counted(rows: list[dict[str, float]]) -> None:
    found, notes = joined(*({f"r{place}": row} for place, row in enumerate(rows)))
    everything = set().union(*rows)
    for place, row in enumerate(rows):
        assert found[f"r{place}"] == {topic: row.get(topic, 0.0) for topic in everything}
    gaps = {f"r{place}": len(everything - row.keys()) for place, row in enumerate(rows)}
    told = ", ".join(f"{run} ({count})" for run, count in gaps.items() if count)
    assert notes == ([f"unanswered topics score 0: {told}"] if told else [])


# The matrix itself


def test_the_shape_must_be_that_of_the_names() -> None:
    with pytest.raises(UsageError, match=r"scores have shape \(1, 2\), names say \(2, 1\)"):
        ScoreMatrix("AP", ("a", "b"), ("1",), np.zeros((1, 2)))


def test_a_frame_and_back() -> None:
    frame = pd.DataFrame({"1": [0.5, 0.1], 2: [1, 0]}, index=["a", "b"])
    matrix = ScoreMatrix.from_frame(frame, "AP")
    assert (matrix.measure, matrix.runs, matrix.topics) == ("AP", ("a", "b"), ("1", "2"))
    assert matrix.values.tolist() == [[0.5, 1.0], [0.1, 0.0]]
    back = matrix.to_frame()
    assert (back.index.name, back.columns.name) == ("run", "topic")
    again = ScoreMatrix.from_frame(back)
    assert again.values.tolist() == matrix.values.tolist()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"1": ["x"]}, index=["a"]), "the frame holds something that is not a number"),
        (pd.DataFrame({"1": [NAN]}, index=["a"]), "run a, topic 1: the score is nan, expected"),
        (pd.DataFrame({"1": [math.inf]}, index=["a"]), "run a, topic 1: the score is inf"),
        (pd.DataFrame({"1": [1, 2]}, index=["a", "a"]), "run 'a' occurs twice"),
        (pd.DataFrame([[1, 2]], index=["a"], columns=["1", "1"]), "topic '1' occurs twice"),
        (pd.DataFrame([[1, 2]], index=["a"], columns=[1, "1"]), "topic '1' occurs twice"),
    ],
    ids=["text", "nan", "inf", "runs", "topics", "topics as text"],
)
def test_a_frame_that_is_no_matrix_is_an_error(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        ScoreMatrix.from_frame(frame)
    assert message in str(caught.value)


def test_topics_are_asked_for_in_lists() -> None:
    assert topics_asked("1, 2 3,1") == topics_asked(["1 2", "3"]) == ("1", "2", "3")
    assert topics_asked([]) == ()
    with pytest.raises(UsageError, match="no topic is named"):
        topics_asked(" , ")
