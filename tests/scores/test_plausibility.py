"""Tables whose columns are no topics, and scores that are none: refused, or told with the cure."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import riskcli
from riskcli import InputError, Rules, ScoreMatrix, UsageError, evaluate
from riskcli.analyses.validate import validate
from riskcli.scores.plausibility import doubts_on
from tests.conftest import Write
from tests.helpers.inprocess import riskeval
from tests.helpers.program import Key


def refused(path: Path) -> str:
    """What is said of a file that every command refuses, with its code."""
    rows = validate([path]).result().rows
    ran = riskeval("score", path)
    assert (ran.code, riskeval("matrix", path).code) == (2, 2)
    code = next(row[3] for row in rows if row[2] == "error")
    assert code in ran.err
    return ran.err


@pytest.mark.parametrize("name", ["mean", "all", "ALL", "amean", "Average", "map", "ndcg_at_10"])
@pytest.mark.parametrize("form", ["wide", "long", "json", "parquet"])
def test_a_summary_among_topics_is_refused(write: Write, name: str, form: str) -> None:
    cells = [("a", "1", 0.5), ("a", name, 0.4), ("b", "1", 0.1), ("b", name, 0.3)]
    if form == "wide":
        text: str | bytes = f"run,1,{name}\na,.5,.4\nb,.1,.3\n"
    elif form == "long":
        text = "run,topic,score\n" + "".join(f"{r},{t},{s}\n" for r, t, s in cells)
    elif form == "json":
        rows = [{"run": r, "topic": t, "measure": "AP", "score": s} for r, t, s in cells]
        text = json.dumps({"rows": rows})
    else:
        text = packed({"run": ["a", "b"], "1": [0.5, 0.1], name: [0.4, 0.3]})
    said = refused(write("x", text))
    assert f"measures or summaries, not topics: {name} (leave out the columns or rows)" in said
    with pytest.raises(UsageError, match=f"not topics: {name}"):
        ScoreMatrix.from_frame(pd.DataFrame([[0.5, 0.4]], ["a"], ["1", name]))
    with pytest.raises(UsageError, match=f"not topics: {name}"):
        riskcli.risk_table(pd.DataFrame(cells, columns=["run", "topic", "score"]))


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_topic_of_the_judgements_may_be_called_so_in_what_riskeval_kept(
    write: Write, suffix: str
) -> None:
    """Judgements have it; a file without their hash might hold a summary."""
    qrels = write("qrels", "all 0 d1 1\n7 0 d1 1\n")
    run = write("a.run", "all Q0 d1 1 2 a\n7 Q0 d1 1 2 a\n")
    kept = run.with_name(f"kept.{suffix}")
    assert riskeval("matrix", run, "-q", qrels, "-m", "AP", "-o", kept).code == 0
    read = riskeval("matrix", kept, "-f", "csv")
    assert (read.code, read.out) == (0, "run,7,all\na,1.0,1.0\n")
    assert not validate([kept]).result().rows


def packed(columns: dict[str, Any], index: bool = False) -> bytes:
    """A table as pandas would write it."""
    buffer = io.BytesIO()
    table = pa.table(columns)
    if index:
        table = table.append_column("__index_level_0__", pa.array([0, 2]))
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def test_a_table_of_means_is_refused_for_what_it_is(write: Write) -> None:
    said = refused(write("x.csv", "system,map,ndcg_cut_10,P_10\na,.1,.2,.3\nb,.2,.3,.4\n"))
    assert "a table of means: riskeval needs a score for each topic" in said


@pytest.mark.parametrize("topics", [("P_1", "P_2", "P_3"), ("G", "H"), ("q_10", "q_20"), ("t1",)])
def test_topics_that_have_a_letter_and_a_number_are_topics(topics: tuple[str, ...]) -> None:
    matrix = ScoreMatrix("AP", ("a",), topics, np.full((1, len(topics)), 0.5))
    assert list(doubts_on([matrix])) == []


FAMILIES = ["AP_{}", "RR_{}", "map_{}", "ERR_{}", "Success_{}", "P_{}", "recall{}"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("numbers", [range(1, 9), (404, 10), (10, 11)])
def test_names_that_count_are_topics_and_are_read_again(
    write: Write, family: str, numbers: tuple[int, ...]
) -> None:
    topics = [family.format(number) for number in numbers]
    text = f"run,{','.join(topics)}\na{',.5' * len(topics)}\nb{',.25' * len(topics)}\n"
    for form in ("csv", "tsv"):
        ran = riskeval("matrix", write("x.csv", text), "-m", "AP", "-f", form)
        assert (ran.code, riskeval("matrix", write("y", ran.out), "-m", "AP").code) == (0, 0)


@pytest.mark.parametrize("topics", [("R_1", "R_5"), ("RR_10",), ("AP_5", "AP_10")])
def test_a_family_that_trec_eval_does_not_have_is_of_topics(topics: tuple[str, ...]) -> None:
    matrix = ScoreMatrix("AP", ("a",), topics, np.full((1, len(topics)), 0.5))
    assert list(doubts_on([matrix])) == []


@pytest.mark.parametrize(
    "header",
    ["recall,mrr10,dcg", "precision,recall,f1", "MAP (mean),x", "nDCG10,P10,R1000", "1,Avg.",
     "1,TOTAL", "1,std", "1,max", "1,min", "1,count", "1,geomean"],
)  # fmt: skip
def test_what_a_table_of_means_calls_its_columns_is_no_topic(write: Write, header: str) -> None:
    cells = ",.5" * (header.count(",") + 1)
    said = refused(write("x.csv", f"run,{header}\na{cells}\nb{cells}\n"))
    assert "measures or summaries, not topics" in said


@pytest.mark.parametrize("name", ["mean", "all", "std", "Average", "Avg."])
def test_a_run_that_is_called_like_a_summary_is_told(write: Write, name: str) -> None:
    path = write("x.csv", f"run,1,2\na,.5,.4\n{name},.1,.3\n")
    ran = riskeval("matrix", path)
    assert (ran.code, f"count as runs: x.csv ({name})" in ran.err) == (0, True)
    assert [row[3] for row in validate([path]).result().rows] == ["summary-run"]


def test_an_index_of_pandas_is_no_topic(write: Write) -> None:
    filtered = {"run": ["a", "b"], "1": [0.1, 0.2], "2": [0.3, 0.4]}
    assert "to_parquet(index=False)" in refused(write("x", packed(filtered, index=True)))
    long = {"run": ["a", "b"], "topic": ["1", "1"], "measure": ["AP"] * 2, "score": [0.1, 0.2]}
    assert "to_parquet(index=False)" in refused(write("y", packed(long, index=True)))
    for text in (
        "run,1,Unnamed: 0\na,.1,0\nb,.2,1\n",
        "Unnamed: 0,run,1\n0,a,.1\n1,b,.2\n",
    ):
        assert "index=False" in refused(write("z", text))
    with pytest.raises(UsageError, match="index"):
        ScoreMatrix.from_frame(pd.DataFrame([[0.5, 1]], ["a"], ["1", "Unnamed: 0"]))


def test_row_numbers_beside_the_runs_are_passed_over(write: Write) -> None:
    found = evaluate([write("x", ",run,1\n0,a,.1\n7,b,.2\n")])
    assert found.matrices[0].topics == ("1",)


ODD = [b"a", 10.5, pd.Timestamp("2020-01-01"), ["a"]]


@pytest.mark.parametrize("odd", ODD, ids=["bytes", "float", "date", "list"])
@pytest.mark.parametrize("column", ["q_id", "doc_id"])
def test_names_that_are_neither_text_nor_whole_numbers_are_refused(
    write: Write, odd: object, column: str
) -> None:
    columns: dict[str, list[object]] = {"q_id": ["1"], "doc_id": ["a"], "score": [1.0]}
    columns[column] = [odd]
    run, qrels = write("r.parquet", packed(columns)), write("q", "1 0 a 1\n")
    ran = riskeval("score", run, "-q", qrels)
    assert (ran.code, "odd-name" in ran.err, f"column '{column}' is" in ran.err) == (2, True, True)
    assert "odd-name" in [row[3] for row in validate([run], qrels=qrels).result().rows]
    grades: dict[str, list[object]] = {"q_id": ["1"], "doc_id": ["a"], "score": [1]}
    grades[column] = [odd]
    with pytest.raises(InputError, match="odd-name"):
        riskcli.read_qrels(write("q.parquet", packed(grades)))


def test_whole_numbers_and_coded_texts_are_names(write: Write) -> None:
    columns = {
        "q_id": pa.array([1, 1]), "doc_id": pa.array(["a", "b"]).dictionary_encode(),
        "score": pa.array([2.0, 1.0]), "__index_level_0__": pa.array([5, 7]),
    }  # fmt: skip
    run, qrels = write("r", packed(columns)), write("q", "1 0 a 1\n1 0 b 0\n")
    (matrix,) = evaluate([run], qrels=qrels, rules=Rules(("AP",))).matrices
    assert (matrix.topics, matrix.values.tolist()) == (("1",), [[1.0]])


@pytest.mark.parametrize("odd", [b"1", 1.0, float("nan"), pd.Timestamp("2020-01-01"), True, None])
def test_names_in_memory_are_texts_or_whole_numbers(odd: object) -> None:
    with pytest.raises(UsageError, match="expected text or a whole number"):
        ScoreMatrix.from_frame(pd.DataFrame([[0.5]], ["a"], pd.Index([odd], dtype=object)))
    frame = pd.DataFrame({"run": ["a"], "topic": [odd], "score": [0.5]}, dtype=object)
    with pytest.raises(UsageError, match="expected text or a whole number"):
        riskcli.risk_table(frame)
    with pytest.raises(UsageError, match="expected text or a whole number"):
        riskcli.score_runs({"a": {odd: {"d": 1.0}}}, {"1": {"d": 1}}, ["AP"])  # type: ignore[dict-item]


def with_mean(scores: np.ndarray[Any, Any], decimals: int) -> ScoreMatrix:
    values = np.column_stack([scores, np.round(scores.mean(axis=1), decimals)])
    runs = tuple(f"r{row}" for row in range(len(values)))
    return ScoreMatrix("AP", runs, tuple(f"t{c}" for c in range(values.shape[1])), values)


@pytest.mark.parametrize(("runs", "decimals"), [(3, 4), (40, 4), (1, 6), (2, 16)])
def test_a_topic_that_is_the_mean_of_the_others_is_told(runs: int, decimals: int) -> None:
    scores = np.random.default_rng(runs).random((runs, 20)).round(4)
    doubts = list(doubts_on([with_mean(scores, decimals)]))
    assert [(doubt.code, doubt.detail) for doubt in doubts] == [("mean-topic", "t20")]


def test_a_mean_of_percent_is_told_at_the_scale_of_percent() -> None:
    scores = np.random.default_rng(5).integers(0, 10_000, (1, 19)) / 100
    doubts = doubts_on([with_mean(scores, 4)])
    assert [doubt.code for doubt in doubts] == ["mean-topic", "above-one"]


@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([3, 10, 50]))
def test_scores_by_chance_are_not_taken_for_means(seed: int, runs: int, topics: int) -> None:
    generator = np.random.default_rng(seed)
    names = tuple(map(str, range(topics))), tuple(f"r{row}" for row in range(runs))
    for values in (
        generator.random((runs, topics)).round(4),
        generator.integers(0, 11, (runs, topics)) / 10,
        generator.random((runs, topics)) * 1e-6,
        np.zeros((runs, topics)),
        np.full((runs, topics), 0.3),
        np.where(generator.random((runs, topics)) < 0.3, np.nan, 0.25),
    ):
        assert list(doubts_on([ScoreMatrix("AP", names[1], names[0], values)])) == []


PERCENT = "run,1,2,3\na,50,57,30.4\nb,20,30,40\n"


def test_percent_is_told_and_refused_where_runs_are_ranked_by_georisk(write: Write) -> None:
    percent = write("p.csv", PERCENT)
    said = riskeval("matrix", percent, "-m", "AP")
    assert said.code == 0
    assert "scores above 1, as of percent; --scale 0.01" in said.err
    assert "p.csv (AP up to 57)" in said.err
    for command in (["score"], ["sweep"], ["explain", "--run", "a"], ["population", "freeze"]):
        ran = riskeval(*command, percent, "-m", "AP")
        assert (ran.code, "--scale 0.01" in ran.err) == (2, True), (command, ran.err)
    assert [row[3] for row in validate([percent]).result().rows] == ["above-one"]
    with pytest.raises(UsageError, match="up to 57, as of percent"):
        riskcli.risk_table(pd.DataFrame([[50.0, 57.0]], ["a"], ["1", "2"]))


def test_a_measure_without_an_upper_bound_may_be_above_1(write: Write) -> None:
    path = write("p.csv", PERCENT)
    for measure in ("num_rel_ret", "DCG"):
        ran = riskeval("score", path, "-m", measure)
        assert (ran.code, "above-one" in ran.err, "percent" in ran.err) == (0, False, False)


@pytest.mark.parametrize("measure", ["nERR_IA@20", "alpha_nDCG@20", "nNRBP"])
def test_a_ranking_may_be_better_than_the_best_that_is_found_but_not_by_much(
    write: Write, measure: str
) -> None:
    """No ranking gains over e/(e - 1) = 1.582 times as much as one that always takes the best."""
    for score, code in (("1.5", 0), ("1.581", 0), ("1.583", 2)):
        ran = riskeval("score", write("s.csv", f"run,1,2\na,{score},.5\nb,.2,.3\n"), "-m", measure)
        assert (ran.code, f"up to {score}" in ran.err) == (code, code == 2), ran.err


def test_scale_makes_fractions_of_files_of_scores_alone(write: Write) -> None:
    path, fractions = (
        write("p.csv", PERCENT),
        write("f.csv", "run,1,2,3\na,.5,.57,.304\nb,.2,.3,.4\n"),
    )
    scaled = riskeval("score", path, "-m", "AP", "--scale", "0.01", "-f", "json")
    plain = riskeval("score", fractions, "-m", "AP", "-f", "json")
    assert (scaled.code, plain.code) == (0, 0)
    by_scale, without = json.loads(scaled.out), json.loads(plain.out)
    assert by_scale["rows"] == without["rows"]
    assert by_scale["settings"]["scale"] == 0.01
    assert "scale" not in without["settings"]
    run, qrels = write("r.run", "1 Q0 a 1 2 t\n"), write("q", "1 0 a 1\n")
    both = evaluate([run], qrels=qrels, rules=Rules(("AP",), scale=0.01))
    assert both.matrices[0].values.tolist() == [[1.0]]
    assert "scale" not in both.settings
    assert ["there is none" in note.message for note in both.notes if note.warning].count(True) == 1


def test_a_scale_that_a_file_states_was_applied(write: Write) -> None:
    path, other = write("p.csv", PERCENT), write("o.csv", PERCENT.replace("a,", "c,"))
    kept, again = path.with_name("kept.json"), path.with_name("again.json")
    call = ("-m", "AP", "--scale", "0.01", "--quiet")
    assert riskeval("matrix", path, *call, "-o", kept).code == 0
    assert riskeval("matrix", kept, "-o", again).code == 0  # it goes on to say so
    for file in (kept, again):
        by_runs = json.loads(riskeval("score", path, *call, "-f", "json").out)["rows"]
        assert json.loads(riskeval("score", file, *call, "-f", "json").out)["rows"] == by_runs
    ran = riskeval("matrix", kept, other, "-m", "AP", "--scale", "0.1")
    assert ran.code == 2 and "multiplied by 0.01 before, --scale asks for 0.1" in ran.err


@pytest.mark.parametrize("scale", ["0", "-1", "nan", "inf", "x"])
def test_a_scale_is_a_number_above_0(write: Write, scale: str) -> None:
    assert riskeval("matrix", write("p.csv", PERCENT), "--scale", scale).code == 2


@pytest.mark.parametrize(
    "text",
    [
        "1 a 1\n1 b 5\n1 c 3\n2 a 4\n2 b 2\n",
        "1\ta\t1\n1\tb\t3\n",
        "7 0 1\n7 1 3\n8 0 2\n8 1 1\n",
        "7 0 1\n7 1 2\n8 0 2\n8 1 1\n",
    ],
)
def test_three_columns_that_may_be_scores_are_ambiguous(write: Write, text: str) -> None:
    path, qrels = write("x", text), write("q", "1 0 a 1\n1 0 b 0\n2 0 b 1\n7 0 0 1\n8 0 0 1\n")
    ran = riskeval("score", path, "-q", qrels)
    assert (ran.code, "ambiguous-format" in ran.err) == (2, True)
    assert "input-format in riskeval.toml (msmarco, ranklib)" in ran.err
    assert "ambiguous-format" in [row[3] for row in validate([path]).result().rows]
    ran = riskeval("matrix", path, "-q", qrels, Key("input-format", "msmarco"), "-m", "RR")
    assert ran.code == 0


def test_ranks_without_gaps_are_ranks_in_any_order(write: Write) -> None:
    path = write("x", "1 a 1\n2 b 2\n1 c 3\n2 a 1\n1 b 2\n")
    found = evaluate([path], qrels=write("q", "1 0 b 1\n1 0 a 0\n2 0 b 1\n"), rules=Rules(("RR",)))
    assert found.matrices[0].values.tolist() == [[0.5, 0.5]]
