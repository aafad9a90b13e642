"""Eight real runs of TREC Web 2012, topic by topic, against what gdeval.pl and trec_eval print.

`expected_per_topic.csv` holds the output of gdeval.pl and of trec_eval 10.0-rc3 for these runs and
the official judgements; both hold scores in double precision.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from riskcli import Evaluation, Options, Rules, evaluate, risk_table
from riskcli.core.choices import Precision
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
