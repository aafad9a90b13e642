"""G² of a matrix and of two runs: against plain loops, scipy's chi-square and a paper's cells."""

from __future__ import annotations

import csv
import json
from math import isnan

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import riskcli
from riskcli.risk.population import g_squared, g_squared_of_two
from tests.helpers import program
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.tables import paper_table

EIGHT = ROOT / "docs/examples/eight-systems.csv"


def eight() -> dict[str, list[float]]:
    with EIGHT.open(encoding="utf-8") as file:
        return {row.pop("run"): [float(x) for x in row.values()] for row in csv.DictReader(file)}


def brute_force(rows: list[list[float]]) -> float:
    """Eq. 4, cell by cell."""
    total = sum(map(sum, rows))
    columns = [sum(column) for column in zip(*rows, strict=True)]
    found = 0.0
    for row in rows:
        for x, column in zip(row, columns, strict=True):
            if expected := sum(row) * column / total:
                found += (x - expected) ** 2 / expected
    return found


def test_of_a_matrix_it_is_pearson_s_statistic() -> None:
    rows = [*eight().values()]
    assert g_squared(np.array(rows)) == pytest.approx(brute_force(rows), rel=1e-12)
    counts = np.random.default_rng(5).integers(1, 40, (6, 9)).astype(float)
    assert g_squared(counts) == pytest.approx(chi2_contingency(counts).statistic, rel=1e-12)
    assert g_squared(np.array([[0.2, 0.0, 0.1], [0.4, 0.0, 0.2]])) == 0  # proportional


def test_topics_of_one_weight_weigh_as_without() -> None:
    rows = np.array([*eight().values()])
    assert g_squared(rows, np.ones(5)) == pytest.approx(g_squared(rows), rel=1e-12)
    twice = np.array([2.0, 1, 1, 1, 1])
    repeated = np.column_stack([rows[:, :1], rows])  # topic 1 twice is topic 1 with weight 2
    assert g_squared(rows, twice) == pytest.approx(g_squared(repeated), rel=1e-12)


@pytest.mark.parametrize("run", ["s2", "s5", "s6"])
def test_of_two_runs_of_equal_means_it_is_the_squares_of_table_4(run: str) -> None:
    """SIGIR'16, Table 4 prints the z of either against the other; Eq. 8 is what they add up to."""
    printed = paper_table("sigir16_table4_single_baseline_alpha0")
    pairs = [row for row in printed if {row["run"], row["baseline"]} == {run, "s1"}]
    z = [float(row[f"t{topic}"]) for row in pairs for topic in range(1, 6)]
    slack = sum(2 * abs(each) * 0.5e-4 + 0.25e-8 for each in z)
    scores = eight()
    x, b = np.array(scores[run]), np.array(scores["s1"])
    assert g_squared_of_two(x, b) == pytest.approx(sum(each**2 for each in z), abs=slack)
    assert g_squared_of_two(x, b) == pytest.approx(g_squared(np.array([x, b])), rel=1e-12)


def test_of_two_other_runs_it_is_as_equation_8_says() -> None:
    scores = eight()
    x, b = np.array(scores["s7"]), np.array(scores["s1"])
    expected = sum((p - q) ** 2 / (p + q) for p, q in zip(x, b, strict=True))
    for pair in ((x, b), (b, x)):
        assert g_squared_of_two(*pair) == pytest.approx(expected, rel=1e-12)
    assert g_squared_of_two(x, b) > g_squared(np.array([x, b])) + 0.003  # the means differ
    assert g_squared_of_two(np.zeros(3), np.zeros(3)) == 0


def test_below_0_there_is_none() -> None:
    assert isnan(g_squared(np.array([[-0.1, 0.2], [0.1, 0.3]])))
    assert isnan(g_squared_of_two(np.array([-0.1]), np.array([0.1])))


def test_topics_shows_the_matrix_s() -> None:
    value = riskcli.g_squared(np.array([*eight().values()]))
    call = ("topics", EIGHT, "-b", "s1", "-f")
    found = json.loads(program.riskeval(*call, "json").out)
    assert found["g_squared"] == {"score": pytest.approx(value, rel=1e-15)}
    for more in ((), ("--full",), ("--run", "s2")):
        shown = " ".join(riskeval(*call, "table", *more).out.split())
        assert f"G² of the matrix: {value:.4g} by score" in shown and "no p-value" in shown


def test_diff_shows_the_pair_s_and_says_where_there_is_none() -> None:
    runs = SAMPLES / "caspPlus.run", SAMPLES / "indriCASP.run"
    call = ("diff", *runs, "-q", QRELS, "-m", "AP,gm(AP)", "-f")
    found = json.loads(program.riskeval(*call, "json").out)
    rows = [row for row in found["rows"] if row["measure"] == "AP"]
    pairs = [(row["score"], row["baseline_score"]) for row in rows]
    expected = sum((x - b) ** 2 / (x + b) for x, b in pairs if x + b)
    assert found["g_squared"] == {"AP": pytest.approx(expected, rel=1e-9), "gm(AP)": None}
    shown = " ".join(riskeval(*call, "table", "--full").out.split())
    assert f"G² of the two runs: {expected:.4g} by AP" in shown
    assert "undefined by gm(AP), which goes below 0" in shown
