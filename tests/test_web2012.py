"""Eight real runs of TREC Web 2012, topic by topic, against what gdeval.pl and trec_eval print.

`expected_per_topic.csv` holds the output of gdeval.pl and of trec_eval 10.0-rc3 for these runs and
the official judgements; both hold scores in double precision.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from riskcli import Evaluation, Options, Rules, evaluate, risk_table
from riskcli.core.choices import Precision
from riskcli.core.limits import LEAST_SCORE
from riskcli.effectiveness.measures import FAMILIES, parse_measure
from tests.effectiveness.test_measures_by_pytrec_eval import PLAIN
from tests.helpers.inprocess import run_inside
from tests.helpers.shared_data import shared as shared_file

Cells = dict[str, str]

OURS = {
    "gdeval_err@20": "ERR@20",
    "gdeval_ndcg@20": "nDCG(dcg='exp-log2')@20",
    "ndcg_cut_20": "nDCG@20",
    "map": "AP",
    "P_10": "P@10",
    "recip_rank": "RR",
}
RUNS = (
    "indriCA", "indriCASP", "indriCB", "indriCBSP",
    "indriQLCA", "indriQLCASP", "indriQLCB", "indriQLCBSP",
)  # fmt: skip


@cache
def evaluated(precision: Precision = "double") -> Evaluation:
    """The folder of runs, all of whose lines carry one tag, by every measure."""
    return evaluate(
        [shared_file("trec-web-2012", "runs")],
        qrels=shared_file("trec-web-2012", "qrels.txt.gz"),
        rules=Rules(tuple(OURS.values()), score_precision=precision),
    )


def values(measure: str, precision: Precision = "double") -> dict[tuple[str, str], float]:
    """The scores by run and topic, and each run's mean, which the tools call topic amean."""
    matrix = next(m for m in evaluated(precision).matrices if m.measure == OURS[measure])
    cells = {
        (run, topic): score
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
        for topic, score in zip(matrix.topics, row, strict=True)
    }
    means = matrix.values.mean(axis=1).tolist()
    return cells | {(run, "amean"): mean for run, mean in zip(matrix.runs, means, strict=True)}


def printed(*parts: str) -> list[Cells]:
    with shared_file("trec-web-2012", *parts).open(newline="") as file:
        return list(csv.DictReader(file))


def as_printed(value: float, text: str) -> bool:
    """Equal to half a unit of the last printed digit."""
    return abs(value - float(text)) <= 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-12


def test_the_runs_are_named_by_their_files(shared: Path) -> None:
    assert evaluated().matrices[0].runs == RUNS
    assert "named-by-file" in {note.code for note in evaluated().notes}


@pytest.mark.parametrize("measure", OURS)
def test_every_topic_of_every_run_is_as_printed(shared: Path, measure: str) -> None:
    rows = [row for row in printed("expected_per_topic.csv") if row["measure"] == measure]
    found = values(measure)
    wrong = [row for row in rows if not as_printed(found[row["run"], row["topic"]], row["value"])]
    assert wrong == []
    assert {(row["run"], row["topic"]) for row in rows} == found.keys()
    assert len(rows) == 8 * (50 + 1)


@pytest.mark.parametrize("measure", OURS)
def test_single_precision_ties_change_no_printed_value(shared: Path, measure: str) -> None:
    double, single = values(measure, "double"), values(measure, "single")
    assert double.keys() == single.keys()
    moved = {place for place in double if abs(double[place] - single[place]) > 5e-6}
    assert moved == set()


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_mean_err_of_indri_casp_is_the_papers(shared: Path, precision: Precision) -> None:
    mean = values("gdeval_err@20", precision)["indriCASP", "amean"]
    assert mean == pytest.approx(0.19466, abs=5e-6)
    assert f"{mean:.4f}" == "0.1947"


