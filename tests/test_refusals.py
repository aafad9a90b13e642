"""What nobody types on purpose: files and calls that are wrong in rare ways, one line for each."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import riskcli
from riskcli import InputError, ScoreMatrix, UsageError, read_qrels
from riskcli.learn.feature_files import read_features
from riskcli.learn.folds import find_folds
from riskcli.output.display import PlainRows
from riskcli.output.result import Result
from riskcli.risk.paired import power, smallest_loss, topics_needed
from tests.conftest import Write
from tests.helpers.inprocess import run_inside
from tests.helpers.program import Key

# Answers of engines, ratings, and scores of lines

ANSWERS = {
    "a list": ("[1]", "bad-json"),
    "cut": ('{"responses": [{', "bad-json"),
    "cut, rank_eval": ('{"metric_score": 1, "details": {', "bad-json"),
    "no details": ('{"metric_score": 1, "details": 3}', 'expected an object under "details"'),
    "no object": ('{"responses": [7]}', "response 1: expected an object"),
    "a score of text": (
        '{"responses": [{"hits": {"hits": [{"_id": "a", "_score": "x"}]}}]}',
        "bad-score",
    ),
}


@pytest.mark.parametrize(("text", "said"), ANSWERS.values(), ids=ANSWERS)
def test_answers(here: Path, write: Write, text: str, said: str) -> None:
    write("q", "1 0 a 1\n")
    write("x", text)
    ran = run_inside("matrix", "x", "-q", "q", "-m", "AP")
    assert (ran.code, ran.out, ran.err.count("riskeval: x:")) == (2, "", 1), ran.err
    assert said in ran.err or text == "[1]"


RATINGS = {
    "cut": ('{"requests": [{"id": "1", "ratings": [', "bad-json"),
    "no id": ('{"requests": [{"ratings": [{"_id": "a", "rating": 1}]}]}', 'request 1 has no "id"'),
    "no document": (
        '{"requests": [{"id": "1", "ratings": [{"rating": 1}]}]}',
        'topic 1: a rating has no "_id"',
    ),
}


@pytest.mark.parametrize(("text", "said"), RATINGS.values(), ids=RATINGS)
def test_ratings(write: Write, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_qrels(write("q", text))


JUDGED_LINES = {
    "a grade alone": (b"1\n", "column-count"),
    "no query": (b"1 1:0.5\n", "qid:<query> behind the grade"),
    "not UTF-8": (b"1 qid:\xff 1:0.5\n", "encoding"),
}


@pytest.mark.parametrize(("line", "said"), JUDGED_LINES.values(), ids=JUDGED_LINES)
def test_judgements_of_features(write: Write, line: bytes, said: str) -> None:
    with pytest.raises(InputError, match=rf"q:2: .*{said}"):
        read_qrels(write("q", b"1 qid:7 1:0.5\n" + line))


# Features and folds

TABLES = {
    "not UTF-8": (b"qid,label,a\n1,1,\xff\n", "encoding"),
    "a field without end": (b'qid,label,a\n1,1,"' + b"x" * 200_000 + b'"\n', "column-count"),
    "nothing below the head": (b"qid,label,a\n", "empty-file"),
    "blank lines alone": (b"qid,label,a\n\n\n", "empty-file"),
}


@pytest.mark.parametrize(("text", "said"), TABLES.values(), ids=TABLES)
def test_features_in_csv(write: Write, text: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_features(write("f.csv", text))


def as_parquet(**columns: Sequence[object]) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table({name: list(cells) for name, cells in columns.items()}), stream)
    return stream.getvalue()


COLUMNS = {
    "cut": (as_parquet(qid=["1"], label=[1], a=[0.5])[:-9], "bad-parquet"),
    "no row": (as_parquet(qid=[], label=[], a=[]), "empty-file"),
    "text": (as_parquet(qid=["1"], label=[1], a=["x"]), "a is not numeric"),
    "infinite": (as_parquet(qid=["1"], label=[1], a=[np.inf]), "a feature is infinite"),
    "no query": (as_parquet(qid=["1", None], label=[1, 0], a=[1, 2]), "qid is empty somewhere"),
}


@pytest.mark.parametrize(("data", "said"), COLUMNS.values(), ids=COLUMNS)
def test_features_in_parquet(write: Write, data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_features(write("f.parquet", data))


def test_folds(write: Write, tmp_path: Path) -> None:
    lines = "1 qid:1 1:0.5 2:1\n0 qid:1 1:0.2 2:0\n1 qid:2 1:0.1 2:3\n"
    one, other = write("a.txt", lines), write("b.csv", "qid,label,x,y\n1,1,0.5,1\n")
    with pytest.raises(UsageError, match="give one file of training data"):
        find_folds([one, other], None, None, None, 1)
    with pytest.raises(UsageError, match="leave out --valid and --test"):
        find_folds([one], other, None, 2, 1)
    (load,) = find_folds([one], one, other, None, 1)
    with pytest.raises(UsageError, match="differ in feature"):
        load()
    write("Fold/train.txt", lines)
    with pytest.raises(UsageError, match=r"expected one file called vali.*, found none"):
        find_folds([tmp_path / "Fold"], None, None, None, 1)


# A model and what stands beside it


def test_models(here: Path, write: Write) -> None:
    pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")
    rng = np.random.default_rng(1)
    cells = rng.random((40, 2)).round(3).tolist()
    lines = [f"{n % 3} qid:{n // 4} 1:{a} 2:{b}\n" for n, (a, b) in enumerate(cells)]
    write("d.txt", "".join(lines))
    made = run_inside(
        "train", "d.txt", "--folds", "3", "-b", "feature:1", "--trees", "2", "-o", "out",
        "--param", "min_data_in_leaf=1", "--param", "num_threads=1",
    )  # fmt: skip
    assert made.code == 0, made.err
    model = Path("out/models/plain-fold1.txt")
    whole = run_inside("rank", model, "d.txt")
    assert whole.code == 0 and len(whole.out.splitlines()) == 40
    model.with_suffix(".json").rename("kept.json")
    assert run_inside("rank", model, "d.txt").out == whole.out  # as one trained elsewhere
    for spoilt in ("[", "[]", "{}", '{"features": 3}', '{"features": [], "start_weight": "x"}'):
        write(str(model.with_suffix(".json")), spoilt)
        ran = run_inside("rank", model, "d.txt")
        assert (ran.code, ran.out) == (2, "")
        assert "bad-model: not what riskeval train writes beside a model" in ran.err
    model.with_suffix(".json").unlink()
    write("wide.txt", "1 qid:1 1:0.5 2:1 3:7\n")
    ran = run_inside("rank", model, "wide.txt")
    assert ran.code == 2 and "wide.txt has 3 features, the model expects 2" in ran.err
    again = run_inside("train", "d.txt", "--folds", "3", "-b", "feature:1", "-o", "d.txt")
    assert again.code == 2 and "d.txt is a file, expected a folder to write" in again.err


# Analyses

SCORES = "run,1,2,3,4\na,0.1,0.5,0.4,0.2\nb,0.3,0.3,0.2,0.9\nc,0.2,0.1,0.6,0.3\n"


def test_differences_to_a_baseline_for_people(here: Path, write: Write) -> None:
    write("m.csv", SCORES)
    call = ("significance", "m.csv", "-b", "a", "--of", "mean")
    rows = [dict(zip(*pair, strict=True)) for pair in _pairs(run_inside(*call, "-f", "tsv").out)]
    shown = run_inside(*call, "-f", "table")
    assert shown.code == 0 and "95 % confidence intervals, one per difference." in shown.out
    for row in rows:
        (line,) = (line for line in shown.out.splitlines() if line.strip().startswith(row["run"]))
        for name in ("diff", "diff_lo", "diff_hi"):
            assert f"{float(row[name]):.4f}" in line.replace("−", "-"), (name, line)


def _pairs(text: str) -> list[tuple[list[str], list[str]]]:
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [(head, row) for row in rows]


def test_two_topics_have_no_ranks_and_no_test(here: Path, write: Write) -> None:
    write("m.csv", "run,1,2\na,0.1,0.5\nb,0.3,0.3\n")
    for call in (
        ("-b", "a"),
        (),
        (
            "--correction",
            "tukey",
        ),
    ):
        ran = run_inside("significance", "m.csv", *call, "--of", "mean", "-f", "table")
        assert ran.code == 0 and "–" in ran.out
        rows = run_inside("significance", "m.csv", *call, "--of", "mean", "-f", "tsv").out
        assert all(row[head.index("p")] == "" for head, row in _pairs(rows))


def test_scores_below_0(here: Path, write: Write) -> None:
    write("m.csv", SCORES.replace("0.9", "-0.9"))
    for call in (
        ("significance", "m.csv", "--of", "georisk"),
        ("significance", "m.csv", "--of", "georisk", "-b", "a"),
        ("explain", "m.csv", "--run", "b", "--of", "zrisk"),
    ):
        ran = run_inside(*call)
        assert (ran.code, ran.out) == (2, "") and "needs scores of at least 0" in ran.err


def test_a_matrix_and_a_population_for_people(here: Path, write: Write) -> None:
    write("m.csv", SCORES)
    shown = run_inside("matrix", "m.csv", "-f", "table")
    assert shown.code == 0 and "3 runs on 4 topics" in shown.out and "0.9000" in shown.out
    frozen = run_inside("population", "freeze", "m.csv", "-o", "p.json")
    assert frozen.code == 0, frozen.err
    assert len(json.loads(Path("p.json").read_text())) > 3
    table = run_inside("population", "show", "p.json", "-f", "table")
    assert table.code == 0 and "3 runs on 4 topics; grand total 4.1" in table.out


def test_nothing_changes_where_runs_are_equal(here: Path, write: Write) -> None:
    write("m.csv", "run,1,2,3\na,0.1,0.5,0.4\nb,0.1,0.5,0.4\n")
    ran = run_inside("sweep", "m.csv", "-b", "a", "-f", "table", "--convention", "minus")
    assert ran.code == 0 and "Nothing changes." in ran.out and "higher is riskier" in ran.out


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"at": 0}, "a depth is 1 or more"),
        ({"depth": 0}, "a depth is 1 or more"),
        ({"persistence": 1.0}, "the persistence is 1"),
    ],
)
def test_churn(write: Write, call: dict[str, Any], said: str) -> None:
    paths = [write(f"{name}.run", f"1 Q0 a 1 2 {name}\n1 Q0 b 2 1 {name}\n") for name in "xy"]
    evaluation = riskcli.evaluate(paths, qrels=write("q", "1 0 a 1\n"))
    with pytest.raises(UsageError, match=said):
        riskcli.churn_table(evaluation, "x", **call)
    alone = riskcli.evaluate(paths[:1], qrels=write("q", "1 0 a 1\n"))
    with pytest.raises(UsageError, match="no run but the baseline"):
        riskcli.churn_table(alone, "x")


def test_figures_of_the_library() -> None:
    matrix = ScoreMatrix("m", ("a", "b"), ("1", "2", "3"), np.array([[0.1, 0.2, 0.3], [0.2] * 3]))
    table = riskcli.risk_table(matrix, "a")
    with pytest.raises(UsageError, match=r"no figure 'heatmaps'.*heatmap"):
        table.plot("heatmaps")


def test_both_populations_of_a_page(here: Path, write: Write) -> None:
    write("m.csv", SCORES)
    for given in (["-b", "a"], ["-b", "a", "-b", "b"], ["-b", "@mean"]):
        made = run_inside("report", "m.csv", *given, Key("both-populations"), "-o", "p.html")
        assert made.code == 0, made.err
    assert run_inside("population", "freeze", "m.csv", "-o", "p.json").code == 0
    ran = run_inside(
        "report",
        "m.csv",
        "-b",
        "a",
        "--population",
        "p.json",
        Key("both-populations"),
        "-o",
        "p.html",
    )
    assert ran.code == 2 and "not for a population from a file" in ran.err


# Small functions at their edges


def test_power_at_its_edges() -> None:
    assert power(0.1, 0.2, 1, 0.05) == 0  # one topic shows nothing
    assert (power(0.1, 0, 5, 0.05), power(0, 0, 5, 0.05)) == (1, 0.05)  # nor is there any chance
    assert topics_needed(0, 0.1, 0.05) is None and topics_needed(-1, 0.1, 0.05) is None
    assert topics_needed(1e-9, 1.0, 0.05) is None
    assert topics_needed(1.0, 0, 0.05) == 3
    assert smallest_loss(0.1, 1, 0.05) is None and smallest_loss(0, 5, 0.05) == 0


def test_rows_of_a_result_without_a_table() -> None:
    rows = [[f"r{n}", 0.123456, None, ("x", "y"), n] for n in range(23)]
    (shown,) = PlainRows(Result(("run", "mean", "nothing", "teams", "n"), rows)).displays(80)
    assert [column.heading.text for column in shown.columns] == ["run", "mean", "teams", "n"]
    assert [column.cells[0].text for column in shown.columns] == ["r0", "0.1235", "x, y", "0"]
    assert len(shown.columns[0].cells) == 20 and list(shown.caption) == ["3 more rows"]


def test_documents_without_a_name_in_parquet(here: Path, write: Write) -> None:
    run = as_parquet(q_id=["1", "1"], doc_id=["a", None], score=[2.0, 1.0])
    write("q", "1 0 a 1\n")
    write("x", run)
    ran = run_inside("matrix", "x", "-q", "q", "-m", "AP")
    assert ran.code == 2 and "no-name: row 2: a topic or document has no name" in ran.err
    with pytest.raises(InputError, match=r"no-name: row 1: a topic or document has no name"):
        read_qrels(write("j", as_parquet(q_id=[None, "1"], doc_id=["a", "b"], score=[2, 1])))
    write("x", as_parquet(q_id=["1"], doc_id=["a"], score=["much"]))
    ran = run_inside("matrix", "x", "-q", "q", "-m", "AP")
    assert ran.code == 2 and "bad-score" in ran.err


def test_nothing_to_publish(here: Path, write: Write) -> None:
    write("q", "1 0 a 1\n")
    for name in "xy":
        write(f"runs/{name}.run", "1 Q0 a 1 much t\n")
    ran = run_inside("organise", "runs", "-q", "q", "-m", "AP", "-o", "out")
    assert ran.code == 2 and "no run is left: 2 files cannot be taken; the first is" in ran.err
    assert not Path("out").exists()
    write("q", "1 0 a much\n")
    ran = run_inside("organise", "runs", "-q", "q", "-m", "AP", "-o", "out")
    assert ran.code == 2 and "q:1: bad-grade" in ran.err


def test_features_that_a_file_lacks_are_0(write: Write) -> None:
    one = write("a.txt", "1 qid:1 1:0.5 2:1 3:7\n0 qid:1 1:1 2:2 3:3\n")
    (load,) = find_folds([one], write("b.txt", "1 qid:2 1:0.5\n"), one, None, 1)
    assert load().valid.values.tolist() == [[0.5, 0.0, 0.0]]
    narrow = read_features(write("c.csv", "qid,label,x\n1,1,0.5\n"))
    with pytest.raises(UsageError, match="unknown feature 'x'"):
        narrow.widened(["a", "b"])
