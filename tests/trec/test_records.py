"""Runs and judgements that other programs wrote: the same numbers, and what is wrong, named.

`tests/foreign` holds ten documents of five topics, and judgements, as ranx 0.3.21 (`Run.save`,
`Qrels.save`) and `json.dump` of pytrec_eval 0.5.11's dictionaries wrote them, beside the TREC files
that both were made from.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import (
    InputError,
    Qrels,
    Rules,
    Scorer,
    UsageError,
    evaluate,
    read_qrels,
    read_run,
    score_runs,
)
from riskcli.effectiveness.measures import parse_measures
from riskcli.trec.formats import RUN_FORMATS, run_format_of
from riskcli.trec.qrels import parse_qrels
from riskcli.trec.records import are_measures
from riskcli.trec.runs import read_foreign
from tests.conftest import Write
from tests.helpers.inprocess import run_inside
from tests.helpers.trec_text import ids

FOREIGN = Path(__file__).parents[1] / "foreign"
PLAIN, JUDGED = FOREIGN / "plain.run", FOREIGN / "plain.qrels"
PATH = Path("x")
letters = st.characters(exclude_characters="\0\n", exclude_categories=["Cs"])
names = (ids | st.text(letters, min_size=1, max_size=9)).filter(lambda n: not are_measures([n]))
"""Of topics and documents; who calls them as measures are called is told that these are results."""
scores = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6)
nested = st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=4), min_size=1)


def numbers(run: Path, qrels: Path) -> list[list[float]]:
    rules = Rules(("ERR@5", "nDCG@10", "AP", "P(rel=2)@3"))
    return [m.values.tolist() for m in evaluate([run], qrels=qrels, rules=rules).matrices]


def as_other_programs_have_them() -> dict[str, bytes]:
    """The plain run in other formats."""
    lines = [line.split() for line in PLAIN.read_text().splitlines()]
    records = [{"qid": q, "docid": d, "score": float(s)} for q, _, d, _, s, _ in lines]
    return {
        "JSON lines": "".join(f"{json.dumps(record)}\n" for record in records).encode(),
        "MS MARCO": "".join(f"{q}\t{d}\t{rank}\n" for q, _, d, rank, _, _ in lines).encode(),
        "MS MARCO, blanks": "".join(f"{q} {d} {rank}\n" for q, _, d, rank, *_ in lines).encode(),
    }


@pytest.mark.parametrize("program", ["ranx", "pytrec_eval"])
def test_what_other_programs_wrote_scores_the_same(program: str) -> None:
    expected = numbers(PLAIN, JUDGED)
    assert numbers(FOREIGN / f"{program}.json", JUDGED) == expected
    assert numbers(PLAIN, FOREIGN / f"{program}-qrels.json") == expected
    assert read_qrels(FOREIGN / f"{program}-qrels.json").judgements == read_qrels(JUDGED).judgements


@pytest.mark.parametrize("format", as_other_programs_have_them())
def test_other_formats_score_the_same(write: Write, format: str) -> None:
    path = write("some.txt", as_other_programs_have_them()[format])
    assert numbers(path, JUDGED) == numbers(PLAIN, JUDGED)
    assert evaluate([path], qrels=JUDGED).matrices[0].runs == ("some",)
    assert run_inside("validate", path, "-q", JUDGED).code == 0


HEADERS = {
    "BEIR": ("query-id", "corpus-id", "score", "\t"),
    "Quepid": ("query", "docid", "rating", ","),
    "ids": ("query_id", "doc_id", "relevance", ","),
}


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("turned", [False, True])
def test_tables_of_judgements(write: Write, header: str, turned: bool) -> None:
    *columns, separator = HEADERS[header]
    rows = [columns] + [[q, d, g] for q, _, d, g in map(str.split, JUDGED.read_text().splitlines())]
    order = [2, 0, 1] if turned else [0, 1, 2]
    lines = [separator.join(row[i] for i in order) for row in rows]
    path = write("judged", ("\r\n".join(lines) + "\r\n").encode())
    assert read_qrels(path).judgements == read_qrels(JUDGED).judgements


@given(nested)
def test_any_dictionary_comes_back(topics: dict[str, dict[str, float]]) -> None:
    text = json.dumps(topics).encode()
    assert run_format_of(text) is RUN_FORMATS["run-json"]
    run = read_foreign(PATH, text, RUN_FORMATS["run-json"])
    found: dict[str, dict[str, float]] = {}
    for code, docno, score in zip(
        run.topic_codes.tolist(), run.docnos.as_strings(), run.scores.tolist(), strict=True
    ):
        found.setdefault(run.topics[code], {})[docno] = score
    assert found == topics


@given(st.dictionaries(names, st.dictionaries(names, st.integers(-2, 4), min_size=1), min_size=1))
def test_any_dictionary_of_judgements_comes_back(topics: dict[str, dict[str, int]]) -> None:
    assert parse_qrels(PATH, json.dumps(topics).encode()).judgements == topics


WRONG_RUNS = {
    b'{"1": {"a": 1.0}, "2": {"a": "x"}}': ("bad-score", None),
    b'{"1": {"a": true}}': ("bad-score", None),
    b'{"1": {"a": NaN}}': ("bad-score", None),
    b'{"1": {"a": Infinity}}': ("bad-score", None),
    b'{"1": {"a": null}}': ("bad-score", None),
    b'{"1": {"a": 1%s}}' % (b"0" * 400): ("bad-score", None),
    b'{"1": {"a": 1.0, "a": 2.0}}': ("bad-json", None),
    b'{"1": {"a": 1.0}, "1": {"b": 2.0}}': ("bad-json", None),
    b'{"1": {"a": 1.0}, "2": [1]}': ("bad-json", None),
    b'{"1": {"a": 1.0},\n "2": {"a": 1.0}': ("bad-json", 2),
    b'{"1": {"a": 1.0}, "2": {"\xff": 1.0}}': ("encoding", 1),
    b'{"1": {"": 1.0}}': ("no-name", None),
    b'{"1": {}}': ("empty-file", None),
    b'{"qid": 1, "docid": "a", "score": 1}\n{"qid": 1, "docid": "a", "score": 2}\n': (
        "duplicate-document", 2),
    b'{"qid": 1, "docid": "a", "score": 1}\n\n{"qid": 1, "score": 2}\n': ("bad-json", 3),
    b'{"qid": 1, "docid": "a", "score": 1}\n{"qid": 1, "docid": "b", "score": "2"}\n': (
        "bad-score", 2),
    b'{"qid": 1, "docid": "a", "score": 1}\n{"qid": 1.5, "docid": "b", "score": 2}\n': (
        "bad-json", 2),
    b'{"qid": 1, "docid": "a", "score": 1}\n{"qid": 1, "docid": "\xff", "score": 2}\n': (
        "encoding", 2),
    b"1 a 1\n1 c 2\n1 b\n": ("column-count", 3),
    b"1 a 1\n1 b 0\n": ("bad-score", 2),
    b"1 a 1\n1 b x\n1 c 2\n": ("bad-score", 2),
    b"1 a 1\n1 b 1\n": ("bad-score", 2),
    b"1 a 1\n1 a 2\n": ("duplicate-document", 2),
    b"1 a 1\n1 \xff 2\n": ("encoding", 2),
    b"1 a 1\n1 b\0c 2\n": ("nul-byte", 2),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG_RUNS)
def test_what_is_wrong_with_a_run_is_named(write: Write, text: bytes) -> None:
    path = write("run", text)
    code, line = WRONG_RUNS[text]
    with pytest.raises(InputError) as caught:
        evaluate([path], qrels=JUDGED)
    assert (caught.value.code, caught.value.line) == (code, line)
    ran = run_inside("validate", path, "-f", "jsonl", "--quiet")
    assert ran.code == 1
    first = json.loads(ran.out.splitlines()[0])
    assert (first["code"], first["line"], first["severity"]) == (code, line, "error")


WRONG_QRELS = {
    b'{"1": {"a": 1.5}}': ("bad-grade", None),
    b'{"1": {"a": "x"}}': ("bad-grade", None),
    b'{"1": {"a": true}}': ("bad-grade", None),
    b'{"1": {"a": 1, "a": 0}}': ("bad-json", None),
    b"query-id\tcorpus-id\tscore\n1\ta\tx\n": ("bad-grade", 2),
    b"query-id\tcorpus-id\tscore\n1\ta\t1\n1\ta\t0\n": ("conflicting-judgement", 3),
    b"query-id\tcorpus-id\tscore\n1\ta\n": ("column-count", 2),
    b"query-id\tcorpus-id\tscore\n": ("empty-file", None),
    b"query,docid,rating\n1,,1\n": ("no-name", 2),
    b'query,docid,rating\n1,"a,1\n': ("bad-csv", 2),
    b"query,docid,rating\n1,\xff,1\n": ("encoding", 2),
}


@pytest.mark.parametrize("text", WRONG_QRELS)
def test_what_is_wrong_with_judgements_is_named(write: Write, text: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_qrels(write("judged", text))
    assert (caught.value.code, caught.value.line) == WRONG_QRELS[text]


@pytest.mark.parametrize("text", [b"1 a 10\n1 b 9\n", b"1 a 2\n1 b 1\n", b"1 a 0\n"])
def test_whole_scores_are_never_taken_for_ranks(write: Write, text: bytes) -> None:
    with pytest.raises(InputError) as caught:
        evaluate([write("run", text)], qrels=JUDGED)
    assert caught.value.code == "column-count"


def test_a_format_can_be_named(write: Write) -> None:
    path = write("run", b"1 a 2\n1 b 1\n")
    judged = write("judged", b"1 0 a 1\n1 0 b 0\n")
    (matrix,) = evaluate(
        [path], qrels=judged, rules=Rules(("RR",), input_format="msmarco")
    ).matrices  # fmt: skip
    assert matrix.values.tolist() == [[0.5]]


@pytest.mark.parametrize("name", ["plain.run", "ranx.json"])
def test_the_library_reads_the_same_run(name: str) -> None:
    run = read_run(FOREIGN / name)
    assert len(run.docnos) == 50 and math.isclose(run.scores[0], -4.33224)


# Names that no text is: at every door

UNFIT = {"half of a pair": "\ud800", "a NUL": "a\0b", "a line end": "a\nb"}


@pytest.mark.parametrize("name", UNFIT)
def test_an_unfit_name_is_refused_at_every_door(write: Write, name: str) -> None:
    """pytrec_eval crashes on half of a pair, and takes what is before a NUL for the whole name."""
    unfit = UNFIT[name]
    nested = json.dumps({"1": {unfit: 1, "a": 1}})
    runs = [
        nested,
        json.dumps({unfit: {"a": 1}}),
        "".join(json.dumps({"qid": "1", "docid": d, "score": 2}) + "\n" for d in ("a", unfit)),
        json.dumps({"responses": [{"hits": {"hits": [{"_id": unfit, "_score": 1}]}}]}),
    ]
    good_run, good_qrels = write("good.run", "1 Q0 a 1 2 t\n"), write("qrels", "1 0 a 1\n")
    for text in runs:
        ran = run_inside("matrix", write("x.run", text), "-q", good_qrels)
        assert ran.code == 2 and "bad-name: the name of a topic or document holds '\\" in ran.err
        assert "bad-name" in run_inside("validate", write("x.run", text), "-q", good_qrels).out
    ran = run_inside("matrix", good_run, "-q", write("judged", nested))
    assert ran.code == 2 and "bad-name" in ran.err
    for judged in ({"1": {unfit: 1, "a": 1}}, {unfit: {"a": 1}}):
        with pytest.raises(UsageError, match="the judgements: bad-name: "):
            score_runs({"r": {"1": {"a": 1.0}}}, judged)
        with pytest.raises(UsageError, match="the judgements: bad-name: "):
            Scorer(Qrels(judged), parse_measures(["AP"]))
        with pytest.raises(UsageError, match="run r: bad-name: "):
            score_runs({"r": judged}, {"1": {"a": 1}})


def test_bytes_that_are_half_of_a_pair_are_no_name(tmp_path: Path) -> None:
    """The decoder of JSON lets them pass."""
    path = tmp_path / "q"
    path.write_bytes(b'{"1": {"\xed\xa0\x80": 1, "a": 1}}')
    ran = run_inside("matrix", write_run(tmp_path), "-q", path)
    assert ran.code == 2 and "bad-name" in ran.err


def write_run(folder: Path) -> Path:
    path = folder / "a.run"
    path.write_text("1 Q0 a 1 2 t\n")
    return path


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ('{"responses": [{"hits": {"hits": null}}]}', None),
        ('{"responses": [{"hits": null}]}', None),
        ('{"responses": [{"hits": [1]}]}', "msearch"),
        ('{"responses": null}', "msearch"),
        ("[1]", "msearch"),
        ("[1]", "run-json"),
        ("[1]", "rank_eval"),
    ],
)
def test_json_of_another_shape_is_one_line(write: Write, content: str, format: str | None) -> None:
    rules = Rules(input_format=format)
    with pytest.raises(InputError, match="bad-json: "):
        evaluate([write("x.run", content)], qrels=JUDGED, rules=rules)


def test_ratings_of_another_shape_are_one_line(write: Write) -> None:
    text = '{"requests": [{"id": "2", "ratings": [{"_id": "a", "rating": 1}]}, '
    with pytest.raises(InputError, match='topic 1: expected a list of "ratings"'):
        read_qrels(write("q", text + '{"id": "1", "ratings": null}]}'))
