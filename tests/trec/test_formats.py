"""Files of search engines, rankers and ranx' binary formats: the same numbers as TREC's own files.

In `tests/foreign`, beside what tests/trec/test_records.py names, ranx 0.3.21 wrote `ranx.parquet`,
`ranx-qrels.parquet` and `ranx.lz4`, and PyTerrier 1.1.2 `pyterrier.res.gz`. The answers of
Elasticsearch were made by its documentation (8.17), not by a server; those of RankLib by its wiki.
"""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from riskcli import InputError, Rules, evaluate, read_qrels, read_run
from riskcli.trec.formats import RUN_FORMATS, run_format_of
from riskcli.trec.runs import read_foreign
from tests.conftest import Write
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.trec_text import load
from tests.trec.test_records import FOREIGN, JUDGED, PATH, PLAIN, nested, numbers

RUNS = ("ranx.parquet", "ranx.lz4", "pyterrier.res.gz", "rank_eval.json")
JUDGEMENTS = ("ranx-qrels.parquet", "rank_eval-request.json")


@pytest.mark.parametrize("name", RUNS)
def test_runs_score_the_same(name: str) -> None:
    if name.endswith(".lz4"):
        pytest.importorskip("cbor2", reason="needs the extra ranx")
    assert numbers(FOREIGN / name, JUDGED) == numbers(PLAIN, JUDGED)
    assert run_inside("validate", FOREIGN / name, "-q", JUDGED).code == 0


@pytest.mark.parametrize("name", JUDGEMENTS)
def test_judgements_are_the_same(name: str) -> None:
    assert read_qrels(FOREIGN / name).judgements == read_qrels(JUDGED).judgements


def test_answers_of_msearch_are_topics_by_their_places(write: Write) -> None:
    topics = list(dict.fromkeys(line.split()[0] for line in PLAIN.read_text().splitlines()))
    lines = [line.split() for line in JUDGED.read_text().splitlines()]
    placed = [f"{topics.index(q) + 1} 0 {d} {g}\n" for q, _, d, g in lines if q in topics]
    assert numbers(FOREIGN / "msearch.json", write("q", "".join(placed))) == numbers(PLAIN, JUDGED)


