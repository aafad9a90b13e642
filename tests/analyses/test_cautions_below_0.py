"""Scores below 0: what counts a fifth of them, and what leaves ZRisk and GeoRisk out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from riskcli import ScoreMatrix, risk_table
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES

RUNS = tuple(SAMPLES / f"{name}.run" for name in ("plainBM25", "boldRerank", "indriCASP"))
JUDGED = ("-q", QRELS)
OLD = ("-b", "indriCASP")
NEEDED = "GeoRisk needs scores of at least 0"
LEFT_OUT = "ZRisk and GeoRisk are left empty"


def large_losses(measure: str) -> dict[str, int | None]:
    ran = run_inside("score", *RUNS, *OLD, *JUDGED, "-m", measure, "-f", "json")
    return {row["run"]: row["losses20"] for row in json.loads(ran.out)["rows"]}


def test_logarithms_lose_a_fifth_on_the_topics_that_what_they_are_of_does() -> None:
    assert large_losses("gm_map") == large_losses("AP")
    assert large_losses("AP") == {"plainBM25": 21, "boldRerank": 9, "indriCASP": None}


def test_a_fifth_of_scores_below_0_alone_is_undefined() -> None:
    assert set(large_losses("utility").values()) == {None}


def test_topics_whose_baseline_is_below_0_do_not_count() -> None:
    values = np.array([[0.5, -0.5, 0.0, 0.25], [0.25, -1.0, -1.0, 0.25]])
    matrix = ScoreMatrix("x", ("base", "one"), tuple("1234"), values)
    frame = risk_table(matrix, "base").to_frame()
    assert frame.query("run == 'one'")["losses20"].tolist() == [1]


@pytest.mark.parametrize(("measure", "why"), [("gm_map", "it is 21"), ("utility", "is undefined")])
def test_a_rule_on_them_does_not_pass(measure: str, why: str) -> None:
    rule = ("--policy", "none", "--require", "losses20 <= 0")
    ran = run_inside("check", RUNS[0], "-b", RUNS[2], *JUDGED, "-m", measure, *rule)
    assert ran.code == 1 and why in ran.out


@pytest.mark.parametrize("measure", ["gm_map", "utility"])
@pytest.mark.parametrize("call", [("significance",), ("explain", "--run", "plainBM25")])
def test_georisk_is_left_out_unless_it_is_asked_for(call: tuple[str, ...], measure: str) -> None:
    call = (*call, *map(str, (*RUNS, *OLD, *JUDGED)), "-m", measure)
    ran = run_inside(*call, "-f", "json")
    assert {row["of"] for row in json.loads(ran.out)["rows"]} == {"mean"}
    assert ran.code == 0 and LEFT_OUT in ran.err
    ran = run_inside(*call, "--of", "georisk")
    assert (ran.code, ran.out) == (2, "") and NEEDED in ran.err


def test_other_measures_keep_their_georisk() -> None:
    ran = run_inside("significance", *RUNS, *JUDGED, "-m", "AP", "-m", "gm_map", "-f", "json")
    compared = {(row["measure"], row["of"]) for row in json.loads(ran.out)["rows"]}
    assert compared == {("AP", "mean"), ("AP", "georisk"), ("gm_map", "mean")}
