"""How far two rankings agree: Kendall's tau_b, the AP rank correlation, rank-biased overlap."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats, Rows
from riskcli.core.messages import UsageError
from riskcli.risk.rounding import equal_digits


def kendall_tau_b(x: Floats, y: Floats) -> float:
    """Kendall's tau_b: (concordant - discordant) / sqrt(pairs untied in x * untied in y).

    Values that are equal but for rounding are tied; NaN where all of x or all of y are equal.
    """
    x_rank, y_rank = (np.unique(equal_digits(each), return_inverse=True)[1] for each in (x, y))
    both = x_rank * len(y_rank) + y_rank
    pairs = len(x_rank) * (len(x_rank) - 1) // 2
    x_tied, y_tied, both_tied = (_tied_pairs(each) for each in (x_rank, y_rank, both))
    untied = (pairs - x_tied) * (pairs - y_tied)
    discordant = _inversions(y_rank[np.argsort(both, kind="stable")])
    balance = pairs - x_tied - y_tied + both_tied - 2 * discordant
    return float(balance / np.sqrt(float(untied))) if untied else float("nan")


def _tied_pairs(values: Rows) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(numbers: Rows) -> int:
    """The pairs of numbers of which the larger stands first."""
    count, before = 0, list[int]()
    for index, number in enumerate(numbers.tolist()):
        not_larger = bisect_right(before, number)
        before.insert(not_larger, number)
        count += index - not_larger
    return count


def tau_ap(truth: Rows, estimate: Rows) -> float:
    """The AP rank correlation of Yilmaz, Aslam and Robertson (SIGIR 2008); NaN for one item.

    The chance, over items of the estimate but its first and over items above them there, that the
    truth has them in the same order, put on the scale from -1 to 1: mistakes near the top of the
    estimate weigh most. Both are orders of the same items, best first.
    """
    size = len(estimate)
    if size < 2:
        return float("nan")
    index = np.empty(size, dtype=np.intp)
    index[truth] = np.arange(size)
    at = index[estimate]
    right = [np.count_nonzero(at[:i] < at[i]) / i for i in range(1, size)]
    return float(2 * np.mean(right) - 1)


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two rankings known to some depth only."""

    least: float
    """If all that is below what is known differed."""
    residual: float
    """How much more it could be."""
    extrapolated: float
    """If the agreement seen went on."""


def rank_biased_overlap(
    one: Sequence[int], other: Sequence[int], persistence: float = 0.9
) -> Overlap:
    """RBO of Webber, Moffat and Zobel (TOIS 28(4), 2010): (1 - p) sum of p^(d - 1) X_d / d.

    X_d counts the items that both have among their first d; a reader goes on to the next depth
    with probability p. Each ranking holds no item twice.
    """
    if not 0 < persistence < 1:
        raise UsageError(f"the persistence is {persistence:g}, expected a number between 0 and 1")
    short, long = sorted((len(one), len(other)))
    if short == 0:
        return Overlap(0.0, 1.0, 0.0)
    shared = _shared_by_depth(one, other)
    depth = np.arange(1, long + 1)
    weight = (1 - persistence) * persistence ** (depth - 1)
    seen = float(weight @ (shared / depth))
    # sum over d > long of p^(d - 1) / d, from the series of -ln(1 - p)
    rest = -np.log1p(-persistence) / persistence - np.sum(persistence ** (depth - 1) / depth)
    least = seen + float((1 - persistence) * rest * shared[-1])
    most = _most(shared, short, long, persistence)
    expected = shared + np.maximum(depth - short, 0) * shared[short - 1] / short
    extrapolated = (
        float(weight @ (expected / depth)) + persistence**long * float(expected[-1]) / long
    )
    return Overlap(least, max(most - least, 0.0), min(extrapolated, 1.0))


def _shared_by_depth(one: Sequence[int], other: Sequence[int]) -> Floats:
    """X_d for each depth to the longer length; the shorter ranking counts whole below its end."""
    first = {item: index for index, item in enumerate(one)}
    met = np.zeros(max(len(one), len(other)))
    for index, item in enumerate(other):
        if item in first:
            met[max(index, first[item])] += 1
    return np.cumsum(met)


def _most(shared: Floats, short: int, long: int, p: float) -> float:
    """RBO if every unknown item were, as early as can be, one that the other ranking has."""
    full = short + long - int(shared[-1])
    depth = np.arange(1, full + 1)
    seen = np.concatenate([shared, np.full(max(full - long, 0), shared[-1])])[:full]
    unknown = np.maximum(depth - short, 0) + np.maximum(depth - long, 0)
    agreement = np.minimum(depth, seen + unknown) / depth
    return float((1 - p) * p ** (depth - 1) @ agreement + p**full)
