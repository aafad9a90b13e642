"""Files that hold something else: what is said, and which are skipped in a folder of runs."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import InputError, evaluate, read_qrels, read_run, validate
from riskcli.trec.mistaken import recognised
from tests.bench.malformed import GOOD, QRELS
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS as SAMPLE_QRELS
from tests.helpers.program import SAMPLES
from tests.helpers.shared_data import shared

NEIGHBOURS = {
    "T01-r1~": GOOD,
    "#T02-r1#": GOOD,
    "T02-r1.bak": GOOD,
    "log.csv": b"epoch,loss,lr\n1,0.5,0.1\n2,0.4,0.1\n",
    "log.tsv": b"step\tloss\n1\t0.5\n2\t0.4\n",
    "train": b"2026-01-05 10:00:00 INFO start\n2026-01-05 10:00:09 INFO done\n",
    "queries.tsv": b"1\thow do bees find home\n2\twhy is the sky blue\n",
    "queries.jsonl": b'{"_id": "1", "text": "bees"}\n{"_id": "2", "text": "sky"}\n',
    "topics": b'<topics>\n<topic number="1"><query>bees</query></topic>\n</topics>\n',
    "second-qrels": QRELS,
    "quepid": b"query,docid,rating\n1,a,1\n2,a,0\n",
    "model.bin": bytes(range(256)),
    "notes.txt": b"run 2 is the better one\n",
    "summary": b"runid\tall\tt\nmap\tall\t0.5\nP_10\tall\t0.1\n",
    "notebook": b'{"cells": [{"cell_type": "code"}], "nbformat": 4}\n',
    "analysis.ipynb": b'{"cells": []}',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good runs, and judgements beside their folder."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("T01-r1", "T02-r1"):
        (runs / name).write_bytes(GOOD.replace(b" t\n", f" {name}\n".encode()))
    (tmp_path / "qrels").write_bytes(QRELS)
    return runs


def filled(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("command", ["score", "matrix", "validate"])
def test_what_lies_beside_runs_is_skipped_and_told(folder: Path, command: str) -> None:
    ran = run_inside(command, filled(folder, NEIGHBOURS), "-q", folder.parent / "qrels")
    assert ran.code == 0
    notes = [line for line in ran.err.splitlines() if line.startswith("note: skipped in folders")]
    assert len(notes) == 2
    kinds = {"second-qrels": "judgements", "summary": "means over topics alone", "train": "a log",
             "notebook": "a Jupyter notebook", "queries.tsv": "queries or documents"}  # fmt: skip
    assert all(f"{name} ({kind})" in notes[1] for name, kind in kinds.items())
    quiet = run_inside(command, folder, "-q", folder.parent / "qrels", "--quiet")
    assert "skipped" not in quiet.err


def test_an_empty_file_of_a_folder_is_a_warning_and_refused_by_name(folder: Path) -> None:
    filled(folder, {"T03-r1": b"\n"})
    ran = run_inside("score", folder, "-q", folder.parent / "qrels", "--quiet")
    assert ran.code == 0
    assert "warning: skipped in folders (empty): T03-r1 (no line of a run in this file)" in ran.err
    assert run_inside("score", folder / "T03-r1", "-q", folder.parent / "qrels").code == 2
    assert run_inside("validate", folder, "-q", folder.parent / "qrels").code == 1


DAMAGED = {
    "cut off": GOOD[:-4],
    "no tag": GOOD.replace(b" t\n", b"\n"),
    "four columns": b"1 Q0 a 3\n1 Q0 b 2\n2 Q0 a 1\n",
    "documents, ranks and scores": b"1 d1 1 9\n1 d2 2 8\n",
    "carriage returns": GOOD.replace(b"\n", b"\r"),
    "saved page": b"<!DOCTYPE html>\n<html><body>Log in</body></html>\n",
    "no access": b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
    "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
    "a log within": GOOD + b"INFO done\nINFO done\nINFO done\nINFO done\n",
    "results": b'{"1": {"map": 0.5, "ndcg": 0.7}}',
    "another collection": b"1 Q0 zz 1 2.5 T03-r1\n",
    "other topics": b"77 Q0 a 1 2.5 T03-r1\n",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_run_is_never_skipped(folder: Path, content: bytes) -> None:
    filled(folder, {"T03-r1": content})
    ran = run_inside("score", folder, "-q", folder.parent / "qrels")
    assert (ran.code, ran.out) == (2, "")
    (line,) = [each for each in ran.err.splitlines() if each.startswith("riskeval: ")]
    assert line.count("--exclude T03-r1 or --on-error skip leaves it out") == 1
    without = run_inside("score", folder, "-q", folder.parent / "qrels", "--exclude", "T03-r1")
    assert without.code == 0
    skipping = run_inside("score", folder, "-q", folder.parent / "qrels", "--on-error", "skip")
    assert (skipping.code, "LEFT OUT" in skipping.err) == (1, True)


AS_JSON = json.dumps({"1": {f"d{i}": 9.5 - i for i in range(8)}}).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [("T04.json", GOOD), ("T04.json", AS_JSON), ("T04.html", GOOD), ("T04.log", GOOD),
     ("T04~", GOOD), ("T04.bak", GOOD)],
)  # fmt: skip
def test_a_run_that_its_name_hides_is_told_even_quietly(
    folder: Path, name: str, content: bytes
) -> None:
    results = dict.fromkeys(("map", "ndcg", "P_5", "P_10", "recip_rank", "bpref"), 0.5)
    others = {"config.json": {"bm25": {"k1": 0.9, "b": 0.4}}, "results.json": {"1": results}}
    filled(folder, {other: json.dumps(held).encode() for other, held in others.items()})
    filled(folder, {name: content})
    ran = run_inside("score", folder, "-q", folder.parent / "qrels", "--quiet")
    said = f"skipped for their names, but begin as runs: {name} (--include '*' takes every file)"
    assert f"warning: {said}" in ran.err
    assert not any(other in ran.err for other in others)
    for run in folder.glob("T0[12]*"):
        run.unlink()
    alone = run_inside("score", folder, "-q", folder.parent / "qrels")
    assert (alone.code, said in alone.err) == (2, True)


def test_runs_and_judgements_exchanged_are_one_message(folder: Path) -> None:
    run, qrels = folder / "T01-r1", folder.parent / "qrels"
    for command in ("score", "matrix", "topics"):
        ran = run_inside(command, qrels, "-q", run)
        assert ran.code == 2
        said = f"this file holds judgements, and {run} (--qrels) a run: exchange them"
        assert ran.err.strip() == f"riskeval: {qrels}: other-kind: {said}"
    ran = run_inside("score", run, "-q", run)
    assert "this file holds a run: name it among RUNS, --qrels expects topic" in ran.err
    ran = run_inside("score", qrels, "-q", qrels)
    assert "judgements (topic iteration document grade): give it with --qrels" in ran.err


@pytest.mark.parametrize("command", ["score", "matrix", "topics", "significance", "validate"])
@pytest.mark.parametrize(
    "results",
    [{"1": {"map": 0.5, "ndcg": 0.7}}, {"1": {"P_10": 0.1}, "2": {"ndcg_cut_20": 1}},
     {"bm25": {"ndcg@10": 0.5, "recall@100": 0.25}}, {"map": {"1": 0.5, "2": 0.25}}],
)  # fmt: skip
def test_results_of_an_evaluation_are_no_run(
    folder: Path, results: dict[str, dict[str, float]], command: str
) -> None:
    path = folder / "results.json"
    path.write_text(json.dumps(results), encoding="utf-8")
    ran = run_inside(command, path, "-q", folder.parent / "qrels")
    assert ran.code == (1 if command == "validate" else 2)
    assert "this file holds results of an evaluation" in " ".join((ran.err + ran.out).split())


@pytest.mark.parametrize(
    "documents",
    [{"1": {"P_1": 3, "P_2": 2}}, {"1": {"num_1": 0.5, "num_2": 0.25}}, {"P_1": {"a": 0.5}},
     {"1": {"P_5": 9, "P_10": 8}}, {"1": {"P_5": 0.5}, "2": {"P_10": 0.25}},
     {"1": {"set_a": 0.5, "map_cut_7": 1.5}}],
)  # fmt: skip
def test_names_that_count_like_those_of_measures_are_documents(
    folder: Path, documents: dict[str, dict[str, float]]
) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps(documents), encoding="utf-8")
    assert read_run(path)


def test_documents_that_are_called_like_a_measure_are_documents(folder: Path) -> None:
    path = folder / "run.json"
    path.write_text('{"1": {"map": 2.5, "a": 1.5}, "2": {"a": 1.5}}', encoding="utf-8")
    assert evaluate([path], qrels=folder.parent / "qrels").matrices


def test_the_library_says_the_same(folder: Path) -> None:
    with pytest.raises(InputError, match="this file holds judgements"):
        read_run(folder.parent / "qrels")
    with pytest.raises(InputError, match="this file holds a run"):
        read_qrels(folder / "T01-r1")


@pytest.mark.parametrize("at", [1, 7, 200, 2**16 - 3, 2**16 + 5])
def test_no_line_of_a_run_is_taken_for_something_else(at: int) -> None:
    """Wherever a run is cut or damaged, it stays a run."""
    run = b"".join(b"101 Q0 doc-%d %d %d.5 t\n" % (i, i, 9000 - i) for i in range(1, 3000))
    for damaged in (run[:at], run[at:], run[:at] + b"\0\0" + run[at:], run[:at] + b"<" + run[at:]):
        found = recognised(damaged)
        assert found is None or found.code != "other-kind"


@given(st.one_of(st.binary(), st.text('01,;:.\t\n\r "{}[]<aQ0').map(str.encode)), st.booleans())
def test_whatever_a_file_holds_the_look_at_it_ends(start: bytes, judgements: bool) -> None:
    recognised(start, judgements)
    found = recognised(b"1 Q0 a 1 2.5 t\n" + start)
    assert found is None or found.code != "other-kind"


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
def test_a_run_that_lacks_columns_is_never_skipped(separator: str) -> None:
    """Whatever columns are left, between whatever separators."""
    lines = [f"{100 + i // 30} Q0 doc-{i} {i % 30 + 1} {9000 - i} tag".split() for i in range(90)]
    for width in range(1, 7):
        for columns in itertools.combinations(range(6), width):
            text = "".join(separator.join(line[i] for i in columns) + "\n" for line in lines)
            found = recognised(text.encode())
            assert found is None or found.code != "other-kind", text[:80]


# Real runs, with which nothing is wrong


def codes_said_of(runs: Path, qrels: Path) -> tuple[set[str], set[str]]:
    """The codes of warnings where runs are scored, and of all that `validate` finds."""
    scored = evaluate([runs], qrels=qrels)
    checked = validate([runs], qrels=qrels)
    warnings = {note.code for note in (*scored.notes, *checked.notes) if note.warning}
    return warnings, {code for file in checked.files for code in file.tally.counts}


def test_no_false_alarm_on_the_runs_of_web_2012() -> None:
    web = shared("trec-web-2012")
    assert codes_said_of(web / "runs", web / "qrels.txt.gz") == (set(), {"tag-name"})


def test_no_false_alarm_on_the_sample_runs() -> None:
    warnings, found = codes_said_of(SAMPLES, SAMPLE_QRELS)
    assert (warnings, found) == (
        {"unanswered-topics", "tie-order"},  # coarseTies has been made for it
        {"missing-topic", "tie-order"},
    )


def test_judgements_by_subtopic_are_judgements() -> None:
    web = shared("trec-web-2012")
    ran = run_inside("score", web / "qrels-subtopics.txt.gz", "-q", web / "qrels.txt.gz")
    assert "this file holds judgements" in ran.err
    ran = run_inside("score", web / "queries.txt", "-q", web / "qrels.txt.gz")
    assert "this file holds queries" in ran.err
