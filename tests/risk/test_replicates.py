"""Noise between replicates: self-risk by brute force, variance by the textbook, lost topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.replicates import GAMMA, below_floor, errors, falsely_lost
from riskcli.risk.comparison import POOLS, Baseline, Comparison
from riskcli.risk.population import Members
from riskcli.risk.replicates import PRIOR, Loss, Repeats, components, pulls_of
from tests.helpers import reference
from tests.helpers.strategies import ALPHAS, Floats, score_values


def counted(alpha: float) -> Loss:
    return lambda delta: np.where(delta < 0, (1 + alpha) * delta, delta)


def brute_self_risk(scores: Floats, alpha: float) -> float:
    """Every replicate against every other, one after the other."""
    rows = scores.tolist()
    values = []
    for one, other in permutations(rows, 2):
        gains = [a - b for a, b in zip(one, other, strict=True)]
        values.append(sum(d if d >= 0 else (1 + alpha) * d for d in gains) / len(gains))
    return float(sum(values) / len(values))


@settings(max_examples=60, deadline=None)
@given(score_values(), ALPHAS)
def test_self_risk_is_that_of_all_ordered_pairs(values: Floats, alpha: float) -> None:
    (risk,) = Repeats([values]).self_risks(counted(alpha))
    assert risk == pytest.approx(brute_self_risk(values, alpha), abs=1e-9)
    assert risk <= 1e-12


def test_one_run_and_equal_replicates_have_no_noise_at_all() -> None:
    """Exactly none, though the mean of three times 0.1 is not 0.1 in floating point."""
    equal = np.full((3, 4), 0.1)
    repeats = Repeats([equal, np.array([[0.3, 0.2, 0.1, 0.7]])])
    risks, pulls = repeats.self_risks(counted(5)), np.zeros((2, 4))
    pulls[1] = 1
    for figures in (risks, repeats.floors(risks, pulls), repeats.half_widths(pulls, 0.05)):
        assert not figures.any() and not np.signbit(figures).any()


def test_the_floor_shrinks_with_the_number_of_replicates() -> None:
    """Of one recipe: self-risk times the root of (1/r + 1/r') / 2; 0 noise from a single run."""
    rng = np.random.default_rng(1)
    each = [rng.random((5, 30)), rng.random((3, 30)), rng.random((1, 30))]
    repeats, risks = Repeats(each), np.array([-0.2, -0.2, 0.0])
    pulls = np.zeros((3, 30))
    pulls[0] = 1
    floors = repeats.floors(risks, pulls)
    expected = [0, -0.2 * np.sqrt((1 / 5 + 1 / 3) / 2), -0.2 * np.sqrt(1 / 5 / 2)]
    assert floors == pytest.approx(expected)


@pytest.mark.parametrize("pool", ["mean", "median", "max", "min"])
@pytest.mark.parametrize("runs", [2, 3, 4])
def test_pulls_are_what_a_pool_moves_by(pool: str, runs: int) -> None:
    """The derivative: each score a little higher, and how much higher the pooled score is."""
    scores = np.random.default_rng(runs).random((runs, 6))
    named = Comparison(scores, Baseline("a,b", (*range(runs),), scores[0]))
    virtual = Comparison(scores, Baseline("@" + pool, (), scores[0]))
    pulls, step = pulls_of(virtual, "mean"), 1e-7
    assert (pulls == pulls_of(named, pool)).all()
    others = Members(scores, scores, np.ones(runs), "frozen")
    assert not pulls_of(replace(virtual, members=others), pool).any()
    of = POOLS[pool]
    for row in range(runs):
        moved = scores.copy()
        moved[row] += step
        change = (of(moved) - of(scores)) / step
        assert change == pytest.approx(pulls[row], abs=1e-6)


def test_half_widths_are_welch_s_with_moderated_variances() -> None:
    """By hand, on one topic of two systems."""
    one = np.array([[0.1, 0.5], [0.3, 0.5], [0.2, 0.8]])
    two = np.array([[0.4, 0.4], [0.6, 0.1]])
    repeats, pulls = Repeats([one, two]), np.array([[0.0, 0.0], [1.0, 1.0]])
    parts, freedoms = [], []
    for scores in (one, two):
        own = [float(np.var(column, ddof=1)) for column in scores.T]
        freedom = PRIOR + len(scores) - 1
        moderated = (PRIOR * np.mean(own) + (len(scores) - 1) * own[0]) / freedom
        parts.append(moderated / len(scores))
        freedoms.append(freedom)
    welch = sum(parts) ** 2 / sum(p**2 / f for p, f in zip(parts, freedoms, strict=True))
    from scipy import stats

    expected = stats.t.ppf(0.975, welch) * np.sqrt(sum(parts))
    assert repeats.half_widths(pulls, 0.05)[0, 0] == pytest.approx(expected)
    assert not repeats.half_widths(pulls, 0.05)[1].any()  # the baseline against itself


def test_a_run_that_is_part_of_its_baseline_shares_its_noise() -> None:
    """Of two systems, each differs from their mean by half the difference of both."""
    rng = np.random.default_rng(4)
    repeats = Repeats([rng.random((4, 9)), rng.random((4, 9))])
    halves = repeats.half_widths(np.full((2, 9), 0.5), GAMMA)
    against = repeats.half_widths(np.array([np.zeros(9), np.ones(9)]), GAMMA)[0]
    assert halves[0] == pytest.approx(against / 2) and halves[1] == pytest.approx(against / 2)


def test_components_are_the_textbook_s_on_balanced_data() -> None:
    """Expected mean squares: topics crossed with systems, replicates within these."""
    rng = np.random.default_rng(2)
    k, r, c = 4, 3, 40
    x = (
        0.5 + rng.normal(0, 0.1, (k, 1, 1)) + rng.normal(0, 0.3, (1, 1, c))
        + rng.normal(0, 0.15, (k, 1, c)) + rng.normal(0, 0.1, (k, r, 1))
        + rng.normal(0, 0.08, (k, r, c))
    )  # fmt: skip
    mean, of_system, of_topic = x.mean(), x.mean(axis=(1, 2)), x.mean(axis=(0, 1))
    of_run, of_cell = x.mean(axis=2), x.mean(axis=1)
    ms_system = r * c * ((of_system - mean) ** 2).sum() / (k - 1)
    ms_topic = k * r * ((of_topic - mean) ** 2).sum() / (c - 1)
    inter = of_cell - of_system[:, None] - of_topic[None] + mean
    ms_inter = r * (inter**2).sum() / ((k - 1) * (c - 1))
    ms_run = c * ((of_run - of_system[:, None]) ** 2).sum() / (k * (r - 1))
    rest = x - of_run[:, :, None] - of_cell[:, None] + of_system[:, None, None]
    ms_rest = (rest**2).sum() / (k * (r - 1) * (c - 1))
    found = [*components([*x]).values()]
    assert found == pytest.approx([
        (ms_system - ms_inter - ms_run + ms_rest) / (r * c),
        (ms_topic - ms_inter) / (k * r),
        (ms_inter - ms_rest) / r,
        (ms_run - ms_rest) / c,
        ms_rest,
    ])  # fmt: skip


def test_components_of_unequal_numbers_are_right_on_average() -> None:
    """Systems of 5, 2 and 1 replicates; the last has no noise, as is said of it."""
    rng, found = np.random.default_rng(5), []
    for _ in range(300):
        topics, each = rng.normal(0, 0.3, 30), []
        for size in (5, 2, 5, 2, 1):
            own = topics + rng.normal(0, 0.1) + rng.normal(0, 0.15, 30)
            noise = rng.normal(0, 0.05, (size, 1)) + rng.normal(0, 0.08, (size, 30))
            each.append(np.atleast_2d(own + (noise if size > 1 else 0)))
        found.append([*components(each).values()])
    truth = [0.1**2, 0.3**2, 0.15**2, 0.05**2, 0.08**2]
    assert np.mean(found, axis=0) == pytest.approx(truth, rel=0.08)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_few_topics_are_falsely_lost(size: int, spread: float) -> None:
    """Of systems of one recipe, even where some topics are noisier than others."""
    assert 0.2 * GAMMA / 2 < falsely_lost(size, spread, 150) <= GAMMA / 2 * 1.2


def test_the_floor_is_what_urisk_of_one_recipe_is_on_average() -> None:
    _, urisk, floor = below_floor((3, 3), 5.0, 100)
    assert floor == pytest.approx(urisk, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["one each", "five each", "five and three"])
def test_tests_of_averages_err_as_often_as_they_say(design: str) -> None:
    """The published simulation, a small part of it: four standard errors about 1 in 20."""
    singles = errors(design, 120, baselines=("a",))[:3]
    assert all(0.015 < rate < 0.085 for rate in singles), singles


def test_the_reference_agrees_on_urisk_of_a_pair() -> None:
    pair = np.array([[0.1, 0.4, 0.7], [0.3, 0.2, 0.7]])
    one, two = (reference.urisk(a, b, 2.0) for a, b in permutations(pair.tolist(), 2))
    (risk,) = Repeats([pair]).self_risks(counted(2.0))
    assert risk == pytest.approx((one + two) / 2)
