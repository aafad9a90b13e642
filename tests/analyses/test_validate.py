"""`riskeval validate`: all findings, grouped and counted, in every format."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from riskcli.analyses.checker import Checks
from riskcli.analyses.validate import validate
from riskcli.trec.codes import CODES
from tests.bench.malformed import GOOD, QRELS
from tests.conftest import Write
from tests.helpers.console import ROOT
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS as SAMPLE_QRELS
from tests.helpers.program import SAMPLES, Key, riskeval

MESSY = """\
1 Q0 a 1 2.5 t
1 Q0 b x 2.4 t
1 q0 c 3 9 t
1 Q0 a 4 1 t
1 Q0 z

1 Q0 "d 5 1.00000001 t
1 Q0 e 6 1.0 t
1 Q0 f 6 nan t
"""
FOUND = [
    (2, "bad-rank"), (3, "rank-order"), (3, "not-q0"), (4, "duplicate-document"),
    (5, "column-count"), (7, "mangled-docno"), (8, "single-precision-tie"), (9, "bad-score"),
]  # fmt: skip


@pytest.fixture
def messy(write: Write) -> Path:
    return write("t.run", MESSY)


def rows_of(*arguments: str | Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run_inside("validate", *arguments, "-f", "json").out)[
        "rows"
    ]
    return rows


def test_a_file_is_read_to_its_end_and_everything_is_said(messy: Path) -> None:
    assert [(row["line"], row["code"]) for row in rows_of(messy)] == FOUND


def test_the_samples_are_clean() -> None:
    ran = riskeval("validate", SAMPLES, "-f", "table")
    assert (ran.code, ran.out) == (0, "9 files are valid.\n")
    full = riskeval("validate", SAMPLES, "-f", "table", "--full")
    assert (full.code, full.out) == (
        0,
        "9 files are valid.\n9 files: 0 refused, 0 with warnings only; 0 errors, 0 warnings\n",
    )


def test_topics_are_compared_only_where_judgements_are_given() -> None:
    found = rows_of(SAMPLES, "-q", SAMPLE_QRELS)
    assert {(Path(row["path"]).name, row["code"]) for row in found} == {
        ("coarseTies.run", "tie-order"),
        ("partial46.run", "missing-topic"),
    }
    assert len(found) == 5


def test_the_table_is_grouped_by_file_and_counted(
    messy: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("u.run", MESSY.replace("1 Q0", "2 Q0"))
    monkeypatch.chdir(messy.parent)
    out = run_inside("validate", ".", "-f", "table", "--full").out
    first, second = out.index("t.run: 3 errors, 5 warnings"), out.index("u.run: 3 errors")
    assert first < out.index("bad-rank") < second
    assert out.endswith("2 files: 2 refused, 0 with warnings only; 6 errors, 10 warnings\n")


@pytest.mark.parametrize(
    ("most", "shown", "more"), [("3", 3, 47), ("10", 10, 40), ("50", 50, 0), ("0", 50, 0)]
)
def test_a_code_is_capped_and_the_rest_counted(
    write: Write, most: str, shown: int, more: int
) -> None:
    path = write("t.run", GOOD + b"1 Q0 z\n" * 50 + b"9 Q0 a 1 x t\n")
    call = ("validate", path, Key("max-findings", most), "-f")
    document = json.loads(run_inside(*call, "json").out)
    rows = [row for row in document["rows"] if row["code"] == "column-count"]
    assert len(rows) == shown
    assert [row["more"] for row in rows] == [0] * (shown - 1) + [more]
    assert document["files"][0]["codes"] == {"bad-score": 1, "column-count": 50}
    table = run_inside(*call, "table").out
    assert (f"and {more} more" in table) == bool(more)
    assert "51 errors" in table
    assert (f"(and {more} more)" in run_inside(*call, "github").out) == bool(more)


def test_all_formats_hold_the_same_findings(messy: Path) -> None:
    rows = rows_of(messy)
    lines = run_inside("validate", messy, "-f", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == rows
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        text = run_inside("validate", messy, "-f", format).out
        read = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
        assert read == [{name: str(value) for name, value in row.items()} for row in rows]
    annotations = run_inside("validate", messy, "-f", "github").out.splitlines()
    assert len(annotations) == len(rows) + 1
    for annotation, row in zip(annotations, rows, strict=False):
        place = f"title={row['code']},file={messy},line={row['line']}"
        assert annotation.startswith(f"::{row['severity']} {place}::")
    assert annotations[-1].startswith("::notice title=riskeval validate::1 file: 1 refused")


def test_annotations_cannot_be_broken_out_of(tmp_path: Path) -> None:
    path = tmp_path / "a,b:c%.run"
    path.write_text("1 Q0 a 1 x%0A::error::\x1b[31m t\n")
    out = run_inside("validate", path, "-f", "github").out
    assert f"file={tmp_path}/a%2Cb%3Ac%25.run,line=1" in out
    assert "x%250A" in out and "\x1b" not in out


@pytest.mark.parametrize(
    ("content", "plain", "strict"),
    [(GOOD, 0, 0), (GOOD + b"2 q0 b 2 1.0 t\n", 0, 1), (GOOD + b"2 Q0 b 2 x t\n", 1, 1)],
)
def test_exit_codes(write: Write, content: bytes, plain: int, strict: int) -> None:
    path = write("t.run", content)
    assert run_inside("validate", path).code == plain
    assert run_inside("validate", path, "--strict").code == strict


def test_what_cannot_be_asked_is_no_finding(write: Write) -> None:
    write("t.run", GOOD)
    for arguments in (["no/such/file"], ["--max-docs", "0", "x"], []):
        assert run_inside("validate", *arguments).code == 2


def test_documents_are_counted_by_topic(write: Write) -> None:
    path = write("t.run", b"".join(b"1 Q0 d%d %d %d t\n" % (i, i, -i) for i in range(1, 8)))
    assert rows_of(path) == []
    (row,) = rows_of(path, "--max-docs", "5")
    assert (row["line"], row["message"]) == (6, "topic 1 has 7 documents, more than 5")


def test_judgements_are_checked_too(write: Write) -> None:
    run, qrels = write("t.run", GOOD), write("q", QRELS + b"1 0 c x\n2 0 c y\n1 0 a 0\n")
    rows = rows_of(run, "-q", qrels)
    assert [(row["path"], row["line"], row["code"]) for row in rows] == [
        (str(qrels), 4, "bad-grade"),
        (str(qrels), 5, "bad-grade"),
        (str(qrels), 6, "conflicting-judgement"),
    ]


def test_judgements_in_the_folder_of_runs_are_no_run(write: Write) -> None:
    run = write("t.run", GOOD)
    assert rows_of(run.parent, "-q", write("qrels.txt", QRELS)) == []


def test_runs_of_one_name_are_found(write: Write) -> None:
    one, two = write("one/t.run", GOOD), write("two/t.run", GOOD)
    by_tag = rows_of(one, two, "--run-names", "tag")
    codes = {(row["path"], row["code"]) for row in by_tag}
    assert codes == {(str(two), "shared-name"), (str(two), "same-ranking")}
    (row,) = rows_of(one, write("two/u.run", GOOD.replace(b" t\n", b" u\n")))
    assert row["code"] == "same-ranking"
    third = write("u.csv", "run,1\nt,0.5\n")
    assert [row["code"] for row in rows_of(one, third)] == ["shared-name"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_finding(write: Write) -> None:
    path = write("t.run", GOOD)
    path.chmod(0)
    (row,) = rows_of(path)
    assert row["code"] == "unreadable"


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_the_findings_do_not_depend_on_jobs(messy: Path, write: Write, jobs: int) -> None:
    for number in range(5):
        write(f"t{number}.run", MESSY.replace(" t\n", f" t{number}\n"))
    expected = validate([messy.parent], jobs=1).result().rows
    assert validate([messy.parent], jobs=jobs).result().rows == expected
    assert len(expected) > 40


def test_long_runs_are_checked_as_columns(write: Write) -> None:
    """Where nothing is wrong, no line is looked at by itself; numbers of lines are the file's."""
    lines = [f"{t} Q0 d{i} {i} {1000 - i} t\n" for t in range(20) for i in range(500)]
    lines[7000] = "14 Q0 late 0 5000 t\n"
    path = write("t.run", "".join(lines[:5000]) + "\n\n" + "".join(lines[5000:]))
    checked = validate([path], checks=Checks(max_findings=None)).result().rows
    assert checked == []
    lines[7000] = "14 Q0 late 499 5000 t\n"
    path.write_text("".join(lines[:5000]) + "\n\n" + "".join(lines[5000:]))
    found = [(row[1], row[3]) for row in validate([path]).result().rows]
    assert found == [(7003, "rank-order"), (7502, "duplicate-rank")]


