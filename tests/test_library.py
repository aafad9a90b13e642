"""The library: names, results that show themselves, and scores that are in hand already."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riskcli
from riskcli import Options, Rules, ScoreMatrix, UsageError
from tests.conftest import Write
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, python

NAMES = ("indriCASP", "caspPlus", "partial46")


@pytest.fixture(scope="module")
def evaluation() -> riskcli.Evaluation:
    return riskcli.evaluate([SAMPLES / f"{name}.run" for name in NAMES], qrels=QRELS)


def pyterrier_results(name: str) -> pd.DataFrame:
    """A frame as a PyTerrier transformer gives: qid, docid, docno, rank, score, query."""
    lines = [line.split() for line in (SAMPLES / f"{name}.run").read_text().splitlines()]
    return pd.DataFrame(
        {
            "qid": [line[0] for line in lines],
            "docid": range(len(lines)),
            "docno": [line[2] for line in lines],
            "rank": [int(line[3]) - 1 for line in lines],
            "score": [float(line[4]) for line in lines],
            "query": "what was asked",
        }
    ).sample(frac=1, random_state=3)


def pyterrier_qrels() -> pd.DataFrame:
    lines = [line.split() for line in QRELS.read_text().splitlines()]
    return pd.DataFrame(
        {
            "qid": [line[0] for line in lines],
            "docno": [line[2] for line in lines],
            "label": [int(line[3]) for line in lines],
        }
    )


def test_every_public_name_exists_and_is_listed() -> None:
    assert {"evaluate", "risk_table", "Options", "InputError"} <= set(dir(riskcli))
    for name in dir(riskcli):
        assert getattr(riskcli, name).__doc__, name
    assert riskcli.__version__
    with pytest.raises(AttributeError, match="no attribute 'risktable'"):
        riskcli.risktable  # noqa: B018


def test_importing_any_module_prints_nothing_and_touches_no_global_state() -> None:
    ran = python(
        "import logging, warnings, numpy as np\n"
        "before = (list(logging.root.handlers), np.geterr())\n"
        "import pkgutil, importlib, riskcli\n"
        "for module in pkgutil.walk_packages(riskcli.__path__, 'riskcli.'):\n"
        "    if not module.name.endswith('__main__') and '.plots.' not in module.name:\n"
        "        importlib.import_module(module.name)\n"
        "assert before == (list(logging.root.handlers), np.geterr())\n"
    )
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_modules_named_as_commands_do_not_hide_public_functions() -> None:
    importlib.import_module("riskcli.scores.evaluation")
    assert callable(riskcli.evaluate) and callable(riskcli.compare_pairs)


# ---------------------------------------------------------------- runs and judgements in hand


def test_pyterrier_frames_score_as_the_files_do(evaluation: riskcli.Evaluation) -> None:
    runs = {name: pyterrier_results(name) for name in NAMES}
    found = riskcli.score_runs(runs, pyterrier_qrels())
    for mine, expected in zip(found.matrices, evaluation.matrices, strict=True):
        assert mine.measure == expected.measure and mine.runs == expected.runs
        assert mine.topics == expected.topics
        assert (mine.values == expected.values).all()
    assert [note.code for note in found.notes] == ["unanswered-topics"]


def test_runs_read_from_files_score_too(evaluation: riskcli.Evaluation) -> None:
    runs = {name: riskcli.read_run(SAMPLES / f"{name}.run") for name in NAMES}
    found = riskcli.score_runs(runs, riskcli.read_qrels(QRELS), ["ERR@20"])
    assert (found.matrices[0].values == evaluation.matrices[0].values).all()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"qid": ["1"], "score": [1.0]}), "no column docno"),
        (pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "a"], "score": [1, 2]}), "twice"),
        (pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [np.nan]}), "the score is nan"),
        (pd.DataFrame({"qid": [], "docno": [], "score": []}), "no document"),
    ],
)
def test_frames_that_are_no_runs_are_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        riskcli.run_from_frame(frame, "x")


# ---------------------------------------------------------------- scores in hand


def test_frames_take_the_topics_that_the_rules_ask_for() -> None:
    """Topic 2 is judged and has nothing relevant; topic 3 one run alone answers."""
    qrels = {"1": {"a": 1}, "2": {"a": 0}, "3": {"a": 1}}
    runs = {"x": {"1": {"a": 2.0}, "3": {"a": 1.0}}, "y": {"1": {"a": 2.0}}}
    for rule, topics in (("relevant", "13"), ("judged", "123"), ("common", "1")):
        found = riskcli.score_runs(runs, qrels, ["P@1"], rules=Rules(topics=rule))  # type: ignore[arg-type]
        assert found.matrices[0].topics == tuple(topics)


def test_pyterrier_experiment_per_query(evaluation: riskcli.Evaluation) -> None:
    """pt.Experiment(..., perquery=True) gives name, qid, measure, value."""
    rows = [
        (run, topic, {"ERR@20": "ERR@20", "nDCG@20": "ndcg_cut_20"}[matrix.measure], value)
        for matrix in evaluation.matrices
        for run, scores in zip(matrix.runs, matrix.values, strict=True)
        for topic, value in zip(matrix.topics, scores, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    found = riskcli.scores_from_frame(frame.sample(frac=1, random_state=1))
    by_measure = {matrix.measure: matrix for matrix in found.matrices}
    for expected in evaluation.matrices:
        mine = by_measure[expected.measure]
        assert mine.runs == expected.runs and mine.topics == expected.topics
        assert (mine.values == expected.values).all()


def test_a_score_twice_or_not_finite_is_refused_and_a_missing_one_counts_0() -> None:
    frame = pd.DataFrame({"run": ["a", "a", "b"], "topic": ["1", "2", "1"], "score": [1, 0.5, 0.2]})
    found = riskcli.scores_from_frame(frame, "P@5")
    assert found.matrices[0].values.tolist() == [[1, 0.5], [0.2, 0]]
    assert found.matrices[0].measure == "P@5"
    assert [note.code for note in found.notes] == ["unanswered-topics"]
    with pytest.raises(UsageError, match="twice"):
        riskcli.scores_from_frame(pd.concat([frame, frame]))
    with pytest.raises(UsageError, match="the score is inf"):
        riskcli.scores_from_frame(frame.assign(score=[1, np.inf, 0]))


def test_the_real_ir_measures_package() -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    qrels = list(ir_measures.read_trec_qrels(str(QRELS)))
    measures = [ir_measures.nDCG @ 20, ir_measures.AP, ir_measures.P(rel=2) @ 10]
    results = {
        name: ir_measures.iter_calc(
            measures, qrels, ir_measures.read_trec_run(str(SAMPLES / f"{name}.run"))
        )
        for name in ("indriCASP", "caspPlus")
    }
    found = riskcli.scores_from_ir_measures(results)
    rules = riskcli.Rules(("nDCG@20", "AP", "P(rel=2)@10"))
    files = [SAMPLES / f"{name}.run" for name in ("indriCASP", "caspPlus")]
    ours = riskcli.evaluate(files, qrels=QRELS, rules=rules)
    by_measure = {matrix.measure: matrix for matrix in found.matrices}
    assert set(by_measure) == {"nDCG@20", "AP", "P(rel=2)@10"}
    for expected in ours.matrices:
        mine = by_measure[expected.measure]
        assert mine.runs == expected.runs and mine.topics == expected.topics
        assert mine.values == pytest.approx(expected.values, abs=1e-12)


def test_a_plain_frame_of_runs_by_topics(evaluation: riskcli.Evaluation) -> None:
    matrix = evaluation.matrices[0]
    frame = pd.DataFrame(matrix.values, index=list(matrix.runs), columns=list(matrix.topics))
    mine = riskcli.risk_table(frame, "indriCASP").to_frame().drop(columns="measure")
    expected = riskcli.risk_table(matrix, "indriCASP").to_frame().drop(columns="measure")
    pd.testing.assert_frame_equal(mine, expected)
    pd.testing.assert_frame_equal(
        matrix.to_frame(), frame.rename_axis(index="run", columns="topic")
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"1": [0.5, np.nan]}, index=["a", "b"]), "run b, topic 1: the score is nan"),
        (pd.DataFrame({"1": ["x"]}, index=["a"]), "is not a number"),
        (pd.DataFrame([[1.0], [2.0]], index=["a", "a"]), "'a' occurs twice"),
    ],
)
def test_frames_that_are_no_matrix_are_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        riskcli.risk_table(frame)


# ---------------------------------------------------------------- results


def test_a_table_carries_what_it_rests_on(evaluation: riskcli.Evaluation) -> None:
    table = riskcli.risk_table(evaluation, "indriCASP")
    assert table.settings["topics"] == "relevant" and table.settings["gamma"] == 0.05
    assert [file.kind for file in table.inputs] == ["run"] * 3 + ["qrels"]
    assert "unanswered-topics" in [note.code for note in table.notes]


ANALYSES: dict[str, Callable[[Any], Any]] = {
    "risk_table": lambda scores: riskcli.risk_table(scores, "indriCASP"),
    "explain_run": lambda scores: riskcli.explain_run(scores, "indriCASP", run="caspPlus"),
    "compare_pairs": lambda scores: riskcli.compare_pairs(scores, "indriCASP"),
    "alpha_sweep": lambda scores: riskcli.alpha_sweep(scores, "indriCASP"),
    "topic_table": lambda scores: riskcli.topic_table(scores, "indriCASP", runs="caspPlus"),
    "judge": lambda scores: riskcli.judge(scores, "indriCASP"),
    "power_table": lambda scores: riskcli.power_table(scores, "indriCASP"),
    "baseline_bias": riskcli.baseline_bias,
}


@pytest.mark.parametrize("analysis", ANALYSES.values(), ids=ANALYSES.keys())
def test_what_the_scores_rest_on_goes_along_with_one_matrix(
    evaluation: riskcli.Evaluation, analysis: Callable[[Any], Any]
) -> None:
    """`evaluation["ERR@20"]` is how the tutorial asks for one measure."""
    assert any(note.code == "unanswered-topics" for note in evaluation.notes)
    matrix = evaluation["ERR@20"]
    for scores in (matrix, [matrix, evaluation["nDCG@20"]]):
        if isinstance(scores, list) and analysis is ANALYSES["explain_run"]:
            continue
        found = analysis(scores)
        told = {each for note in found.notes for each in (note.message, note.full)}  # of a gate all
        assert {note.full or note.message for note in evaluation.notes} <= told
        assert found.inputs == evaluation.inputs
        given = [each.measure for each in (scores if isinstance(scores, list) else [scores])]
        assert found.settings == {**evaluation.settings, **found.settings, "measures": given}
    assert matrix.values is evaluation.matrices[0].values
    frozen = riskcli.freeze(matrix)
    assert frozen.settings["topics"] == "relevant" and len(frozen.inputs) == len(evaluation.inputs)


def test_results_show_themselves(evaluation: riskcli.Evaluation) -> None:
    table = riskcli.risk_table(evaluation, "indriCASP")
    shown = repr(table)
    assert shown.startswith("\n".join(textwrap.wrap(table.verdict.sentences[0], 80)))
    assert "\nERR@20, baseline indriCASP, α = 1\n" in shown and "▲ better" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "<table>" in table._repr_html_() and "caspPlus" in table._repr_html_()
    assert shown.index("caspPlus") < shown.index("partial46")


def test_results_are_written_in_any_format(evaluation: riskcli.Evaluation, tmp_path: Path) -> None:
    table = riskcli.risk_table(evaluation, "indriCASP").sorted_by("mean")
    for suffix in ("csv", "tsv", "json", "jsonl", "md", "txt", "tex", "html"):
        table.write(tmp_path / f"out.{suffix}")
        assert (tmp_path / f"out.{suffix}").stat().st_size > 500
    assert (tmp_path / "out.csv").read_text() == table.to_text("csv")
    files = [SAMPLES / f"{name}.run" for name in NAMES]
    ran = riskeval("score", *files, "-q", QRELS, "-b", "indriCASP", "-f", "json")
    assert json.loads(ran.out) == json.loads((tmp_path / "out.json").read_text())
    with pytest.raises(UsageError, match="did you mean"):
        table.to_text("marckdown")


def test_the_frame_has_the_columns_and_kinds_of_the_contract() -> None:
    matrix = ScoreMatrix("m", ("a", "b"), ("1", "2", "3"), np.array([[0.1, 0.5, 0.4], [0.3] * 3]))
    frame = riskcli.risk_table(matrix, "a", options=Options(alphas=(0.0, 5.0))).to_frame()
    assert frame["wins"].dtype == "Int64" and frame["urisk"].dtype == "float64"
    assert frame["topics"].dtype == "int64" and frame["rank_mean"].tolist() == [1, 2, 1, 2]
    assert frame.loc[0, "mean_flag"] == ""


# ---------------------------------------------------------------- provenance


def checksums(found: riskcli.RiskTable) -> dict[str, str | None]:
    """The checksums that the table's JSON carries, by file."""
    document = json.loads(found.to_text("json"))
    return {entry["path"]: entry["sha256"] for entry in document["inputs"]}


