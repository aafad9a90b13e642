"""Where curves over alpha meet: in closed form, against a scan over fine alphas."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import Options
from riskcli.analyses.sweep_events import Event, events
from riskcli.risk.crossings import Pairs, Span, _real_parts, swaps_of_georisk, swaps_of_trisk
from riskcli.risk.measures import measures
from riskcli.risk.paired import Paired
from riskcli.risk.population import Departures
from riskcli.scores.comparisons import comparisons
from tests.analyses.test_sweep_alpha import NAMES
from tests.helpers import reference
from tests.helpers.strategies import Floats, named, score_values

LAST = 20.0
GRID = np.linspace(0, LAST, 801)
NOISE = 1e-9
BY_ID = {measure.id: measure for measure in measures()}
Curve = Callable[[Floats], Floats]


def curves(values: Floats) -> dict[str, list[Curve | None]]:
    """Each run's value at any alphas, written down anew from the definitions."""
    matrix = [row.tolist() for row in values]
    topics = len(matrix[0])
    z = [np.array(row) for row in reference.zmatrix(matrix)]
    delta = [np.array(row) - np.array(matrix[0]) for row in matrix]

    def weighted(d: Floats, alphas: Floats) -> Floats:
        return np.where(d < 0, d * (1 + alphas[:, None]), d)

    def urisk(i: int) -> Curve | None:
        return None if i == 0 else lambda a: weighted(delta[i], a).mean(axis=1)

    def trisk(i: int) -> Curve | None:
        if i == 0:
            return None

        def curve(a: Floats) -> Floats:
            w = weighted(delta[i], a)
            error = w.std(axis=1, ddof=1) / math.sqrt(topics)
            with np.errstate(divide="ignore", invalid="ignore"):
                t = w.mean(axis=1) / error
            flat = np.ptp(delta[i]) < 1e-12
            return (
                np.full(len(a), np.sign(delta[i][0]) * np.inf if delta[i].any() else 0.0)
                if flat
                else t
            )

        return curve

    def zrisk(i: int) -> Curve:
        return lambda a: weighted(z[i], a).sum(axis=1)

    def georisk(i: int) -> Curve:
        mean = sum(matrix[i]) / topics
        phi = np.vectorize(reference.phi_cdf)
        return lambda a: np.sqrt(mean * phi(zrisk(i)(a) / topics))

    made = {"urisk": urisk, "trisk": trisk, "zrisk": zrisk, "georisk": georisk}
    return {name: [of(i) for i in range(len(matrix))] for name, of in made.items()}


def difference(one: Floats, other: Floats) -> Floats:
    """One less other; 0 where that may be rounding."""
    with np.errstate(invalid="ignore"):
        d = one - other
        size = np.where(np.isfinite(one), np.abs(one), 0) + np.where(
            np.isfinite(other), np.abs(other), 0
        )
    return np.where(np.isnan(d) | (np.abs(d) <= NOISE * (1e-3 + size)), 0.0, d)


def check_swaps(one: Curve, other: Curve, alphas: list[float], sides: list[int]) -> None:
    """At every event the sign turns, and turns nowhere else on the grid."""
    marks = [0.0, *alphas, LAST]
    for place, alpha in enumerate(alphas):
        below = alpha - 0.49 * (alpha - marks[place])
        above = alpha + 0.49 * (marks[place + 2] - alpha)
        before, after = difference(*(f(np.array([below, above])) for f in (one, other)))
        if before and after:
            assert before * after < 0, "no change of sign: an event was invented"
            assert np.sign(after) == sides[place]
        at = difference(*(f(np.array([alpha])) for f in (one, other)))[0]
        assert abs(at) < 1e-6
    signs = np.sign(difference(one(GRID), other(GRID)))
    known = np.flatnonzero(signs)
    for left, right in itertools.pairwise(known):
        crossed = sum(GRID[left] < alpha < GRID[right] for alpha in alphas)
        assert crossed % 2 == (signs[left] != signs[right]), "an event was missed or invented"


def found_in(values: Floats, name: str, last: float = LAST) -> list[Event]:
    (comparison,) = comparisons(named(values), Options(baselines=("r0",)))
    span = Span(0.0, last)
    return events(comparison, span, 0.05, range(len(values)), [BY_ID[name]])


