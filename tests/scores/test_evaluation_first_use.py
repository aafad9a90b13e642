"""What people do first: results among the runs, the order of trec_eval, tables as they lie."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from riskcli import InputError, Rules, UsageError, evaluate
from riskcli.cli import progress
from riskcli.core.parallel import FileProgress
from riskcli.trec import source
from tests.conftest import Write
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES

AP = ("-m", "AP", "-f", "csv", "--quiet")
SOME = ("indriCASP.run", "boldRerank.run", "plainBM25.run")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with three runs."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in SOME:
        shutil.copy(SAMPLES / name, folder)
    return folder


def matrix_of(*words: str | Path) -> str:
    ran = run_inside("matrix", *words, *AP)
    assert ran.code == 0, ran.err
    return ran.out


# Own results


RESULTS = [
    ("score", format) for format in ("csv", "tsv", "jsonl", "parquet", "txt", "tex", "json")
] + [
    (command, format)
    for command in ("sweep", "sweep --over baseline", "sweep --over measure", "topics")
    for format in ("csv", "jsonl", "txt")
]


@pytest.mark.parametrize(("command", "format"), RESULTS)
def test_a_result_in_the_folder_of_its_runs_is_passed_over(
    runs: Path, command: str, format: str
) -> None:
    before = matrix_of(runs, "-q", QRELS)
    out = runs / f"out.{format}"
    made = run_inside(*command.split(), runs, "-q", QRELS, "-m", "AP", "-o", out, "--quiet")
    assert made.code == 0
    again = run_inside("matrix", runs, "-q", QRELS, "-m", "AP", "-f", "csv")
    assert (again.code, again.out) == (0, before)
    assert out.name in again.err
    assert run_inside("validate", runs, "-q", QRELS).code == 0


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "txt", "json", "parquet"])
def test_a_result_that_is_named_is_refused_as_one(runs: Path, format: str) -> None:
    out = runs / f"out.{format}"
    run_inside("score", runs, "-q", QRELS, "-m", "AP", "-o", out, "--quiet")
    ran = run_inside("score", out, "-q", QRELS, "-m", "AP")
    assert ran.code == 2
    assert ran.err.startswith(f"riskeval: {out}: own-result: a result of riskeval, expected runs")


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_a_matrix_in_the_folder_of_its_runs_is_passed_over(runs: Path, format: str) -> None:
    before = matrix_of(runs, "-q", QRELS)
    run_inside("matrix", runs, "-q", QRELS, "-m", "AP", "-o", runs / f"m.{format}", "--quiet")
    assert matrix_of(runs, "-q", QRELS) == before
    assert matrix_of(runs / f"m.{format}") == before


def test_a_matrix_of_other_runs_joins_them(runs: Path) -> None:
    run_inside("matrix", runs, "-q", QRELS, "-m", "AP", "-o", runs / "m.csv", "--quiet")
    (runs / SOME[0]).unlink()
    ran = run_inside("matrix", runs, "-q", QRELS, *AP)
    assert ran.code == 2
    assert "two runs are named" in ran.err


# The order of trec_eval, and sets of baselines


def test_judgements_may_stand_first(runs: Path) -> None:
    expected = matrix_of(runs, "-q", QRELS)
    assert matrix_of(QRELS, runs) == expected
    ran = run_inside("matrix", QRELS, runs, "-m", "AP", "-f", "csv")
    assert "the first file, as in trec_eval's order" in ran.err
    assert run_inside("validate", QRELS, runs).code == 0
    evaluation = evaluate([QRELS, runs], rules=Rules("AP"))
    assert [path.kind for path in evaluation.inputs].count("qrels") == 1


def test_judgements_alone_are_no_run(runs: Path) -> None:
    with pytest.raises(UsageError, match="name runs behind it"):
        evaluate([QRELS])


def test_a_table_with_three_topics_is_not_taken_for_judgements(write: Write) -> None:
    path = write("x.tsv", "run\t1\t2\t3\nr\t1\t0\t1\n")
    assert evaluate([path]).matrices[0].topics == ("1", "2", "3")


def test_baselines_in_one_text(runs: Path) -> None:
    one = run_inside("score", runs, "-q", QRELS, "-b", "indriCASP,plainBM25", *AP)
    two = run_inside("score", runs, "-q", QRELS, "-b", "indriCASP", "-b", "plainBM25", *AP)
    assert one.code == 0
    assert one.out == two.out
    files = ",".join(str(SAMPLES / name) for name in ("oldTFIDF.run", "neuralMix.run"))
    ran = run_inside("score", runs, "-q", QRELS, "-b", files, *AP)
    assert "mean(neuralMix,oldTFIDF)" in ran.out


def test_a_baseline_whose_name_holds_a_comma_is_one(write: Write) -> None:
    path = write("x.csv", 'run,1,2,3\n"a,b",0.5,0.25,0.5\na,1,0.5,0.5\nb,0,1,0\n')
    ran = run_inside("score", path, "-b", "a,b", "-f", "csv", "--quiet")
    assert '"a,b",score,"a,b"' in ran.out


# Tables of scores


def test_a_long_table_needs_no_measure(write: Write) -> None:
    path = write("x.csv", "system,topic,score\nChal. 1,t_301,0.5\nother,t_301,0.25\n")
    for asked, name in (((), "score"), (("AP",), "AP"), (("mine",), "mine")):
        (matrix,) = evaluate(path, rules=Rules(asked)).matrices
        assert (matrix.measure, matrix.runs) == (name, ("Chal. 1", "other"))
        assert matrix.values.tolist() == [[0.5], [0.25]]


def test_a_second_score_of_a_place_is_an_error(write: Write) -> None:
    path = write("x.csv", "system,topic,score\na,1,0.5\na,1,0.25\n")
    with pytest.raises(
        InputError, match=r"x\.csv:3: duplicate-score: run a, topic 1 occurs a second"
    ):
        evaluate(path)


ERR = "{}\tERR@20\t{}\n"


@pytest.mark.parametrize(("score", "told"), [("0.12346", True), ("0.1234567", False)])
def test_err_of_gdeval_is_told(write: Write, score: str, told: bool) -> None:
    text = "".join(ERR.format(topic, score) for topic in (1, 2, 3))
    evaluation = evaluate(write("x.ir", text))
    assert [note.code for note in evaluation.notes] == ["rounded-scores"] * told


# A run of another collection


def test_a_run_of_other_topics_is_left_out_where_broken_ones_are(runs: Path, write: Write) -> None:
    text = (SAMPLES / "neuralMix.run").read_bytes()
    wrong = write("wrong.run", b"".join(b"R" + line for line in text.splitlines(keepends=True)))
    expected = matrix_of(runs, "-q", QRELS)
    ran = run_inside("matrix", runs, wrong, "-q", QRELS, "--on-error", "skip", *AP)
    assert (ran.code, ran.out) == (1, expected)
    assert f"LEFT OUT: {wrong}: no-topic-known: run neuralMix answers none" in ran.err
    assert run_inside("matrix", runs, wrong, "-q", QRELS, *AP).code == 2
    alone = run_inside("matrix", wrong, "-q", QRELS, "--on-error", "skip", *AP)
    assert (alone.code, "answers none of" in alone.err) == (2, True)


# Comments


def test_comments_are_left_out_of_runs_and_judgements(write: Write) -> None:
    run = b"# made by hand\n1 Q0 a 1 3 t\n#\n# 1 Q0 c 2 2.5 t\n1 Q0 b 2 2 t\n#no end"
    qrels = b"#judged twice\n1 0 a 0\n# 1 0 c 1\n1 0 b 1\n"
    plain = write("plain", b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n"), write("judged", b"1 0 a 0\n1 0 b 1\n")
    for files in ((write("x.run", run), write("x.qrels", qrels)), plain):
        evaluation = evaluate(files[0], qrels=files[1], rules=Rules(("RR", "AP")))
        assert [m.values.tolist() for m in evaluation.matrices] == [[[0.5]], [[0.5]]]
        assert evaluation.notes == ()


def test_lines_behind_comments_keep_their_numbers(write: Write) -> None:
    path = write("x.run", b"# one\n#\n1 Q0 a 1 3 t\n# two\n1 Q0 a 2 2 t\n")
    with pytest.raises(InputError, match=r":5: duplicate-document: .* already on line 3"):
        evaluate(path, qrels=write("q", b"1 0 a 1\n"))


def test_a_whole_line_that_begins_as_a_comment_is_refused(write: Write) -> None:
    run, qrels = write("x.run", b"1 Q0 a 1 3 t\n"), write("q", b"1 0 a 1\n#1 0 b 1\n")
    with pytest.raises(InputError, match="q:2: doubtful-comment: a whole line that begins with #"):
        evaluate(run, qrels=qrels)


def test_a_document_may_begin_with_a_hash(write: Write) -> None:
    run, qrels = write("x.run", b"1 Q0 #a 1 3 #t\n"), write("q", b"1 0 #a 1\n")
    (matrix,) = evaluate(run, qrels=qrels, rules=Rules("RR")).matrices
    assert matrix.values.tolist() == [[1.0]]


# Several judgements


def test_several_judgements_score_the_same_runs_under_each(runs: Path, write: Write) -> None:
    lines = [line.split() for line in QRELS.read_text().splitlines()]
    model = write("model.qrels", "".join(f"{q} 0 {d} {min(int(g), 1)}\n" for q, _, d, g in lines))
    both = ("-q", QRELS, "-q", model, "-m", "nDCG@20", "-f", "json", "--quiet")
    found = json.loads(run_inside("score", runs, *both).out)
    names = ["nDCG@20 [simulated.qrels]", "nDCG@20 [model.qrels]"]
    assert found["settings"]["measures"] == names
    assert [item["kind"] for item in found["inputs"]].count("qrels") == 2
    for qrels, name in zip((QRELS, model), names, strict=True):
        alone = json.loads(run_inside("score", runs, "-q", qrels, *both[4:]).out)
        mine = [row for row in found["rows"] if row["measure"] == name]
        assert [row["mean"] for row in mine] == [row["mean"] for row in alone["rows"]]
    agreed = json.loads(run_inside("sweep", "--over", "measure", runs, *both).out)
    pairs = {(row["measure"], row["other_measure"]) for row in agreed["rows"]}
    assert (names[0], names[1]) in pairs
    ran = run_inside("validate", runs, "-q", QRELS, "-q", model)
    assert (ran.code, "one file of judgements at a time" in ran.err) == (2, True)
    assert run_inside("score", runs, "-q", QRELS, "-q", QRELS).code == 2


@pytest.mark.parametrize("name", ["gm_map", "gm(AP)"])
def test_logarithms_are_logarithms_under_each_of_several_judgements(
    runs: Path, write: Write, name: str
) -> None:
    model = write("model.qrels", "".join(QRELS.read_text().splitlines(keepends=True)[::2]))
    call = ("-m", name, "-b", "indriCASP", "-f", "json", "--quiet")
    both = json.loads(run_inside("score", runs, "-q", QRELS, "-q", model, *call).out)
    alone = json.loads(run_inside("score", runs, "-q", QRELS, *call).out)
    found = [row for row in both["rows"] if row["measure"] == f"{name} [simulated.qrels]"]
    for row, expected in zip(found, alone["rows"], strict=True):
        assert {name: row[name] for name in expected} | {"measure": name} == expected
    assert all(0 < row["mean"] < 1 for row in both["rows"])


# Progress within a large file


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_it_is_told_how_far_a_large_file_is_read(
    write: Write, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(source, "PIECE", 1000)
    path = write("x.run", pack((SAMPLES / SOME[0]).read_bytes()))
    told: list[tuple[str, int, int]] = []

    class Told(FileProgress):
        def __call__(self, done: int, total: int) -> None:
            """Nothing."""

        def within(self, name: str, done: int, whole: int) -> None:
            told.append((name, done, whole))

    evaluate(path, qrels=QRELS, progress=Told(), jobs=1)
    assert {(name, whole) for name, _, whole in told} == {("x.run", path.stat().st_size)}
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert len(told) > 10


def test_the_line_shows_large_files_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.on_terminal(quiet=False) as line:
        assert isinstance(line, FileProgress)
        line.within("small.run", 2**20, 2**21)
        assert capsys.readouterr().err == ""
        line.within("run\x1b.gz", 2**30, 4 * 2**30)
        assert r"run\x1b.gz: 1,024 of 4,096 MiB read" in capsys.readouterr().err
        line(1, 3)
        line.within("next.run", 2**30, 4 * 2**30)
        shown = capsys.readouterr().err
        assert "1 of 3 runs" in shown
        assert "next.run: 1,024 of 4,096 MiB read" in shown
