"""URisk's own interval at a large alpha: the variance that other runs lend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from riskcli import Options, ScoreMatrix, Significance, evaluate, freeze, risk_table
from riskcli.risk.comparison import Baseline, Comparison
from riskcli.risk.inference import Inference
from riskcli.scores.teams import Teams
from tests.helpers import reference
from tests.helpers.shared_data import shared
from tests.helpers.strategies import Floats, named

Ends = dict[str, tuple[float, float]]


def scores(runs: int = 6, topics: int = 12) -> Floats:
    """Runs of which the second differs from the first much less than the others do."""
    values = np.random.default_rng(5).beta(1, 2, (runs, topics))
    values[1] = 0.9 * values[0] + 0.1 * values[1]
    return values


def ends(matrix: ScoreMatrix, baseline: str = "r0", alpha: float = 5.0, **options: object) -> Ends:
    plan = Options(alphas=(alpha,), **options)  # type: ignore[arg-type]
    frame = risk_table(matrix, baseline, options=plan).to_frame()
    return {row["run"]: (row["urisk_lo"], row["urisk_hi"]) for row in frame.to_dict("records")}


def literal(
    run: Floats, baseline: Floats, others: Sequence[Floats] = (), alpha: float = 5.0
) -> object:
    lending = [other.tolist() for other in others]
    found = reference.urisk_interval(run.tolist(), baseline.tolist(), alpha, others=lending)
    return pytest.approx(found, rel=1e-9)


def test_a_run_with_few_losses_borrows_from_those_with_more() -> None:
    values = scores()
    found = ends(named(values))
    for row in range(1, 6):
        others = [values[k] for k in range(1, 6) if k != row]
        assert found[f"r{row}"] == literal(values[row], values[0], others)
    low, high = found["r1"]
    alone = reference.urisk_interval(values[1].tolist(), values[0].tolist(), 5.0)
    assert alone is not None
    assert (high - low) / (alone[1] - alone[0]) == pytest.approx(1.3)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 4.99])
def test_below_alpha_5_each_run_stands_by_itself(alpha: float) -> None:
    values = scores()
    found = ends(named(values), alpha=alpha)
    assert found["r1"] == literal(values[1], values[0], alpha=alpha)


@pytest.mark.parametrize("baseline", ["r0", "@mean", "@min"])
def test_with_two_runs_nothing_changes(baseline: str) -> None:
    values = scores(2)
    of = {"r0": values[0], "@mean": values.mean(axis=0), "@min": values.min(axis=0)}[baseline]
    assert ends(named(values), baseline)["r1"] == literal(values[1], of)


def test_a_copy_of_the_baseline_lends_nothing() -> None:
    values = scores()
    with_a_copy = ends(named(np.vstack([values, values[:1]])))
    assert {run: with_a_copy[run] for run in ("r1", "r3")} == {
        run: pytest.approx(each) for run, each in ends(named(values)).items() if run in ("r1", "r3")
    }


def test_in_a_frozen_population_its_members_lend() -> None:
    """So a run's interval is the same whoever else is at hand; a member lends itself nothing."""
    values = scores(7)
    population = freeze(named(values[2:]))
    few = ScoreMatrix("score", ("r0", "r1"), named(values).topics, values[:2])
    found = ends(few, population=population)
    assert found["r1"] == literal(values[1], values[0], list(values[2:]))
    everyone = ends(named(values), population=population)
    assert everyone["r1"] == found["r1"]
    others = [values[row] for row in (2, 4, 5, 6)]
    assert everyone["r3"] == literal(values[3], values[0], others)


def test_copies_of_one_team_lend_once() -> None:
    values = scores()
    values[1] = 0.2 * values[0] + 0.8 * values[5]
    teams = {f"r{row}": f"t{row}" for row in range(6)}
    alone = ends(named(values), teams=Teams(teams))
    copied = named(np.vstack([values, values[2:3], values[2:3]]))
    found = ends(copied, teams=Teams({**teams, "r6": "t2", "r7": "t2"}))
    assert found["r1"] == pytest.approx(alone["r1"])
    assert ends(copied)["r1"] != pytest.approx(alone["r1"])


def test_tiny_scores_borrow_as_others_do() -> None:
    values = scores()
    usual, tiny = ends(named(values)), ends(named(values * 2.0**-600))
    for run in ("r1", "r4"):
        assert np.array(tiny[run]) * 2.0**600 == pytest.approx(np.array(usual[run]))


@pytest.mark.parametrize("baseline", ["indriCASP", "indriQLCASP"])
def test_of_real_runs_and_25_topics_it_holds_the_truth_in_nine_of_ten_samples(
    baseline: str,
) -> None:
    """Without the other runs the least are .892 and .858."""
    runs, qrels = shared("trec-web-2012", "runs"), shared("trec-web-2012", "qrels.txt.gz")
    matrix = evaluate(runs, qrels=qrels)["ERR@20"]
    values, row = matrix.values, matrix.runs.index(baseline)

    def against(scores: Floats) -> Inference:
        comparison = Comparison(scores, Baseline(baseline, (row,), scores[row]))
        return Inference(comparison, Significance(), (), (5.0,))

    truth = against(values).comparison.paired.urisk(5.0)
    generator, held = np.random.default_rng(1), []
    for _ in range(400):
        low, high = against(values[:, generator.integers(0, 50, 25)]).urisk_interval(5.0)
        held.append((low <= truth) & (truth <= high))
    covered = np.delete(np.mean(held, axis=0), row)
    assert covered.min() >= 0.9 and covered.mean() >= 0.92