@pytest.mark.slow
@settings(max_examples=150)
@given(score_values(min_runs=3, max_runs=6), st.sampled_from(NAMES))
def test_swaps_agree_with_a_fine_scan(values: Floats, name: str) -> None:
    found = [event for event in found_in(values, name) if event.kind == "swap"]
    curve = curves(values)[name]
    assert [event.alpha for event in found] == sorted(event.alpha for event in found)
    for i, j in itertools.combinations(range(len(values)), 2):
        mine = [event for event in found if {event.run, event.other} == {i, j}]
        one, other = curve[i], curve[j]
        if one is None or other is None:
            assert not mine
            continue
        sides = [1 if event.run == i else -1 for event in mine]
        check_swaps(one, other, [event.alpha for event in mine], sides)


@settings(max_examples=80)
@given(score_values(min_runs=2, max_runs=5, min_topics=3))
def test_significance_agrees_with_a_fine_scan(values: Floats) -> None:
    critical = reference.student_quantile(values.shape[1] - 1)
    found = [event for event in found_in(values, "trisk") if event.kind == "significance"]
    for i, curve in enumerate(curves(values)["trisk"]):
        mine = [event for event in found if event.run == i]
        if curve is None:
            assert not mine
            continue
        with np.errstate(invalid="ignore"):
            t = curve(GRID)
        state = np.where(np.abs(t) > critical, np.sign(t), 0)
        clear = np.flatnonzero(np.abs(np.abs(t) - critical) > 1e-7)
        names = {-1.0: "worse", 0.0: "", 1.0: "better"}
        for left, right in itertools.pairwise(clear):
            here = [event for event in mine if GRID[left] < event.alpha < GRID[right]]
            if state[left] == state[right]:
                assert not here or here[0].before == here[-1].after
                continue
            assert here[0].before == names[state[left]]
            assert here[-1].after == names[state[right]]
        for event in mine:
            assert curve(np.array([event.alpha]))[0] == pytest.approx(event.value, abs=1e-6)
        for first, second in itertools.pairwise(mine):
            assert first.after == second.before


@settings(max_examples=100)
@given(score_values())
def test_break_even_is_gain_over_risk(values: Floats) -> None:
    found = {e.run: e.alpha for e in found_in(values, "urisk") if e.kind == "break-even"}
    matrix = [row.tolist() for row in values]
    for i in range(1, len(matrix)):
        risk = reference.risk(matrix[i], matrix[0])
        alpha = reference.gain(matrix[i], matrix[0]) / risk if risk else -1.0
        if 1e-9 < alpha < LAST - 1e-9:
            assert found[i] == pytest.approx(alpha, rel=1e-9, abs=1e-9)
            assert reference.urisk(matrix[i], matrix[0], found[i]) == pytest.approx(0, abs=1e-9)
        elif abs(alpha) > 1e-9:
            assert i not in found


def check_changes(states: Floats, grid: Floats, alphas: list[float]) -> None:
    """One alpha where the state changes between two points of the grid, and no other."""
    places = np.flatnonzero(states[1:] != states[:-1])
    assert len(alphas) == len(places)
    for alpha, place in zip(alphas, places, strict=True):
        assert grid[place] <= alpha <= grid[place + 1]


def test_georisk_curves_that_cross_twice_against_a_fine_scan() -> None:
    """Sums of z chosen freely: steep curves that start high meet flat ones that start low."""
    rng = np.random.default_rng(12)
    phi = np.vectorize(reference.phi_cdf)
    grid = np.linspace(0, 10, 4001)
    crossings: list[int] = []
    for _ in range(40):
        above, below = rng.uniform(0, 4, 8), rng.uniform(0.05, 1.5, 8)
        mean = rng.uniform(0.2, 0.6, 8)
        departures = Departures(above, below, mean, topics=1)
        found = swaps_of_georisk(departures, Pairs.of(list(range(8))), Span(0, 10))
        series = [
            np.log(m) + np.log(phi(a - b * (1 + grid)))
            for a, b, m in zip(above, below, mean, strict=True)
        ]
        for i, j in itertools.combinations(range(8), 2):
            here = {(int(x), int(y)) for x, y in ((i, j), (j, i))}
            pairs = zip(found.ahead.tolist(), found.behind.tolist(), found.alpha, strict=True)
            mine = sorted(alpha for x, y, alpha in pairs if (x, y) in here)
            check_changes(np.sign(series[i] - series[j]), grid, mine)
            crossings.append(len(mine))
    assert max(crossings) >= 2 and crossings.count(2) > 10


