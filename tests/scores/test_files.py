"""Score files: a matrix that was written reads back bit for bit, and a wrong cell is named."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from riskcli import (
    Evaluation,
    InputError,
    Rules,
    ScoreMatrix,
    UsageError,
    evaluate,
    read_qrels,
    read_run,
    validate,
)
from riskcli.analyses.matrix import Matrices
from riskcli.core.messages import Provenance
from riskcli.learn.feature_files import read_features
from riskcli.output.formats import named
from riskcli.scores.files.registry import kind_of
from riskcli.scores.plausibility import doubts_on
from riskcli.trec import source
from tests.conftest import Write
from tests.helpers.strategies import ANY_SCORE
from tests.helpers.trec_text import STRANGE_IDS, qrels_text, run_text

FORMATS = ("csv", "tsv", "json", "parquet")
Named = dict[tuple[str, str, str], float]

TOPICS = [name for name in STRANGE_IDS if name != "all"]  # a summary, in a file of scores
formats = pytest.mark.parametrize("format", FORMATS)
shapes = pytest.mark.parametrize("long", [False, True], ids=["wide", "long"])


def write_matrices(evaluation: Evaluation, format: str, long: bool) -> bytes:
    matrices = Matrices(evaluation.matrices, long, provenance=evaluation.provenance)
    content = named(format, matrices.formats).render(matrices)
    return content.encode() if isinstance(content, str) else content


def evaluation_of(*matrices: ScoreMatrix) -> Evaluation:
    return Evaluation(matrices)


def matrix_of(
    runs: tuple[str, ...], topics: tuple[str, ...], measure: str = "ERR@20"
) -> ScoreMatrix:
    """Scores that need all of their digits."""
    rng = np.random.default_rng(1)
    return ScoreMatrix(measure, runs, topics, rng.normal(size=(len(runs), len(topics))))


def cells(evaluation: Evaluation) -> Named:
    return {
        (matrix.measure, run, topic): score
        for matrix in evaluation.matrices
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
        for topic, score in zip(matrix.topics, row, strict=True)
    }


def bits(named: Named) -> dict[tuple[str, str, str], str]:
    """0.0 and -0.0 differ."""
    return {place: score.hex() for place, score in named.items()}


# There and back


@formats
def test_a_file_that_is_read_in_pieces_is_read_whole(
    write: Write, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says of how it was made was once looked for in its first piece alone."""
    monkeypatch.setattr(source, "PIECE", 64)
    made = matrix_of(("a", "b", "c"), ("1", "2", "10"))
    written = Evaluation((made,), provenance=Provenance(settings={"topics": "judged"}))
    path = write("x", write_matrices(written, format, long=False))
    back = evaluate([path], rules=Rules(("ERR@20",), topics="judged"))
    assert bits(cells(back)) == bits(cells(written))


@formats
@shapes
def test_what_was_written_reads_back_bit_for_bit(write: Write, format: str, long: bool) -> None:
    written = evaluation_of(matrix_of(("a", "b", "c"), ("1", "2", "10")))
    path = write("x", write_matrices(written, format, long))
    rules = Rules(("ERR@20",))  # a wide CSV does not say it
    assert bits(cells(evaluate([path], rules=rules))) == bits(cells(written))


@formats
@shapes
@pytest.mark.parametrize("name", [*TOPICS, "a\nb", "a b", " a ", "a\tb", "1,2", 'a"'])
def test_names_stay_the_strings_they_are(write: Write, format: str, long: bool, name: str) -> None:
    runs, topics = (name.replace("@", "+"), "other"), (name, "second")
    written = evaluation_of(matrix_of(runs, topics))
    path = write("x", write_matrices(written, format, long))
    back = evaluate([path], rules=Rules(("ERR@20",)))
    assert bits(cells(back)) == bits(cells(written))


@formats
def test_several_measures_are_written_long(write: Write, format: str) -> None:
    runs, topics = ("a", "b"), ("1", "2")
    written = evaluation_of(matrix_of(runs, topics, "AP"), matrix_of(runs, topics, "P@5"))
    path = write("x", write_matrices(written, format, long=True))
    assert bits(cells(evaluate([path]))) == bits(cells(written))
    with pytest.raises(UsageError, match="one measure per table, found AP, P@5"):
        write_matrices(written, format, long=False)


