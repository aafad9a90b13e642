"""The program on every file of the testkit, by what its manifest says and nothing else."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from riskcli import Rules, evaluate
from riskcli.analyses.checker import Checks
from riskcli.analyses.validate import validate
from riskcli.core.messages import InputError, RiskevalError
from riskcli.effectiveness.ranking import rank
from riskcli.scores.files.registry import kind_of, read_score_file
from riskcli.trec.qrels import read_qrels
from riskcli.trec.runs import run_of
from riskcli.trec.source import ARCHIVES, TextFile
from tests.bench.testkit import FOLDERS, KIT, PROGRAMS, write
from tests.helpers.inprocess import run_inside
from tests.helpers.trec_text import load

MANIFEST = json.loads((KIT / "manifest.json").read_text(encoding="ascii"))
LIMIT: int = MANIFEST["max_bytes"]
CASES: list[dict[str, Any]] = MANIFEST["cases"]
SAID_OF_SEVERAL_FILES = ("no-topic-known", "virtual-name")
"""What readers say when all runs are read: without a place."""

every = pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])


def of(verdict: str, kind: str) -> pytest.MarkDecorator:
    found = [case for case in CASES if (case["verdict"], case["kind"]) == (verdict, kind)]
    assert len(found) >= 5
    return pytest.mark.parametrize("case", found, ids=lambda case: case["case"])


def places(case: dict[str, Any]) -> tuple[Path, Path]:
    """A run or scores, and judgements; one of them is the case's."""
    file = KIT / case["file"]
    return (KIT / "good.run", file) if case["kind"] == "qrels" else (file, KIT / "good.qrels")


def test_the_folder_is_what_is_written(tmp_path: Path) -> None:
    write(tmp_path)
    written = {p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()}
    here = {p.relative_to(KIT) for p in KIT.rglob("*") if p.is_file()}
    assert here - written == {Path("README.md")} and written <= here
    for path in written:
        content = (KIT / path).read_bytes()
        if not content.startswith(tuple(archive.magic for archive in ARCHIVES)):
            assert content == (tmp_path / path).read_bytes(), path  # packers differ by version
    folders = {path.parts[0] for path in written if len(path.parts) > 1}
    assert folders == {*FOLDERS.values(), PROGRAMS}


@every
def test_validate(case: dict[str, Any]) -> None:
    run, qrels = places(case)
    found = validate([run], qrels=qrels, checks=Checks(max_bytes=LIMIT), jobs=1)
    (report,) = [file for file in found.files if file.path == KIT / case["file"]]
    assert (report.count("error") > 0) == (case["verdict"] == "refuse")
    if case["verdict"] != "take":
        said = [(finding.code, finding.line) for finding, _ in report.tally.findings()]
        assert (case["code"], case["line"]) in said


@every
def test_readers_refuse_what_is_wrong_and_nothing_else(case: dict[str, Any]) -> None:
    run, qrels = places(case)
    rules = Rules(() if case["kind"] == "scores" else ("AP", "nDCG@3"), max_bytes=LIMIT)
    if case["verdict"] != "refuse":
        assert evaluate([run], qrels=qrels, rules=rules, jobs=1).matrices
        return
    with pytest.raises(RiskevalError) as caught:
        evaluate([run], qrels=qrels, rules=rules, jobs=1)
    if case["code"] not in SAID_OF_SEVERAL_FILES:
        assert isinstance(caught.value, InputError)
        assert (caught.value.code, caught.value.line) == (case["code"], case["line"])


@of("take", "run")
def test_runs_are_read_as_they_are(case: dict[str, Any]) -> None:
    reads = case["reads"]
    found = run_of(TextFile(KIT / case["file"]))
    assert sorted(found.tags) == reads["tags"]
    scores: dict[str, dict[str, float]] = {}
    docnos, values = found.docnos.as_strings(), found.scores.tolist()
    for code, docno, value in zip(found.topic_codes.tolist(), docnos, values, strict=True):
        scores.setdefault(found.topics[code], {})[docno] = value
    assert scores == reads["scores"]
    assert rank(found, None, "single") == reads["ranking"]
    assert rank(found, None, "double") == reads["ranking_in_double_precision"]
    measured = evaluate(
        [KIT / case["file"]], qrels=KIT / "good.qrels", rules=Rules(("AP", "nDCG@3")), jobs=1
    )
    for matrix in measured.matrices:
        expected = reads[matrix.measure]
        assert set(matrix.topics) == set(expected)
        for topic, value in zip(matrix.topics, matrix.values[0].tolist(), strict=True):
            assert math.isclose(value, expected[topic], abs_tol=1e-6)


@of("take", "qrels")
def test_judgements_are_read_as_they_are(case: dict[str, Any]) -> None:
    assert read_qrels(KIT / case["file"]).judgements == case["reads"]["grades"]


@of("take", "scores")
def test_scores_are_read_as_they_are(case: dict[str, Any]) -> None:
    path = KIT / case["file"]
    text = load(path)
    kind = kind_of(path, text)
    assert kind is not None
    file = read_score_file(path, text, kind)
    found = [
        ["" if not file.named else run, topic, value]
        for matrix in file.matrices
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
        for topic, value in zip(matrix.topics, row, strict=True)
        if not math.isnan(value)
    ]
    reads = case["reads"]["scores"]
    expected = [["" if not file.named else run, topic, score] for run, topic, score in reads]
    assert sorted(found) == sorted(expected)


OTHERS = [case for case in CASES if case["verdict"] == "refuse" and "by" in case]


@pytest.mark.parametrize(
    "case", [case for case in OTHERS if case["kind"] == "scores"], ids=lambda case: case["file"]
)
def test_a_gate_refuses_it_as_baseline(case: dict[str, Any]) -> None:
    run, baseline = KIT / "good.run", KIT / case["file"]
    ran = run_inside("check", run, "-q", KIT / "good.qrels", "-m", "AP", "--baseline", baseline)
    assert (ran.code, ran.out) == (2, "")
    said = ran.err.replace(f":{case['line']}: ", ": ")
    assert f"{case['file']}: {case['code']}: " in said or "not-one-run" in said


def test_files_of_another_kind_are_skipped_in_a_folder_and_no_others(tmp_path: Path) -> None:
    """Those that may hold what was meant are left out where that is asked for, and counted."""
    cases = [case for case in OTHERS if case["kind"] != "qrels"]
    assert len([case for case in CASES if "by" in case]) >= 100
    (tmp_path / "good.run").write_bytes((KIT / "good.run").read_bytes())
    for case in cases:
        (tmp_path / Path(case["file"]).name).write_bytes((KIT / case["file"]).read_bytes())
    call = ("score", tmp_path, "-q", KIT / "good.qrels", "-m", "AP", "--include", "*", "-f", "json")
    ran = run_inside(*call, "--on-error", "skip")
    assert ran.code == 1
    left_out = {Path(error["path"]).name for error in json.loads(ran.out)["skipped"]}
    skipped = {"other-kind", "empty-file"}
    assert left_out == {Path(c["file"]).name for c in cases if c["code"] not in skipped}
    others = [Path(c["file"]).name for c in cases if c["code"] in skipped]
    assert others[0] in ran.err and run_inside(*call).code == 2
