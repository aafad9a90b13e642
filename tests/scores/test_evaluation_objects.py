"""Runs and judgements as other libraries hold them; ir_measures' own are its real objects."""

from __future__ import annotations

from typing import Any

import ir_measures
import pytest

from riskcli import UsageError, score_runs, scores_from_ir_measures
from tests.trec.test_records import FOREIGN, JUDGED, PLAIN, numbers

MEASURES = ("ERR@5", "nDCG@10", "AP", "P(rel=2)@3")


class LikeRanx:
    """ranx' Run and Qrels offer themselves as dictionaries so (0.3.21)."""

    def __init__(self, found: dict[str, dict[str, Any]]) -> None:
        self._found = found

    def to_dict(self) -> dict[str, dict[str, Any]]:
        return self._found


def dictionaries() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for topic, _, docno, _, score, _ in map(str.split, PLAIN.read_text().splitlines()):
        run.setdefault(topic, {})[docno] = float(score)
    for topic, _, docno, grade in map(str.split, JUDGED.read_text().splitlines()):
        qrels.setdefault(topic, {})[docno] = int(grade)
    return run, qrels


def test_what_ir_measures_reads_scores_the_same() -> None:
    library: Any = ir_measures
    run, qrels = library.read_trec_run(str(PLAIN)), library.read_trec_qrels(str(JUDGED))
    found = score_runs({"x": run}, qrels, MEASURES)
    assert [m.values.tolist() for m in found.matrices] == numbers(PLAIN, JUDGED)


def test_what_ranx_holds_scores_the_same() -> None:
    plain = dictionaries()
    run: Any = LikeRanx(plain[0])
    qrels: Any = LikeRanx(plain[1])
    found = score_runs({"x": run}, qrels, MEASURES)
    assert [m.values.tolist() for m in found.matrices] == numbers(FOREIGN / "ranx.json", JUDGED)


def test_a_document_twice_is_an_error() -> None:
    twice: Any = [ir_measures.ScoredDoc("1", "a", 1.0), ir_measures.ScoredDoc("1", "a", 1.0)]
    with pytest.raises(UsageError, match="run x: topic 1 has document a twice"):
        score_runs({"x": twice}, {"1": {"a": 1}})


@pytest.mark.parametrize("wrong", [7, "text", [("1", "a", 1.0)]])
def test_anything_else_is_an_error(wrong: Any) -> None:
    with pytest.raises(UsageError, match="run x: expected"):
        score_runs({"x": wrong}, {"1": {"a": 1}})


def test_rounded_err_of_ir_measures_is_told() -> None:
    run, qrels = dictionaries()
    results: Any = list(ir_measures.iter_calc([ir_measures.AP], qrels, run))
    assert scores_from_ir_measures({"x": results}).notes == ()
    as_gdeval = [result._replace(measure="ERR@20", value=0.12345) for result in results]
    codes = [note.code for note in scores_from_ir_measures({"x": as_gdeval}).notes]
    assert codes == ["rounded-scores"]