def pack(name: str, data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, name) as stream:
        stream.write(data)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_zstd_and_lz4_are_unpacked_whole_and_checked(write: Write, codec: str) -> None:
    text = PLAIN.read_bytes()
    packed = pack(codec, text)
    assert load(write("a", packed)) == text
    assert load(write("two", packed + packed)) == text + text
    for wrong in (
        packed[:-3],
        packed[: len(packed) // 2],
        packed + b"more",
        packed[:6] + packed[9:],
    ):
        with pytest.raises(InputError, match="damaged-archive"):
            load(write("b", wrong))
    with pytest.raises(InputError, match="too-large"):
        load(write("c", pack(codec, bytes(10_000))), max_bytes=5_000)


# What engines say of answers that are not whole


def answer(**more: object) -> dict[str, object]:
    return {"hits": {"hits": [{"_id": "a", "_score": 1.0}]}, "status": 200, **more}


WRONG_ANSWERS = [
    ({"responses": [answer(), {"error": {"type": "x"}, "status": 404}]}, "response 2: an error"),
    ({"responses": [answer(timed_out=True)]}, "response 1: the search timed out"),
    ({"responses": [answer(_shards={"failed": 2})]}, "response 1: 2 shards failed"),
    ({"responses": [{"status": 200}]}, 'response 1: expected "hits"'),
    ({"responses": [{"hits": {"hits": [{"_score": 1}]}}]}, 'topic 1: hit 1 has no "_id"'),
    (
        {"metric_score": 1, "details": {}, "failures": {"7": {"error": "x"}}},
        "topic 7 failed",
    ),
    ({"metric_score": 1, "details": {"7": {"metric_score": 1}}}, 'topic 7: expected "hits"'),
]


@pytest.mark.parametrize(("found", "message"), WRONG_ANSWERS)
def test_answers_that_are_not_whole_are_refused(write: Write, found: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(write("x", json.dumps(found)), qrels=JUDGED)
    assert (caught.value.code, message in caught.value.message) == ("bad-json", True)


def test_hits_without_scores_stand_in_their_order(write: Write) -> None:
    hits = [{"_id": name, "_score": None} for name in "cab"]
    path = write("x", json.dumps({"responses": [{"hits": {"hits": hits}}]}))
    (matrix,) = evaluate(path, qrels=write("q", "1 0 a 1\n"), rules=Rules("RR")).matrices
    assert matrix.values.tolist() == [[0.5]]


# Feature files


def features(named: bool = True) -> str:
    """The judgements as LETOR has them, the documents of the plain run first in their order."""
    grades = {(q, d): g for q, _, d, g in map(str.split, JUDGED.read_text().splitlines())}
    lines = [f"{g} qid:{q} 1:0.5 2:NULL #docid = {d} inc = 1" for (q, d), g in grades.items()]
    return "# a header\n" + "\n".join(lines if named else [x.split("#")[0] for x in lines])


def ranked() -> tuple[dict[tuple[str, str], float], list[tuple[str, str]]]:
    lines = [line.split() for line in PLAIN.read_text().splitlines()]
    judged = [line.split() for line in JUDGED.read_text().splitlines()]
    known = [(q, d) for q, _, d, _ in judged]
    scores = {(q, d): float(s) for q, _, d, _, s, _ in lines if (q, d) in known}
    return {place: scores.get(place, -999.0 - i) for i, place in enumerate(known)}, known


def test_feature_files_are_judgements(write: Write) -> None:
    assert read_qrels(write("f", features())).judgements == read_qrels(JUDGED).judgements
    anonymous = read_qrels(write("g", features(named=False))).judgements
    assert list(anonymous["101"])[:2] == ["101-1", "101-2"]


COMMENTS = {
    "#docid = GX1 inc = 1 prob = 0.08": "GX1", "# GX1": "GX1", "#GX1": "GX1",
    "# 7555\trambo first blood": "7555", "#docid = 92 docno = G34-15": "G34-15", "": "1-1",
    "# inc = 1": "1-1",
}  # fmt: skip


@pytest.mark.parametrize("comment", COMMENTS)
def test_ids_in_comments(write: Write, comment: str) -> None:
    assert read_qrels(write("f", f"1 qid:1 1:2 {comment}\n")).judgements == {
        "1": {COMMENTS[comment]: 1}
    }


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("format", ["predictions", "ranklib"])
def test_scores_of_lines_are_runs(write: Write, format: str, named: bool) -> None:
    scores, known = ranked()
    count: dict[str, int] = {}
    lines = []
    for topic, docno in known:
        place = count.setdefault(topic, 0)
        count[topic] += 1
        score = scores[topic, docno]
        lines.append(
            f"{score!r}\n" if format == "predictions" else f"{topic}\t{place}\t{score!r}\n"
        )
    path, judged = write("x.scores", "".join(lines)), write("f", features(named))
    run = write("y", "".join(f"{q} Q0 {d} 1 {scores[q, d]!r} t\n" for q, d in known))
    assert run_format_of(path.read_bytes()) is RUN_FORMATS[format]
    if named:
        assert numbers(path, judged) == numbers(run, JUDGED)
    assert run_inside("validate", path, "-q", judged).code == 0
    alone = run_inside("matrix", path, "-q", JUDGED, "-m", "AP")
    assert (alone.code, "wrong-format: scores of places" in alone.err) == (2, True)
    for text, message in (
        ("".join(lines[:-1]), f"found {len(lines) - 1} scores, the judgements list {len(lines)}"),
        (
            "".join([*lines, lines[-1]]),
            "wrong" if format == "predictions" else "duplicate-document",
        ),
        ("".join([*lines[:4], "x y\n"]), ":5: column-count"),
        ("".join([*lines[:4], lines[4].replace("-", "--")]), ":5: bad-score"),
    ):
        ran = run_inside("matrix", write("x.scores", text), "-q", judged, "-m", "AP")
        assert (ran.code, message in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("place", ["-1", "x", "1.0", ""])
def test_a_place_of_ranklib_is_a_whole_number_from_0(write: Write, place: str) -> None:
    topic, _ = ranked()[1][0]
    path = write("x.scores", f"{topic}\t0\t0.5\n{topic}\t{place}\t0.25\n")
    rules = Rules(("AP",), input_format="ranklib")
    with pytest.raises(InputError, match=r":2: (bad-score: the place|column-count)"):
        evaluate([path], qrels=write("f", features(True)), rules=rules)


# Parquet that is damaged, or larger than it looks


@pytest.mark.parametrize("name", ["ranx.parquet", "ranx-qrels.parquet"])
def test_a_damaged_parquet_is_a_finding(tmp_path: Path, name: str) -> None:
    damaged = bytearray((FOREIGN / name).read_bytes())
    damaged[4:60] = bytes(byte ^ 0x5A for byte in damaged[4:60])  # the first page; not the footer
    path = tmp_path / name
    path.write_bytes(damaged)
    read = read_qrels if "qrels" in name else read_run
    with pytest.raises(InputError, match="bad-parquet"):
        read(path)
    assert "bad-parquet" in run_inside("validate", PLAIN, path, "-q", JUDGED).out


@pytest.mark.parametrize(
    "columns",
    [
        ("q_id", "doc_id", "score"),
        ("q_id", "doc_id", "grade"),
        ("run", "topic", "measure", "score"),
        ("run", "1", "2"),
        ("qid", "docno", "grade", "f"),
    ],
)
def test_the_cells_of_a_small_parquet_are_counted_before_it_is_read(
    tmp_path: Path, columns: tuple[str, ...]
) -> None:
    """5 million rows in some kilobytes: to read them would take gigabytes."""
    numbers_of = pa.nulls(5_000_000, pa.float64()).fill_null(0.5)
    texts_of = pa.nulls(5_000_000, pa.dictionary(pa.int8(), pa.string())).fill_null("1")
    table = {n: numbers_of if n in ("1", "2", "f", "score") else texts_of for n in columns}
    parquet.write_table(pa.table(table), path := tmp_path / "small.parquet", compression="zstd")
    assert path.stat().st_size < 1_000_000
    call: tuple[str | Path, ...] = ("matrix", path, "-q", JUDGED)
    if "grade" in columns:
        call = ("matrix", PLAIN, "-q", path)
    if "f" in columns:
        call = ("rank", path, path)
    ran = riskeval(*call, RISKEVAL_MEMORY="1000000000")
    assert ran.code == 2
    assert f"out-of-memory: reading {path} (5,000,000 rows by" in ran.err


# What was written reads back


@given(nested)
def test_parquet_comes_back(topics: dict[str, dict[str, float]]) -> None:
    cells = [(q, d, float(s)) for q, docs in topics.items() for d, s in docs.items()]
    names = ("q_id", "doc_id", "score")
    table = pa.table(dict(zip(names, map(list, zip(*cells, strict=True)), strict=True)))
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    text = sink.getvalue().to_pybytes()
    run = read_foreign(PATH, text, RUN_FORMATS["run-parquet"])
    assert run_format_of(text) is RUN_FORMATS["run-parquet"]
    assert run.scores.tolist() == [score for _, _, score in cells]
    assert run.docnos.as_strings() == [docno for _, docno, _ in cells]


@given(nested)
def test_answers_come_back(topics: dict[str, dict[str, float]]) -> None:
    details = {
        topic: {"hits": [{"hit": {"_id": d, "_score": s}} for d, s in docs.items()]}
        for topic, docs in topics.items()
    }
    text = json.dumps({"metric_score": 1.0, "details": details}).encode()
    assert run_format_of(text) is RUN_FORMATS["rank_eval"]
    run = read_foreign(PATH, text, RUN_FORMATS["rank_eval"])
    assert run.scores.tolist() == [float(s) for docs in topics.values() for s in docs.values()]


def test_whole_scores_of_either_sign_in_every_size() -> None:
    """CBOR by hand (RFC 8949): what ranx packs where scores are whole numbers."""
    pytest.importorskip("cbor2", reason="needs the extra ranx")
    scores = {
        "a": (b"\x03", 3),
        "b": (b"\x21", -2),
        "c": (b"\x18\xc8", 200),
        "d": (b"\x38\xc7", -200),
        "e": (b"\x39\x01\x2c", -301),
        "f": (b"\x1a\x00\x01\x00\x00", 65536),
    }
    documents = b"".join(b"\x61" + name.encode() + code for name, (code, _) in scores.items())
    text = b"\xa1\x62q1" + bytes([0xA0 + len(scores)]) + documents
    run = read_foreign(PATH, pack("lz4", text), RUN_FORMATS["run-lz4"])
    assert run.scores.tolist() == [value for _, value in scores.values()]


def test_a_hit_without_a_score_among_others_is_no_place() -> None:
    """Only where no hit has a score does their order stand for it."""
    hits = [{"_id": "a", "_score": 1.0}, {"_id": "b", "_score": None}]
    text = json.dumps({"responses": [{"hits": {"hits": hits}}]}).encode()
    with pytest.raises(InputError) as caught:
        read_foreign(PATH, text, run_format_of(text) or RUN_FORMATS["rank_eval"])
    assert caught.value.code == "bad-score"


@pytest.mark.parametrize(
    ("cbor", "why"),
    [
        (b"\xa1\x62q1\xa2\x61a\x01\x61a\x02", "Duplicate map key: 'a'"),
        (b"\xa1\x62q1\xa1\x61a\x01\x01", "one dictionary"),
        (b"\xa1\x01\xa1\x61a\x01", "one dictionary of names"),
        (b"\xa1\x62q1\xa1\x41a\x01", "one dictionary of names"),
        (b"\xa1\x62q1\xc1\x01", "one dictionary of names, texts and numbers"),
        (b"\xa1\x62q1\xa1\x61a\xf5", "one dictionary of names, texts and numbers"),
        (b"\xa1\x62q1\xa1\x61a\x81\x01", "nesting depth"),
        (b"\xa1\x62q1\xbf\x61a\x01\xff", "indefinite length"),
        (b"\xa1\x62q1\xa1\x61a", "end of stream"),
        (b"\x01", "one dictionary"),
        (b"", "end of stream"),
    ],
)
def test_cbor_that_ranx_does_not_write_is_refused(cbor: bytes, why: str) -> None:
    pytest.importorskip("cbor2", reason="needs the extra ranx")
    with pytest.raises(InputError, match=why) as caught:
        read_foreign(PATH, pack("lz4", cbor), RUN_FORMATS["run-lz4"])
    assert caught.value.code == "bad-json"


def test_without_its_extra_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cbor2", None)
    ran = run_inside("score", FOREIGN / "ranx.lz4", "-q", JUDGED)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "ranx.lz4: unreadable: ranx' LZ4 files need the extra `ranx`" in ran.err


@given(st.binary(max_size=60))
def test_spoilt_lz4_is_an_input_error(junk: bytes) -> None:
    pytest.importorskip("cbor2", reason="needs the extra ranx")
    text = load(FOREIGN / "ranx.lz4")
    for spoilt in (text[: len(text) - len(junk)] + junk, pack("lz4", junk)):
        try:
            read_foreign(PATH, spoilt, RUN_FORMATS["run-lz4"])
        except InputError as error:
            assert error.code in ("damaged-archive", "bad-json", "bad-score", "empty-file")


def test_a_packed_run_is_read_by_the_library(write: Write) -> None:
    expected = read_run(PLAIN).scores.tolist()
    for data in (gzip.compress(PLAIN.read_bytes()), lzma.compress(PLAIN.read_bytes()),
                 pack("zstd", PLAIN.read_bytes())):  # fmt: skip
        assert read_run(write("x", data)).scores.tolist() == expected
    assert Path(read_run(FOREIGN / "ranx.parquet").path).name == "ranx.parquet"
