"""A small part of the simulation behind the documentation's table of weights."""

from __future__ import annotations

import pytest

from benchmarks.weights import World, coverage, errors, of_errors

HEAVY = World(topics=50, exponent=1.0, head=True)
"""Twelve topics' worth of weight, one of them with a fifth of it."""

pytestmark = pytest.mark.slow


def test_intervals_hold_the_truth() -> None:
    for name, held in coverage(HEAVY, samples=150).items():
        assert held > 0.90, name


def test_tests_err_as_rarely_as_they_say() -> None:
    for name, share in errors(HEAVY, samples=200).items():
        assert share < 0.085, name


def test_the_standard_error_and_degrees_of_freedom_that_were_chosen() -> None:
    """HC2 errs more often; Satterthwaite's degrees of freedom leave nothing to be seen."""
    found = of_errors(HEAVY, samples=20_000)
    assert 0.035 < found["jackknife, Kish"] < 0.055 < found["HC2, Kish"]
    assert found["jackknife, Satterthwaite"] < 0.005
