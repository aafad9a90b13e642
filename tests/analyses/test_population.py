"""Each run or team left out of the population in turn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from riskcli import Options, UsageError, freeze, population_bias
from riskcli.scores.teams import Teams
from tests.helpers import reference
from tests.helpers.examples import golden_matrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import ALPHAS, Floats, named, score_values


@settings(max_examples=40, deadline=None)
@given(score_values(min_runs=3, max_runs=5), ALPHAS)
def test_ranges_equal_a_literal_loop(values: Floats, alpha: float) -> None:
    (part,) = population_bias(named(values), of="georisk", alpha=alpha).parts
    matrix = values.tolist()
    for row in range(len(matrix)):
        known = [reference.georisk(matrix, row, alpha)]
        for gone in range(len(matrix)):
            if gone != row:
                left = [scores for index, scores in enumerate(matrix) if index != gone]
                known.append(reference.georisk(left, row - (gone < row), alpha))
        low, high, _, _ = part.range_of(row)
        assert low == pytest.approx(min(known), abs=1e-9)
        assert high == pytest.approx(max(known), abs=1e-9)
        largest = max(abs(value - known[0]) for value in known[1:])
        assert abs(part.most(row)[1]) == pytest.approx(largest, abs=1e-9)


def test_who_is_left_out_keeps_its_place() -> None:
    """Runs that keep their order keep their ranks, though a better one is gone."""
    profile = np.linspace(0.2, 0.9, 12)
    values = np.outer([1.0, 0.8, 0.6, 0.4], profile)
    (part,) = population_bias(named(values), of="georisk").parts
    assert part.ranks.tolist() == [1, 2, 3, 4]
    for row in range(4):
        assert part.range_of(row)[2:] == (row + 1, row + 1)


def test_a_team_is_left_out_as_a_whole() -> None:
    values = golden_matrix()
    teams = Teams({"r0": "red", "r1": "red"})
    (part,) = population_bias(named(values), of="zrisk", options=Options(teams=teams)).parts
    assert part.left_out == ("red", "r2", "r3", "r4", "r5")
    assert np.isnan(part.values_without[:2, 0]).all()
    assert np.isfinite(part.values_without[2:, 0]).all()


def test_too_few_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 3 runs"):
        population_bias(named(golden_matrix()[:2]))
    teams = Teams({f"r{row}": "red" for row in range(6)})
    with pytest.raises(UsageError, match="one team"):
        population_bias(named(golden_matrix()), options=Options(teams=teams))
    with pytest.raises(UsageError, match="no population behind 'urisk'"):
        population_bias(named(golden_matrix()), of="urisk")


def test_the_runs_at_hand_in_a_file_are_left_out_as_they_are_without_it() -> None:
    values = golden_matrix()
    for teams in (Teams(), Teams({"r0": "red", "r1": "red"})):
        frozen = freeze(named(values), options=Options(teams=teams))
        plain = population_bias(named(values), options=Options(teams=teams)).parts
        for one, other in zip(
            plain, population_bias(named(values), frozen=frozen).parts, strict=True
        ):
            assert one.left_out == other.left_out
            assert np.array_equal(one.values_without, other.values_without, equal_nan=True)
            assert np.array_equal(one.ranks_without, other.ranks_without, equal_nan=True)


@settings(max_examples=30, deadline=None)
@given(score_values(min_runs=4, max_runs=6), ALPHAS)
def test_a_run_outside_of_a_file_without_each_member_by_brute_force(
    values: Floats, alpha: float
) -> None:
    """It counts beside the members that stay, unless it is one of them by its scores."""
    inside, run = values[1:].tolist(), values[0].tolist()
    (part,) = population_bias(
        named(values[:1]), of="georisk", alpha=alpha, frozen=freeze(named(values[1:]))
    ).parts
    for gone in range(len(inside)):
        left = inside[:gone] + inside[gone + 1 :]
        if run == inside[gone] and run not in left:
            assert np.isnan(part.values_without[0, gone])
            continue
        matrix = left if run in left else [run, *left]
        expected = reference.georisk(matrix, matrix.index(run), alpha)
        assert part.values_without[0, gone] == pytest.approx(expected, abs=1e-9)


def test_copies_in_a_file_stay_where_one_of_them_is_left_out() -> None:
    values = np.tile(golden_matrix()[:1], (3, 1))
    (part,) = population_bias(named(values), of="georisk", frozen=freeze(named(values))).parts
    assert np.isfinite(part.values_without).all() and part.most(0)[1] == pytest.approx(0)


def test_a_file_that_options_name_is_not_passed_over() -> None:
    frozen = freeze(named(golden_matrix()))
    given = population_bias(named(golden_matrix()[:3]), options=Options(population=frozen))
    assert given.parts[0].population == frozen.name
    assert given.provenance.settings["population"] == f"frozen:{frozen.hash}"
    assert {row[-1] for row in given.result().rows} == {frozen.name}


def test_the_command_with_a_file(tmp_path: Path) -> None:
    call, file = ("-q", QRELS, "-m", "ERR@20", "--quiet"), tmp_path / "p.json"
    riskeval("population", "freeze", SAMPLES, *call, "-o", file)
    ask = ("sweep", "--over", "population", SAMPLES, *call, "-f", "tsv")
    plain, frozen = riskeval(*ask).out, riskeval(*ask, "--population", file).out
    cells = [[line.split("\t")[:-1] for line in text.splitlines()] for text in (plain, frozen)]
    assert cells[0] == cells[1] and plain != frozen
    wrong = riskeval(*ask, "--population", "baselines")
    assert (wrong.code, wrong.out) == (2, "") and "or of one in a file" in wrong.err
    other = riskeval(
        "sweep", "--over", "population", SAMPLES, "-q", QRELS, "-m", "nDCG@20",
        "--population", file,
    )  # fmt: skip
    assert other.code == 2 and "p.json holds ERR@20, the scores are nDCG@20" in other.err


def test_a_file_of_two_measures_is_shown_in_two_full_tables(tmp_path: Path) -> None:
    call, file = ("-q", QRELS, "-m", "ERR@20", "-m", "P@5", "--quiet"), tmp_path / "p.json"
    riskeval("population", "freeze", SAMPLES, *call, "-o", file)
    rows = json.loads(riskeval("population", "show", file, "-f", "json").out)["rows"]
    shown = riskeval("population", "show", file, "-f", "table").out.split("\n\n")
    assert len(rows) == 18 and len(shown) == 2
    for measure, table in zip(("ERR@20", "P@5"), shown, strict=True):
        cells = [line.split() for line in table.splitlines()[3:12]]
        expected = [row for row in rows if row["measure"] == measure]
        assert cells == [[r["run"], "–", f"{r['mean']:.4f}", "1"] for r in expected]


def test_the_command() -> None:
    call = ("sweep", "--over", "population", SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet")
    document = json.loads(riskeval(*call, "-a", "5", "-f", "json").out)
    assert len(document["rows"]) == 18
    for row in document["rows"]:
        assert row["value_min"] <= row["value"] <= row["value_max"]
        assert row["rank_min"] <= row["rank"] <= row["rank_max"]
        assert row["changed_by"] != row["run"]
    assert "each left out in turn" in riskeval(*call, "-f", "table").out
    assert riskeval(*call, "--part", "urisk").code == 2
