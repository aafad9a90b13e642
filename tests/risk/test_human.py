"""A model's differences corrected by humans, against plain loops; and what must always hold."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from benchmarks.judges import MODELS, WORLDS, World, measured
from riskcli.core.arrays import Floats
from riskcli.risk.human import corrected_mean, mean_of


def made(seed: int, runs: int, topics: int) -> tuple[Floats, Floats]:
    """Differences by humans and by a model that is like them, on all topics."""
    generator = np.random.default_rng(seed)
    human = generator.normal(0.05, 0.2, (runs, topics))
    return human, 0.7 * human + generator.normal(0.1, 0.1, (runs, topics))


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def variance(values: list[float]) -> float:
    return sum((v - mean(values)) ** 2 for v in values) / (len(values) - 1)


def slope(h: list[float], f: list[float]) -> float:
    """Of h on f, times 1 - 1/F where F is above 1."""
    mh, mf = mean(h), mean(f)
    both = sum((a - mh) * (b - mf) for a, b in zip(h, f, strict=True))
    of_model = sum((b - mf) ** 2 for b in f)
    found = both / of_model
    explained = found * both
    rest = sum((a - mh - found * (b - mf)) ** 2 for a, b in zip(h, f, strict=True))
    return found * max(0.0, 1 - rest / (len(h) - 2) / explained)


def by_loops(h: list[float], f: list[float], others: list[float]) -> tuple[float, float, float]:
    """Estimate, error, degrees of freedom; `f` are the model's of the humans' topics."""
    n, of_others = len(h), len(others)
    powers = []
    for left_out in range(n):
        rest = [i for i in range(n) if i != left_out]
        tuned = slope([h[i] for i in rest], [f[i] for i in rest]) * of_others / (n + of_others)
        powers.append(min(1.0, max(0.0, tuned)))
    each = [x - p * (y - mean(others)) for x, y, p in zip(h, f, powers, strict=True)]
    first = variance(each) / n
    second = mean(powers) ** 2 * variance(f + others) / of_others
    degrees = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (of_others - 1))
    return mean(each), sqrt(first + second), degrees


@pytest.mark.parametrize(("judged", "topics"), [(5, 9), (10, 40), (25, 200), (12, 14)])
def test_estimate_error_and_interval_are_those_of_plain_loops(judged: int, topics: int) -> None:
    human, model = made(judged, 4, topics)
    places = np.random.default_rng(1).permutation(topics) < judged
    found = corrected_mean(human[:, places], model, places)
    low, high = found.interval(0.1)
    for row in range(4):
        estimate, error, degrees = by_loops(
            human[row, places].tolist(), model[row, places].tolist(), model[row, ~places].tolist()
        )
        assert found.mean[row] == pytest.approx(estimate, abs=1e-12)
        assert found.error[row] == pytest.approx(error, rel=1e-10)
        assert found.degrees[row] == pytest.approx(degrees, rel=1e-10)
        margin = student.ppf(0.95, degrees) * error
        assert (low[row], high[row]) == pytest.approx((estimate - margin, estimate + margin))
        assert found.p[row] == pytest.approx(2 * student.sf(abs(estimate) / error, degrees))


def test_a_model_that_says_nothing_leaves_the_humans_t_interval() -> None:
    human, _ = made(3, 5, 30)
    model = np.repeat([[0.3]], 60, axis=1) * np.ones((5, 1))
    found, alone = corrected_mean(human, model, np.arange(60) < 30), mean_of(human)
    for own, expected in zip(found.interval(0.05), alone.interval(0.05), strict=True):
        assert own == pytest.approx(expected, rel=1e-12)
    t = human.mean(axis=1) / (human.std(axis=1, ddof=1) / sqrt(30))
    assert alone.p == pytest.approx(2 * student.sf(np.abs(t), 29))


def test_humans_who_judged_everything_have_their_own_figures_exactly() -> None:
    human, model = made(4, 3, 12)
    found, alone = corrected_mean(human, model, np.ones(12, dtype=bool)), mean_of(human)
    assert (found.mean.tolist(), found.error.tolist(), found.degrees.tolist()) == (
        alone.mean.tolist(), alone.error.tolist(), alone.degrees.tolist()
    )  # fmt: skip


def test_a_model_that_is_right_gives_the_mean_over_all_topics() -> None:
    human, _ = made(5, 3, 60)
    found = corrected_mean(human[:, :20], human, np.arange(60) < 20)
    assert found.mean == pytest.approx(human.mean(axis=1), abs=1e-12)
    assert found.error == pytest.approx(human.std(axis=1, ddof=1) / sqrt(60), rel=0.1)


def test_a_run_that_is_its_baseline_differs_from_nothing() -> None:
    found = corrected_mean(np.zeros((1, 6)), np.zeros((1, 20)), np.arange(20) < 6)
    assert (found.mean[0], found.p[0]) == (0.0, 1.0)
    constant = corrected_mean(np.full((1, 6), 0.1), np.full((1, 20), 0.2), np.arange(20) < 6)
    assert constant.mean[0] == pytest.approx(0.1) and np.isnan(constant.p[0])


@given(st.integers(0, 10**6), st.integers(5, 30), st.integers(1, 40), st.floats(-1, 1))
def test_what_a_model_adds_everywhere_changes_nothing(
    seed: int, judged: int, others: int, added: float
) -> None:
    human, model = made(seed, 2, judged + others)
    places = np.arange(judged + others) < judged
    before = corrected_mean(human[:, places], model, places)
    after = corrected_mean(human[:, places], model + added, places)
    assert after.mean == pytest.approx(before.mean, abs=1e-9)
    assert after.error == pytest.approx(before.error, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS[:2])
def test_intervals_hold_the_mean_and_are_no_wider_than_those_of_humans_alone(name: str) -> None:
    generator = np.random.default_rng(6)
    for model in MODELS:
        world = World.of(name, model, generator)
        for humans, topics in ((10, 100), (25, 50), (50, 200)):
            holds, _, width = measured(world, humans, topics, 4000, generator)
            assert holds >= 0.937 and width <= 1.02  # .94 less the noise of 4,000 draws
            if model != "blind":
                assert width < 0.95