def test_urisk_against_indri_casp_is_as_printed(shared: Path) -> None:
    alphas = (0.0, 1.0, 5.0, 10.0)
    table = risk_table(evaluated().matrices, "indriCASP", options=Options(alphas=alphas))
    result = table.result()
    found = {}
    for cells in result.rows:
        row = dict(zip(result.columns, cells, strict=True))
        found[row["measure"], row["run"], row["alpha"]] = row["urisk"]
    compared = 0
    for line in printed("expected_urisk_vs_indriCASP.csv"):
        for measure in ("gdeval_err@20", "gdeval_ndcg@20"):
            value = found[OURS[measure], line["run"], float(line["alpha"])]
            assert as_printed(value, line[f"urisk_{measure}"]), (line, measure, value)
            compared += 1
    assert compared == 2 * 7 * len(alphas)


# ---------------------------------------------------------------- every measure, to the last rank

OWN = (
    "ERR", "ERR@20", "RBP", "RBP(p=0.5)", "RBP(p=0.1)", "RBP(rel=2)@10", "RBPres", "RBPres(p=0.5)",
    "Judged", "Judged@10",
)  # fmt: skip
EVERY = tuple(str(parse_measure(name)) for name in (*PLAIN, *OWN))


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `matrix` says of the eight runs by every measure, which all commands take."""
    plain = {family for family in FAMILIES if not family.of_subtopics}
    assert {parse_measure(name).family for name in EVERY} == plain
    file = tmp_path_factory.mktemp("scores") / "scores.json"
    runs, qrels = (shared_file("trec-web-2012", name) for name in ("runs", "qrels.txt.gz"))
    ran = run_inside("matrix", runs, "-q", qrels, "-m", ",".join(EVERY), "--long", "-o", file)
    assert ran.code == 0, ran.err
    return file


def fields_of(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="latin-1") as file:
        return [line.split() for line in file]


@cache
def lines_of_all() -> dict[str, dict[str, float]]:
    """trec_eval's line `all` (-c) of each measure and run, from pytrec_eval's value of each topic.

    As trec_eval has it: counts are summed, and the measures gm_... have geometric means.
    """
    grades: dict[str, dict[str, int]] = {}
    for topic, _, docno, grade in fields_of(shared_file("trec-web-2012", "qrels.txt.gz")):
        grades.setdefault(topic, {})[docno] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {asked for asked, _ in PLAIN.values()})
    lines: dict[str, dict[str, float]] = {name: {} for name in PLAIN}
    for run in RUNS:
        ranking: dict[str, dict[str, float]] = {}
        for topic, _, docno, _, score, _ in fields_of(
            shared_file("trec-web-2012", "runs", f"{run}.txt.gz")
        ):
            ranking.setdefault(topic, {})[docno] = float(score)
        by_topic = evaluator.evaluate(ranking)
        assert len(by_topic) == 50
        for name, (_, key) in PLAIN.items():
            total = math.fsum(scores[key] for scores in by_topic.values())
            mean = math.exp(total / 50) if key.startswith("gm_") else total / 50
            lines[name][run] = total if key.startswith("num_") else mean
    return lines


def test_every_mean_is_trec_evals_line_all(scores: Path) -> None:
    ran = run_inside("score", scores, "-b", "indriCASP", "-f", "json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["rows"]
    assert {row["measure"] for row in rows} == set(EVERY)
    lines, compared = lines_of_all(), 0
    for row in (row for row in rows if row["measure"] in PLAIN):
        is_count = PLAIN[row["measure"]][1].startswith("num_")
        for mean, run in ((row["mean"], row["run"]), (row["baseline_mean"], "indriCASP")):
            shown = mean * 50 if is_count else mean  # trec_eval sums counts
            expected = lines[row["measure"]][run]
            assert f"{shown:.4f}" == f"{expected:.4f}", (row["measure"], run)
            assert shown == pytest.approx(expected, rel=1e-9)
            compared += 1
    assert compared == 2 * 8 * len(PLAIN)


def test_the_reference_prints_what_trec_eval_printed(shared: Path) -> None:
    asked = {"map": "AP", "P_10": "P@10", "recip_rank": "RR"}
    rows = [row for row in printed("expected_per_topic.csv") if row["measure"] in asked]
    means = [row for row in rows if row["topic"] == "amean"]
    assert len(means) == 3 * 8
    for row in means:
        assert as_printed(lines_of_all()[asked[row["measure"]]][row["run"]], row["value"])


@pytest.mark.slow
def test_every_command_takes_every_measure(scores: Path, tmp_path: Path) -> None:
    ran = run_inside("check", scores, "--baseline", "indriCASP", "-f", "json")
    rows = json.loads(ran.out)["rows"]
    assert ran.code in (0, 1) and {row["measure"] for row in rows} == set(EVERY)
    # GeoRisk is not to be had of a baseline without a score above 0.
    undecided = {row["measure"] for row in rows if row["outcome"] == "inconclusive"}
    assert undecided == {"IPrec@1"}
    page = tmp_path / "page.html"
    ran = run_inside("report", scores, "-b", "indriCASP", "-o", page)
    assert ran.code == 0, ran.err
    assert "gm_map, gm_bpref: means are shown as exp of the mean logarithm" in page.read_text()


def test_geometric_means_are_shown_and_their_logarithms_are_tested(scores: Path) -> None:
    call = ("score", scores, "-m", "gm_map,gm_bpref", "-b", "indriCASP", "-a", "0,1", "-f")
    rows = [r for r in json.loads(run_inside(*call, "json").out)["rows"] if r["run"] == "indriCA"]
    table = " ".join(run_inside(*call, "table").out.split())
    assert len(rows) == 4
    for row in rows:
        told = f"{row['measure']}: means are shown as exp of the mean logarithm, as trec_eval does"
        assert told in table and f"{row['mean']:.4f}" in table
        assert row["mean_lo"] < row["mean"] < row["mean_hi"]
        assert row["mean_diff"] == pytest.approx(math.log(row["mean"] / row["baseline_mean"]))
        assert row["mean_diff_lo"] < row["mean_diff"] < row["mean_diff_hi"]
        assert row["zrisk"] is None and row["georisk"] is None
        if row["alpha"] == 0:
            assert row["mean_p"] == pytest.approx(row["trisk_p"])
            assert row["mean_diff"] == pytest.approx(row["urisk"])


@pytest.mark.parametrize("p", ["0.8", "0.5", "0.1"])
def test_rbp_is_that_of_exact_fractions_to_the_last_rank(scores: Path, p: str) -> None:
    name = str(parse_measure(f"RBP(p={p})"))
    ran = run_inside("matrix", scores, "-m", name, "-f", "json")
    assert ran.code == 0, ran.err
    found = {row["run"]: row["scores"] for row in json.loads(ran.out)["rows"]}
    grades = {
        (topic, docno): int(grade)
        for topic, _, docno, grade in fields_of(shared_file("trec-web-2012", "qrels.txt.gz"))
    }
    lines = fields_of(shared_file("trec-web-2012", "runs", "indriCA.txt.gz"))
    ranked: dict[str, list[tuple[float, str]]] = {}
    for topic, _, docno, _, score, _ in lines:
        ranked.setdefault(topic, []).append((float(np.float32(score)), docno))
    tiny = 0
    for topic, documents in ranked.items():
        ranks = enumerate(sorted(documents, reverse=True))
        exact = (1 - Fraction(p)) * sum(
            Fraction(p) ** rank for rank, (_, docno) in ranks if grades.get((topic, docno), 0) > 0
        )
        value = found["indriCA"][topic]
        assert (value == 0) == (exact < Fraction(LEAST_SCORE)), (topic, value)
        assert abs(Fraction(value) - exact) <= exact / 10**9 or value == 0
        tiny += 0 < value < 1e-50
    assert tiny > 1