def test_trisk_curves_that_cross_twice_against_a_fine_scan() -> None:
    """One pair in some 250: those whose sign is the same at both ends of the alphas."""
    rng = np.random.default_rng(3)
    grid = np.linspace(0, LAST, 2001)
    crossings: list[int] = []
    for _ in range(150):
        values = rng.uniform(0, 1, (9, 6))
        found = swaps_of_trisk(
            Paired(values, values[0]).moments, Pairs.of(list(range(1, 9))), Span(0, LAST)
        )
        ends = zip(found.ahead.tolist(), found.behind.tolist(), found.alpha, strict=True)
        swaps = [({ahead, behind}, alpha) for ahead, behind, alpha in ends]
        series = [curve(grid) for curve in curves(values)["trisk"] if curve]
        for i, j in itertools.combinations(range(8), 2):
            mine = sorted(alpha for pair, alpha in swaps if pair == {i + 1, j + 1})
            check_changes(np.sign(series[i] - series[j]), grid, mine)
            crossings.append(len(mine))
    assert crossings.count(2) > 10


def test_roots_of_many_quartics_are_those_of_each() -> None:
    """Also where the highest or the lowest coefficients are 0: roots at 0 are left out."""
    rng = np.random.default_rng(2)
    quartics = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.8)
    for row, found in zip(quartics, _real_parts(quartics), strict=True):
        alone = np.roots(row[::-1])
        expected = np.sort(alone[alone != 0].real)
        assert np.sort(found[~np.isnan(found)]) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_significance_that_is_passed_twice_against_a_fine_scan() -> None:
    """From above to below, or in and out again: both passages count, each with its sides."""
    rng = np.random.default_rng(5)
    grid = np.linspace(0, LAST, 2001)
    passages: list[int] = []
    for _ in range(60):
        delta = rng.normal(0.05, 0.02, (5, 60)) * np.where(rng.random((5, 60)) < 0.15, -1, 1)
        values = np.vstack([np.full(60, 0.5), 0.5 + delta])
        found = [event for event in found_in(values, "trisk") if event.kind == "significance"]
        critical = float(stats.t.ppf(0.975, 59))
        for i, curve in enumerate(curves(values)["trisk"]):
            mine = [event for event in found if event.run == i]
            if curve is None:
                assert not mine
                continue
            t = curve(grid)
            state = np.where(np.abs(t) > critical, np.sign(t), 0.0)
            check_changes(state, grid, [event.alpha for event in mine])
            passages.append(len(mine))
    assert passages.count(2) > 10


@pytest.mark.parametrize("name", NAMES)
def test_events_of_a_part_of_the_alphas_are_those_of_the_whole(name: str) -> None:
    """A range that begins above 0 holds what lies within it, and nothing else."""
    rng = np.random.default_rng(9)
    within = 0
    for _ in range(20):
        matrix = named(rng.beta(1, 2, (6, 8)))
        (comparison,) = comparisons(matrix, Options(baselines=("r0",)))
        whole, part = (
            events(comparison, Span(first, last), 0.05, range(6), [BY_ID[name]])
            for first, last in ((0.0, LAST), (2.0, 7.0))
        )
        expected = [event for event in whole if 2.0 < event.alpha < 7.0]
        assert [(e.kind, e.run, e.other) for e in part] == [
            (e.kind, e.run, e.other) for e in expected
        ]
        assert [e.alpha for e in part] == pytest.approx([e.alpha for e in expected], rel=1e-12)
        within += len(part)
    assert within > 10


