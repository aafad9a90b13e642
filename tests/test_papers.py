"""The numbers printed in the papers, cell by cell; docs/papers.md counts the same cells.

`tests/papers/*.csv` holds the tables as printed. A tolerance is half a unit of the last printed
digit, widened only where the inputs are themselves rounded, and then by what that rounding can do.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from riskcli.risk.comparison import Baseline, Comparison
from riskcli.risk.paired import Paired, two_sided_p
from tests.helpers.console import lacks_data, scratch
from tests.helpers.inprocess import riskeval
from tests.helpers.papers import ITEMS, Cell, cells
from tests.helpers.papers_page import PAGE, commands, filled
from tests.helpers.program import SAMPLES
from tests.helpers.tables import paper_table, table_of

SLIPS = {
    "ecir14-3": {
        ("srchvrs12c09", "URisk, MEAN, α = 10"),
        ("DFalah121A", "URisk, MEAN, α = 10"),
        ("indriCASP", "URisk, MEDIAN, α = 10"),
        ("qutwb", "URisk, MEDIAN, α = 10"),
    },
    "sigir14-3": {("tfaro", "Loss/Win, α = 10")},
    "sigir16-6": {("ICTNET12ADR2", "ZRisk, α = 0")},
    "ecir20-s": {("s", "discriminant of s'")},
    "ecir20-2": {
        *((row["run"], "Z⁻, l(x)") for row in paper_table("ecir20_table2_minus_conventions")),
        ("DFalah121A", "T⁻, l(x)"),
        ("DFalah121A", "Geo⁻, l(x)"),
        ("DFalah121A", "Geo⁻, s(x)"),
    },
}
"""The printed cells that do not follow from the others."""


@pytest.mark.parametrize("item", ITEMS)
def test_every_cell_is_as_printed_but_for_the_slips(item: str) -> None:
    differing = {(cell.row, cell.column) for cell in cells(item) if not cell.agrees}
    assert differing == SLIPS.get(item, set())


@pytest.mark.parametrize(
    ("item", "number"), [("sigir16-4", 84), ("sigir16-5", 72), ("sigir14-2", 64)]
)
def test_no_cell_is_left_out(item: str, number: int) -> None:
    assert len({(cell.row, cell.column) for cell in cells(item)}) == number


def test_a_cell_that_is_off_by_a_digit_does_not_agree() -> None:
    assert Cell("s1", "mean", "0.386", 0.38649).agrees
    assert not Cell("s1", "mean", "0.386", 0.38651).agrees
    assert Cell("s1", "mean", "0.386", 0.3871).shown == "**0.387** (printed 0.386)"


def test_sigir14_worked_p_value() -> None:
    assert two_sided_p(np.array([2.2440]), 49)[0] == pytest.approx(0.029, abs=5e-4)


@pytest.mark.parametrize(
    ("virtual", "pair"),
    [("mean", ("srchvrs12c09", "DFalah121A")), ("median", ("indriCASP", "qutwb"))],
)
def test_ecir14_table3_fits_with_two_rows_interchanged(virtual: str, pair: tuple[str, str]) -> None:
    """A baseline's mean, ERR - URisk(alpha=0) = ERR - (2 URisk(5) - URisk(10)), is one number."""
    found = {row["run"]: row for row in paper_table("ecir14_table3_virtual_baselines")}
    places = {run: run for run in found} | dict(zip(pair, reversed(pair), strict=True))
    means = []
    for run, row in found.items():
        source = found[places[run]]
        at5, at10 = (float(source[f"URisk_{virtual}_a{alpha}"]) for alpha in (5, 10))
        means.append(float(row["ERR@20"]) - (2 * at5 - at10))
    assert np.ptp(means) < 0.002


def test_a_single_baseline_row_is_all_zero_in_its_own_population() -> None:
    """Table 4's diagonal: a population of one run expects exactly that run."""
    table = paper_table("sigir16_table3_matrix")
    scores = np.array([[float(row[f"t{number}"]) for number in range(1, 6)] for row in table])
    comparison = Comparison(scores, Baseline("s1", (0,), scores[0]), "baselines", (0,))
    assert np.all(comparison.population.z[0] == 0)
    assert Paired(scores, scores[0]).trisk(5.0)[0] == 0


def test_the_page_says_how_many_cells_agree() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page
    assert all(f"<!--count {item}-->" in page for item in ITEMS)


def test_what_the_deviations_offer_instead_works(tmp_path: Path) -> None:
    """Churn as the risk, scores below 0, and collections as groups of topics."""
    churn = ("--columns", "rbo", "-f", "csv", "--quiet")
    ran = riskeval("topics", SAMPLES, "-b", "indriCASP", "-m", "ERR@20", *churn)
    rows = [f"{row['run']},{row['topic']},{row['rbo']}\n" for row in table_of(ran.out, ",")]
    (tmp_path / "rbo.csv").write_text("system,topic,score\n" + "".join(rows))
    wanted = ("--columns", "run,baseline_mean,mean,urisk,zrisk", "-f", "csv")
    ran = riskeval("score", tmp_path / "rbo.csv", "-b", "@max", "-m", "rbo", *wanted)
    stayed = [row["run"] for row in table_of(ran.out, ",")]
    assert stayed[0] == "caspPlus" and stayed[-1] == "oldTFIDF" and len(stayed) == 8
    (tmp_path / "z.csv").write_text("run,old-1,new-1,new-2\na,0.5,-0.7,0.2\nb,0.2,-0.3,0.4\n")
    (tmp_path / "groups.tsv").write_text("topic\tcollection\nold-1\told\nnew-1\tnew\nnew-2\tnew\n")
    ran = riskeval(
        "score", tmp_path / "z.csv", "-b", "a", "--groups", tmp_path / "groups.tsv", *wanted
    )
    found = [row["urisk"] for row in table_of(ran.out, ",") if row["run"] == "b"]
    assert [float(each) for each in found] == pytest.approx([0.0, -0.6, 0.3])
    assert "ZRisk and GeoRisk are left empty" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "of", ["--figure sigir1[24]", "--figure sigir16", "--figure ecir", "^riskeval (?!plot)"]
)
def test_the_commands_of_the_page_run(of: str) -> None:
    """Figures of either conference, and all that is no figure."""
    page = PAGE.read_text(encoding="utf-8")
    found = [command for command in commands(page) if re.search(of, command)]
    assert len(found) > 2
    with scratch() as folder:
        (folder / "sare.csv").write_text("run,q1,q2,q3\nclarity,0.9,0.7,0.8\nnqc,0.8,0.95,0.7\n")
        for command in found:
            if not lacks_data(command):
                ran = riskeval(*shlex.split(command)[1:], cwd=folder)
                assert ran.code == 0, (command, ran.err)
                assert ran.out or (folder / command.rpartition(" ")[2]).stat().st_size > 1000
