"""Features from LETOR, CSV and Parquet: the same documents, and wrong lines by their numbers."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from benchmarks.make_features import letor, make_features
from riskcli import InputError, UsageError
from riskcli.learn import feature_files as module
from riskcli.learn.feature_files import read_features
from riskcli.learn.features import Features
from tests.conftest import Write

LINES = """\
2 qid:10 1:0.5 2:-3e-2 3:7 #docid = GX000-00 inc = 1 prob = 0.08
0 qid:10 1:1 2:NULL 3:0 #docid = GX000-01 inc = 1 prob = 0.1
1 qid:9 1:.25 2:4 3:5 # docid=GX111-00
"""


def same(found: Features, expected: Features) -> None:
    assert (found.topics, found.docnos) == (expected.topics, expected.docnos)
    assert found.sizes.tolist() == expected.sizes.tolist()
    assert found.grades.tolist() == expected.grades.tolist()
    assert np.array_equal(found.values, expected.values, equal_nan=True)


def test_a_file_of_letor(write: Write) -> None:
    found = read_features(write("train.txt", LINES))
    assert found.topics == ("10", "9")
    assert found.sizes.tolist() == [2, 1]
    assert found.grades.tolist() == [2, 0, 1]
    assert found.docnos == ("GX000-00", "GX000-01", "GX111-00")
    expected = [[0.5, -0.03, 7], [1, np.nan, 0], [0.25, 4, 5]]
    assert np.array_equal(found.values, expected, equal_nan=True)
    assert found.names == ("1", "2", "3")
    assert found.notes == ()


@pytest.mark.parametrize(
    "changed",
    [
        gzip.compress(LINES.encode()),
        LINES.replace("\n", "\r\n").encode(),
        ("# a heading\n\n" + LINES + "\n").encode(),
        LINES.replace("NULL", "nan").encode(),
        LINES.replace(" ", "\t").replace("#docid\t=\t", "#docid = ").encode(),
        b"\xef\xbb\xbf" + LINES.encode(),
        LINES.replace(" 3:0 ", " ").encode(),  # left out: 0
        LINES.replace("2 qid:10", "2.0 qid:10").encode(),
    ],
    ids=["gzip", "crlf", "comments", "nan", "tabs", "bom", "sparse", "decimal grade"],
)
def test_the_same_file_in_other_clothes(write: Write, changed: bytes) -> None:
    same(read_features(write("a", changed)), read_features(write("b", LINES)))


def test_lines_of_a_query_need_not_lie_together(write: Write) -> None:
    apart = "1 qid:2 1:1 # a\n3 qid:1 1:2 # b\n0 qid:2 1:3 # c\n2 qid:1 1:4 # d\n"
    found = read_features(write("a", apart))
    assert (found.topics, found.docnos) == (("2", "1"), ("a", "c", "b", "d"))
    assert found.values[:, 0].tolist() == [1, 3, 2, 4]
    assert found.grades.tolist() == [1, 0, 3, 2]
    assert [note.code for note in found.notes] == ["queries-apart"]


def test_documents_without_an_id_are_counted_within_their_query(write: Write) -> None:
    found = read_features(write("a", "1 qid:q7 1:1\n0 qid:q7 1:2\n1 qid:8 1:1\n"))
    assert found.docnos == ("q7-1", "q7-2", "8-1")
    assert "3 documents without an id" in found.notes[0].message


def test_queries_keep_their_names(write: Write) -> None:
    found = read_features(write("a", "1 qid:007 1:1\n0 qid:wt-51 1:2\n0 qid:7 1:2\n"))
    assert found.topics == ("007", "wt-51", "7")


WRONG = {
    "no qid": ("1 1:0.5\n", "bad-feature", "found '1:0.5' after the grade, expected qid:<query>"),
    "grade alone": ("1\n", "bad-feature", "found 'nothing' after the grade"),
    "grade": ("good qid:1 1:1\n", "bad-grade", "the grade is 'good', expected a whole number"),
    "half grade": ("1.5 qid:1 1:1\n", "bad-grade", "the grade is '1.5'"),
    "value": ("1 qid:1 1:x\n", "bad-feature", "feature 1 is 'x', expected a finite number"),
    "infinite": ("1 qid:1 1:inf\n", "bad-feature", "feature 1 is 'inf'"),
    "huge": ("1 qid:1 1:1e999\n", "bad-feature", "feature 1 is '1e999'"),
    "no value": ("1 qid:1 1:\n", "bad-feature", "feature 1 is ''"),
    "no colon": ("1 qid:1 1 5\n", "bad-feature", "feature 1 is ''"),
    "feature 0": ("1 qid:1 0:1 1:1\n", "bad-feature", "found '0:1'"),
    "twice": ("1 qid:1 1:1 1:2\n", "bad-feature", "feature 1 is given twice"),
    "bytes": (b"1 qid:\xff 1:1\n", "encoding", "this line is not UTF-8 text"),
    "bytes of an id": (b"1 qid:1 1:1 # \xff\n", "encoding", "this line is not UTF-8 text"),
    "half a line": ("1 qid:1 1:0.5 2:1 3:1\n1 qid:1 1:0.5 2\n", "bad-feature", "feature 2 is ''"),
}


@pytest.mark.parametrize(("line", "code", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_lines_are_told_by_number(
    write: Write, line: str | bytes, code: str, message: str
) -> None:
    raw = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(InputError) as caught:
        read_features(write("a", LINES.encode() + b"\n" + raw))
    assert (caught.value.code, caught.value.line) == (code, 4 + raw.count(b"\n"))
    assert caught.value.message.startswith(message)


def test_a_wrong_line_in_a_later_piece_has_its_own_number(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riskcli.trec.source.PIECE", 100)
    good = "".join(f"{n % 3} qid:{n // 5} 1:{n} 2:1 #docid = d{n}\n" for n in range(60))
    found = read_features(write("good", good))
    assert found.values[:, 0].tolist() == list(range(60))
    with pytest.raises(InputError) as caught:
        read_features(write("bad", good + "1 qid:1 1:oops\n"))
    assert caught.value.line == 61


def test_quick_and_close_reading_agree(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_features(20, 8, 7, seed=3)
    path = write("a", letor(made, range(20)))
    quick = read_features(path)
    assert module._quick(path.read_bytes()) is not None
    monkeypatch.setattr(module, "_quick", lambda *_: None)
    same(read_features(path), quick)
    assert np.abs(quick.values - made.features).max() < 1e-3
    assert quick.grades.tolist() == made.grades.tolist()


TWICE = "1 qid:3 1:1 # x\n\n1 qid:4 1:1 # x\n0 qid:3 1:2 # y\n0 qid:3 1:{} # x\n0 qid:3 1:2 # y\n"


@pytest.mark.parametrize("value", ["2", "NULL", "2 2:1"])
def test_a_document_twice_in_a_query_is_refused_at_its_line(write: Write, value: str) -> None:
    """Read quickly or line by line, with an empty line between."""
    with pytest.raises(InputError, match="query 3 has document x already on line 1") as caught:
        read_features(write("a", TWICE.format(value)))
    assert (caught.value.code, caught.value.line) == ("duplicate-document", 5)
    with pytest.raises(InputError, match="query 10 has document a already on line 2") as caught:
        read_features(write("a.csv", TABLE + "10,a,1,2,3\n"))
    assert caught.value.line == 5


def test_an_id_that_was_made_can_repeat_none_that_was_given(write: Write) -> None:
    with pytest.raises(InputError, match="query 3 has document 3-2 already on line 1") as caught:
        read_features(write("a", "1 qid:3 1:1 # 3-2\n1 qid:3 1:1\n"))
    assert caught.value.line == 2


def test_the_checksum_is_that_of_the_bytes_that_were_read(write: Write, tmp_path: Path) -> None:
    """Of the file as it lies there, packed or not."""
    (tmp_path / "packed").write_bytes(gzip.compress(LINES.encode()))
    for path in (write("a", LINES), write("a.csv", TABLE), tmp_path / "packed"):
        content = path.read_bytes()
        assert read_features(path).sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n"])
def test_an_empty_file_is_refused(write: Write, text: str) -> None:
    with pytest.raises(InputError, match="empty-file"):
        read_features(write("a", text))


TABLE = "qid,docno,label,bm25,length\n10,a,2,0.5,7\n10,b,0,,0\n9,c,1,.25,5\n"


def test_csv_and_parquet_hold_the_same(write: Write, tmp_path: Path) -> None:
    found = read_features(write("a.csv", TABLE))
    assert found.names == ("bm25", "length")
    assert (found.topics, found.docnos) == (("10", "9"), ("a", "b", "c"))
    assert np.array_equal(found.values, [[0.5, 7], [np.nan, 0], [0.25, 5]], equal_nan=True)
    table = pa.table({
        "topic": ["10", "10", "9"], "grade": [2, 0, 1], "docid": ["a", "b", "c"],
        "bm25": [0.5, None, 0.25], "length": [7, 0, 5],
    })  # fmt: skip
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    same(read_features(tmp_path / "a.parquet"), found)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TABLE + "9,d,1,2\n", 5, "found 4 fields, the first line has 5"),
        (TABLE + "9,d,high,2,3\n", 5, "the grade is 'high'"),
        (TABLE + "9,d,1,two,3\n", 5, "bm25 is 'two', expected a finite number"),
        (TABLE.replace("label", "judge"), 1, "no column is called 'grade'"),
        ("qid,label\n1,2\n", 1, "no column is a feature"),
    ],
)
def test_wrong_tables_are_told_by_line(write: Write, text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_features(write("a.csv", text))
    assert caught.value.line == line
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("old", "new"), [("10,a", "10,a b"), ("9,c", " ,c"), ("9,c", ",c"), ("9,c", "9,c\u00a0")]
)
def test_names_that_no_run_can_hold_are_refused(write: Write, old: str, new: str) -> None:
    with pytest.raises(InputError, match=r"bad-name: the .* is empty or holds a blank") as caught:
        read_features(write("a.csv", TABLE.replace(old, new)))
    assert caught.value.line == (2 if old == "10,a" else 4)


def test_columns_are_found_by_number_or_name(write: Write) -> None:
    numbered = read_features(write("a", LINES))
    assert numbered.column(1).tolist() == numbered.column("1").tolist() == [0.5, 1, 0.25]
    named = read_features(write("a.csv", TABLE))
    assert named.column("length").tolist() == named.column(2).tolist() == [7, 0, 5]
    with pytest.raises(UsageError, match="no feature 'lenght'; it has 2; did you mean length"):
        named.column("lenght")
    with pytest.raises(UsageError, match="no feature 4; it has 3"):
        numbered.column(4)