@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("afterwards", ["edited", "deleted"])
def test_a_result_carries_the_checksums_of_what_was_scored(
    write: Write, compress: Callable[[bytes], bytes], afterwards: str
) -> None:
    texts = {
        "a.run": compress(b"1 Q0 a 1 2 a\n2 Q0 a 1 2 a\n"),
        "b.run": compress(b"1 Q0 b 1 2 b\n\n2 Q0 a 1 +2. b\n"),
        "c.csv": compress(b"run,1,2\nc,0.5,0.25\n"),
        "judged": compress(b"1 0 a 1\n2 0 a 1\n"),
    }
    paths = {name: write(name, text) for name, text in texts.items()}
    runs = [paths[name] for name in ("a.run", "b.run", "c.csv")]
    evaluation = riskcli.evaluate(runs, qrels=paths["judged"], rules=riskcli.Rules(("AP",)))
    table = riskcli.risk_table(evaluation, "a")
    for path in paths.values():
        if afterwards == "edited":
            path.write_bytes(b"1 Q0 other 1 2 a\n")
        else:
            path.unlink()
    expected = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    assert checksums(table) == expected


def test_checksums_can_be_left_out(write: Write) -> None:
    run, judged = write("a.run", b"1 Q0 a 1 2 a\n"), write("judged", b"1 0 a 1\n")
    found = riskcli.evaluate([run], qrels=judged, checksums=False)
    assert [given.sha256 for given in found.inputs] == [None, None]


