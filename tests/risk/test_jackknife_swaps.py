"""The swap test: exhaustive enumeration, its seed, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from riskcli import Options, Significance, UsageError, risk_table
from riskcli.risk.jackknife import critical_value, swap_tests
from riskcli.risk.measures import georisk
from tests.helpers import reference
from tests.helpers.examples import NAMES, STATISTICS, golden_matrix
from tests.helpers.strategies import named


def test_swap_test_equals_exhaustive_enumeration() -> None:
    """Ten topics have 1,024 label swaps; B random ones estimate the same share."""
    values = golden_matrix()[[0, 1, 4], :10]
    swaps = 40_000
    tests = swap_tests(
        values[1], values[0], values.sum(axis=0), float(values.sum()), 5.0,
        Significance(swaps=swaps, seed=1), tuple(STATISTICS.values()),
    )  # fmt: skip
    mine = {name: test.p for name, test in zip(STATISTICS, tests, strict=True)}
    for name, measure in NAMES:
        exact = reference.swap_test(values.tolist(), 1, 0, measure, 5.0)
        noise = 4 * np.sqrt(exact * (1 - exact) / swaps)
        assert mine[name] == pytest.approx(exact, abs=noise + 1 / swaps)


def test_swap_test_is_repeatable_and_its_settings_are_recorded() -> None:
    plan = Significance(test="swap", swaps=9_999, seed=7)
    values = golden_matrix()
    tables = [
        risk_table(named(values), "r0", options=Options(alphas=(5.0,), significance=plan))
        for _ in range(2)
    ]
    first, second = (table.to_frame()["georisk_p"].tolist() for table in tables)
    assert first[1:] == second[1:] and 0 < min(first[1:]) <= 1
    assert tables[0].settings["seed"] == 7 and tables[0].settings["swaps"] == 9_999
    jackknifed = risk_table(named(values), "r0", options=Options(alphas=(5.0,))).to_frame()
    assert first[1] == pytest.approx(jackknifed["georisk_p"][1], abs=0.05)
    assert first[1] != jackknifed["georisk_p"][1]


def test_swap_test_of_identical_runs_is_1_and_never_0() -> None:
    values = golden_matrix()
    totals, grand = values.sum(axis=0), float(values.sum())
    every = tuple(STATISTICS.values())
    plan = Significance(seed=1)
    same = swap_tests(values[0], values[0], totals, grand, 5.0, plan, every)
    assert [test.p for test in same] == [1.0, 1.0]
    better = np.linspace(0.6, 0.9, 20)
    (test,) = swap_tests(
        better, better / 3, better * 4 / 3, float(better.sum() * 4 / 3), 0.0, plan,
        (georisk.STATISTIC,),
    )  # fmt: skip
    assert test.p == pytest.approx(1e-4, rel=2)


@pytest.mark.parametrize("baseline", ["@mean", "r*"])
def test_swap_test_needs_one_run_as_baseline(baseline: str) -> None:
    plan = Options(significance=Significance(test="swap"))
    with pytest.raises(UsageError, match="one run as the baseline"):
        risk_table(named(golden_matrix()), baseline, options=plan)


def test_too_few_swaps_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 9999"):
        Significance(test="swap", swaps=100)


@pytest.mark.parametrize("replicates", [2, 9, 19, 20])
@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_the_critical_value_is_the_largest_that_is_not_significant(
    replicates: int, gamma: float
) -> None:
    """p is (count of replicates at or above t, plus 1) over (replicates plus 1)."""
    values = np.random.default_rng(replicates).normal(size=replicates) ** 2
    p = [((values >= t).sum() + 1) / (replicates + 1) for t in values]
    not_below = [t for t, of_t in zip(values, p, strict=True) if of_t >= gamma]
    expected = max(not_below) if 1 / (replicates + 1) < gamma else np.inf
    assert critical_value(values, gamma) == pytest.approx(expected, rel=1e-9)
