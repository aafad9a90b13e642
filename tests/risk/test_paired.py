"""Power: answers against simulated tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from riskcli import judge, power_table
from riskcli.risk.paired import power, smallest_loss
from tests.helpers.examples import past
from tests.helpers.strategies import named
from tests.helpers.tables import rows_of


def seen(loss: float, spread: float, topics: int, level: float, seed: int) -> float:
    """The share of simulated one-sided t tests that see the loss."""
    generator, simulations = np.random.default_rng(seed), 20_000
    deltas = -loss + spread * generator.standard_normal((simulations, topics))
    p = np.asarray(stats.ttest_1samp(deltas, 0.0, axis=1, alternative="less").pvalue)
    return float((p < level).mean())


def test_topics_needed_are_those_of_simulated_tests() -> None:
    """Four Monte Carlo standard errors are 0.0113; one topic more or less is tested beside it."""
    (row, *_) = rows_of(power_table(named(past()), losses=(0.15,), counts=(), of="mean", tests=3))
    spread, count, level = row["spread"], int(row["count"]), 0.05 / 3
    assert row["level"] == pytest.approx(level) and 8 < count < 60
    assert seen(0.15, spread, count, level, 1) > 0.8 - 0.0113
    assert seen(0.15, spread, count - 1, level, 2) < 0.8 + 0.0113


def test_the_loss_that_topics_show_is_that_of_simulated_tests() -> None:
    table = power_table(named(past()), losses=(), counts=(20,), of="mean", power=0.9)
    for row in rows_of(table):
        share = seen(row["size"], row["spread"], 20, 0.05, 3)
        assert share == pytest.approx(0.9, abs=0.0085)


def test_two_topics_are_the_fewest_that_see_a_loss() -> None:
    assert smallest_loss(0.1, 1, 0.05) is None
    loss = smallest_loss(0.1, 2, 0.05)
    assert loss is not None
    assert seen(loss, 0.1, 2, 0.05, 4) == pytest.approx(0.8, abs=0.0113)


@pytest.mark.slow
def test_a_margin_is_settled_by_so_many_topics() -> None:
    """A candidate without a loss passes the gate's own test with that margin."""
    (row, *_) = rows_of(power_table(named(past()), margins=(0.1,), losses=(), counts=(), of="mean"))
    topics, generator, passes = int(row["count"]), np.random.default_rng(7), 0
    for _ in range(300):
        delta = row["spread"] * generator.standard_normal(topics)
        values = np.vstack([np.full(topics, 0.5), 0.5 + delta])
        passes += judge(named(values), "r0", policy="lenient", margin=0.1).passed
    assert 0.7 < passes / 300 < 0.9


@pytest.mark.slow
def test_georisk_is_seen_as_often_as_announced() -> None:
    """Candidates drawn with the very loss of GeoRisk that the table names, judged by the gate."""
    generator, topics, drawn = np.random.default_rng(5), 40, []
    for _ in range(300):
        base = np.clip(0.5 + 0.15 * generator.standard_normal(topics), 0.05, 0.95)
        run = np.clip(base - 0.05 + 0.1 * generator.standard_normal(topics), 0.01, 0.99)
        drawn.append(named(np.vstack([base, run])))
    large = np.hstack([matrix.values for matrix in drawn])
    pair = named(large)
    loss = -float(judge(pair, "r0").verdicts[0].findings[1].value or 0)
    (row,) = rows_of(power_table(pair, losses=(loss,), counts=(), of="georisk", power=0.5))
    spread = row["spread"]
    rejected = 0
    for matrix in drawn:
        finding = judge(matrix, "r0").verdicts[0].findings[1]
        assert finding.p is not None
        rejected += finding.p < 0.05
    assert rejected / 300 == pytest.approx(power(loss, spread, topics, 0.05), abs=0.09)