# ---------------------------------------------------------------- a library that is a pleasure


def test_one_path_is_enough(evaluation: riskcli.Evaluation) -> None:
    alone = riskcli.evaluate(
        SAMPLES / "caspPlus.run", qrels=QRELS, rules=riskcli.Rules(("ERR@20",))
    )
    assert alone["ERR@20"].runs == ("caspPlus",)
    row = evaluation["ERR@20"].runs.index("caspPlus")
    assert (alone["ERR@20"].values[0] == evaluation["ERR@20"].values[row]).all()
    assert riskcli.evaluate(str(SAMPLES / "caspPlus.run"), qrels=str(QRELS)).matrices


def test_an_evaluation_is_asked_by_measure_and_becomes_a_frame(
    evaluation: riskcli.Evaluation,
) -> None:
    frame = evaluation.to_frame()
    assert list(frame.columns) == ["run", "topic", "measure", "score"]
    matrix = evaluation["ndcg_cut_20"]
    assert matrix.measure == "nDCG@20" and len(frame) == 2 * matrix.values.size
    cell = frame[(frame.run == "caspPlus") & (frame.topic == "101") & (frame.measure == "nDCG@20")]
    row = matrix.runs.index("caspPlus")
    assert cell.score.item() == matrix.values[row, matrix.topics.index("101")]
    with pytest.raises(UsageError, match="no scores by 'AP'"):
        evaluation["map"]


