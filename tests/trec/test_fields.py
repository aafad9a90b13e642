"""The quick reader of columns takes a line for what `bytes.split` makes of it, or refuses."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from riskcli.trec import fields
from riskcli.trec.arrow import reader
from tests.helpers.trec_text import ids

NAMES = ("a", "b", "c")
ALL_TEXT = dict.fromkeys(NAMES, fields.TEXT)

blanks = st.text(" \t\v\f\r", max_size=3)
gaps = st.text(" \t\v\f\r", min_size=1, max_size=3) | st.just(" ")


def test_arrow_holds_nothing_of_the_text_that_it_reads() -> None:
    """Else a thread of Arrow's may let go of the bytes while Python ends, and abort the program."""
    text = bytearray(b"a b c\n")
    source = reader(bytes(text)), reader(text)  # type: ignore[arg-type]
    text.clear()  # raises where something else holds the bytes
    assert [some.read() for some in source] == [b"a b c\n"] * 2


@st.composite
def lines(draw: st.DrawFn, ending: st.SearchStrategy[str]) -> str:
    """Mostly three fields, seldom fewer or more, with any white space between and around them."""
    count = draw(st.sampled_from([3, 3, 3, 3, 3, 3, 0, 1, 2, 4]))
    parts = [draw(ids) for _ in range(count)]
    body = "".join(part + draw(gaps) for part in parts[:-1]) + "".join(parts[-1:])
    return draw(blanks) + body + draw(blanks) + draw(ending)


tidy_lines = st.lists(ids, min_size=3, max_size=3)
untidy_texts = st.builds(
    lambda body, last: ("".join(body) + last).encode(),
    st.lists(lines(st.sampled_from(["\n", "\n", "\r\n", "\n\n"])), max_size=6),
    lines(st.just("")) | st.just(""),
)
tidy_texts = st.builds(
    lambda rows, separator, end: ("\n".join(map(separator.join, rows)) + end).encode(),
    st.lists(tidy_lines, min_size=1, max_size=5),
    st.sampled_from([" ", "\t"]),
    st.sampled_from(["", "\n", " ", "\t", "\r\n"]),
)
noise = st.lists(st.sampled_from(b" \t\v\f\r\n\nab"), max_size=20).map(bytes)
texts = untidy_texts | tidy_texts | noise


def split(text: bytes) -> list[list[bytes]]:
    """The fields of each line that is not blank."""
    return [parts for line in text.split(b"\n") if (parts := line.split())]


@given(texts)
@example(b"a b ")
@example(b"a\tb\tc\t")
@example(b"a b\tc")
@example(b"\r\n")
def test_single_spaced_keeps_every_field_of_every_line(text: bytes) -> None:
    single = fields.single_spaced(text)
    separator = b"\t" if b"\t" in single else b" "
    assert [line.split(separator) for line in single.split(b"\n") if line] == split(text)


@given(texts)
@example(b"a b ")
@example(b"a b c\nd e ")
@example(b"a  c\n")
@example(b"a  b c\nd  f\n")
@example(b"a b c\rd e f\n")
@example(b"a b c d\ne f\n")
@example(b"\xef\xbb\xbfa b c\n")
@example(b" \xef\xbb\xbfa b c\n")
@example(b"\n\xef\xbb\xbfa b c\n")
def test_columns_are_those_of_split_or_none(text: bytes) -> None:
    table = fields.read(text, ALL_TEXT, NAMES)
    expected = split(text)
    if not expected or any(len(parts) != len(NAMES) for parts in expected):
        assert table is None
    elif not text.lstrip().startswith(b"\xef\xbb\xbf"):
        assert table is not None
    if table is not None:
        rows = [list(row.values()) for row in table.columns.to_pylist()]
        assert rows == [[part.decode() for part in parts] for parts in expected]


@pytest.mark.parametrize(
    "text",
    [
        b"1  d\n",  # the second blank stands where a field is missing
        b"a b c\n1  d\n",
        b"\ta\tb\n",
        b"a\tb\t\n",
        b"a\tb\t",
        b"a b ",
        b" a b",
        b"a b\r\n",
        b"a b c d\n",
        b"a b c d\ne f\n",  # six fields in two lines of three
        b"a b\nc d e f\n",
        b"a b c\n\0\n",
        b"a b \0\n",
        b"a b c\0d\n",
        b"a b c\td\n",  # a tab parts fields where blanks do
        b"a\tb\tc d\n",
        b"a b c\vd\n",
        b"a b c\fd\n",
        b"a b \xff\n",
        b"",
        b"\n\n",
        b" \t\r\n",
    ],
)
def test_what_is_not_three_fields_a_line_is_refused(text: bytes) -> None:
    assert fields.read(text, ALL_TEXT, NAMES) is None


@pytest.mark.parametrize("separator", [b" ", b"\t", b"   ", b" \t", b"\v", b"\f", b"\r"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \n", b"\n\n", b"\t\n"])
def test_any_white_space_parts_fields(separator: bytes, end: bytes) -> None:
    text = end.join(separator.join(parts) for parts in ([b"1", b"2", b"3"], [b"4", b"5", b"6"]))
    table = fields.read(text, ALL_TEXT, NAMES)
    assert table is not None
    assert table.columns.to_pydict() == {"a": ["1", "4"], "b": ["2", "5"], "c": ["3", "6"]}


def test_a_text_of_many_blocks_is_one_table() -> None:
    rows = [[f"t{i % 7}", f"{'x' * (i % 90)}{i}", f"{i / 7!r}"] for i in range(60_000)]
    text = "\n".join(map(" ".join, rows)).encode()
    layout = {"a": fields.REPEATED, "b": fields.TEXT, "c": fields.NUMBER}
    with patch.object(fields, "_ARROW_BLOCK", 2**18):
        table = fields.read(text, layout, NAMES)
    assert table is not None
    assert table.columns["b"].num_chunks > 10
    assert table.columns["a"].to_pylist() == [row[0] for row in rows]
    assert table.columns["b"].to_pylist() == [row[1] for row in rows]
    assert table.columns["c"].to_pylist() == [float(row[2]) for row in rows]


def test_only_the_wanted_columns_come_back() -> None:
    layout = {"a": fields.TEXT, "b": fields.NUMBER, "c": fields.NUMBER}
    table = fields.read(b"x not-a-number 2.5\n", layout, ("c", "a"))
    assert table is not None
    assert table.columns.to_pydict() == {"c": [2.5], "a": ["x"]}


def test_a_wanted_number_must_be_one() -> None:
    layout = {"a": fields.TEXT, "b": fields.NUMBER}
    assert fields.read(b"x 1\n", layout, ("a", "b")) is not None
    assert fields.read(b"x two\n", layout, ("a", "b")) is None


@given(st.lists(st.integers(0, 10**20).map(str) | st.sampled_from(["0x10", "+1", "1.0", "-1"])))
def test_whole_numbers_are_spelled_in_digits_alone(texts: list[str]) -> None:
    table = fields.Table.of_lists({"rank": fields.TEXT}, {"rank": texts})
    found = table.whole_numbers("rank")
    plain = [int(text) for text in texts if text.isdigit() and int(text) < 2**63]
    if len(plain) < len(texts) or not texts:
        assert found is None
    else:
        assert found is not None and found.tolist() == plain