def test_identical_parallel_and_touching_runs_do_not_swap() -> None:
    base = [0.5, 0.5, 0.5, 0.5]
    identical = np.array([base, [0.2, 0.6, 0.7, 0.5], [0.2, 0.6, 0.7, 0.5]])
    permuted = np.array([base, [0.2, 0.6, 0.7, 0.5], [0.7, 0.5, 0.2, 0.6]])
    # the same risk, more reward: parallel lines
    parallel = np.array([base, [0.2, 0.6, 0.7, 0.5], [0.2, 0.7, 0.7, 0.5]])
    # equal URisk at alpha 0 only, where the range begins
    touching = np.array([base, [0.3, 0.7, 0.5, 0.5], [0.4, 0.6, 0.5, 0.5]])
    for values in (identical, permuted):
        for name in NAMES:
            assert not [e for e in found_in(values, name) if {e.run, e.other} == {1, 2}]
    for values in (parallel, touching):
        assert not [e for e in found_in(values, "urisk") if e.kind == "swap"]
    # proportional differences have the same TRisk at every alpha
    assert not [e for e in found_in(touching, "trisk") if e.kind == "swap"]


def test_rounding_makes_no_swaps() -> None:
    """The same differences on other topics: sums differ in their last digits."""
    rng = np.random.default_rng(8)
    base = np.full(12, 0.5)
    for _ in range(150):
        delta = rng.uniform(-0.4, 0.4, 12)
        values = np.array([base, base + delta, base + rng.permutation(delta)])
        for name in ("urisk", "trisk"):
            assert not [e for e in found_in(values, name) if e.kind == "swap"]


def test_georisk_curves_that_nearly_touch() -> None:
    """A hair above the tangent there are two swaps close together, a hair below it none."""
    phi = np.vectorize(reference.phi_cdf)
    grid = np.linspace(0, 10, 100_001)
    gap = np.log(phi(3.0 - (1 + grid))) - np.log(phi(0.5 - 0.5 * (1 + grid)))
    for shift, swaps in ((1e-7, 2), (-1e-7, 0)):
        mean = np.array([0.3 * math.exp(shift), 0.3 * math.exp(gap.max())])
        departures = Departures(np.array([3.0, 0.5]), np.array([1.0, 0.5]), mean, topics=1)
        found = swaps_of_georisk(departures, Pairs.of([0, 1]), Span(0, 10))
        assert len(found.alpha) == swaps
        assert np.allclose(found.alpha, grid[gap.argmax()], atol=0.01)


def test_a_run_equal_to_the_baseline_is_overtaken_where_urisk_turns_negative() -> None:
    values = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.4, 0.7, 0.6]])
    (even,) = (e for e in found_in(values, "urisk") if e.kind == "break-even")
    assert even.alpha == pytest.approx(2.0)  # Gain 0.2/3 over Risk 0.1/3
    for name in ("urisk", "trisk"):
        (swap,) = (e for e in found_in(values, name) if e.kind == "swap")
        assert (swap.run, swap.other) == (1, 2)
        assert swap.alpha == pytest.approx(2.0)


def test_one_topic_has_no_trisk_events() -> None:
    values = np.array([[0.5], [0.6], [0.4]])
    assert found_in(values, "trisk") == []


def test_trisk_swaps_are_where_the_curves_meet() -> None:
    """To the last digits: bisection used to stop in the band of rounding, 1e-5 of alpha off."""
    values = np.random.default_rng(8).beta(1, 3, (12, 40))
    moments = Paired(values, values[0]).moments
    swaps = swaps_of_trisk(moments, Pairs.of(list(range(1, 12))), Span(0.0, 20.0))
    scanned = np.array([moments.trisk(1 + a, np.arange(1, 12)) for a in np.linspace(0, 20, 20_001)])
    above = scanned[:, :, None] > scanned[:, None, :]
    assert len(swaps.alpha) == np.count_nonzero(above[1:] & ~above[:-1]) > 5
    steps = np.array([-1e-9, 1e-9])
    for alpha, ahead, behind in zip(swaps.alpha, swaps.ahead, swaps.behind, strict=True):
        around = [
            moments.trisk(1 + alpha + step, np.array([ahead]))
            - moments.trisk(1 + alpha + step, np.array([behind]))
            for step in steps * (1 + alpha)
        ]
        assert around[0] <= 1e-13 and around[1] >= -1e-13
        assert abs(around[0]) + abs(around[1]) < 1e-7