@formats
def test_evaluating_again_writes_the_same_bytes(write: Write, format: str) -> None:
    files = [
        write("a", run_text({"1": {"d": 1.0}, "2": {"e": 2.0, "d": 1.0}}, "a")),
        write("b", run_text({"1": {"e": 1.0}}, "b")),
    ]
    judged = {"1": {"d": 1, "e": 0}, "2": {"d": 2}}
    found = evaluate(files, qrels=write("q", qrels_text(judged)))
    once = write_matrices(found, format, long=True)
    again = evaluate([write("x", once)])
    assert again.notes == ()
    kept = replace(again, provenance=found.provenance)
    assert write_matrices(kept, format, long=True) == once


names = (
    (st.sampled_from(TOPICS) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=5))
    .filter(lambda name: not name.startswith("@"))
    .filter(lambda name: "\r" not in name and "\0" not in name)
    .filter(lambda name: not any(doubts_on([matrix_of(("run",), (name,))])))
)


@formats
@shapes
@settings(max_examples=40)
@given(
    runs=st.lists(names, min_size=1, max_size=3, unique=True),
    topics=st.lists(names.filter(lambda name: name != "Q0"), min_size=1, max_size=3, unique=True),
    data=st.data(),
)
def test_any_matrix_reads_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory,
    format: str,
    long: bool,
    runs: list[str],
    topics: list[str],
    data: st.DataObject,
) -> None:
    shape = (len(runs), len(topics))
    scores = data.draw(
        st.lists(ANY_SCORE, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    )
    matrix = ScoreMatrix("AP", tuple(runs), tuple(topics), np.array(scores).reshape(shape))
    path = tmp_path_factory.getbasetemp() / "law"
    path.write_bytes(write_matrices(evaluation_of(matrix), format, long))
    back = evaluate([path], rules=Rules(("AP",)))
    assert bits(cells(back)) == bits(cells(evaluation_of(matrix)))


# Telling them apart


KINDS: dict[bytes, str | None] = {
    b"run,1,2\na,0.5,1\n": "csv",
    b'"run","1"\n"a",0.5\n': "csv",
    b"run,1\r\na,0.5\r\n": "csv",
    b"run\t1\t2\na\t0.5\t1\n": "tsv",
    b"run,topic,measure,score\n": "csv",
    b'{"rows": []}': "json",
    b' \n {"rows": []}': "json",
    b"PAR1....": "parquet",
    b"PAR1 Q0 d 1 2.5 t\n": None,
    b"{ Q0 d 1 2.5 t\n": None,
    b"run Q0 d 1 2.5 t\n": None,
    b"run\tQ0\td\t1\t2.5\tt\n": None,
    b"run\n": None,
    b"runs,1\n": None,
    b"1 Q0 d 1 2.5 t\n": None,
    b"": None,
    b"[]": None,
}


@pytest.mark.parametrize(("text", "kind"), KINDS.items())
def test_content_tells_the_kind(text: bytes, kind: str | None) -> None:
    assert kind_of(Path("x"), text) == kind


def test_a_topic_called_run_is_no_header(write: Write) -> None:
    run = write("r", b"run\tQ0\td\t1\t2.5\tt\n")
    found = evaluate([run], qrels=write("q", b"run 0 d 1\n"), rules=Rules(("RR",)))
    assert cells(found) == {("RR", "t", "run"): 1.0}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_as_spreadsheets_write_it(write: Write, mark: bytes, end: str) -> None:
    text = end.join(['"run","1","002"', '"a, b",0.5,1', "", 'c,"0.25",-1e-3', ""])
    found = evaluate([write("x.csv", mark + text.encode())], rules=Rules(("anything goes",)))
    assert cells(found) == {
        ("anything goes", "a, b", "1"): 0.5,
        ("anything goes", "a, b", "002"): 1.0,
        ("anything goes", "c", "1"): 0.25,
        ("anything goes", "c", "002"): -1e-3,
    }


def test_the_columns_of_a_long_table_may_stand_in_any_order(write: Write) -> None:
    text = "run,score,measure,topic\na,0.5,AP,1\na,1,AP,2\n"
    assert cells(evaluate([write("x", text)])) == {("AP", "a", "1"): 0.5, ("AP", "a", "2"): 1.0}


# Empty cells


def as_parquet(columns: dict[str, list[Any]]) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


EMPTY: dict[str, str | bytes] = {
    "wide csv": "run,1,2\na,0.5,\nb, ,1\n",
    "wide tsv": "run\t1\t2\na\t0.5\t\nb\t\t1\n",
    "long csv": "run,topic,measure,score\na,1,score,0.5\na,2,score,\nb,2,score,1\n",
    "wide json": '{"rows": [{"run": "a", "measure": "score", "scores": {"1": 0.5, "2": null}},'
    ' {"run": "b", "measure": "score", "scores": {"2": 1}}]}',
    "long json": '{"rows": [{"run": "a", "topic": "1", "measure": "score", "score": 0.5},'
    ' {"run": "b", "topic": 1, "measure": "score", "score": null},'
    ' {"run": "b", "topic": 2, "measure": "score", "score": 1}]}',
    "wide parquet": as_parquet({"run": ["a", "b"], "1": [0.5, None], "2": [None, 1]}),
    "long parquet": as_parquet(
        {
            "run": ["a", "a", "b"],
            "topic": ["1", "2", "2"],
            "measure": ["score"] * 3,
            "score": [0.5, None, 1.0],
        }
    ),
}


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY.keys())
def test_an_empty_cell_is_an_unanswered_topic(write: Write, content: str | bytes) -> None:
    found = evaluate([write("x", content)])
    assert cells(found) == {
        ("score", "a", "1"): 0.5,
        ("score", "a", "2"): 0.0,
        ("score", "b", "1"): 0.0,
        ("score", "b", "2"): 1.0,
    }
    assert [note.message for note in found.notes] == ["unanswered topics score 0: a (1), b (1)"]


