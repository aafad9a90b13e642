"""The expected shortfall: against its definition by counting, and in every command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import Options, compare_pairs, explain_run, risk_table
from riskcli.analyses.sweep_alpha import alpha_sweep
from riskcli.risk.measures.shortfall import shortfall
from riskcli.scores.comparisons import comparisons
from tests.helpers.examples import golden_matrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import Floats, named, score_values


def worst_tenth(delta: Floats) -> float:
    """The mean of the lowest c of 10 c values, each topic ten times: no fraction is left."""
    return float(np.sort(np.repeat(delta, 10))[: len(delta)].mean())


@given(score_values(max_topics=33), st.sampled_from(["r0", "@mean"]))
def test_it_is_the_mean_of_the_worst_tenth(values: Floats, baseline: str) -> None:
    (comparison,) = comparisons(named(values), Options(baselines=(baseline,)))
    delta = values - (values[0] if baseline == "r0" else comparison.baseline.scores)
    expected = [worst_tenth(row) for row in delta]
    assert shortfall(comparison, 1.0).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("topics", "expected"), [(1, -0.9), (9, -0.9), (10, -0.9), (15, -0.8), (20, -0.75), (25, -0.66)]
)
def test_a_topic_counts_by_the_fraction_that_is_left(topics: int, expected: float) -> None:
    """Losses of 0.9, 0.6, 0.3: 15 topics are one and a half, (0.9 + 0.6 / 2) / 1.5."""
    losses = np.zeros(topics)
    losses[: min(3, topics)] = [0.9, 0.6, 0.3][: min(3, topics)]
    (comparison,) = comparisons(
        named(np.array([np.ones(topics), 1 - losses])), Options(baselines=("r0",))
    )
    assert shortfall(comparison, 0.0)[1] == pytest.approx(expected, rel=1e-12)


def test_the_library_explains_sweeps_and_compares_it() -> None:
    matrix = named(golden_matrix())
    values = risk_table(matrix, "r0").to_frame().set_index("run")["shortfall"]
    assert np.isnan(values["r0"]) and values.drop("r0").notna().all()
    account = explain_run(matrix, "r0", run="r1", of="shortfall")
    assert [value for _, value in account.steps] == [0.0, values["r1"]] and not account.test
    swept = alpha_sweep(matrix, "r0", of="shortfall", alpha=(0.0, 5.0))
    assert swept.parts[0].series[0].values["shortfall"][1, 1] == values["r1"]
    assert swept.parts[0].events == () and "no-events" in {note.code for note in swept.notes}
    for between in ("baseline", "all"):
        pairs = compare_pairs(matrix, "r0", of="shortfall", between=between)
        table = pairs.tables[0].pairs
        assert table.difference[0] in (values["r1"], -values["r1"])
        assert np.isnan(table.p).all() and not any(table.flag)
        assert "not-tested" in {note.code for note in pairs.notes}


def test_it_is_in_every_command_and_in_no_table_unasked() -> None:
    common = (SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", "--quiet")
    rows = json.loads(riskeval("score", *common, "-f", "json", "--sort", "shortfall").out)["rows"]
    values = [row["shortfall"] for row in rows if row["shortfall"] is not None]
    assert values == sorted(values, reverse=True) and len(values) == len(rows) - 1
    assert "rank_shortfall" in rows[0]
    assert "shortfall" not in riskeval("score", *common, "-f", "table").out
    assert "shortfall" in riskeval("score", *common, "-f", "table", "--columns", "shortfall").out
    assert "worst tenth" in riskeval("help", "shortfall").out
    gate = ("--policy", "none", "--require", "shortfall >= -1")
    assert riskeval("check", *common, *gate).code == 0
    for command in (("explain", "--run", "neuralMix"), ("sweep",), ("significance",)):
        ran = riskeval(command[0], *common, *command[1:], "--of", "shortfall", "-f", "table")
        assert ran.code == 0 and "shortfall" in ran.out
