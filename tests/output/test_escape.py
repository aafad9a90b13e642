"""Names from strangers: what a run's tag or a topic can do to each output, namely nothing."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli.output.escape import html, latex, markdown, visible, without_controls
from riskcli.output.renderers import spreadsheet_safe
from riskcli.output.result import Result
from tests.helpers.console import on_terminal
from tests.helpers.inprocess import run_inside
from tests.helpers.program import Key

HOSTILE = (
    "\x1b[2Jerased", "\x1b]0;title\x07", "\x9b31mred", "a\x08\x08b", "bell\x07", "\u202eright",
    "=cmd()", "+1+1", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x","y")', "</td></tr>", "<!--",
    "<script>alert(1)</script>", "&lt;", "a|b", "**bold**", "[x](http://y)", "`code`", "![i](x)",
    "%comment", "\\input{x}", "$x^2$", "a&b", "#1", "a_b", "{brace}", "~", '"quoted"', "'single'",
    "a,b", "a;b", "::error::x", "%0A::error", "'", "é", "日本", "\ufeffbom", "nul\\0",
)  # fmt: skip
TOPICS = tuple(f"a{name}" if name.startswith("#") else name for name in HOSTILE)
"""A line that begins with # is a comment, or refused."""
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs with a hostile tag and a hostile topic each, for every name."""
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 d 1\n" for topic in (*TOPICS, "1")))
    for number, name in enumerate(HOSTILE):
        tag = name if not name.startswith("@") else f"a{name}"
        lines = [f"{topic} Q0 d {number + 1} 1.0 {tag}\n" for topic in TOPICS[number:]]
        (tmp_path / f"{number}.run").write_text("".join(lines) + f"1 Q0 d 1 1 {tag}\n")
    return tmp_path


def call(command: str, folder: Path, *more: str | Key) -> list[str | Path | Key]:
    return [*command.split(), *sorted(folder.glob("*.run")), "-q", folder / "qrels", *more]


FORMATS = ("table", "markdown", "latex", "html")


@pytest.mark.parametrize(
    ("command", "format"),
    [
        *(("score", format) for format in FORMATS),
        *(("significance", format) for format in FORMATS),
        *(("sweep --over baseline", format) for format in FORMATS[:2]),
        *(("validate", format) for format in ("table", "markdown", "github")),
    ],
)
def test_no_control_character_reaches_people(folder: Path, command: str, format: str) -> None:
    measure = [] if command == "validate" else ["-m", "AP"]
    ran = run_inside(*call(command, folder, "-f", format, *measure))
    assert ran.code == 0, ran.err
    assert not CONTROL.search(ran.out) and not CONTROL.search(ran.err)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)


def test_html_has_no_element_but_its_own(folder: Path) -> None:
    parser = _Tags()
    parser.feed(run_inside(*call("score", folder, "-m", "AP", "-f", "html")).out)
    own = {
        "figure",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figcaption",
        "br",
        "p",
    }
    assert parser.seen <= own | {"strong", "span", "small"}


def test_markdown_rows_have_the_columns_of_the_header(folder: Path) -> None:
    lines = run_inside(*call("score", folder, "-m", "AP", "-f", "markdown")).out.splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == len(HOSTILE) + 1
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {rows[0].count("|")}


def test_an_annotation_is_one_line(folder: Path) -> None:
    lines = run_inside(*call("validate", folder, "-f", "github")).out.splitlines()
    assert all(re.match(r"::(error|warning|notice) ", line) for line in lines)


def test_machine_formats_keep_the_names(folder: Path) -> None:
    expected = {name if not name.startswith("@") else f"a{name}" for name in HOSTILE}
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        out = run_inside(*call("matrix", folder, "-m", "AP", "-f", format)).out
        rows = list(csv.reader(io.StringIO(out, newline=""), delimiter=delimiter))
        assert {row[0] for row in rows[1:]} == expected
    out = run_inside(*call("matrix", folder, "-m", "AP", "-f", "json")).out
    assert {row["run"] for row in json.loads(out)["rows"]} == expected


@pytest.mark.parametrize("format", ["csv", "tsv"])
@pytest.mark.parametrize("command", ["score", "matrix"])
def test_csv_safe(folder: Path, command: str, format: str) -> None:
    plain, safe = (
        list(
            csv.reader(io.StringIO(ran.out, newline=""), delimiter="," if format == "csv" else "\t")
        )
        for ran in (
            run_inside(*call(command, folder, "-m", "AP", "-f", format, *more))
            for more in ([], [Key("csv-safe")])
        )
    )
    changed = set()
    for before, after in zip(plain, safe, strict=True):
        for old, new in zip(before, after, strict=True):
            assert new in (old, f"'{old}")
            changed |= {old} if new != old else set()
            assert not re.match(r"[=@\t\r]|[+-](?![\d.]+(e-?\d+)?$)", new)
    assert {"=cmd()", "+1+1", "-2+3"} <= changed
    assert ("@mean" in changed) == (command == "score")


def test_csv_safe_leaves_numbers_alone() -> None:
    result = Result(("run", "-5"), [("-1.5", -1.5), ("-x", None), ("1", 2)])
    safe = spreadsheet_safe(result)
    assert safe.columns == ("run", "-5")
    assert safe.rows == [["-1.5", -1.5], ["'-x", None], ["1", 2]]


@pytest.mark.parametrize("format", ["table", "tsv", "csv", "json", "jsonl", "markdown"])
def test_a_terminal_gets_no_orders(tmp_path: Path, format: str) -> None:
    (tmp_path / "q").write_text("1 0 d 1\n")
    (tmp_path / "a.run").write_text("1 Q0 d 1 1.0 a\x1b[2J\x9b1m\n")
    (tmp_path / "b.run").write_text("1 Q0 d 1 1.0 b\n")
    files = f"{tmp_path}/a.run {tmp_path}/b.run -q {tmp_path}/q -m AP"
    code, shown = on_terminal(f"riskeval score {files} -f {format}")
    assert code == 0 and not CONTROL.search(shown.replace("\t", " "))
    assert "x1b" in shown or "u001b" in shown
    if format in ("csv", "tsv", "json"):
        code, shown = on_terminal(f"riskeval matrix {files} -f {format}")
        assert code == 0 and not CONTROL.search(shown.replace("\t", " "))


def test_errors_show_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("1 Q0 d 1 \x1b[31mred t\n")
    ran = run_inside("score", path, "-q", path)
    assert ran.code == 2 and not CONTROL.search(ran.err)


# Laws of the escapes


@given(st.text())
def test_escaped_text_holds_no_order(text: str) -> None:
    for escaped in (visible(text), markdown(text), latex(text), html(text)):
        assert not CONTROL.search(escaped) and "\n" not in escaped
    assert not CONTROL.search(without_controls(text).replace("\t", ""))


@given(st.text())
def test_html_and_markdown_cannot_be_left(text: str) -> None:
    assert not set(html(text)) & set("<>\"'")
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<]", markdown(text))


BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"


@given(
    st.text(
        st.characters(categories=["L", "N", "P", "S"], exclude_characters=BLANK_LETTERS)
        | st.just(" ")
    )
)
def test_text_that_can_be_seen_is_left_alone(text: str) -> None:
    assert visible(text) == without_controls(text) == text
