"""Judgements: what counts as a qrels file, what it holds, and what is said of a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from riskcli import InputError, Qrels, read_qrels
from riskcli.trec import fields, qrels
from riskcli.trec.findings import Finding
from tests.conftest import Write
from tests.helpers.trec_text import STRANGE_IDS, ids, make_qrels, qrels_text

Judgements = dict[str, dict[str, int]]
ReadText = Callable[[bytes], Qrels]


@pytest.fixture
def read(write: Write) -> ReadText:
    return lambda text: read_qrels(write("x.qrels", text))


# What a qrels file may look like


EXPECTED = {"101": {"a": 2, "b": 0}, "9": {"a": -2}}
SHAPES = {
    "blanks": b"101 0 a 2\n101 0 b 0\n9 0 a -2\n",
    "tabs": b"101\t0\ta\t2\n101\t0\tb\t0\n9\t0\ta\t-2\n",
    "runs of blanks": b"101 0  a   2\n101 0 b    0\n9 0 a -2\n",
    "tabs and blanks": b"101 0\ta 2\n101\t0 b\t 0\n9 0 a -2\n",
    "CRLF": b"101 0 a 2\r\n101 0 b 0\r\n9 0 a -2\r\n",
    "byte order mark": b"\xef\xbb\xbf101 0 a 2\n101 0 b 0\n9 0 a -2\n",
    "blank lines": b"\n101 0 a 2\n\n101 0 b 0\n \n9 0 a -2",
    "interleaved": b"101 0 a 2\n9 0 a -2\n101 0 b 0\n",
    "any iteration": b"101 Q0 a 2\n101 x b 0\n9 \xff a -2\n",
    "other spellings": b"101 0 a +2\n101 0 b -0\n9 0 a -02\n",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_the_same_judgements_in_every_shape(read: ReadText, text: bytes) -> None:
    found = read(text)
    assert found.judgements == EXPECTED
    assert found.notes == ()


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_the_close_reader_sees_the_same_judgements(read: ReadText, text: bytes) -> None:
    with patch.object(fields, "read", return_value=None):
        assert read(text).judgements == EXPECTED


@pytest.mark.parametrize("name", STRANGE_IDS)
def test_identifiers_stay_the_strings_they_are(read: ReadText, name: str) -> None:
    judgements = {"other": {name: 2}, name: {name: 1, "other": 0}}
    assert read(qrels_text(judgements)).judgements == judgements


def test_a_judgement_given_twice_with_one_grade_is_noted(read: ReadText) -> None:
    found = read(b"1 0 a 2\n1 0 b 0\n1 0 a 2\n1 0 a 2\n")
    assert found.judgements == {"1": {"a": 2, "b": 0}}
    assert [(note.code, note.warning) for note in found.notes] == [("repeated-judgement", True)]
    assert found.notes[0].message == "x.qrels: 2 judgements given twice with the same grade"


# Topics and grades


def test_topics_are_in_natural_order() -> None:
    grades = {"a": 1}
    found = make_qrels(dict.fromkeys(["10", "9", "wt-10", "wt-9", "100"], grades))
    assert found.topics == ["9", "10", "100", "wt-9", "wt-10"]


@pytest.mark.parametrize(
    ("grades", "relevant"),
    [
        ({"a": 1}, True),
        ({"a": 0, "b": 4}, True),
        ({"a": 0}, False),
        ({"a": -2}, False),
        ({"a": -2, "b": 0}, False),
        ({"a": -2, "b": 1}, True),
    ],
)
def test_a_topic_is_relevant_from_one_document_of_grade_1(
    grades: dict[str, int], relevant: bool
) -> None:
    found = make_qrels({"1": grades, "2": {"a": 1}})
    assert found.relevant_topics == (["1", "2"] if relevant else ["2"])
    assert found.topics == ["1", "2"]


@pytest.mark.parametrize(
    ("judgements", "highest"),
    [
        ({}, 0),
        ({"1": {"a": -2}}, 0),
        ({"1": {"a": 0}}, 0),
        ({"1": {"a": 3}, "2": {"a": 1}}, 3),
        ({"1": {"a": 1}, "2": {"a": 1, "b": 7}}, 7),
    ],
)
def test_the_highest_grade_is_at_least_0(judgements: Judgements, highest: int) -> None:
    assert make_qrels(judgements).highest_grade == highest


# What is wrong, and where


GOOD = b"1 0 a 1\n"
WRONG = {
    "empty": (b"", "empty-file", None, "no judgement in this file"),
    "blank": (b"\n \r\n\t\n", "empty-file", None, "no judgement in this file"),
    "a column missing": (
        GOOD + b"1 0 b\n",
        "column-count",
        2,
        "found 3 columns ('1 0 b'), expected 4 (topic iteration docno grade)",
    ),
    "a column missing at the end": (
        GOOD + b"1 0 b ",
        "column-count",
        2,
        "found 3 columns ('1 0 b'), expected 4",
    ),
    "a run": (b"1 Q0 a 1 2.5 t\n", "other-form", None, "this file holds a run: name it among"),
    "blank lines count": (b"\n\n" + GOOD + b"\r\n1\n", "column-count", 5, "found 1 column ('1')"),
    "Latin-1": (b"1 0 \xe9 1\n", "encoding", 1, "this line is not UTF-8 text"),
    "NUL": (GOOD + b"1 0 \0 1\n", "nul-byte", 2, "this line holds a NUL byte"),
    "two grades": (
        b"1 0 a 1\n1 0 b 0\n\n1 0 a 2\n",
        "conflicting-judgement",
        4,
        "topic 1 document a has grade 2 here and 1 on line 1",
    ),
    "two grades under one subtopic": (
        b"1 1 a 0\n1 2 a 1\n1 2 a 0\n",
        "conflicting-judgement",
        3,
        "topic 1 document a has grade 0 here and 1 on line 2, both under subtopic '2'",
    ),
}


@pytest.mark.parametrize(("text", "code", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_says_what_and_where(
    read: ReadText, text: bytes, code: str, line: int | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert message in caught.value.message


GRADES = {"0": 0, "1": 1, "4": 4, "-2": -2, "+1": 1, "007": 7, "-0": 0, "32768": 2**15}
NO_GRADES = (
    "1.0", "1e0", "x", "0x2", "0X2", "-0x2", "1_0", "--1", "+", "٣", "nan", "true", "32769",
    "-32769", "99999999999", "9223372036854775808", "1" * 5000,
)  # fmt: skip


@pytest.mark.parametrize(("text", "grade"), GRADES.items())
def test_a_grade_is_a_whole_number(read: ReadText, text: str, grade: int) -> None:
    assert read(f"1 0 a {text}\n".encode()).judgements == {"1": {"a": grade}}


@pytest.mark.parametrize("text", NO_GRADES, ids=lambda text: text[:20])
def test_nothing_else_is_a_grade(read: ReadText, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(f"1 0 a 1\n1 0 b {text}\n".encode())
    assert (caught.value.code, caught.value.line) == ("bad-grade", 2)
    message = f"the grade (4th column) is {text!r}, expected a whole number of at most 32768"
    assert caught.value.message == message


# Laws


@given(st.dictionaries(ids, st.dictionaries(ids, st.integers(-3, 9), min_size=1), min_size=1))
def test_judgements_that_were_written_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, judgements: Judgements
) -> None:
    path = tmp_path_factory.getbasetemp() / "law.qrels"
    path.write_bytes(b"\n" + qrels_text(judgements))
    assert read_qrels(path).judgements == judgements


few = st.sampled_from([b"1", b"2", b"a", b"\xef\xbb\xbf1", b"\xff", b"\0"])
grades = st.sampled_from([b"0", b"1", b"1", b"1"] + [g.encode() for g in (*GRADES, *NO_GRADES)])
spaces = st.sampled_from([b" ", b" ", b" ", b"\t", b"  ", b"\r"])
nearly_lines = st.builds(
    lambda topic, docno, grade, space, end: space.join([topic, b"0", docno, grade]) + end,
    few,
    few,
    grades,
    spaces,
    st.sampled_from([b"\n", b"\n", b"\r\n", b" \n", b" x\n"]),
)


@given(st.lists(nearly_lines, min_size=1, max_size=5).map(b"".join))
@example(b"1 0 a 0x1\n")
@example(b"1 0 a ")
@example(b"1 \xff a 1\n")
@example(b"\xef\xbb\xbf1 0 a 1\n")
def test_both_readers_agree(text: bytes) -> None:
    path = Path("x")
    quick = qrels.quick_qrels(path, text)
    findings = [f for f in qrels.inspect_qrels(path, text) if isinstance(f, Finding)]
    if quick is not None:
        assert not findings
        assert quick == qrels.read_closely(path, text)
    elif findings:
        with pytest.raises(InputError, match=findings[0].code):
            qrels.read_closely(path, text)


def test_good_judgements_are_not_read_line_by_line(read: ReadText) -> None:
    with patch.object(qrels, "inspect_qrels", side_effect=AssertionError("the slow reader")):
        assert read(SHAPES["runs of blanks"]).judgements == EXPECTED


def test_a_file_of_many_blocks_keeps_its_topics_together(read: ReadText) -> None:
    lines = [f"{i % 11} 0 document-number-{i:09d} {i % 4 - 1}\n" for i in range(80_000)]
    found = read("".join(lines).encode())
    assert {topic: len(grades) for topic, grades in found.judgements.items()} == {
        str(topic): len(range(topic, 80_000, 11)) for topic in range(11)
    }
    assert found.judgements["10"]["document-number-000000021"] == 0
