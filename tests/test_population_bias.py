"""Each run or team left out of the population in turn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

from riskcli import Options, UsageError, population_bias
from riskcli.risk.members import Teams
from tests import reference
from tests.program import QRELS, SAMPLES, riskeval
from tests.strategies import ALPHAS, Floats, named, score_values
from tests.test_inference import golden_matrix


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


def test_the_command() -> None:
    call = ("bias", SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet", "--population")
    document = json.loads(riskeval(*call, "-a", "5", "-f", "json").out)
    assert len(document["rows"]) == 18
    for row in document["rows"]:
        assert row["value_min"] <= row["value"] <= row["value_max"]
        assert row["rank_min"] <= row["rank"] <= row["rank_max"]
        assert row["changed_by"] != row["run"]
    assert "each left out in turn" in riskeval(*call, "-f", "table").out
    assert riskeval(*call, "--part", "urisk").code == 2
    assert riskeval(*call[:-1], "--of", "zrisk").code == 2