NOTHING: dict[str, str | bytes] = {
    "wide csv": "run,1\na,0.5\nb,\n",
    "long csv": "run,topic,measure,score\na,1,score,0.5\nb,1,score,\n",
    "json": '{"rows": [{"run": "a", "measure": "m", "scores": {"1": 0.5}},'
    ' {"run": "b", "measure": "m", "scores": {"1": null}}]}',
    "parquet": as_parquet({"run": ["a", "b"], "1": [0.5, None]}),
}


@pytest.mark.parametrize("content", NOTHING.values(), ids=NOTHING.keys())
def test_a_run_of_empty_cells_does_not_vanish(write: Write, content: str | bytes) -> None:
    with pytest.raises(UsageError, match="run b does not answer the one topic evaluated"):
        evaluate([write("x", content)])


OTHER_WORDS = {
    "pyterrier": "name,qid,measure,value\na,1,AP,0.5\nb,1,AP,0.25\n",
    "in another order": "metric,value,query_id,system\nmap,0.5,1,a\nmap,0.25,1,b\n",
    "without a run": "topic,measure,score\n1,AP,0.5\n2,AP,0.25\n",
    "without a measure": "system,topic,score\na,1,0.5\nb,1,0.25\n",
    "wide": "system,1,2\na,0.5,0.25\nb,0.25,0.125\n",
}


@pytest.mark.parametrize("text", OTHER_WORDS.values(), ids=OTHER_WORDS.keys())
def test_parquet_takes_the_columns_that_csv_takes(write: Write, text: str) -> None:
    stream = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_parquet(stream, index=False)
    as_csv = cells(evaluate([write("x", text)]))
    assert len(as_csv) > 1 and cells(evaluate([write("x", stream.getvalue())])) == as_csv


def test_two_columns_of_one_meaning_are_refused_in_parquet_as_in_csv(write: Write) -> None:
    columns: dict[str, list[Any]] = {
        "run": ["a"],
        "name": ["a"],
        "topic": ["1"],
        "measure": ["AP"],
        "score": [0.5],
    }
    with pytest.raises(InputError, match="could each be the run") as caught:
        evaluate([write("x.parquet", as_parquet(columns))])
    assert (caught.value.code, caught.value.line) == ("ambiguous-format", None)


# What is wrong, and where


