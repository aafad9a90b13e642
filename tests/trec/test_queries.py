"""Queries: the forms in which they come, and what is said of a file that is wrong."""

from __future__ import annotations

import bz2
import gzip
import lzma
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import InputError
from riskcli.trec.queries import read_queries
from tests.conftest import Write

EXPECTED = {"301": "International Organized Crime", "302": "poliomyelitis & post-polio"}
SGML = """
<top>

<num> Number: 301
<title> International Organized
        Crime

<desc> Description:
Identify organizations that participate in
international criminal <title> activity.
</top>

<top>
<num>302</num>
<title>Topic: poliomyelitis &amp; post-polio</title>
</top>
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topics SYSTEM "topics.dtd">
<topics task="x">
  <topic number="301" type="faceted">
    <query>International
       Organized Crime</query>
    <description>Others &amp; more.</description>
    <subtopic number="1" type="inf">What is it?</subtopic>
  </topic>
  <topic number="302"><title> poliomyelitis &amp; post-polio </title><question>Why?</question>
  </topic>
</topics>
"""
LINES = "301SInternational Organized Crime\n\n302S poliomyelitis &  post-polio \n"
FORMS = {
    "SGML": SGML,
    "SGML, tags closed": SGML.replace("\n\n<desc>", "</title>\n\n<desc>"),
    "SGML, capitals, attributes": SGML.replace("<top>", '<TOP lang="en">').replace("num>", "NUM>"),
    "XML": XML,
    "XML, no prolog": XML.split("\n", 2)[2],
    "XML, ids as elements": "<queries>\n<query><qid>301</qid><text>International Organized Crime"
    "</text></query><query><qid>302</qid><text>poliomyelitis &amp; post-polio</text></query>"
    "</queries>",
    "tabs": LINES.replace("S", "\t", 1).replace("302S", "302\t"),
    "tabs, a header": "query_id\ttext\n" + LINES.replace("S", "\t", 1).replace("302S", "302\t"),
    "colons": LINES.replace("S", ":", 1).replace("302S", "302:"),
    "BEIR": '{"_id": "301", "text": "International Organized Crime", "metadata": {}}\n'
    '{"_id": "302", "text": "poliomyelitis & post-polio"}\n',
    "ir_datasets": '{"query_id": 301, "title": "International Organized Crime", "narrative": ""}\n'
    '{"query_id": 302, "title": "poliomyelitis \\u0026 post-polio"}',
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_queries_in_every_form(write: Write, form: str) -> None:
    assert read_queries(write("queries", FORMS[form])) == EXPECTED
    again = FORMS[form].replace("\n", "\r\n")
    assert read_queries(write("crlf", b"\xef\xbb\xbf" + again.encode())) == EXPECTED


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read(write: Write, packed: object) -> None:
    assert read_queries(write("queries", packed(SGML.encode()))) == EXPECTED  # type: ignore[operator]


def test_queries_of_the_web_track(shared: Path) -> None:
    found = read_queries(shared / "trec-web-2012" / "queries.txt")
    assert len(found) == 50 and (found["151"], found["155"]) == ("403b", "last supper painting")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<topics><topic number="1">\n A man of 62. \n</topic></topics>', "A man of 62."),
        ('<t><topic number="1"><disease>Melanoma</disease><gene>BRAF</gene></topic></t>',
         "Melanoma BRAF"),
        ('<t><topic number="1"><title>first</title><title>zweiter</title></topic></t>', "first"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><t><topic number="1">caf\xe9</topic></t>',
         "caf\xe9"),
        ("<top><num> Number: 1 <title> Is 2 < 3 ?\n</top>", "Is 2 < 3 ?"),
        ("<top>\n<num>1\n<title>no end", "no end"),
        ("1:what is 12:30 o'clock: a time?\n", "what is 12:30 o'clock: a time?"),
        ('{"id": "1", "title": "", "text": "a\\u0000b\\ud800c\\u001b[31m"}', "a b c [31m"),
        ('{"number": 1, "query": {"of": 2}, "title": "the title"}', "the title"),
        ("1\tsame\n1\t same \n", "same"),
    ],
)  # fmt: skip
def test_oddities_of_real_files(write: Write, text: str, expected: str) -> None:
    coded = text.encode("latin-1" if "8859" in text else "utf-8")
    assert read_queries(write("queries", coded)) == {"1": expected}


def test_a_topic_without_words_is_left_out(write: Write) -> None:
    assert read_queries(write("queries", "1\tone\n2\t \n3:x\tthree\n")) == {
        "1": "one",
        "3:x": "three",
    }


