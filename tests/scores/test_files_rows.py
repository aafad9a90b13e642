"""Tables of which a row is a topic: what is read, what is told of it, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from riskcli import InputError, evaluate
from riskcli.scores.files.registry import kind_of
from tests.bench.testkit import KIT, PROGRAMS
from tests.conftest import Write
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.trec_text import load

RAGAS = KIT / PROGRAMS / "ragas.csv"
TWO = "qid,faithfulness,answer_relevancy\n1,1.0,0.5\n2,0.5,\n"
BEES = "How do bees find the way home?"


def cells(path: Path, *more: str) -> list[str]:
    return riskeval("matrix", path, *more, "-f", "csv").out.splitlines()


def refused(path: Path, *more: str) -> str:
    ran = run_inside("matrix", path, *more, "-f", "csv")
    assert (ran.code, ran.out) == (2, "")
    return ran.err


def test_what_columns_are_taken_for_is_told() -> None:
    ran = riskeval("matrix", RAGAS, "-f", "csv")
    assert ran.out.splitlines() == [f"run,{BEES},Why is the sky blue?", "ragas.csv,1.0,0.25"]
    assert (
        "note: columns of ragas.csv read: faithfulness as measure, user_input as topic" in ran.err
    )
    assert "warning" not in ran.err


def test_the_measure_is_named_or_asked_for(write: Write) -> None:
    path = write("x.csv", TWO)
    assert "ambiguous-format: which is the measure: faithfulness, answer_relevancy?" in refused(
        path
    )
    assert cells(path, "-m", "faithfulness") == ["run,1,2", "x.csv,1.0,0.5"]
    said = refused(path, "-m", "AP")
    assert "which is the measure: faithfulness, answer_relevancy? name it with --measure" in said
    one = write("y.csv", "qid,faithfulness\n1,1.0\n2,0.5\n")
    assert "no scores by AP in these files; they hold faithfulness" in refused(one, "-m", "AP")


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "null", "None", "failed"])
def test_a_score_that_is_missing_is_never_0(write: Write, missing: str) -> None:
    path = write("x.csv", TWO.replace(",\n", f",{missing}\n"))
    said = refused(path, "-m", "answer_relevancy")
    assert "x.csv:3: no-score: topic 2: answer_relevancy is " in said
    assert "run it again, or leave the topic out of every file" in said
    lines = write("x.jsonl", '{"qid": 1, "s": 0.5}\n\n{"qid": 2, "s": NaN}\n{"qid": 3}\n')
    with pytest.raises(InputError, match="topic 2: s is nan") as caught:
        evaluate([lines])
    assert caught.value.line == 3
    found = json.loads(riskeval("validate", lines, "-f", "json").out)["rows"]
    assert [(row["code"], row["line"]) for row in found] == [("no-score", 3), ("no-score", 4)]


def test_true_and_false_count_1_and_0(write: Write) -> None:
    path = write("x.csv", "question,passed\na,True\nb,false\n")
    ran = riskeval("matrix", path, "-f", "csv")
    assert ran.out.splitlines() == ["run,a,b", "x.csv,1.0,0.0"]
    assert "passed as measure, question as topic, true as 1, false as 0" in ran.err


def test_ids_stay_as_they_are_written(write: Write) -> None:
    path = write("x.csv", "qid,a,b\n007,0.5,2.5\n7,1,-1\n12345678901234567890123,0,1e-3\n")
    assert cells(path) == [
        "run,007,7,12345678901234567890123", "a,0.5,1.0,0.0", "b,2.5,-1.0,0.001",
    ]  # fmt: skip
    path = write("x.json", '[{"qid": 12345678901234567890123, "s": 0.5}, {"qid": "007", "s": 1}]')
    assert cells(path)[0] == "run,007,12345678901234567890123"


def test_columns_of_runs_have_the_measure_that_is_asked_for(write: Write) -> None:
    path = write("x.tsv", "qid\tbm25\tcolbert\n1\t0.5\t0.25\n2\t0.25\t0.75\n")
    ran = riskeval("matrix", path, "-m", "AP", "-f", "csv")
    assert ran.out.splitlines() == ["run,1,2", "bm25,0.5,0.25", "colbert,0.25,0.75"]
    assert "columns of x.tsv read: bm25, colbert as runs, qid as topic" in ran.err
    assert "read as AP: the file does not name its measure" in ran.err


@pytest.mark.parametrize("run", ["run", "run_id", "name", "system", "model"])
def test_a_column_may_name_the_run(write: Write, run: str) -> None:
    path = write("x.csv", f"{run},qid,nDCG@10,latency\na,1,0.5,12\nb,1,0.25,13\n")
    assert cells(path, "-m", "ndcg_cut_10") == ["run,1", "a,0.5", "b,0.25"]


def test_a_topic_twice_is_refused_with_its_line(write: Write) -> None:
    for column in ("qid", "question"):
        path = write("x.csv", f"{column},s\na,0.5\nb,0.5\na,0.5\n")
        assert "x.csv:4: duplicate-score: topic a and measure s occur a second time" in refused(
            path
        )
    path = write("x.csv", "question,s\na,0.5\n,0.5\n")
    assert "x.csv:3: no-name" in refused(path)


def test_every_prompt_of_promptfoo_is_a_run(tmp_path: Path) -> None:
    report = json.loads((KIT / PROGRAMS / "promptfoo.json").read_text())
    for result in report["results"]["results"]:
        result["provider"]["id"], result["prompt"]["label"] = "a", f"p{result['promptIdx']}"
        result["namedScores"] = {"tone": 0.5}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(report))
    assert "which is the measure: tone, score?" in refused(path)
    assert [line.split(",")[0] for line in cells(path, "-m", "score")] == ["run", "a p0", "a p1"]
    assert cells(path, "-m", "tone")[1:] == ["a p0,0.5,0.5", "a p1,0.5,0.5"]


def test_a_gate_takes_them_and_records_them(write: Write) -> None:
    rows = [(f"q{n}", n % 7 / 7) for n in range(40)]
    old, new = (
        write(f"{name}.jsonl", "".join(
            json.dumps({"question": q, "Faithfulness": s + more}) + "\n" for q, s in rows))
        for name, more in (("old", 0.0), ("new", 0.125))
    )  # fmt: skip
    call = (new, "-b", old, "-m", "Faithfulness", "-f", "json", "--require", "mean >= baseline")
    gate = riskeval("check", *call)
    found = json.loads(gate.out)
    assert {Path(each["path"]).name for each in found["inputs"]} == {"old.jsonl", "new.jsonl"}
    assert all(len(each["sha256"]) == 64 for each in found["inputs"])
    rows_of = json.loads(riskeval("score", new, "-b", old, "-f", "json").out)["rows"]
    assert {(row["run"], row["measure"]) for row in rows_of} >= {("new.jsonl", "Faithfulness")}


OTHERS = {
    "queries": "qid,query,words\n1,how do bees find home,5\n2,why is the sky blue,5\n",
    "queries of lines": '{"qid": "1", "query": "bees", "year": 1999}\n',
    "topics alone": "qid,query\n1,bees\n",
    "judgements": "query,docid,rating\n1,a,1\n2,b,0\n",
    "weights": "topic,weight\n1,0.5\n2,1.5\n",
    "labels": "topic,group\n1,easy\n2,hard\n",
    "a log": "time,query,latency\n12,bees,0.5\n13,sky,0.25\n",
    "a run": "qid,docno,rank,score\n1,a,1,2.5\n",
    "wide": "run,topic,query\na,0.5,0.25\n",
    "long": "system,topic,score\na,1,0.25\n",
    "gdeval": "runid,topic,ndcg@20,err@20\na,1,0.5,0.25\n",
    "a run of lines": '{"qid": "1", "docid": "a", "score": 2.5}\n',
    "a run as JSON": '{"evalId": {"a": 2.5}, "testCases": {"a": 1.5}}',
    "measures in lines": '{"query_id": "1", "measure": "AP", "value": 0.5}\n',
    "a matrix": '{"rows": [{"run": "a", "measure": "AP", "scores": {"evalId": 0.5}}]}',
    "four columns of a run": "1 d1 1 2.5\n1 d2 2 1.5\n",
    "qrels": "1 0 all 1\n1 0 b 0\n",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_files_of_other_kinds_are_not_taken(write: Write, kind: str) -> None:
    text = OTHERS[kind].encode()
    assert kind_of(Path("x"), text) not in ("rows", "autojudge", "autojudge-ir")


def test_no_spoilt_file_ends_in_a_traceback(tmp_path: Path) -> None:
    """Bytes are changed and cut at random: each is read, or refused with a code."""
    random.seed(20261120)
    names = ("ragas.csv", "ragas.json", "deepeval.json", "promptfoo.json", "nuggetizer.jsonl",
             "autojudge-tot.txt", "mteb-predictions.json")  # fmt: skip
    for name in names:
        text = load(KIT / PROGRAMS / name)
        for number in range(25):
            spoilt = bytearray(text[: random.randrange(len(text))] if number % 2 else text)
            for more in random.choices((b"", b"{", b"[", b"null", b"\xe9", b"\0"), k=3):
                at = random.randrange(len(spoilt) + 1)
                spoilt[at : at + random.randrange(3)] = more
            path = tmp_path / name
            path.write_bytes(spoilt)
            try:
                evaluate([path], qrels=KIT / "good.qrels")
            except Exception as error:
                assert type(error).__module__.startswith("riskcli"), (bytes(spoilt), error)


@pytest.mark.parametrize("spoilt", ["error", '"0,5"', "50 %", "yes"])
def test_a_column_of_scores_is_not_dropped_for_one_cell(write: Write, spoilt: str) -> None:
    for names in ("user_input,F,G", "qid,bm25,colbert"):
        path = write("x.csv", f"{names}\n1,0.5,0.25\n2,0.25,{spoilt}\n3,0.5,0.5\n")
        name = names.rpartition(",")[2]
        said = refused(path)
        assert f"x.csv:3: no-score: {name} is " in said and "name other columns with --" in said
    path = write("x.csv", f"user_input,F,G\n1,0.5,0.25\n2,0.25,{spoilt}\n3,0.5,0.5\n")
    assert cells(path, "-m", "F") == ["run,1,2,3", "x.csv,0.5,0.25,0.5"]


def test_all_cells_with_a_comma_are_no_texts(write: Write) -> None:
    path = write("x.tsv", "question\tF\tG\na\t0.5\t0,25\nb\t0.25\t0,5\n")
    assert "x.tsv:2: no-score: G is '0,25'" in refused(path)


@pytest.mark.parametrize("name", ["output", "notes"])
def test_a_column_of_texts_is_passed_over(write: Write, name: str) -> None:
    few = "3" if name == "output" else "none of them"
    path = write("x.csv", f"question,F,{name}\n1+1,0.5,2\n1+2,0.25,{few}\n1/0,0.5,cannot be\n")
    assert cells(path) == ["run,1+1,1+2,1/0", "x.csv,0.5,0.25,0.5"]


@pytest.mark.parametrize("column", ["id", "Unnamed: 0"])
def test_a_number_of_rows_is_no_run(write: Write, column: str) -> None:
    path = write("x.csv", f"{column},qid,bm25,colbert\n0,7,0.5,0.25\n1,8,0.25,0.75\n")
    assert cells(path) == ["run,7,8", "bm25,0.5,0.25", "colbert,0.25,0.75"]


def test_a_summary_is_passed_over_and_told(write: Write) -> None:
    ran = riskeval("matrix", write("x.csv", "qid,a\n1,0.5\n2,0.25\nall,0.375\n"), "-f", "csv")
    assert ran.out.splitlines() == ["run,1,2", "x.csv,0.5,0.25"]
    assert "qid as topic, all as a summary of topics, passed over" in ran.err


@pytest.mark.parametrize("results", ["null", "{}", '{"results": []}'])
def test_promptfoo_without_results_is_said_to_be_empty(write: Write, results: str) -> None:
    path = write("x.json", f'{{"evalId": "e", "results": {results}}}')
    assert "x.json: empty-file: no result of a topic in this file" in refused(path)


def test_the_last_run_that_deepeval_keeps_is_read(write: Write) -> None:
    """`.deepeval/.latest_test_run.json` has the report as a member, beside a link."""
    report = json.loads((KIT / PROGRAMS / "deepeval.json").read_text())
    kept = write("x.json", json.dumps({"testRunData": report, "testRunLink": "x"}))
    assert cells(kept) == [f"run,{BEES},Why is the sky blue?", "x.json,0.25,1.0"]


def test_a_topic_twice_has_a_cure(write: Write) -> None:
    text = "question,s\na,0.5\na,0.25\n"
    assert "a second time: a column topic tells apart what was" in refused(write("x.csv", text))
    text = "topic,question,s\n1,a,0.5\n2,a,0.25\n"
    assert cells(write("y.csv", text)) == ["run,1,2", "y.csv,0.5,0.25"]


def test_a_column_of_grades_is_named_where_it_prevents_scores(write: Write) -> None:
    path = write("x.csv", "qid,grade,f1\n1,0,0.5\n2,1,0.5\n")
    for more in ((), ("-m", "f1"), ("-m", "grade")):
        said = refused(path, *more)
        assert "x.csv: other-form: a table of topics with a column grade, as judg" in said
    assert cells(write("y.csv", "qid,note,f1\n1,0,0.5\n2,1,0.5\n"), "-m", "f1")[1:] == [
        "y.csv,0.5,0.5"
    ]
