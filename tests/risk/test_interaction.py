"""The test of run x group against plain loops, and what must not change its answer."""

from __future__ import annotations

import numpy as np
import pytest

from riskcli.core.arrays import Floats, Rows
from riskcli.risk.interaction import LEAST_GROUP, interaction, welch


def of_loops(delta: Floats, groups: Rows, weights: Floats | None = None) -> list[float]:
    """Of each run Welch's statistic, a topic of the whole's spread added to each group."""
    found = []
    for run in delta:
        spread = sum((d - sum(run) / len(run)) ** 2 for d in run) / (len(run) - 1)
        parts = []
        for group in sorted(set(groups.tolist())):
            members = [q for q in range(len(run)) if groups[q] == group]
            w = [1.0 if weights is None else float(weights[q]) for q in members]
            mean = sum(a * run[q] for a, q in zip(w, members, strict=True)) / sum(w)
            squares = sum(a**2 * (run[q] - mean) ** 2 for a, q in zip(w, members, strict=True))
            squares += spread * sum(a**2 for a in w) / len(members)
            parts.append((mean, squares / sum(w) ** 2))
        if any(variance == 0 for _, variance in parts):
            found.append(0.0)
            continue
        centre = sum(m / v for m, v in parts) / sum(1 / v for _, v in parts)
        found.append(sum((m - centre) ** 2 / v for m, v in parts))
    return found


def sample(seed: int, runs: int = 3, sizes: tuple[int, ...] = (12, 10, 18)) -> tuple[Floats, Rows]:
    generator = np.random.default_rng(seed)
    delta = generator.exponential(size=(runs, sum(sizes))) - 1
    delta[0, ::3] = 0.0
    return delta, generator.permutation(np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("seed", range(4))
def test_the_statistic_is_that_of_plain_loops(seed: int) -> None:
    delta, groups = sample(seed)
    members = groups == np.arange(3)[:, None]
    found = welch(delta, members, np.ones(40))
    np.testing.assert_allclose(found, of_loops(delta, groups), rtol=1e-9)
    weights = np.random.default_rng(seed).exponential(size=40) + 0.1
    found = welch(delta, np.array([members, members[::-1]]), weights)
    np.testing.assert_allclose(found, [of_loops(delta, groups, weights)] * 2, rtol=1e-9)


def test_the_p_value_is_that_of_plain_shuffles() -> None:
    delta, groups = sample(5, runs=2, sizes=(10, 14))
    delta[1, groups == 0] += 0.7
    found = interaction(delta, groups, 1)
    generator, observed = np.random.default_rng(7), max(of_loops(delta, groups))
    reached = [max(of_loops(delta, generator.permutation(groups))) >= observed for _ in range(600)]
    assert 0.01 < np.mean(reached) < 0.3
    assert found == pytest.approx(np.mean(reached), abs=0.05)


def test_no_order_and_no_number_of_groups_changes_the_answer() -> None:
    delta, groups = sample(1)
    expected = interaction(delta, groups, 1)
    order = np.random.default_rng(3).permutation(40)
    again = interaction(delta[::-1][:, order], np.array([2, 0, 1])[groups[order]], 1)
    assert again == expected
    scaled = interaction(1e-9 * delta, groups, 1)
    assert scaled == expected


def test_small_groups_are_left_out() -> None:
    delta, groups = sample(2)
    more = np.concatenate([delta, np.full((3, LEAST_GROUP - 1), 50.0)], axis=1)
    small = interaction(more, np.concatenate([groups, np.full(LEAST_GROUP - 1, 3)]), 1)
    alone = interaction(delta, groups, 1)
    assert small == alone
    assert np.isnan(interaction(delta, np.where(np.arange(40) < 9, 0, 1), 1))


def test_what_does_not_vary_does_not_depend_on_the_group() -> None:
    groups = np.repeat([0, 1], 15)
    for delta in (np.zeros((2, 30)), np.full((2, 30), 0.1 + 0.2)):
        found = interaction(delta, groups, 1)
        assert found == 1.0
    constant = np.where(groups == 0, 0.1, 0.2)[None]
    found = interaction(constant, groups, 1)
    assert found < 0.01