def codes_in(source: Path) -> set[str]:
    """The codes that a module's errors, findings and tallies are made with."""
    calls = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call)]
    code_at = {"InputError": 1, "Finding": 2, "_note_once": 1, "Doubt": 0}
    code_at |= dict.fromkeys(("add_all", "doubt", "doubt_pairs", "WrongLineError"), 0)
    found = set()
    for call in calls:
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        code = call.args[code_at[name]] if name in code_at and call.args else None
        if isinstance(code, ast.Constant) and isinstance(code.value, str):
            found.add(code.value)
    return found


def test_every_code_in_the_program_is_declared_and_the_other_way_round() -> None:
    found = {code for source in (ROOT / "riskcli").rglob("*.py") for code in codes_in(source)}
    named_otherwise = {"duplicate-run", "duplicate-topic", "repeated-judgement", "other-kind"}
    named_otherwise |= {"other-judgements", "bad-queries"}
    assert found | named_otherwise == set(CODES)


def test_a_run_without_the_tag_that_should_name_it_is_refused(write: Write) -> None:
    path = write("one.run", b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1 u\n")
    found = [row[3] for row in validate([path], checks=Checks(run_names="tag")).result().rows]
    assert "no-tag" in found
    assert "no-tag" not in [row[3] for row in validate([path]).result().rows]
    ran = run_inside("score", path, "-q", write("qrels", QRELS), "--run-names", "tag")
    assert (ran.code, ran.out) == (2, "")
    assert "its lines carry different tags" in ran.err


@pytest.mark.parametrize("kind", ["run", "scores", "qrels"])
def test_the_checksum_is_that_of_the_bytes_that_were_checked(write: Write, kind: str) -> None:
    text = {"run": GOOD, "scores": b"run,1,2\na,0.5,1\n", "qrels": QRELS}[kind]
    path = write(kind, text)
    run = write("good", GOOD)
    found = validate([run], qrels=path) if kind == "qrels" else validate([path])
    path.unlink()
    inputs = found.result().envelope()["inputs"]
    assert {"path": kind, "sha256": hashlib.sha256(text).hexdigest(), "kind": kind} in inputs


def test_findings_of_one_severity_are_shown_and_all_are_counted(write: Write) -> None:
    bad = write("bad.run", "1 Q0 a 1 x t\n2 Q0 a 1 1 t\n")
    odd = write("odd.run", "1 QX a 1 2 odd\n1 QX b 2 1 odd\n")
    counted = {"bad-score": 1, "tag-name": 1, "not-q0": 2}
    for only, codes in (
        ("all", set(counted)),
        ("errors", {"bad-score"}),
        ("warnings", {"tag-name", "not-q0"}),
    ):
        ran = run_inside("validate", bad, odd, Key("only", only), "-f", "json")
        found = json.loads(ran.out)
        assert ran.code == 1
        assert {row["code"] for row in found["rows"]} == codes
        assert found["codes"] == counted
    shown = run_inside("validate", bad, odd, Key("only", "errors"), "-f", "table", "--full").out
    assert "all files, by code" in shown
    assert "2      1  warning  not-q0" in shown
    assert "odd.run" not in shown


# ---------------------------------------------------------------- one screen


def screen(*files: Path | Key | str) -> list[str]:
    return riskeval("validate", *files, "-f", "table", COLUMNS="80").out.splitlines()


def test_equal_findings_of_many_files_are_gathered_under_the_answer(write: Write) -> None:
    files = [write(f"t{i:02}.run", "1 QX a 1 2 t\n1 QX b 2 1 t\n") for i in range(17)]
    lines = screen(*files)
    assert lines[:2] == ["17 files are valid.", "17 files have warnings, which stop no command."]
    assert len(lines) <= 25 and max(map(len, lines)) <= 80
    (row,) = [line.split() for line in lines if "not-q0" in line]
    assert row[:4] == ["warning", "not-q0", "17", "34"]
    assert "t00.run, line 1: the 2nd column is" in " ".join(" ".join(lines).split())
    assert lines[-1] == "Every finding, with file and line: --full."
    full = run_inside("validate", *files, "-f", "table", "--full").out
    joined = "".join(full.split())  # titles are folded
    assert all(f"{file}:0errors" in joined for file in files) and "all files, by code" in full


def test_what_is_refused_is_named_and_its_errors_stand_first(write: Write) -> None:
    good = write("good.run", GOOD)
    bad = [write(f"bad{i}.run", GOOD + b"2 Q0 b 2 x t\n2 Q0 c\n") for i in range(5)]
    one, several = screen(good, bad[0]), screen(good, *bad)
    assert one[0] == "1 of 2 files is refused: bad0.run."
    assert several[0] == "5 of 6 files are refused: bad0.run, bad1.run, bad2.run and 2 more."
    kinds = [line.split()[0] for line in several if line.startswith(("error", "warning"))]
    assert kinds == sorted(kinds) and kinds[0] == "error"
    assert [line.split()[1:4] for line in several if "bad-score" in line] == [
        ["bad-score", "5", "5"]
    ]


def test_of_one_file_every_finding_is_shown(messy: Path) -> None:
    lines = screen(messy)
    assert lines[:2] == ["t.run is refused.", "It has warnings, which stop no command."]
    assert "t.run: 3 errors, 5 warnings" in " ".join(lines)
    shown = [(words[0], words[2]) for line in lines if len(words := line.split()) > 2]
    assert {(str(line), code) for line, code in FOUND} <= {*shown}


def test_findings_that_are_not_asked_for_are_not_gathered_either(write: Write) -> None:
    files = [write(f"t{i}.run", GOOD + b"2 q0 b 2 1.0 t\n") for i in range(2)]
    assert screen(*files, Key("only", "errors")) == [
        "2 files are valid.", "2 files have warnings, which stop no command."
    ]  # fmt: skip


def test_files_and_programs_get_every_finding_with_the_answer(write: Write, tmp_path: Path) -> None:
    files = [write(f"t{i}.run", GOOD + b"2 q0 b 2 1.0 t\n") for i in range(3)]
    document = json.loads(run_inside("validate", *files, "-f", "json").out)
    assert [each["rule"] for each in document["verdicts"]] == ["refused", "warned"]
    assert document["verdicts"][1]["numbers"] == {"warned": 3}
    assert {row["path"] for row in document["rows"]} == set(map(str, files))
    assert run_inside("validate", *files, "-o", tmp_path / "all.txt").code == 0
    text = (tmp_path / "all.txt").read_text()
    assert text.startswith("3 files are valid.") and all(
        f"{file}: 0 errors" in text for file in files
    )
