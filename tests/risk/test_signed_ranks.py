"""Wilcoxon's signed rank test, many runs at once: against scipy, and where scipy is silent."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from riskcli.core.arrays import Floats
from riskcli.risk.signed_ranks import wilcoxon_p


@pytest.mark.parametrize("decimals", [12, 3, 1])  # no ties, some, many and zeros
@pytest.mark.parametrize("topics", [3, 4, 10, 50, 51, 120])
def test_each_run_s_p_value_is_scipy_s(topics: int, decimals: int) -> None:
    rng = np.random.default_rng(topics)
    scores = rng.beta(1, 2, (12, topics)).round(decimals)
    baseline = rng.beta(1, 2, topics).round(decimals)
    found = wilcoxon_p(scores, baseline)
    assert np.all((found > 0) & (found <= 1))
    for row, p in zip(scores, found, strict=True):
        delta = np.round(row - baseline, 11)
        left = delta[delta != 0]
        tied = len(np.unique(np.abs(left))) < len(left)
        if len(left) and not (tied and len(left) <= 50):
            expected = wilcoxon(left, method="exact" if len(left) <= 50 else "approx").pvalue
            assert p == pytest.approx(expected, rel=1e-9)
        elif 0 < len(left) <= 12:
            assert p == pytest.approx(by_all_signs(left), rel=1e-9)
        elif len(left):
            assert p == pytest.approx(wilcoxon(left, method="approx").pvalue, abs=0.01)


def by_all_signs(delta: Floats) -> float:
    """The share of all signs by which the ranks are as far from balance, or farther."""
    ranks = rankdata(np.abs(delta))
    seen = abs((ranks * np.sign(delta)).sum())
    signs = np.array(list(product((-1, 1), repeat=len(delta))))
    return float(np.mean(np.abs(signs @ ranks) >= seen - 1e-9))


@pytest.mark.parametrize("topics", [3, 5, 8])
def test_no_p_value_is_below_what_signs_can_give(topics: int) -> None:
    alike = wilcoxon_p(np.full((1, topics), 0.4), np.full(topics, 0.3))[0]
    assert alike == pytest.approx(2 / 2**topics, rel=1e-12)


def test_of_equal_runs_it_is_1_and_of_two_topics_there_is_none() -> None:
    scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.4]])
    assert wilcoxon_p(scores, scores[0]).tolist() == [1.0, 1.0]
    assert np.isnan(wilcoxon_p(scores[:, :2], scores[0, :2])).all()


def test_rounding_is_neither_a_difference_nor_unlike_its_likes() -> None:
    baseline = np.array([0.1, 0.2, 0.3, 0.7, 0.5, 0.6])
    clean = np.array([[1, 1, 1, -1, 2, 0]]) / 10
    scores = baseline + clean  # 0.1 + 0.1 - 0.1 and 0.2 + 0.1 - 0.2 are not the same
    assert len(np.unique(np.abs(scores - baseline))) > 3
    scores[0, -1] += 1e-16
    expected = by_all_signs(np.array([1.0, 1, 1, -1, 2]))
    assert wilcoxon_p(scores, baseline)[0] == pytest.approx(expected, rel=1e-12)


def test_it_is_of_the_sign_not_of_the_mean() -> None:
    """Many small losses and one large gain: the mean is above 0, and most signs say otherwise."""
    delta = np.append(np.full(19, -0.01) * np.linspace(1, 2, 19), 0.9)
    assert delta.mean() > 0
    assert wilcoxon_p(0.5 + delta[None] / 2, np.full(20, 0.5))[0] < 0.01
