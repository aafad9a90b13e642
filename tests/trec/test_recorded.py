"""What is said of small files of every kind that were spoiled at random, as it was recorded.

That the words are right is checked elsewhere; here no refusal, warning, line number or score may
change unnoticed. `python -m tests.trec.test_recorded` records it anew.
"""

import json
import re
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import riskcli
from tests.helpers import recorded
from tests.helpers.trec_text import contents, qrels_text, run_text

TOPICS = {
    "1": {"d1": 9.25, "d2": 9.0, "d3": 3.5, "d4": -1.0},
    "2": {"d2": 8.0, "d9": 8.0, "d1": 0.5},
    "10": {"d5": 7.0, "d1": 6.0},
}
GRADES = {"1": {"d1": 2, "d3": 0}, "2": {"d9": 1, "d8": -2}, "10": {"d5": 3, "d1": 0}}
TIMES = 40
_BAD_JSON = re.compile(r"(:\d+)?: bad-json: .*")
"""Which line, and in which words, depends on the version of Python."""


def _json_lines() -> bytes:
    rows = [
        {"query_id": topic, "doc_id": docno, "score": score}
        for topic, docs in TOPICS.items()
        for docno, score in docs.items()
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _msearch() -> bytes:
    hits = [[{"_id": d, "_score": s} for d, s in docs.items()] for docs in TOPICS.values()]
    answers = [{"hits": {"hits": each}, "status": 200, "timed_out": False} for each in hits]
    return json.dumps({"took": 3, "responses": answers}, indent=1).encode()


def _rank_eval() -> bytes:
    details = {
        topic: {"hits": [{"hit": {"_id": d, "_score": s}, "rating": 1} for d, s in docs.items()]}
        for topic, docs in TOPICS.items()
    }
    return json.dumps({"metric_score": 0.5, "details": details, "failures": {}}, indent=1).encode()


def _ratings() -> bytes:
    requests = [
        {"id": topic, "ratings": [{"_id": d, "rating": g} for d, g in grades.items()]}
        for topic, grades in GRADES.items()
    ]
    return json.dumps({"requests": requests}, indent=1).encode()


RUNS = {
    "run": run_text(TOPICS),
    "run with a comment": b"# made by x\n" + run_text(TOPICS).replace(b" ", b"\t"),
    "three columns": b"".join(
        f"{topic}\t{docno}\t{rank}\n".encode()
        for topic, docs in TOPICS.items()
        for rank, docno in enumerate(docs, start=1)
    ),
    "JSON lines": _json_lines(),
    "nested JSON": json.dumps(TOPICS, indent=1).encode(),
    "msearch": _msearch(),
    "rank_eval": _rank_eval(),
}
JUDGEMENTS = {
    "qrels": qrels_text(GRADES),
    "qrels with a comment": b"# pooled\n" + qrels_text(GRADES).replace(b" ", b"\t"),
    "nested grades": json.dumps(GRADES, indent=1).encode(),
    "BEIR": b"query-id\tcorpus-id\tscore\n"
    + qrels_text(GRADES).replace(b" 0 ", b"\t").replace(b" ", b"\t"),
    "features": b"".join(
        f"{abs(grade)} qid:{topic} 1:0.5 3:{i} # {docno}\n".encode()
        for topic, grades in GRADES.items()
        for i, (docno, grade) in enumerate(grades.items())
    ),
    "ratings": _ratings(),
}  # fmt: skip


def said_of_run(path: Path, qrels: Path) -> list[str]:
    """Of a reader: its refusal, or a digest of the run; then what `validate` finds."""
    return [_said(path, lambda: contents(riskcli.read_run(path))), *_findings(path, qrels)]


def said_of_judgements(path: Path, run: Path) -> list[str]:
    """The same of judgements."""
    return [_said(path, lambda: riskcli.read_qrels(path).judgements), *_findings(run, path)]


def _said(path: Path, read: Callable[[], Any]) -> str:
    try:
        return sha256(repr(read()).encode()).hexdigest()[:8]
    except riskcli.RiskevalError as error:
        return _BAD_JSON.sub(": bad-json", str(error).replace(str(path.parent), ""))


def _findings(run: Path, qrels: Path) -> list[str]:
    try:
        rows = riskcli.validate([run], qrels=qrels).result().rows
    except riskcli.RiskevalError as error:
        return [str(error).replace(str(run.parent), "")]
    return [
        f"{Path(place).name}: {severity} {code} +{more}"
        + ("" if code == "bad-json" else f" {line} {sha256(words.encode()).hexdigest()[:4]}")
        for place, line, severity, code, words, more in rows
    ]


def said(kind: str, folder: Path) -> dict[str, list[str]]:
    """By what was said, in a line: the numbers of the spoiled texts of which it was said."""
    run, qrels = folder / "a.run", folder / "qrels"
    run.write_bytes(RUNS["run"])
    qrels.write_bytes(JUDGEMENTS["qrels"])
    by_words: dict[str, list[str]] = {}
    is_run = kind in RUNS
    text, changed = (RUNS[kind], run) if is_run else (JUDGEMENTS[kind], qrels)
    for number, spoiled in enumerate([text, *recorded.spoiled(text, TIMES)]):
        changed.write_bytes(spoiled)
        words = said_of_run(run, qrels) if is_run else said_of_judgements(qrels, run)
        by_words.setdefault("; ".join(words), []).append(str(number))
    return by_words


KINDS = (*RUNS, *JUDGEMENTS)


def test_every_kind_is_recorded_and_none_is_left_over() -> None:
    assert set(recorded.read(__file__)) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_is_said_as_was_recorded(kind: str, tmp_path: Path) -> None:
    assert said(kind, tmp_path) == recorded.read(__file__)[kind]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        recorded.write(__file__, {kind: said(kind, Path(folder)) for kind in KINDS})
