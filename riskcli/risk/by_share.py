"""The sums of z of one run, above and below 0, as functions of the run's share p = S / N.

z_t = x_t / sqrt(p T_t) - sqrt(p T_t) is above 0 where x_t / T_t > p. So with the topics sorted by
x/T, both sums are differences of prefix sums of x / sqrt(T) and sqrt(T): O(log c) for any share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats, Rows


class SumsByShare:
    """One run's scores x and the topic totals T of its population; the share is yet to come."""

    def __init__(self, x: Floats, totals: Floats) -> None:
        alive = totals > 0
        root = np.sqrt(totals)
        self._scaled = np.divide(x, root, out=np.zeros_like(x), where=alive)
        self._root = root
        self._per_total = np.divide(x, totals, out=np.full_like(x, -1.0), where=alive)
        order = np.argsort(self._per_total)
        self._ordered = self._per_total[order]
        self._scaled_after = _suffix_sums(self._scaled[order])
        self._root_after = _suffix_sums(root[order])

    def _first_above(self, share: Floats) -> NDArray[np.intp]:
        """For each share the first of the ordered topics above it.

        Shares that lie close together are looked up among the few topics between them.
        """
        first, last = np.searchsorted(
            self._ordered, [share.min(initial=np.inf), share.max(initial=-np.inf)], side="right"
        )
        between = self._ordered[first:last]
        return np.asarray(first + np.searchsorted(between, share, side="right"))

    def without(self, topics: Rows, share: Floats) -> tuple[Floats, Floats]:
        """The sums of z above 0 and of -z below 0 at these shares, each without its topic."""
        scaled, root = self._scaled[topics], self._root[topics]
        first_above = self._first_above(share)
        is_above = self._per_total[topics] > share
        scaled_sum = self._scaled_after[first_above] - np.where(is_above, scaled, 0.0)
        root_sum = self._root_after[first_above] - np.where(is_above, root, 0.0)
        root_share = np.sqrt(share)
        alone = _safe_divide(scaled_sum, root_share) - root_share * root_sum
        everything = _safe_divide(self._scaled_after[0] - scaled, root_share) - root_share * (
            self._root_after[0] - root
        )
        above = np.where(share > 0, np.maximum(alone, 0.0), 0.0)
        below = np.where(share > 0, np.maximum(alone - everything, 0.0), 0.0)
        return above, below


def shares_without_each(x: Floats, totals: Floats, grand: float) -> Floats:
    """(S - x_q) / (N - T_q), the run's share of what is left without topic q."""
    left = grand - totals
    shares: Floats = np.zeros_like(x)
    np.divide(np.maximum(x.sum() - x, 0.0), left, out=shares, where=left > 0)
    return shares


def _suffix_sums(values: Floats) -> Floats:
    """Sums of the values from each index to the end, and a last 0."""
    sums = np.zeros(len(values) + 1)
    sums[:-1] = np.cumsum(values[::-1])[::-1]
    return sums


def _safe_divide(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)
