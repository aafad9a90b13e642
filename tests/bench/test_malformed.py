"""Every malformed file of the corpus: the right code and line, in `validate` and in `score`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riskcli.trec.codes import CODES, ERRORS_OF_COMMANDS
from tests.bench.malformed import DOUBTFUL, GOOD, QRELS, REFUSED, Malformed
from tests.helpers.inprocess import run_inside
from tests.helpers.program import Key, Ran

LIMIT = [Key("max-bytes", "1000000")]
SAID_OF_SEVERAL_FILES = ("no-topic-known", "virtual-name")
"""What `score` says when all runs are read: without a place."""

refused = pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
doubtful = pytest.mark.parametrize("case", DOUBTFUL, ids=lambda case: case.name)


def call(command: str, case: Malformed, tmp_path: Path, *more: str) -> tuple[Path, Ran]:
    """The command on the case's file, beside good files where it needs some."""
    path = case.write(tmp_path)
    run, qrels = path, tmp_path / "good.qrels"
    qrels.write_bytes(QRELS)
    if case.file == "qrels":
        run, qrels = tmp_path / "t.run", path
        run.write_bytes(GOOD)
    return path, run_inside(command, run, "-q", qrels, *LIMIT, *more)


def findings(ran: Ran, path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(ran.out)["rows"]
    assert {row["path"] for row in rows} == {str(path)}
    return rows


def test_the_corpus_is_large_and_has_every_code() -> None:
    cases = [*REFUSED, *DOUBTFUL]
    assert len({case.content for case in cases}) == len({case.name for case in cases}) == len(cases)
    assert len(cases) >= 100
    unreachable = {"not-found", "unreadable", "shared-name", "wrong-format", "no-tag"}
    unreachable |= {"line-too-long"}  # too large for the corpus: tests/core/test_limits.py
    unreachable |= {"same-scores", "near-same-scores", "constant-scores"}  # take 10 topics
    unreachable |= {"above-one"}  # told where nothing is ranked by GeoRisk; score refuses it
    unreachable |= {"odd-name"}  # Parquet, whose bytes depend on Arrow's version
    unreachable |= {"same-ranking", "near-same-ranking"}  # take two files
    unreachable |= {"altered"}  # takes a file that riskeval wrote
    assert {case.code for case in cases} == set(CODES) - set(ERRORS_OF_COMMANDS) - unreachable


@refused
def test_validate_finds_what_is_wrong(case: Malformed, tmp_path: Path) -> None:
    path, ran = call("validate", case, tmp_path, "-f", "json")
    assert ran.code == 1
    errors = [row for row in findings(ran, path) if row["severity"] == "error"]
    assert (errors[0]["code"], errors[0]["line"]) == (case.code, case.line)
    assert {row["code"] for row in errors} == {case.code}


@refused
def test_score_stops_with_the_same_words(case: Malformed, tmp_path: Path) -> None:
    path, checked = call("validate", case, tmp_path, "-f", "json")
    first = next(row for row in findings(checked, path) if row["severity"] == "error")
    _, ran = call("score", case, tmp_path, "-m", "AP")
    assert (ran.code, ran.out) == (2, "")
    where = str(path) if case.line is None else f"{path}:{case.line}"
    said = f"{where}: {case.code}: {first['message']}\n"
    if case.code in SAID_OF_SEVERAL_FILES:
        said = f"{first['message']}\n"
    assert ran.err.endswith(said)


@doubtful
def test_validate_warns(case: Malformed, tmp_path: Path) -> None:
    path, ran = call("validate", case, tmp_path, "-f", "json")
    assert ran.code == 0
    rows = findings(ran, path)
    assert {row["severity"] for row in rows} == {"warning"}
    assert (case.code, case.line) in [(row["code"], row["line"]) for row in rows]
    assert call("validate", case, tmp_path, "-f", "json", "--strict")[1].code == 1


@doubtful
def test_score_takes_what_validate_only_warns_of(case: Malformed, tmp_path: Path) -> None:
    _, ran = call("score", case, tmp_path, "-m", "AP", "-f", "json")
    assert ran.code == 0
    expected = {7} if case.code == "mean-topic" else {2}
    assert {row["topics"] for row in json.loads(ran.out)["rows"]} == expected


@refused
def test_skipping_leaves_a_broken_file_out(case: Malformed, tmp_path: Path) -> None:
    if case.code in SAID_OF_SEVERAL_FILES or case.file == "qrels":
        pytest.skip("nothing to leave out")
    good = tmp_path / "good.run"
    good.write_bytes(GOOD if not case.file.startswith("x") else b"run,1,2\ng,0.5,1\n")
    path, ran = call(
        "score", case, tmp_path, str(good), "--on-error", "skip", "-m", "AP", "-f", "json"
    )
    assert ran.code == 1
    assert f"LEFT OUT: {path}" in ran.err
    (entry,) = json.loads(ran.out)["skipped"]
    assert (entry["code"], entry["line"]) == (case.code, case.line)