NO_NUMBERS = ["x", "nan", "inf", "-inf", "1e400", "1_000", "0x1", "1,5x", "１", "None", "true"]
LONG_HEAD = "run,topic,measure,score\n"
WRONG: dict[str, tuple[str | bytes, str, int | None, str]] = {
    "a cell too few": ("run,1,2\na,1,1\n\nb,1\n", "column-count", 4, "found 2 cells, expected 3"),
    "a cell too many": ("run,1\na,1,2\n", "column-count", 2, "found 3 cells, expected 2"),
    "long, a cell too few": (f"{LONG_HEAD}a,1,AP\n", "column-count", 2, "found 3 cells"),
    "a run twice": (
        "run,1\na,1\nb,1\na,2\n",
        "duplicate-run",
        4,
        "run a is already defined on line 2",
    ),
    "a topic twice": ("run,1,2,1\na,1,1,1\n", "duplicate-topic", 1, "topic '1' occurs twice"),
    "a score twice": (
        f"{LONG_HEAD}a,1,AP,1\na,2,AP,1\na,1,AP,1\n",
        "duplicate-score",
        4,
        "run a, topic 1 and measure AP occur a second time",
    ),
    "an empty score twice": (f"{LONG_HEAD}a,1,AP,1\na,1,AP,\n", "duplicate-score", 3, "run a"),
    "no run": ("run,1,2\n", "empty-file", None, "no run below the first line"),
    "no score": (LONG_HEAD, "empty-file", None, "no score below the first line"),
    "a run without a name": ("run,1\n,1\n", "no-name", 2, "the name of the run (1st column)"),
    "a topic without a name": ("run,1,\na,1,\n", "no-name", 1, "the name of a topic is empty"),
    "long, no name": (f"{LONG_HEAD}a,,AP,1\n", "no-name", 2, "the run or the topic is empty"),
    "Latin-1": (b"run,1\na,1\n\xe9,1\n", "encoding", 3, "this line is not UTF-8 text"),
    "an open quote": ('run,1\n"a,1\n', "bad-csv", 2, "unexpected end of data"),
    "text behind a quote": ('run,1\na,1\n"b"x,1\n', "bad-csv", 3, "expected after"),
    "the line of a quoted break": ('run,1\n"a\nb",1\nc,x\n', "bad-score", 4, "run c, topic 1"),
    "json, not closed": ('{"rows": [\n{"run": ', "bad-json", 2, "expected the JSON that"),
    "json, no rows": ("{}", "bad-json", None, 'writes: an object has no "rows"'),
    "json, rows of text": ('{"rows": ["x"]}', "bad-json", None, "expected the JSON"),
    "json, no run": ('{"rows": [{"measure": "m", "scores": {"1": 1}}]}', "bad-json", None, '"run"'),
    "json, none": ('{"rows": []}', "empty-file", None, "no score"),
    "json, a topic twice": (
        '{"rows": [{"run": "a", "measure": "m", "scores": {"1": 1, "1": 2}}]}',
        "bad-json",
        None,
        "an object holds the key '1' twice",
    ),
    "json, a run twice": (
        '{"rows": [{"run": "a", "measure": "m", "scores": {"1": 1}},'
        ' {"run": "a", "measure": "m", "scores": {"1": 1}}]}',
        "duplicate-score",
        None,
        "run a, topic 1 and measure m",
    ),
    "json, text": (
        '{"rows": [{"run": "a", "topic": "1", "measure": "m", "score": "0.5"}]}',
        "bad-score",
        None,
        "run a, topic 1: the score is \"'0.5'\", expected a finite number",
    ),
    "json, NaN": (
        '{"rows": [{"run": "a", "topic": "1", "measure": "m", "score": NaN}]}',
        "bad-score",
        None,
        "the score is 'nan'",
    ),
    "json, true": (
        '{"rows": [{"run": "a", "topic": "1", "measure": "m", "score": true}]}',
        "bad-score",
        None,
        "the score is 'True'",
    ),
    "parquet, cut": (as_parquet({"run": ["a"], "1": [1.0]})[:-9], "bad-parquet", None, ""),
    "parquet, no run": (as_parquet({"1": [1.0]}), "bad-parquet", None, "the first column is not"),
    "parquet, text": (
        as_parquet({"run": ["a"], "1": ["x"]}),
        "bad-score",
        None,
        "column '1' is string, expected numbers",
    ),
    "parquet, true": (
        as_parquet({"run": ["a"], "1": [True]}),
        "bad-score",
        None,
        "column '1' is bool, expected numbers",
    ),
    "parquet, no name": (
        as_parquet({"run": ["a", None], "1": [1.0, 2.0]}),
        "bad-parquet",
        None,
        "column 'run' is null in 1 row",
    ),
    "parquet, lists": (
        as_parquet({"run": [["a"]], "1": [1.0]}),
        "bad-parquet",
        None,
        "column 'run' is list<",
    ),
    "parquet, bytes": (
        as_parquet({"run": [b"a"], "1": [1.0]}),
        "bad-parquet",
        None,
        "column 'run' is binary, expected text",
    ),
    "parquet, long, no topic": (
        as_parquet({"run": ["a"], "topic": [None], "measure": ["m"], "score": [1.0]}),
        "bad-parquet",
        None,
        "column 'topic' is null, expected text",
    ),
    "json, no name": (
        '{"rows": [{"run": null, "topic": "1", "measure": "m", "score": 1}]}',
        "bad-json",
        None,
        "a run is null, expected text",
    ),
    "json, a list of names": (
        '{"rows": [{"run": ["a"], "topic": "1", "measure": "m", "score": 1}]}',
        "bad-json",
        None,
        'a run is ["a"], expected text',
    ),
    "json lines, true": (
        '{"run": "a", "topic": true, "measure": "m", "score": 1}',
        "bad-json",
        1,
        "a topic is true, expected text",
    ),
    "parquet, NaN": (
        as_parquet({"run": ["a", "b"], "1": [1.0, math.nan]}),
        "bad-score",
        None,
        "run b, topic 1: the score is 'nan', expected a finite number",
    ),
    "parquet, infinite": (
        as_parquet({"run": ["a"], "1": [1.0], "2": [-math.inf]}),
        "bad-score",
        None,
        "run a, topic 2: the score is '-inf'",
    ),
    "parquet, a run twice": (
        as_parquet({"run": ["a", "a"], "1": [1.0, 2.0]}),
        "duplicate-run",
        None,
        "run 'a' occurs twice",
    ),
}