WRONG = {
    "a run": ("151 Q0 d1 1 2.5 tag\n", 1, "found '151 Q0 d1 1 2.5 tag', expected TREC topics"),
    "a run with tabs": ("151\tQ0\td1\t1\t2.5\ttag\n", 1, "found 6 columns ('151 Q0 d1 1"),
    "prose": ("A text.\n", 1, "found 'A text.', expected TREC topics (<top> or XML), id and"),
    "two texts": ("1\ta\n2\tb\n1\tc\n", 3, "topic 1 is 'c' here and 'a' on line 1"),
    "no colon": ("1:a\nb\n", 2, "found 'b', expected id:text"),
    "no word": ("1 2\ta\n", 1, "the topic's id is '1 2', expected one word"),
    "no id": ("\ta\n", 1, "the topic's id is '', expected one word"),
    "no number": ("<top>\n<title> x\n</top>", 1, "this topic has no <num>"),
    "no title": ("<top>\n<num> 1\n<title> x\n</top>\n<top><num> 2", 5, "this topic has no <title>"),
    "two words": ("<top>\n<num> Number: 1 one\n<title> x\n", 1, "is '1 one', expected one word"),
    "cut XML": ('<topics>\n<topic number="1">\n', 3, "no well-formed XML: no element found"),
    "nameless XML": ("<topics>\n<topic><query>x</query></topic></topics>", 2, "has no id (number,"),
    "no such encoding": ('<?xml version="1.0" encoding="x-y"?><topics/>', 1, "not read: unknown"),
    "cut JSON": ('{"id": 1, "text": "a"}\n{"id": \n', 2, "not JSON: expected an object a line"),
    "a JSON list": ('{"id": 1, "text": "a"}\n[1]\n', 2, "found a JSON list, expected an object"),
    "no member": ('{"id": 1, "words": "a"}\n', 1, "members 'id, words', expected a text (text,"),
    "a truth": ('{"id": true, "text": "a"}\n', 1, "members 'id, text', expected an id (_id,"),
    "JSON in a list": ('[{"id": "1", "text": "a"}]', 1, "found a JSON list, expected an object"),
    "deep JSON": ('{"id":' + "[" * 100_000 + "\n", 1, "not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_its_line(write: Write, case: str) -> None:
    text, line, message = WRONG[case]
    with pytest.raises(InputError) as caught:
        read_queries(write("queries", text))
    assert (caught.value.code, caught.value.line) == ("bad-queries", line)
    assert message in caught.value.message


@pytest.mark.parametrize("text", [b"", b" \n\n", b"<html></html>", b"<topics/>"])
def test_a_file_without_a_query_says_what_was_expected(write: Write, text: bytes) -> None:
    with pytest.raises(InputError, match=r"empty-file: no query .* expected TREC topics"):
        read_queries(write("queries", text))


@pytest.mark.parametrize("text", [b"1\ta\n2\t\xff\n", b"1:a\n2:\xff", b"<top><num>1\n<title>\xff"])
def test_what_is_not_utf_8_is_refused(write: Write, text: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_queries(write("queries", text))
    assert (caught.value.code, caught.value.line) == ("encoding", 2)


LAUGHS = '<?xml version="1.0"?>\n<!DOCTYPE topics [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{10 * f"&{a};"}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
) + ']><topics><topic number="1"><query>&j;</query></topic></topics>'  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [LAUGHS, '<!DOCTYPE t [<!ENTITY x SYSTEM "secret">]><t><topic number="1">&x;</topic></t>'],
)
def test_xml_declares_no_entities(write: Write, text: str) -> None:
    write("secret", "secret")
    with pytest.raises(InputError, match="declares entities of its own"):
        read_queries(write("queries", text))


def test_xml_reads_no_other_file(write: Write) -> None:
    named = write("topics.dtd", '<!ENTITY x "secret">')
    text = f'<!DOCTYPE t SYSTEM "{named}"><t><topic number="1">a &x; b</topic></t>'
    assert read_queries(write("queries", text)) == {"1": "a b"}


HOSTILE = (
    "<top " * 100_000, "<top>" * 100_000, "</top " * 100_000, "<top><num>1<title>" + "<" * 10**6,
    f"<t><topic number='1'>{'x' * 10**6}</topic></t>", "<a>" * 100_000, "1\t" + "\x1b" * 10**6,
    "x" * 10**6,
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_files_take_no_time(write: Write, number: int) -> None:
    file, before = write("queries", HOSTILE[number]), time.perf_counter()
    with suppress(InputError):
        read_queries(file)
    assert time.perf_counter() - before < 2


def test_what_expands_without_end_is_refused(write: Write) -> None:
    file = write("queries", gzip.compress(b"1\t" + b"a" * 10**6))
    with pytest.raises(InputError, match="expands to more than 1,000 bytes"):
        read_queries(file, 1000)


@settings(max_examples=40)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_queries_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any"
    for start in (b"", b"<top>", b"<t>", b"{", b"1\t", b"1:"):
        file.write_bytes(start + content)
        try:
            found = read_queries(file)
        except InputError:
            continue
        assert all(topic.split() == [topic] for topic in found)
        "".join([*found, *found.values()]).encode()
