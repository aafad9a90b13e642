"""Run files: what counts as one, what it holds, and what is said of one that is wrong."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from riskcli import InputError, Run, read_run
from riskcli.trec import runs, source
from riskcli.trec import runs as pieces
from riskcli.trec.runs import inspect_run
from tests.conftest import Write
from tests.helpers.trec_text import STRANGE_IDS, contents, ids, make_run, parse_run, run_text

PATH = Path("some.run")
Outcome = tuple[object, ...]


def read_closely(text: bytes) -> Run:
    """The run as the reader of single lines makes it."""
    return runs.read_closely(PATH, text)


def error_of(text: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_run(PATH, text)
    return caught.value


def by_topic(run: Run) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {topic: [] for topic in run.topics}
    lines = zip(run.topic_codes.tolist(), run.docnos.as_strings(), run.scores.tolist(), strict=True)
    for code, docno, score in lines:
        found[run.topics[code]].append((docno, score))
    return found


# What a run may look like


EXPECTED = {"1": [("a", 2.5), ("b", 1.0)], "2": [("a", 0.5)]}
SHAPES = {
    "blanks": b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n2 Q0 a 1 0.5 t\n",
    "tabs": b"1\tQ0\ta\t1\t2.5\tt\n1\tQ0\tb\t2\t1.0\tt\n2\tQ0\ta\t1\t0.5\tt\n",
    "tabs and blanks": b"1 Q0\ta 1  2.5\tt\n1\t Q0 b\t2 1.0 t\n2   Q0 a 1 0.5 \t t\n",
    "runs of blanks": b"1  Q0  a   1  2.5 t\n1 Q0 b 2 1.0    t\n2 Q0   a 1 0.5 t\n",
    "around the lines": b"  1 Q0 a 1 2.5 t\t\n\t1 Q0 b 2 1.0 t  \n2 Q0 a 1 0.5 t ",
    "CRLF": b"1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1.0 t\r\n2 Q0 a 1 0.5 t\r\n",
    "CRLF here and there": b"1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1.0 t\n2 Q0 a 1 0.5 t\r\n",
    "no last line end": b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n2 Q0 a 1 0.5 t",
    "blank lines": b"\n\n1 Q0 a 1 2.5 t\n\r\n \n1 Q0 b 2 1.0 t\n2 Q0 a 1 0.5 t\n\n",
    "interleaved": b"1 Q0 a 1 2.5 t\n2 Q0 a 1 0.5 t\n1 Q0 b 2 1.0 t\n",
    "byte order mark": b"\xef\xbb\xbf1 Q0 a 1 2.5 t\n1 Q0 b 2 1.0 t\n2 Q0 a 1 0.5 t\n",
    "ranks that are none": b"1 Q0 a x 2.5 t\n1 Q0 b - 1.0 t\n2 Q0 a 1.5 0.5 t\n",
    "any second column": b"1 0 a 1 2.5 t\n1 Q1 b 2 1.0 t\n2 \xff a 1 0.5 t\n",
    "other spellings": b"1 Q0 a 1 +2.5 t\n1 Q0 b 2 1e0 t\n2 Q0 a 1 .5 t\n",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_same_run_in_every_shape(write: Write, text: bytes, compress: type[bytes]) -> None:
    run = read_run(write("x.run", compress(text)))
    assert by_topic(run) == EXPECTED
    assert run.tag == "t"


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_the_close_reader_sees_the_same_run(text: bytes) -> None:
    assert by_topic(read_closely(text.removeprefix(b"\xef\xbb\xbf"))) == EXPECTED


def test_topics_keep_the_order_of_the_file() -> None:
    assert make_run({"10": {"a": 1}, "9": {"a": 1}, "x": {"a": 1}}).topics == ("10", "9", "x")


@pytest.mark.parametrize("name", STRANGE_IDS)
def test_identifiers_stay_the_strings_they_are(name: str) -> None:
    run = make_run({name: {name: 1.0, "other": 0.5}, "other": {name: 1.0}}, tag=name)
    assert run.topics == (name, "other")
    assert run.docnos.as_strings() == [name, "other", name]
    assert run.tag == name


def test_identifiers_that_look_alike_stay_apart() -> None:
    run = make_run({"1": {"1": 1.0, "01": 1.0, "1.0": 1.0, "1e0": 1.0}, "01": {"1": 1.0}})
    assert run.topics == ("1", "01")
    assert run.docnos.as_strings() == ["1", "01", "1.0", "1e0", "1"]


@pytest.mark.parametrize(
    ("lines", "tags", "tag"),
    [
        (b"1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n", ("x",), "x"),
        (b"1 Q0 a 1 2 x\n1 Q0 b 2 1 y\n", ("x", "y"), None),
    ],
)
def test_the_tag_is_the_one_of_all_lines(
    lines: bytes, tags: tuple[str, ...], tag: str | None
) -> None:
    run = parse_run(PATH, lines)
    assert (run.tags, run.tag) == (tags, tag)


def test_interleaved_topics_and_changing_tags_keep_their_lines() -> None:
    lines = [
        f"{i % 13} Q0 document-number-{i:09d} 1 {-i} tag{i // 50_000}\n" for i in range(80_000)
    ]
    text = "".join(lines).encode()
    run = parse_run(PATH, text)
    assert run.topics == tuple(str(topic) for topic in range(13))
    assert run.topic_codes.tolist() == [i % 13 for i in range(80_000)]
    assert run.docnos.as_strings()[79_999] == "document-number-000079999"
    assert run.scores.tolist() == [float(-i) for i in range(80_000)]
    assert run.tags == ("tag0", "tag1")


# Scores


SCORES = {
    "1": 1.0, "+1.5": 1.5, "-1.5": -1.5, "1e-3": 0.001, "1E5": 1e5, "1e+05": 1e5, ".5": 0.5,
    "5.": 5.0, "-.5e-3": -0.0005, "007": 7.0, "-0.0": -0.0, "0": 0.0, "1e39": 1e39,
    "1e-400": 0.0, "5e-324": 5e-324, "1.7976931348623157e308": 1.7976931348623157e308,
    "0.1000000000000000055511151231257827": 0.1, "-13.123456789012345": -13.123456789012345,
}  # fmt: skip
NO_SCORES = (
    "nan", "NaN", "-nan", "inf", "-inf", "+inf", "Infinity", "1e400", "-1e400", "text", "1_000",
    "0x10", "0x1p3", "1,5", ".", "-", "+", "e5", "1e", "1e5.0", "1d3", "--1", "1.2.3", "٣", "１",
    "1L", "1f", "NA", "None", "1/2", "50%",
)  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCORES.items())
@pytest.mark.parametrize("reader", [lambda text: parse_run(PATH, text), read_closely])
def test_a_score_is_the_nearest_double(text: str, value: float, reader: object) -> None:
    assert callable(reader)
    run = reader(f"1 Q0 a 1 {text} t\n".encode())
    assert run.scores[0].hex() == value.hex()


@pytest.mark.parametrize("text", NO_SCORES)
def test_what_is_no_finite_decimal_number_is_no_score(text: str) -> None:
    error = error_of(f"1 Q0 a 1 2 t\n1 Q0 b 2 {text} t\n".encode())
    assert (error.code, error.line) == ("bad-score", 2)
    assert error.message == f"the score (5th column) is {text!r}, expected a finite number"


# What is wrong, and where


GOOD = b"1 Q0 a 1 2.5 t\n"
WRONG = {
    "empty": (b"", "empty-file", None, "no line of a run in this file"),
    "line ends only": (b"\n\n\n", "empty-file", None, "no line of a run in this file"),
    "blanks only": (b" \t\r\n \n", "empty-file", None, "no line of a run in this file"),
    "a column missing": (
        GOOD + b"1 Q0 b 2 1.0\n",
        "column-count",
        2,
        "found 5 columns ('1 Q0 b 2 1.0'), expected 6 (topic Q0 docno rank score tag)",
    ),
    "a column missing at the end": (
        GOOD + b"1 Q0 b 2 1.0 ",
        "column-count",
        2,
        "found 5 columns ('1 Q0 b 2 1.0'), expected 6 (topic Q0 docno rank score tag)",
    ),
    "a column missing behind a blank": (
        GOOD + b" Q0 b 2 1.0 t\n",
        "column-count",
        2,
        "found 5 columns ('Q0 b 2 1.0 t'), expected 6 (topic Q0 docno rank score tag)",
    ),
    "a column too many": (
        b"1 Q0 b c 2 1.0 t\n" + GOOD,
        "column-count",
        1,
        "found 7 columns ('1 Q0 b c 2 1.0 t'), expected 6 (topic Q0 docno rank score tag)",
    ),
    "one word": (b"text\n", "column-count", 1, "found 1 column ('text'), expected 6"),
    "qrels": (
        b"101 0 clueweb09-1 1\n",
        "column-count",
        1,
        "found 4 columns ('101 0 clueweb09-1 1'), expected 6",
    ),
    "long lines are cut": (b"x" * 500, "column-count", 1, f"found 1 column ('{'x' * 60}…')"),
    "NUL": (GOOD + b"1 Q0 \0b 2 1.0 t\n", "nul-byte", 2, "this line holds a NUL byte"),
    "NUL in a column that is not kept": (b"1 Q\0 b 2 1.0 t\n", "nul-byte", 1, "a NUL byte"),
    "UTF-16 without a mark": ("1 Q0 a".encode("utf-16-le"), "column-count", 1, "found 3 columns"),
    "Latin-1 docno": (GOOD + b"1 Q0 \xe9t\xe9 2 1.0 t\n", "encoding", 2, "not UTF-8 text"),
    "Latin-1 tag": (b"1 Q0 b 2 1.0 caf\xe9\n", "encoding", 1, "not UTF-8 text"),
    "surrogates": (b"1 Q0 \xed\xa0\x80 2 1.0 t\n", "encoding", 1, "not UTF-8 text"),
    "the same document again": (
        GOOD + b"1 Q0 b 2 1.0 t\n1 Q0 a 3 0.5 t\n",
        "duplicate-document",
        3,
        "topic 1 has document a already on line 1",
    ),
    "again after another topic": (
        GOOD + b"2 Q0 a 1 1.0 t\n\n1 Q0 a 3 2.5 t\n",
        "duplicate-document",
        4,
        "topic 1 has document a already on line 1",
    ),
    "blank lines count": (b"\n\r\n" + GOOD + b"\n1 Q0\n", "column-count", 5, "found 2 columns"),
    "the first of two is named": (b"1 Q0\n1 Q0 a 1 x t\n", "column-count", 1, "found 2 columns"),
}


@pytest.mark.parametrize(("text", "code", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_says_what_and_where(
    text: bytes, code: str, line: int | None, message: str
) -> None:
    error = error_of(text)
    assert (error.code, error.line, error.path) == (code, line, str(PATH))
    assert message in error.message


def test_an_error_in_full() -> None:
    place = "some.run:2" if (error := error_of(GOOD + b"1 Q0 a 2 1.0 t\n")).line else ""
    found = "topic 1 has document a already on line 1"
    assert str(error) == f"{place}: duplicate-document: {found}"


@pytest.mark.parametrize("wrap", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_line_is_the_one_an_editor_shows(write: Write, wrap: type[bytes]) -> None:
    path = write("x.run", wrap(b"\xef\xbb\xbf\r\n1 Q0 a 1 2.5 t\r\n\r\n1 Q0 b 2 nan t\r\n"))
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert (caught.value.path, caught.value.line) == (str(path), 4)


def test_the_same_document_in_two_topics_is_no_duplicate() -> None:
    run = make_run({"1": {"a": 1.0}, "2": {"a": 1.0}})
    assert by_topic(run) == {"1": [("a", 1.0)], "2": [("a", 1.0)]}


# Laws


runs_of_text = st.dictionaries(
    ids,
    st.dictionaries(ids, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)


@given(runs_of_text, ids)
def test_a_run_that_was_written_reads_back_the_same(
    topics: dict[str, dict[str, float]], tag: str
) -> None:
    run = make_run(topics, tag)
    assert by_topic(run) == {topic: list(docs.items()) for topic, docs in topics.items()}
    assert list(run.topics) == list(topics)
    assert run.tag == tag


@given(runs_of_text)
def test_both_readers_make_the_same_run(topics: dict[str, dict[str, float]]) -> None:
    text = run_text(topics)
    assert contents(parse_run(PATH, text)) == contents(read_closely(text))


def outcome(text: bytes, closely: bool) -> Outcome:
    """The run's contents, or the error's."""
    try:
        return contents(read_closely(text) if closely else parse_run(PATH, text))
    except InputError as error:
        return error.code, error.line, error.message


def outcome_in_pieces(text: bytes, size: int, jobs: int) -> Outcome:
    """The same, of a file of which a few bytes are read at a time."""
    with NamedTemporaryFile(suffix=".run") as file, patch.object(source, "PIECE", size):
        file.write(text)
        file.flush()
        try:
            return contents(pieces.run_in(source.TextFile(Path(file.name)), jobs=jobs))
        except InputError as error:
            return error.code, error.line, error.message


few = st.sampled_from([b"1", b"2", b"a", b"\xef\xbb\xbf1", b"\xff", b"\0", b"NA"])
numbers = st.sampled_from([text.encode() for text in (*SCORES, *NO_SCORES)])
spaces = st.sampled_from([b" ", b" ", b" ", b"\t", b"  ", b"\r", b"\v", b" \t"])


@st.composite
def nearly_runs(draw: st.DrawFn) -> bytes:
    """Lines of which each is a run's but for one column or two."""
    text = b""
    for _ in range(draw(st.integers(1, 4))):
        topic, docno, tag = draw(few), draw(few), draw(few)
        score = draw(st.sampled_from([b"1", b"2.5"]) | numbers)
        columns = [topic, draw(few), docno, draw(numbers), score, tag]
        if draw(st.integers(0, 9)) == 0:
            columns.insert(draw(st.integers(0, 5)), draw(few))
            del columns[draw(st.integers(0, 6)) :]
        text += b"".join(column + draw(spaces) for column in columns[:-1]) + b"".join(columns[-1:])
        text += draw(st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n"]))
    return text if draw(st.booleans()) else text.rstrip(b"\n")


@given(nearly_runs())
@example(b"1 Q0 a 1 1.0 ")
@example(b"\xef\xbb\xbf1 Q0 a 1 1.0 t\n")
@example(b"1 \xff a \xff 1.0 t\n")
@example(b"1 \0 a 1 1.0 t\n")
def test_both_readers_agree_on_what_is_wrong(text: bytes) -> None:
    assert outcome(text, closely=False) == outcome(text, closely=True)


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@given(
    text=nearly_runs() | runs_of_text.map(run_text),
    size=st.sampled_from([1, 7, 20, 60, 200]),
    jobs=st.sampled_from([1, 3]),
)
@example(b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1 t\n1 Q0 a 3 0.5 t\n", 1, 1)
@example(b"1 Q0 a 1 2.5 t\n2 Q0 b 2 1 t\n1 Q0 a 3 0.5 t\n", 1, 3)
@example(b"1 Q0 a 1 2.5 t\n\n\n1 Q0 b 2 1 u", 2, 3)
@example(b"\xef\xbb\xbf1 Q0 a 1 2.5 t\n\xef\xbb\xbf1 Q0 b 2 1 u", 1, 1)
@example(b"", 1, 1)
@example(b"1 Q0 a 1 2.5 t\n1 Q0 a 2 1 t\n1 Q0 b 3 x t\n", 1, 1)  # the error that comes first
@example(b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1 t\n1 Q0 a 3 1 t\n1 Q0 b 3 x t\n", 20, 3)
@example(b"1 Q0 a 1 2.5 t\n1 Q0 b 2 x t\n1 Q0 a 3 1 t\n", 1, 3)
@example(b"\n\n1 Q0 a 1 2.5 t\n\n \n\n1 Q0 b 2 +1.e0 t\n1 Q0 c 2 nan t\n", 1, 1)
def test_the_pieces_that_a_file_is_read_in_do_not_show(
    compress: Callable[[bytes], bytes], text: bytes, size: int, jobs: int
) -> None:
    expected = outcome(text.removeprefix(b"\xef\xbb\xbf"), closely=False)
    assert outcome_in_pieces(compress(text), size, jobs) == expected


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_large_file_is_read_in_pieces_of_whole_lines(write: Write, jobs: int) -> None:
    lines = [f"{i // 1000} Q0 document-{i * 7919 % 99991:09d} 1 {-i} tag\n" for i in range(99_000)]
    lines.append("0 Q0 document-000099990 1 0 last")  # topic 0 comes back, and a long way off
    path = write("large.run", "".join(lines).encode())
    with patch.object(source, "PIECE", 2**18):
        seen = list(source.TextFile(path).pieces())
        run = pieces.run_in(source.TextFile(path), jobs=jobs)
    assert len(seen) > 10
    assert b"".join(seen) == path.read_bytes()
    assert all(piece.endswith(b"\n") for piece in seen[:-1])
    assert contents(run) == contents(parse_run(PATH, path.read_bytes()))
    path.write_bytes(path.read_bytes() + b"\n7 Q0 document-000000000 1 0 tag\n")  # topic 0 had that
    with patch.object(source, "PIECE", 2**18):
        assert pieces.run_in(source.TextFile(path), jobs=jobs).topics == run.topics
        path.write_bytes(path.read_bytes() + b"0 Q0 document-000000000 1 0 tag\n")
        with pytest.raises(InputError) as caught:
            pieces.run_in(source.TextFile(path), jobs=jobs)
    assert (caught.value.code, caught.value.line) == ("duplicate-document", 99_003)


def test_only_the_piece_with_a_wrong_line_is_read_line_by_line(write: Write) -> None:
    lines = [f"{i // 1000} Q0 document-{i:09d} 1 {-i} tag\n" for i in range(50_000)]
    lines[30_000] = lines[30_000].replace(" -30000 ", " none ")
    path = write("large.run", "".join(lines).encode())
    seen: list[int] = []

    def inspect(path: Path, text: bytes, lines_before: int) -> object:
        seen.append(len(text))
        return inspect_run(path, text, lines_before)

    with (
        patch.object(source, "PIECE", 2**16),
        patch.object(pieces, "inspect_run", side_effect=inspect),
        pytest.raises(InputError) as caught,
    ):
        pieces.run_in(source.TextFile(path))
    assert (caught.value.code, caught.value.line) == ("bad-score", 30_001)
    assert len(seen) == 1
    assert seen[0] < 2**17


@pytest.mark.parametrize("shape", ["blanks", "tabs", "tabs and blanks", "CRLF", "interleaved"])
def test_good_runs_are_not_read_line_by_line(shape: str) -> None:
    with patch.object(runs, "inspect_run", side_effect=AssertionError("the slow reader")):
        assert by_topic(parse_run(PATH, SHAPES[shape])) == EXPECTED