@pytest.mark.parametrize(("content", "code", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_says_what_and_where(
    write: Write, content: str | bytes, code: str, line: int | None, message: str
) -> None:
    path = write("x", content)
    with pytest.raises(InputError) as caught:
        evaluate([path])
    error = caught.value
    assert (error.path, error.code, error.line) == (str(path), code, line)
    assert message in error.message


@pytest.mark.parametrize("cell", NO_NUMBERS)
@pytest.mark.parametrize("shape", ["run\t1\t2\na\t1\t1\nb\t1\t{}\n", "{}"], ids=["wide", "long"])
def test_what_is_no_finite_decimal_number_is_no_score(write: Write, shape: str, cell: str) -> None:
    long = f"run\ttopic\tmeasure\tscore\na\t2\tAP\t1\nb\t2\tAP\t{cell}\n"
    with pytest.raises(InputError) as caught:
        evaluate([write("x", long if shape == "{}" else shape.format(cell))])
    assert (caught.value.code, caught.value.line) == ("bad-score", 3)
    found = f"run b, topic 2: the score is {cell!r}, expected a finite number"
    assert caught.value.message == found


# Several files, and runs beside score files


@pytest.fixture
def files(write: Write) -> Callable[..., Evaluation]:
    write("q", qrels_text({"1": {"d": 1}, "2": {"d": 1}}))
    write("r", run_text({"1": {"d": 1.0}, "2": {"x": 2.0, "d": 1.0}}, "scored"))
    write("wide.csv", "run,1,2\nwide,0.5,0.25\n")
    write("other.csv", "run,1,2\nother,0.125,0.5\n")
    write("more.csv", "run,1,2,77\nmore,0.5,0.25,1\n")
    write("long.csv", f"{LONG_HEAD}long,1,AP,0.5\nlong,2,AP,1\nlong,1,RR,1\nlong,2,RR,1\n")
    write("some.csv", f"{LONG_HEAD}some,1,AP,0.5\nsome,2,AP,1\n")

    def _evaluate(names: str, *measures: str) -> Evaluation:
        folder = write("here", "").parent
        places: list[Path] = [folder / name for name in names.split()]
        return evaluate(places, qrels=folder / "q", rules=Rules(measures))

    return _evaluate


Files = Callable[..., Evaluation]


@pytest.mark.parametrize(
    ("names", "measures", "found"),
    [
        ("wide.csv other.csv", (), {"score": ("other", "wide")}),
        ("long.csv some.csv", ("AP",), {"AP": ("long", "some")}),
        ("long.csv", (), {"AP": ("long",), "RR": ("long",)}),
        ("long.csv", ("RR", "AP"), {"RR": ("long",), "AP": ("long",)}),
        ("long.csv", ("RR,map",), {"RR": ("long",), "AP": ("long",)}),
        ("r long.csv", ("AP", "RR"), {"AP": ("long", "scored"), "RR": ("long", "scored")}),
        ("r long.csv", ("recip_rank", "map"), {"RR": ("long", "scored"), "AP": ("long", "scored")}),
        ("r long.csv", ("AP", "recip_rank"), {"AP": ("long", "scored"), "RR": ("long", "scored")}),
        ("r wide.csv", ("P@5",), {"P@5": ("scored", "wide")}),
        ("r wide.csv", ("P_5",), {"P@5": ("scored", "wide")}),
        (
            "r",
            ("nDCG@20", "map", "P_5"),
            {"nDCG@20": ("scored",), "AP": ("scored",), "P@5": ("scored",)},
        ),
    ],
)
def test_no_run_and_no_measure_is_lost(
    files: Files, names: str, measures: tuple[str, ...], found: dict[str, tuple[str, ...]]
) -> None:
    matrices = files(names, *measures).matrices
    assert {matrix.measure: matrix.runs for matrix in matrices} == found
    assert [matrix.measure for matrix in matrices] == list(found)


@pytest.mark.parametrize(
    ("names", "measures", "message"),
    [
        ("long.csv some.csv", (), "no scores by RR for 1 run: some; choose the measure"),
        ("long.csv some.csv", ("RR",), "no scores by RR for 1 run: some"),
        ("long.csv some.csv", ("AP", "RR"), "no scores by RR for 1 run: some"),
        ("some.csv", ("RR",), "no scores by RR in these files; they hold AP"),
        ("some.csv", ("AP", "RR"), "no scores by RR in these files; they hold AP"),
        ("some.csv", ("AP", "nonsense"), "no scores by nonsense in these files; they hold AP"),
        ("r wide.csv", (), "no scores by ERR@20 for 1 run: wide"),
        ("r wide.csv", ("AP", "RR"), "no scores by AP for 1 run: wide"),
        ("r some.csv", ("RR",), "no scores by RR for 1 run: some"),
        ("r wide.csv", ("nonsense",), "unknown measure 'nonsense'"),
        ("wide.csv long.csv", (), "no scores by AP for 1 run: wide"),
    ],
)
def test_files_that_do_not_fit_are_an_error(
    files: Files, names: str, measures: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        files(names, *measures)
    assert message in str(caught.value)


def test_a_run_is_scored_beside_the_scores_of_another(files: Files) -> None:
    found = files("r wide.csv", "RR")
    assert cells(found) == {
        ("RR", "scored", "1"): 1.0,
        ("RR", "scored", "2"): 0.5,
        ("RR", "wide", "1"): 0.5,
        ("RR", "wide", "2"): 0.25,
    }
    assert [file.kind for file in found.inputs] == ["run", "scores", "qrels"]


def test_scores_alone_need_no_judgements(files: Files) -> None:
    assert [file.kind for file in files("wide.csv other.csv").inputs] == ["scores", "scores"]


def test_a_topic_that_only_a_score_file_has_is_ignored_and_counted(files: Files) -> None:
    found = files("r more.csv", "RR")
    assert found.matrices[0].topics == ("1", "2")
    assert [note.message for note in found.notes] == [
        "scores of more.csv read as RR: the file does not name its measure",
        "topics that are not in the qrels are ignored: more.csv (1)",
    ]
    assert files("wide.csv more.csv").matrices[0].topics == ("1", "2", "77")


def test_two_runs_of_one_name_are_an_error_that_names_both_files(write: Write) -> None:
    one, two = write("one", "run,1\na,1\n"), write("two", "run,1\na,1\n")
    with pytest.raises(UsageError) as caught:
        evaluate([one, two])
    expected = f"two runs are named 'a': in {one} and {two}; NAME={one} gives one of them another"
    assert str(caught.value) == f"{expected} name"


def test_a_run_and_a_scored_run_of_one_name_are_an_error(write: Write) -> None:
    qrels = write("q", "1 0 d 1\n")
    one, two = write("one", run_text({"1": {"d": 1.0}}, "a")), write("two", "run,1\na,1\n")
    with pytest.raises(UsageError, match="two runs are named 'a'"):
        evaluate([one, two], qrels=qrels, rules=Rules(("AP",)))


def test_a_scored_run_cannot_be_called_like_a_virtual_one(write: Write) -> None:
    with pytest.raises(UsageError, match="a run cannot be named '@mean'"):
        evaluate([write("x", "run,1\n@mean,1\n")])


def test_the_settings_travel_with_json_and_parquet(write: Write) -> None:
    files = [write("a", run_text({"1": {"d": 1.0}}, "a"))]
    found = evaluate(files, qrels=write("q", "1 0 d 1\n"), rules=Rules(("AP",), topics="judged"))
    about = json.loads(write_matrices(found, "json", long=False))
    table = parquet.read_table(pa.BufferReader(write_matrices(found, "parquet", long=False)))
    stored = json.loads(table.schema.metadata[b"riskeval"])
    for place in (about, stored):
        assert place["settings"]["topics"] == "judged"
        assert [entry["kind"] for entry in place["inputs"]] == ["run", "qrels"]
    assert stored["measure"] == "AP"


@pytest.mark.parametrize("header", ["system,topic,score", "run,1", "run,topic,measure,score"])
def test_numbers_of_rows_in_front_are_left_out(write: Write, header: str) -> None:
    """R (write.csv) and pandas (to_csv) write them below an empty heading."""
    cells = "x,1,0.5" if header.startswith("system") else "x,0.5"
    cells = "x,1,score,0.5" if "measure" in header else cells
    path = write("x.csv", f'"",{header}\n"1",{cells}\n')
    (matrix,) = evaluate(path).matrices
    assert (matrix.runs, matrix.topics, matrix.values.tolist()) == (("x",), ("1",), [[0.5]])


# What riskeval wrote and somebody changed


def kept(folder: Path, format: str, long: bool) -> Path:
    """A file that `riskeval matrix` would write."""
    scores = matrix_of(("a", "b"), ("1", "2", "wt-51"))
    path = folder / f"kept.{format}"
    provenance = Provenance({"max_grade": 4, "topics": "relevant"})
    path.write_bytes(write_matrices(Evaluation((scores,), provenance=provenance), format, long))
    return path


@shapes
def test_a_score_that_was_edited_is_refused_everywhere(tmp_path: Path, long: bool) -> None:
    path = kept(tmp_path, "json", long)
    document = json.loads(path.read_text())
    if long:
        document["rows"][1]["score"] *= 0.3
    else:
        document["rows"][0]["scores"]["2"] *= 0.3
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"altered: .*does not fit the hash.*riskeval matrix"):
        evaluate(path)
    assert list(validate([path]).codes()) == ["altered"]


@shapes
@pytest.mark.parametrize("change", ["score", "topic", "run", "null", "measure", "settings", "row"])
def test_a_table_that_was_edited_is_refused(tmp_path: Path, long: bool, change: str) -> None:
    """With its metadata as they were, which is what a damaged footer can amount to."""
    path = kept(tmp_path, "parquet", long)
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"riskeval"])
    columns = table.to_pydict()
    last = list(columns)[-1]
    if change in ("score", "null"):
        columns[last][0] = None if change == "null" else columns[last][0] / 2
    elif change == "run":
        columns["run"] = [f"{run}2" for run in columns["run"]]
    elif change == "row":
        columns = {name: values[:-1] for name, values in columns.items()}
    elif change == "topic" and long:
        columns["topic"][0] = "7"
    elif change == "topic":
        columns["wt-52"] = columns.pop("wt-51")
    elif change == "measure" and long:
        columns["measure"] = ["AP"] * len(columns["run"])
    else:
        about["settings" if change == "settings" else "measure"] = {"max_grade": 5}
    metadata = {b"riskeval": json.dumps(about).encode()}
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    with pytest.raises(InputError, match="altered"):
        evaluate(path)


