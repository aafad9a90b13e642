"""The conventions of a block: ECIR'20's GeoRisk as printed, and what must not stand beside it."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO

import numpy as np
import pytest
from scipy.special import ndtr

import riskcli
from riskcli import Options, UsageError
from riskcli.analyses.block import Block
from riskcli.risk.estimate import Estimate
from tests.helpers import program
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import Ran
from tests.helpers.tables import paper_table

EIGHT = ROOT / "docs/examples/eight-systems.csv"
NOT_OURS = {("DFalah121A", "linear"), ("DFalah121A", "smooth")}
"""The two cells of the table that its formula does not give from the means as printed."""


def scored(convention: str, *arguments: str) -> Ran:
    call = ("-b", "s1", "-a", "2", "--convention", convention, *arguments)
    ran = riskeval("score", EIGHT, *call)
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("loss", ["linear", "smooth"])
def test_ecir20_table_2_as_printed(loss: str) -> None:
    """From the means of SIGIR'16's Table 6 and the ZRisk⁻ that is printed beside it."""
    printed = paper_table("ecir20_table2_minus_conventions")
    means = {r["run"]: float(r["ERR@20"]) for r in paper_table("sigir16_table6_trec2012")}
    runs = tuple(row["run"] for row in printed)
    zrisk = -np.array([float(row[f"Z_{loss}"]) for row in printed])
    values = {"mean": np.array([means[run] for run in runs]), "zrisk": zrisk, "georisk": zrisk}
    estimates = {name: Estimate(value) for name, value in values.items()}
    block = Block("ERR@20", "indriCASP", "all", 1.0, 50, runs, estimates, None, (), 1)
    found = block.turned("minus-printed").estimates["georisk"].value
    off = {
        (row["run"], loss)
        for row, value in zip(printed, found, strict=True)
        if abs(value - float(row[f"Geo_{loss}"])) > 0.005
    }
    assert off == {each for each in NOT_OURS if each[1] == loss}


@pytest.mark.parametrize("loss", ["linear", "smooth"])
def test_only_georisk_is_another_one(loss: str) -> None:
    more = ("--loss", "smooth") if loss == "smooth" else ()
    call = ("score", EIGHT, "-b", "s1", "-f", "json", *more, "--convention")
    minus, printed = (json.loads(riskeval(*call, c).out) for c in ("minus", "minus-printed"))
    assert printed["settings"]["convention"] == "minus-printed"
    assert [str(each["text"]) for each in printed["verdicts"]] == [
        str(each["text"]) for each in minus["verdicts"]
    ]
    for row, other in zip(printed["rows"], minus["rows"], strict=True):
        expected = -((other["mean"] * ndtr(other["zrisk"] / 5)) ** 0.5)
        assert row.pop("georisk") == pytest.approx(expected, rel=1e-12)
        for name in [name for name in other if "georisk" in name]:
            assert row.pop(name, None) in (None, "")
            del other[name]
        assert row == other


def test_tables_label_it_and_give_it_neither_rank_nor_mark() -> None:
    shown = program.riskeval("score", EIGHT, "-f", "table", "--convention", "minus-printed").out
    assert "GeoRisk⁻ (Eq. 8)" in shown
    told = " ".join(shown.split())
    assert "(Eq. 8): as in ECIR'20's Table 2" in told and "no ranks, no tests" in told
    assert "(Eq. 8)" not in scored("minus", "-f", "table").out
    heading = next(line for line in shown.splitlines() if "URisk⁻" in line)
    assert re.search(r"ZRisk⁻ +# +GeoRisk⁻ \(Eq\. 8\)(?! +#)", heading)
    assert riskeval("help", "GeoRisk⁻ (Eq. 8)").out.startswith("GeoRisk:")


def test_rows_are_in_the_order_of_what_is_shown() -> None:
    orders = []
    for convention in ("plain", "minus", "minus-printed"):
        ran = scored(convention, "--sort", "georisk", "-f", "csv")
        rows = list(csv.DictReader(StringIO(ran.out)))
        values = [float(row["georisk"]) for row in rows]
        assert values == sorted(values, reverse=convention == "plain")
        orders.append([row["run"] for row in rows])
    assert orders[1] != orders[2]


@pytest.mark.parametrize("call", [("sweep",), ("topics",), ("score", "-b", "s2", "--pool", "each")])
def test_where_it_would_be_half_true_it_is_refused(call: tuple[str, ...]) -> None:
    ran = riskeval(*call, EIGHT, "-b", "s1", "--convention", "minus-printed")
    assert ran.code == 2 and "minus-printed is for `riskeval score`" in ran.err
    ran = riskeval(
        "plot", "alpha", EIGHT, "-b", "s1", "--convention", "minus-printed", "-o", "x.svg"
    )
    assert ran.code == 2 and "plain convention only" in ran.err
    with pytest.raises(UsageError, match="minus-printed is for `riskeval score`"):
        riskcli.alpha_sweep(riskcli.evaluate(EIGHT), options=Options(convention="minus-printed"))
