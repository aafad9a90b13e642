"""Ranks and their intervals: literal tests of every pair, portions, equal runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from riskcli import Options, Significance, risk_table
from riskcli.risk.intervals import rank_intervals, rank_intervals_of_parts
from tests.helpers import reference
from tests.helpers.examples import equal_runs
from tests.helpers.strategies import Floats, named, score_values


@settings(max_examples=60)
@given(score_values(min_runs=2, min_topics=3), st.sampled_from([0.05, 0.3]))
def test_rank_intervals_equal_literal_ones(values: Floats, gamma: float) -> None:
    means = values.mean(axis=1)
    deviations = values - means[:, None]
    apart = values[:, None] - values[None]
    assume(not ((np.ptp(apart, axis=2) < 1e-9) & (np.abs(apart).max(axis=2) > 1e-12)).any())
    low, high = rank_intervals(means, deviations, gamma)
    for run in range(len(values)):
        expected = reference.rank_interval(means.tolist(), deviations.tolist(), run, gamma)
        assert (low[run], high[run]) == expected


@settings(max_examples=40)
@given(score_values(min_runs=2, min_topics=3), st.sampled_from([0.05, 0.3]))
def test_ranks_of_weighted_parts_equal_those_of_their_sum(values: Floats, gamma: float) -> None:
    parts = [part - part.mean(axis=1, keepdims=True) for part in (values, values[:, ::-1] ** 2)]
    weights = [(1.0, -1.0), (1.0, -2.5), (0.0, 1.0)]
    sums = [w * parts[0] + v * parts[1] for w, v in weights]
    apart = [each[:, None] - each[None] for each in sums]
    close = [(a.std(axis=2) < 1e-6) & (a.std(axis=2) > 0) for a in apart]
    assume(not np.any(close))
    together = rank_intervals_of_parts(np.tile(values.mean(axis=1), (3, 1)), parts, weights, gamma)
    for each, found in zip(sums, together, strict=True):
        assert np.array_equal(found, rank_intervals(values.mean(axis=1), each, gamma))


@pytest.mark.parametrize("seed", range(4))
def test_rank_intervals_of_the_table_equal_tests_of_every_pair(seed: int) -> None:
    """Jackknife of every pair by a literal loop, Holm over a run's others, at each alpha."""
    generator, gamma = np.random.default_rng(seed), 0.3
    spread = np.array([[0.05], [0.1], [0.3], [0.6], [0.9]])
    values = generator.beta(2, 2, 16) * np.exp(spread * generator.standard_normal((5, 16)) - 1)
    plan = Options(alphas=(0.0, 1.0, 5.0), significance=Significance(gamma=gamma))
    gains = replace(named(values), measure="gain")
    frame = risk_table(gains, "r0", options=plan).to_frame()
    matrix, narrow = values.tolist(), dict.fromkeys(("mean", "zrisk", "georisk"), 0)
    for alpha, (column, measure) in product(
        plan.alphas, (("mean", None), ("zrisk", "zeta"), ("georisk", "georisk"))
    ):
        for j in range(5):
            others = [k for k in range(5) if k != j]
            tests = [
                reference.mean_test(reference.deltas(matrix[j], matrix[k]))
                if measure is None
                else reference.difference_jackknife(matrix, j, k, measure, alpha)  # type: ignore[arg-type]
                for k in others
            ]
            adjusted = reference.holm([test["p"] for test in tests])
            told = [t for t, p in zip(tests, adjusted, strict=True) if p is not None and p < gamma]
            low = 1 + sum(test["estimate"] < 0 for test in told)
            high = 5 - sum(test["estimate"] > 0 for test in told)
            row = frame[(frame["alpha"] == alpha) & (frame["run"] == f"r{j}")].iloc[0]
            assert (row[f"rank_{column}_lo"], row[f"rank_{column}_hi"]) == (low, high)
            narrow[column] += (low, high) != (1, 5)
    assert narrow["zrisk"] > 2 and narrow["georisk"] > 2


def test_ranks_and_their_intervals_in_the_table() -> None:
    """A run far above the others is the first for certain; the two below may change places."""
    generator = np.random.default_rng(1)
    values = generator.random((3, 40)) * 0.2
    values[2] += 0.5
    frame = risk_table(named(values), "r0").to_frame()
    assert frame[["rank_mean_lo", "rank_mean_hi"]].to_numpy().tolist() == [[2, 3], [2, 3], [1, 1]]
    georisk = frame[["rank_georisk_lo", "rank_georisk", "rank_georisk_hi"]].to_numpy(dtype=float)
    assert (np.diff(georisk, axis=1) >= 0).all()


def test_rank_intervals_hold_equal_runs_together() -> None:
    """Coverage: all runs are equal, so an interval should hold every rank."""
    generator = np.random.default_rng(7)
    held = []
    for _ in range(300):
        values = equal_runs(generator, 50)
        low, high = rank_intervals(
            values.mean(axis=1), values - values.mean(axis=1, keepdims=True), 0.05
        )
        held += ((low == 1) & (high == 8)).tolist()
    assert 0.94 <= np.mean(held) <= 0.99


def test_ranks_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    from riskcli.risk import intervals as ranks

    values = np.random.default_rng(3).random((7, 30)) + np.linspace(0, 0.4, 7)[:, None]
    arguments = values.mean(axis=1), values - values.mean(axis=1, keepdims=True), 0.05
    at_once = rank_intervals(*arguments)
    monkeypatch.setattr(ranks, "_CELLS_AT_ONCE", 14)
    assert np.array_equal(at_once, rank_intervals(*arguments))