@shapes
def test_the_same_content_in_another_spelling_is_read(tmp_path: Path, long: bool) -> None:
    path = kept(tmp_path, "json", long)
    right = evaluate(path)
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=9))
    again = evaluate(path)
    path = kept(tmp_path, "parquet", long)
    table = parquet.read_table(path).cast(
        pa.schema([
            pa.field(each.name, pa.large_string() if each.type == pa.string() else each.type)
            for each in parquet.read_schema(path)
        ], metadata=parquet.read_schema(path).metadata)
    )  # fmt: skip
    parquet.write_table(table, path, row_group_size=1, compression="gzip", use_dictionary=False)
    for found in (again, evaluate(path)):
        assert found["ERR@20"].values.tobytes() == right["ERR@20"].values.tobytes()
        assert found.settings == right.settings and type(found.settings["max_grade"]) is int


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("format", ["json", "parquet"])
def test_what_riskeval_wrote_without_a_hash_is_refused_with_the_cure(
    tmp_path: Path, format: str, long: bool
) -> None:
    path = kept(tmp_path, format, long)
    if format == "json":
        document = json.loads(path.read_text())
        del document["content_sha256"]
        path.write_text(json.dumps(document))
    else:
        table = parquet.read_table(path)
        about = json.loads(table.schema.metadata[b"riskeval"])
        del about["content_sha256"]
        metadata = {b"riskeval": json.dumps(about).encode()}
        parquet.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(InputError, match=r"carries no hash.*write it anew with `riskeval matrix`"):
        evaluate(path)


