"""What becomes of files of scores that were spoiled at random, as it was recorded.

`python -m tests.scores.test_recorded` records it anew.
"""

import json
import re
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

import riskcli
from tests.helpers import recorded

SCORES = {
    ("ERR@20", "a"): {"1": 0.5, "2": 0.25, "10": 0.0},
    ("ERR@20", "b"): {"1": 0.125, "2": 1.0, "10": 0.75},
    ("P@10", "a"): {"1": 0.1, "2": 0.2, "10": 0.3},
    ("P@10", "b"): {"1": 0.9, "2": 0.8, "10": 0.0},
}
ROWS = [
    (run, topic, measure, score)
    for (measure, run), by_topic in SCORES.items()
    for topic, score in by_topic.items()
]
TIMES = 40
_BAD_JSON = re.compile(r"(:\d+)?: bad-json: .*")
"""Which line, and in which words, depends on the version of Python."""


def _lines(separator: str, heading: str, form: str) -> bytes:
    cells = [
        form.format(run=run, topic=topic, measure=measure, score=score)
        for run, topic, measure, score in ROWS
    ]
    return ("\n".join([*filter(None, [heading]), *cells]) + "\n").replace(" ", separator).encode()


def _wide(separator: str) -> bytes:
    rows = [["run", "1", "2", "10"]]
    rows += [[run, *map(str, SCORES["ERR@20", run].values())] for run in ("a", "b")]
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def _objects() -> list[dict[str, object]]:
    return [dict(zip(("run", "topic", "measure", "score"), row, strict=True)) for row in ROWS]


FILES = {
    "wide.csv": _wide(","),
    "wide.tsv": _wide("\t"),
    "long.csv": _lines(",", "run topic measure score", "{run} {topic} {measure} {score}"),
    "long.tsv": _lines("\t", "measure run topic score", "{measure} {run} {topic} {score}"),
    "gdeval.csv": b"runid,topic,ndcg@20,err@20\na,1,0.5,0.25\na,2,0.1,0.0\na,amean,0.3,0.125\n",
    "trec_eval": b"".join(
        f"{name}\t{topic}\t{score}\n".encode()
        for topic in ("1", "2", "all")
        for name, score in (("runid", "tag"), ("map", "0.2500"), ("P_10", "0.1000"))
        if name != "runid" or topic == "all"
    ),
    "ir_measures": b"1\tnDCG@10\t0.5\n2\tnDCG@10\t0.25\n1\tRR\t1.0\n2\tRR\t0.5\nall\tRR\t0.75\n",
    "rows.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in _objects()),
    "rows.json": json.dumps({"rows": _objects()}, indent=1).encode(),
}  # fmt: skip


def said(name: str, folder: Path) -> dict[str, list[int]]:
    """By what came of it: the numbers of the spoiled texts of which it came."""
    path = folder / name
    by_outcome: dict[str, list[int]] = {}
    for number, spoiled in enumerate([FILES[name], *recorded.spoiled(FILES[name], TIMES)]):
        path.write_bytes(spoiled)
        by_outcome.setdefault(_outcome(path), []).append(number)
    return by_outcome


def _outcome(path: Path) -> str:
    """The refusal, or digests of scores and notes."""
    try:
        scores = riskcli.evaluate([path])
    except riskcli.RiskevalError as error:
        return _BAD_JSON.sub(": bad-json", str(error).replace(str(path.parent), ""))
    matrices = [(m.measure, m.runs, m.topics, m.values.tolist()) for m in scores.matrices]
    notes = [str(note).replace(str(path.parent), "") for note in scores.provenance.notes]
    return " ".join(sha256(repr(part).encode()).hexdigest()[:6] for part in (matrices, notes))


def test_every_file_is_recorded_and_none_is_left_over() -> None:
    assert set(recorded.read(__file__)) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_same_comes_of_it_as_was_recorded(name: str, tmp_path: Path) -> None:
    assert said(name, tmp_path) == recorded.read(__file__)[name]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        recorded.write(__file__, {name: said(name, Path(made)) for name in FILES})
