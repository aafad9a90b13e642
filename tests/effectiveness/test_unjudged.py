"""Bounds of differences: every completion of the judgements is scored, by plain definitions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pytest

from riskcli.core.arrays import Floats
from riskcli.effectiveness.measures import parse_measure
from riskcli.effectiveness.unjudged import Bounds, RankedPair, difference_bounds
from tests.bench import plain_measures
from tests.helpers import reference
from tests.helpers.pairs import Topic, completions, pair_of, random_topic

Plain = Callable[[Sequence[str], Mapping[str, int]], float]

EXACT: dict[str, Plain] = {
    "P@3": lambda r, g: reference.precision(r, g, 3),
    "P(rel=2)@5": lambda r, g: reference.precision(r, g, 5, 2),
    "P(rel=4)@5": lambda r, g: reference.precision(r, g, 5, 4),
    "RBP(p=0.8)": lambda r, g: plain_measures.rbp(r, g, None, 0.8, 1),
    "RBP(p=0.3,rel=2)@4": lambda r, g: plain_measures.rbp(r, g, 4, 0.3, 2),
    "R@3": lambda r, g: reference.recall(r, g, 3),
    "R(rel=2)@10": lambda r, g: reference.recall(r, g, 10, 2),
    "SetR": lambda r, g: plain_measures.set_recall(r, g, 1),
    "SetP(rel=2)": lambda r, g: plain_measures.set_precision(r, g, 2),
    "RR": reference.reciprocal_rank,
    "RR(rel=2)@3": lambda r, g: reference.reciprocal_rank(r, g, 3, 2),
    "Success@1": lambda r, g: reference.success(r, g, 1),
    "Success(rel=2)@4": lambda r, g: reference.success(r, g, 4, 2),
    "nDCG": reference.ndcg,
    "nDCG@3": lambda r, g: reference.ndcg(r, g, 3),
    "nDCG(dcg='exp-log2')@5": lambda r, g: reference.ndcg_exp(r, g, 5),
    "nDCG(dcg='exp-log2')": reference.ndcg_exp,
}
PROVED: dict[str, Plain] = {
    "AP": reference.average_precision,
    "AP@3": lambda r, g: reference.average_precision(r, g, 3),
    "AP(rel=2)@5": lambda r, g: reference.average_precision(r, g, 5, 2),
    "Rprec": reference.r_precision,
    "Bpref": lambda r, g: plain_measures.bpref(r, g, 1),
    "infAP": lambda r, g: plain_measures.inferred_ap(r, g, 1),
    "SetF": lambda r, g: plain_measures.set_f(r, g, 1),
    "G": plain_measures.g,
    "binG": plain_measures.bin_g,
    "Rndcg": plain_measures.r_ndcg,
    "IPrec@0.2": lambda r, g: plain_measures.interpolated_precision(r, g, 0.2, 1),
    "relative_P@3": lambda r, g: plain_measures.relative_precision(r, g, 3),
}
UNJUDGED = {1: 7, 2: 4, 3: 3, 4: 3}
"""So many unjudged documents have no more than 128 completions."""


@cache
def topics_of(highest: int, count: int = 12) -> list[Topic]:
    rng = random.Random(highest)
    return [random_topic(rng, highest, UNJUDGED[highest]) for _ in range(count)]


def ends(plain: Plain, topic: Topic, depth: int | None, highest: int) -> tuple[float, float]:
    """The least and the largest difference."""
    differences = [
        plain(topic.run, grades) - plain(topic.baseline, grades)
        for grades in completions(topic, depth, highest)
    ]
    return min(differences), max(differences)


def expected(name: str, plain: Plain, highest: int) -> tuple[RankedPair, Floats]:
    depth = parse_measure(name).cutoff
    topics = topics_of(highest)
    return pair_of(topics, highest), np.array(
        [ends(plain, topic, depth, highest) for topic in topics]
    ).T


@pytest.mark.parametrize("highest", UNJUDGED)
@pytest.mark.parametrize("name", EXACT)
def test_exact_bounds_are_those_of_all_completions(name: str, highest: int) -> None:
    pair, (low, high) = expected(name, EXACT[name], highest)
    bounds = difference_bounds(parse_measure(name), pair)
    assert bounds is not None
    assert bounds.exact
    check_ends(bounds, low, high)


@pytest.mark.parametrize("max_grade", UNJUDGED)
@pytest.mark.parametrize("cutoff", [3, 10])
def test_err_goes_up_to_the_highest_grade_there_can_be(cutoff: int, max_grade: int) -> None:
    """Whatever grades the judgements have."""
    rng = random.Random(max_grade)
    topics = [random_topic(rng, 1, UNJUDGED[max_grade]) for _ in range(12)]

    def plain(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
        return reference.err(ranking, grades, cutoff, max_grade)

    low, high = np.array([ends(plain, topic, cutoff, max_grade) for topic in topics]).T
    for name in [f"ERR@{cutoff}"] + ["ERR"] * (cutoff == 10):
        bounds = difference_bounds(parse_measure(name), pair_of(topics, 1, max_grade))
        assert bounds is not None
        assert bounds.exact
        check_ends(bounds, low, high)


def check_ends(bounds: Bounds, low: Floats, high: Floats) -> None:
    np.testing.assert_allclose(bounds.low, low, atol=1e-12)
    np.testing.assert_allclose(bounds.high, high, atol=1e-12)
    np.testing.assert_array_equal(bounds.scores_low[1] - bounds.scores_low[0], bounds.low)
    np.testing.assert_array_equal(bounds.scores_high[1] - bounds.scores_high[0], bounds.high)


@pytest.mark.parametrize("highest", UNJUDGED)
@pytest.mark.parametrize("name", PROVED)
def test_proved_bounds_hold_all_completions(name: str, highest: int) -> None:
    pair, (low, high) = expected(name, PROVED[name], highest)
    bounds = difference_bounds(parse_measure(name), pair)
    assert bounds is not None
    assert bounds.exact == (parse_measure(name).relevance > highest)
    assert (bounds.low <= low + 1e-12).all()
    assert (bounds.high >= high - 1e-12).all()