def test_a_frame_with_a_row_per_score_is_compared(evaluation: riskcli.Evaluation) -> None:
    columns = ["urisk", "georisk", "mean_p"]
    long = riskcli.risk_table(evaluation.to_frame(), "indriCASP", alpha=5).to_frame()
    wide = riskcli.risk_table(evaluation, "indriCASP", alpha=5).to_frame()
    order = ["measure", "run"]
    pd.testing.assert_frame_equal(
        long.sort_values(order)[columns].reset_index(drop=True),
        wide.sort_values(order)[columns].reset_index(drop=True),
    )


class Named:
    """A measure as ir_measures has them: its text is its name."""

    def __str__(self) -> str:
        return "nDCG@20"


@pytest.mark.parametrize("measures", ["nDCG@20", Named(), [Named()], ("nDCG@20",)])
def test_measures_are_names_or_objects_that_print_them(measures: object) -> None:
    run, qrels = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 1}}
    found = riskcli.score_runs({"mine": run}, qrels, measures)  # type: ignore[arg-type]
    assert found["nDCG@20"].values[0, 0] == pytest.approx(1 / np.log2(3))
    assert riskcli.Rules(measures).measures == ("nDCG@20",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"1": {"a": "x"}}, "run mine: topic 1, document a: the score is x, expected a finite"),
        ({"1": {"a": None}}, "the score is None, expected a finite number"),
        ({"1": None}, "run mine: topic 1: expected a mapping of documents, found None"),
        (pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [pd.NA]}), "the score is <NA>"),
    ],
)
def test_what_is_no_score_is_refused_whoever_brings_it(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        riskcli.score_runs({"mine": given}, {"1": {"a": 1}})
    if isinstance(given, pd.DataFrame):
        with pytest.raises(UsageError, match="run r, topic 1: the score is <NA>"):
            riskcli.scores_from_frame(given.assign(run="r", topic="1"))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_judgements_in_a_frame_may_have_no_subtopic(missing: Any) -> None:
    run = {"mine": {"1": {"a": 2.0, "b": 1.0}}}
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    found = riskcli.score_runs(run, frame.assign(iteration=[missing, missing]), "P@1")
    assert found["P@1"].values.tolist() == [[1.0]]
    with pytest.raises(UsageError, match="topic 1 document a has no subtopic, and other"):
        riskcli.score_runs(run, frame.assign(iteration=[missing, "2"]), "P@1")


def test_runs_in_mappings_are_checked_as_frames_are() -> None:
    with pytest.raises(UsageError, match="run mine: topic 1, document a: the score is nan"):
        riskcli.score_runs({"mine": {"1": {"a": float("nan")}}}, {"1": {"a": 1}})
    with pytest.raises(UsageError, match="run mine: there is no document in it"):
        riskcli.score_runs({"mine": {}}, {"1": {"a": 1}})
    with pytest.raises(UsageError, match="the judgements are empty"):
        riskcli.score_runs({"mine": {"1": {"a": 1.0}}}, {"1": {}})


def test_the_policy_may_follow_the_baseline(evaluation: riskcli.Evaluation) -> None:
    named = riskcli.judge(evaluation, "indriCASP", policy="strict")
    assert repr(riskcli.judge(evaluation, "indriCASP", "strict")) == repr(named)


def test_options_show_what_differs_from_the_defaults() -> None:
    assert repr(Options()) == "Options()" and repr(riskcli.Rules()) == "Rules()"
    shown = repr(Options("a", alphas=5, significance=riskcli.Significance(gamma=0.01)))  # type: ignore[arg-type]
    assert shown == (
        "Options(baselines=('a',), alphas=(5.0,), significance=Significance(gamma=0.01))"
    )


def test_a_table_becomes_the_page_of_report(evaluation: riskcli.Evaluation, tmp_path: Path) -> None:
    table = riskcli.risk_table(evaluation, "indriCASP", alpha=[0, 5])
    asked = {"101": "winter sports"}
    table.report(tmp_path / "asked.html", queries=asked)
    assert "winter sports" in (tmp_path / "asked.html").read_text(encoding="utf-8")
    table.sorted_by("urisk").report(tmp_path / "page.html", also="@mean", title="Mine")
    files = [SAMPLES / f"{name}.run" for name in NAMES]
    page = tmp_path / "other.html"
    ran = riskeval("report", *files, "-q", QRELS, "-b", "indriCASP", "-a", "0,5", "--also", "@mean",
                   "--title", "Mine", "-o", page)  # fmt: skip
    assert ran.code == 0
    assert (tmp_path / "page.html").read_bytes() == page.read_bytes()
    with pytest.raises(UsageError, match="the page supports plain only"):
        riskcli.risk_table(evaluation, "indriCASP", options=Options(convention="minus")).report(
            page
        )


def test_explain_and_matrix_go_on_with_the_default_measures() -> None:
    ran = riskeval("explain", SAMPLES, "-b", "indriCASP", "--run", "caspPlus", "-f", "table")
    assert ran.code == 0 and "GeoRisk of caspPlus by ERR@20" in ran.out
    assert "by ERR@20, the first of 2 measures; --measure chooses another" in ran.err
    ran = riskeval("matrix", SAMPLES)
    assert ran.code == 0 and ran.out.splitlines()[0] == "run\ttopic\tmeasure\tscore"


def test_an_output_ending_in_gz_is_compressed(tmp_path: Path) -> None:
    call = ("score", SAMPLES, "-m", "AP", "-b", "indriCASP")
    assert riskeval(*call, "-o", tmp_path / "t.csv.gz").code == 0
    written = (tmp_path / "t.csv.gz").read_bytes()
    assert gzip.decompress(written).decode() == riskeval(*call, "-f", "csv").out
    assert riskeval(*call, "-o", tmp_path / "again.csv.gz").code == 0
    assert (tmp_path / "again.csv.gz").read_bytes() == written
    assert "suffix does not tell" in riskeval(*call, "-o", tmp_path / "t.gz").err


def test_a_page_is_not_written_under_the_name_of_another_format(tmp_path: Path) -> None:
    ran = riskeval("report", SAMPLES, "-o", tmp_path / "page.pdf")
    assert ran.code == 2 and "the page is HTML" in ran.err and not (tmp_path / "page.pdf").exists()


def test_one_run_has_nothing_to_be_compared_with() -> None:
    ran = riskeval("score", SAMPLES / "caspPlus.run", "-q", QRELS, "-m", "AP")
    assert "one run, and @mean is made of it: there is nothing to compare" in ran.err
    assert "little power" not in ran.err
