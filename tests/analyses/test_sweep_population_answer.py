"""What a sweep over the population says first: whose rank depends on who takes part."""

from __future__ import annotations

import numpy as np

from riskcli import population_bias
from riskcli.analyses.sweep_population import PopulationBias
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES
from tests.helpers.strategies import Floats, named

CALL = ("sweep", "--over", "population", SAMPLES, "-m", "ERR@20", "-a", "5", "--quiet")


def apart() -> Floats:
    """Runs in proportion to each other: whoever is left out, nobody overtakes anybody."""
    return np.outer([1.0, 0.8, 0.6, 0.4], np.linspace(0.2, 0.9, 12))


def mixed(seed: int, runs: int = 6) -> PopulationBias:
    return population_bias(named(np.random.default_rng(seed).random((runs, 8))), alpha=8.0)


def test_a_lead_that_rests_on_nobody_is_said() -> None:
    bias = population_bias(named(apart()), of="georisk")
    assert [each.rule for each in bias.verdict] == ["lead-robust", "ranks-stay"]
    assert bias.verdict.sentences[0] == "r0 leads by GeoRisk whoever else is left out."
    assert (
        bias.verdict.sentences[1] == "No run's rank by GeoRisk changes, whoever else is left out."
    )


def test_who_would_lead_without_another_is_said() -> None:
    """Over some matrices both happen, and each is what the ranks say."""
    seen = set()
    for seed in range(12):
        bias = mixed(seed)
        (part,) = [part for part in bias.parts if part.of.id == "georisk"]
        leaders = {run for run, place in zip(part.runs, part.ranks, strict=True) if place == 1}
        would = {run for row, run in enumerate(part.runs) if part.range_of(row)[2] == 1}
        depends, robust = (bias.verdict.by(rule) for rule in ("lead-depends", "lead-robust"))
        assert len(depends) + len(robust) == 1 and bool(depends) == (would != leaders)
        (said,) = depends or robust
        assert set(said.runs) == would and said.runs[0] in leaders
        assert said.about == "score, alpha 8"
        seen.add(said.rule)
    assert seen == {"lead-depends", "lead-robust"}


def test_the_rank_that_moves_most_is_named() -> None:
    for seed in range(4):
        bias = mixed(seed)
        (moves,) = bias.verdict.by("rank-moves")
        widths = {
            (part.title, run): (lambda ends: ends[3] - ends[2])(part.range_of(row))
            for part in bias.parts
            for row, run in enumerate(part.runs)
        }
        title = moves.text.split()[1]
        low, high = moves.numbers["rank_min"], moves.numbers["rank_max"]
        assert low is not None and high is not None
        assert widths[title, moves.runs[0]] == high - low == max(widths.values())


def test_the_table_is_read_from_the_rows() -> None:
    for seed in range(3):
        bias = mixed(seed)
        rows = {(row["of"], row["run"]): row for row in bias.to_frame().to_dict("records")}
        (answer,) = bias.screen(120)
        assert [cells[1].rank for cells in answer.rows] == sorted(
            row["rank"] for (of, _), row in rows.items() if of == "georisk"
        )
        for run, *cells in answer.rows:
            for of, (value, ranks, without) in (("georisk", cells[:3]), ("zrisk", cells[3:])):
                row = rows[of, run.text]
                ends = dict.fromkeys((f"{row['rank_min']}", f"{row['rank_max']}"))
                assert (value.rank, ranks.text) == (row["rank"], "–".join(ends))
                assert float(value.text) == round(row["value"], len(value.text.split(".")[1]))
                assert without.text == row["changed_by"]


def test_full_has_a_table_a_risk_measure_and_every_run() -> None:
    few, full = riskeval(*CALL, "-f", "table").out, riskeval(*CALL, "-f", "table", "--full").out
    assert few.splitlines()[:2] == full.splitlines()[:2]
    assert "ZRisk of ERR@20" in full and "GeoRisk of ERR@20" in full and " to 0." in full
    bias = mixed(1, runs=20)
    (answer,) = bias.screen(80)
    assert len(answer.rows) == 17 and "And 3 runs more: --full." in answer.caption
    (alone,) = population_bias(named(np.random.default_rng(1).random((20, 8))), of="zrisk").screen(
        80
    )
    assert len(alone.rows) == 17 and "And 3 runs more: --full." in alone.caption