def test_who_means_to_edit_keeps_the_rows_alone(tmp_path: Path) -> None:
    path = kept(tmp_path, "json", long=False)
    document = json.loads(path.read_text())
    document["rows"][0]["scores"]["2"] = 0.25
    path.write_text(json.dumps({"rows": document["rows"]}))
    assert evaluate(path)["ERR@20"].values[0, 1] == 0.25


def test_files_of_others_have_no_hash(write: Write, tmp_path: Path) -> None:
    path = write("x.json", '{"rows": [{"run": "a", "measure": "AP", "scores": {"1": 1}}]}')
    assert evaluate(path)["AP"].values.tolist() == [[1.0]]
    path = write(
        "y.json", '{"rows": [{"run": "riskeval", "measure": "AP", "topic": 1, "score": 1}]}'
    )
    assert evaluate(path)["AP"].topics == ("1",)
    parquet.write_table(pa.table({"run": ["a"], "1": [0.5]}), tmp_path / "z.parquet")
    assert evaluate(tmp_path / "z.parquet")["score"].values.tolist() == [[0.5]]


@pytest.mark.parametrize("kind", ["scores", "run", "qrels", "features"])
def test_checksums_of_pages_are_verified_in_files_of_others_too(tmp_path: Path, kind: str) -> None:
    """A byte among the values, which nothing but the page's checksum can tell."""
    values = [0.1 + 0.7 * place for place in range(50)]
    tables: dict[str, dict[str, list[Any]]] = {
        "scores": {"run": [f"r{n}" for n in range(50)], "1": values, "2": values},
        "run": {"qid": ["1"] * 50, "docid": [f"d{n}" for n in range(50)], "score": values},
        "qrels": {"qid": ["1"] * 50, "docid": [f"d{n}" for n in range(50)], "grade": [*range(50)]},
        "features": {"qid": ["1"] * 50, "label": [1] * 50, "f1": values},
    }
    columns = tables[kind]
    path = tmp_path / "x.parquet"
    readers: dict[str, Callable[[Path], object]] = {
        "scores": evaluate,
        "run": read_run,
        "qrels": read_qrels,
        "features": read_features,
    }
    read = readers[kind]
    for checked in (False, True):
        parquet.write_table(
            pa.table(columns), path, compression="none", use_dictionary=False,
            write_page_checksum=checked,
        )  # fmt: skip
        read(path)
        data = path.read_bytes()
        spot = np.array([*columns.values()][-1][20:21]).tobytes()
        assert data.count(spot) >= 1
        path.write_bytes(data.replace(spot, bytes([spot[0] ^ 4]) + spot[1:], 1))
        if checked:
            with pytest.raises(InputError):
                read(path)
        else:
            read(path)
