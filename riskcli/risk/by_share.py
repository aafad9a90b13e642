"""The sums of z of runs, above and below 0, as functions of a run's share p = S / N.

z_t = x_t / sqrt(p T_t) - sqrt(p T_t) is above 0 where x_t / T_t > p. So with the topics sorted by
x/T, both sums are differences of prefix sums of x / sqrt(T) and sqrt(T): O(log c) for any share.
"""

from __future__ import annotations

import numpy as np

from riskcli.core.arrays import Floats, Rows

_FEW = 1000
"""Topics of which each share is looked up among all."""


class SumsByShare:
    """Scores x and the topic totals T of the population; the share is yet to come.

    Topics are the last axis: of one run, or of several (rows), each with its own totals.
    """

    def __init__(self, x: Floats, totals: Floats) -> None:
        alive = totals > 0
        root = np.sqrt(totals)
        self._scaled = np.divide(x, root, out=np.zeros_like(x), where=alive)
        self._root = root
        self._per_total = np.divide(x, totals, out=np.full_like(x, -1.0), where=alive)
        order = np.argsort(self._per_total, axis=-1)
        self._ordered = np.take_along_axis(self._per_total, order, -1)
        self._scaled_after = _suffix_sums(np.take_along_axis(self._scaled, order, -1))
        self._root_after = _suffix_sums(np.take_along_axis(root, order, -1))

    def without(self, topics: Rows | slice, share: Floats) -> tuple[Floats, Floats]:
        """The sums of z above 0 and of -z below 0 at these shares, each without its topic."""
        scaled, root = self._scaled[..., topics], self._root[..., topics]
        first_above = self._first_above(share)
        is_above = self._per_total[..., topics] > share
        scaled_after = np.take_along_axis(self._scaled_after, first_above, -1)
        root_after = np.take_along_axis(self._root_after, first_above, -1)
        scaled_sum = scaled_after - np.where(is_above, scaled, 0.0)
        root_sum = root_after - np.where(is_above, root, 0.0)
        root_share = np.sqrt(share)
        alone = _safe_divide(scaled_sum, root_share) - root_share * root_sum
        everything = _safe_divide(self._scaled_after[..., :1] - scaled, root_share) - root_share * (
            self._root_after[..., :1] - root
        )
        above = np.where(share > 0, np.maximum(alone, 0.0), 0.0)
        below = np.where(share > 0, np.maximum(alone - everything, 0.0), 0.0)
        return above, below

    def _first_above(self, share: Floats) -> Rows:
        """For each share the first of the ordered topics above it."""
        if share.ndim == 1:
            return _first_above(self._ordered, share)
        each = [_first_above(*one) for one in zip(self._ordered, share, strict=True)]
        return np.array(each, dtype=np.intp).reshape(share.shape)


def _first_above(ordered: Floats, share: Floats) -> Rows:
    """Shares that lie close together are looked up among the few of many topics between them."""
    if len(ordered) <= _FEW:
        return np.asarray(ordered.searchsorted(share, side="right"))
    first, last = np.searchsorted(
        ordered, [share.min(initial=np.inf), share.max(initial=-np.inf)], side="right"
    )
    return np.asarray(first + np.searchsorted(ordered[first:last], share, side="right"))


def shares_without_each(x: Floats, totals: Floats, grand: Floats) -> Floats:
    """(S - x_q) / (N - T_q), a run's share of what is left without topic q."""
    left = grand[..., None] - totals
    shares: Floats = np.zeros_like(x)
    rest = np.maximum(x.sum(axis=-1, keepdims=True) - x, 0.0)
    np.divide(rest, left, out=shares, where=left > 0)
    return shares


def _suffix_sums(values: Floats) -> Floats:
    """Sums of the values from each index to the end, and a last 0."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    sums[..., :-1] = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return sums


def _safe_divide(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)
