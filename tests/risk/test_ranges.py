"""Paired tests over ranges of differences, against every corner and many points within."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli.core.arrays import Floats
from riskcli.risk.ranges import may_be_below, surely_below
from riskcli.risk.rounding import NO_DIFFERENCE


def t_of(delta: Floats) -> float:
    spread = delta.std(ddof=1)
    if spread == 0:
        return float(np.sign(delta.mean())) * np.inf if delta.mean() else 0.0
    return float(delta.mean() / (spread / np.sqrt(len(delta))))


def corners(low: Floats, high: Floats) -> list[Floats]:
    return [
        np.where(ends, high, low)
        for ends in np.array(list(product((False, True), repeat=len(low))))
    ]


def some_ranges(seed: int, topics: int) -> tuple[Floats, Floats, Floats]:
    """Ranges mostly below 0, some of them points, and differences within."""
    rng = np.random.default_rng(seed)
    at = rng.normal(-0.25, rng.choice([0.05, 0.2, 0.4]), topics)
    width = rng.exponential(rng.choice([0.01, 0.1, 0.3]), topics) * (rng.random(topics) < 0.7)
    low, high = at - width * rng.random(topics), at + width * rng.random(topics)
    return low, high, low + (high - low) * rng.choice([0.0, 0.5, 1.0], topics)


def within(low: Floats, high: Floats, seed: int, count: int = 30) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [low + (high - low) * rng.random(len(low)) for _ in range(count)]


@pytest.mark.parametrize("topics", [2, 3, 5, 7])
def test_what_is_surely_below_is_below_everywhere(topics: int) -> None:
    critical = float(stats.t.ppf(0.95, topics - 1))
    sure = decidable = 0
    for seed in range(80):
        low, high, _ = some_ranges(seed, topics)
        everywhere = all(t_of(delta) < -critical for delta in corners(low, high))
        said = surely_below(low, high, critical)
        if said:
            assert everywhere, seed
            assert all(t_of(delta) < -critical for delta in within(low, high, seed))
        sure, decidable = sure + said, decidable + everywhere
    assert decidable > 5
    assert sure >= 0.9 * decidable  # of what every corner decides, little is left undecided


@pytest.mark.parametrize("topics", [2, 3, 5, 7])
def test_what_may_be_below_is_below_somewhere(topics: int) -> None:
    critical = float(stats.t.ppf(0.95, topics - 1))
    found = there = 0
    for seed in range(80):
        low, high, judged = some_ranges(seed, topics)
        points = [
            np.choose(chosen, [low, judged, high])
            for chosen in np.array(list(product(range(3), repeat=min(topics, 5))))
        ] if topics <= 5 else corners(low, high)  # fmt: skip
        somewhere = any(t_of(delta) < -critical for delta in points)
        said = may_be_below(low, high, critical, judged)
        if topics <= 5:
            assert somewhere or not said, seed
        found, there = found + said, there + somewhere
    assert there > 5
    assert found >= 0.9 * there


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.5)), min_size=2, max_size=6),
    st.floats(0.1, 8),
)
def test_both_never_contradict(ranges: list[tuple[float, float]], critical: float) -> None:
    low = np.array([start for start, _ in ranges])
    high = low + np.array([width for _, width in ranges])
    if surely_below(low, high, critical):
        assert all(t_of(delta) < -critical * (1 - 1e-9) for delta in corners(low, high))
        assert not may_be_below(-high, -low, critical, -high)
    if may_be_below(low, high, critical, low):
        assert any(t_of(delta) < -critical * (1 - 1e-9) for delta in corners(low, high))


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 1e6])
def test_the_unit_of_scores_decides_nothing_but_below_rounding(scale: float) -> None:
    low, high = (
        np.array([-0.31, -0.3, -0.35, -0.3]) * scale,
        np.array([-0.3, -0.2, -0.3, -0.25]) * scale,
    )
    critical = float(stats.t.ppf(0.95, 3))
    is_loss = scale > 10 * NO_DIFFERENCE
    assert surely_below(low, high, critical) is is_loss
    assert may_be_below(low, high, critical, low) is is_loss


def test_points_are_decided_as_the_test_itself_does() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        delta = rng.normal(-0.1, 0.2, 12)
        critical = float(rng.uniform(0.5, 4))
        assume_clear = abs(t_of(delta) + critical) > 1e-3
        if assume_clear:
            below = t_of(delta) < -critical
            assert surely_below(delta, delta, critical) is below
            assert may_be_below(delta, delta, critical, delta) is below


def test_a_larger_difference_may_make_the_loss_significant() -> None:
    """Which is why the ends of all ranges do not decide it."""
    low = np.array([-0.2, -0.2, -0.2, -0.2, -1.5])
    high = np.array([-0.2, -0.2, -0.2, -0.2, -0.25])
    critical = float(stats.t.ppf(0.95, 4))
    assert t_of(low) > -critical > t_of(high)
    assert not surely_below(low, high, critical)
    assert may_be_below(low, high, critical, low)


def test_one_topic_decides_nothing() -> None:
    one = np.array([-0.5])
    assert not surely_below(one, one, 2.0)
    assert not may_be_below(one, one, 2.0, one)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.floats(0.1, 1.5), st.integers(3, 6))
def test_a_margin_is_a_shift(seed: int, margin: float, topics: int) -> None:
    """A larger loss is excluded for sure where the differences turned round are surely below."""
    low, high, _ = some_ranges(seed, topics)
    critical = float(stats.t.ppf(0.95, topics - 1))
    least, most = low + margin, high + margin
    if surely_below(-most, -least, critical):
        assert min(t_of(d) for d in [*corners(least, most), *within(least, most, seed)]) > critical
