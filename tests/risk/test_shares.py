"""Shares of topics: the binomial distribution, against scipy's and against what it must mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from riskcli.risk.shares import p_at_most, topics_to_settle


@pytest.mark.parametrize("share", [0.02, 0.1, 0.35, 0.9])
def test_p_is_that_of_the_exact_binomial_test(share: float) -> None:
    for topics in (1, 25, 50, 400):
        for count in {0, 1, topics // 10, topics // 2, topics}:
            less = stats.binomtest(count, topics, share, alternative="less").pvalue
            more = stats.binomtest(count, topics, share, alternative="greater").pvalue
            assert p_at_most(count, topics, share) == pytest.approx(less)
            assert p_at_most(topics - count, topics, 1 - share) == pytest.approx(more)


def test_of_fifty_topics_one_may_lose_where_a_tenth_may_and_two_may_not() -> None:
    p = [p_at_most(count, 50, 0.1) for count in range(3)]
    assert p[0] < p[1] < 0.05 < p[2]
    assert p_at_most(0, 28, 0.1) > 0.05 > p_at_most(0, 29, 0.1), "29 topics are the fewest"
    assert p_at_most(0, 0, 0.1) == 1, "no topic shows nothing"


@pytest.mark.parametrize(
    ("count", "topics", "share", "level"),
    [(2, 50, 0.1, 0.05), (7, 50, 0.1, 0.05), (0, 20, 0.1, 0.05), (3, 100, 0.05, 0.01)],
)
def test_with_the_topics_needed_four_tests_of_five_decide_and_with_fewer_they_do_not(
    count: int, topics: int, share: float, level: float
) -> None:
    needed = topics_to_settle(count, topics, share, level)
    assert needed is not None and needed > topics
    seen = count / topics

    def power(size: int) -> float:
        counts = np.arange(size + 1)
        tail = stats.binom.cdf(counts, size, share)
        if seen > share:
            tail = stats.binom.sf(counts - 1, size, share)
        return float(stats.binom.pmf(counts[tail < level], size, seen).sum())

    assert power(needed) >= 0.8
    assert all(power(size) < 0.8 for size in range(topics + 1, min(needed, topics + 60)))


def test_a_share_that_is_just_the_limit_is_never_settled() -> None:
    assert topics_to_settle(5, 50, 0.1, 0.05) is None
