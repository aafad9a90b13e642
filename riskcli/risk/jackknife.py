"""The exact delete-one-topic jackknife of ZRisk/c and GeoRisk.

Leaving topic q out changes every marginal: a run's share becomes p' = (S - x_q) / (N - T_q). Prefix
sums answer for every share at once: O(c log c) a run instead of O(c^2), and free of alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.by_share import SumsByShare
from riskcli.risk.comparison import Comparison
from riskcli.risk.population import Population, georisk_of
from riskcli.risk.smooth import SmoothPopulation

Floats = NDArray[np.float64]

_ALL = slice(None)
_CELLS_AT_ONCE = 500_000


@dataclass(frozen=True)
class Deleted:
    """For each run (row) and each topic left out (column): its sums of z, and its mean score."""

    above: Floats
    below: Floats
    mean: Floats

    def zeta(self, alpha: float, rows: slice = _ALL) -> Floats:
        """ZRisk/c without the topic."""
        left = max(self.above.shape[1] - 1, 1)
        return np.asarray((self.above[rows] - (1 + alpha) * self.below[rows]) / left)

    def georisk(self, alpha: float, rows: slice = _ALL) -> Floats:
        """GeoRisk without the topic."""
        return georisk_of(self.mean[rows], self.zeta(alpha, rows))

    def statistic(self, name: str, alpha: float, rows: slice = _ALL) -> Floats:
        """What is jackknifed for "zrisk" (as ZRisk/c) or "georisk"."""
        return self.zeta(alpha, rows) if name == "zrisk" else self.georisk(alpha, rows)


def delete_each_topic(scores: Floats, topic_totals: Floats, grand_total: Floats) -> Deleted:
    """Every run without each topic in turn; totals are one row for all runs or one a run."""
    runs = len(scores)
    above, below = np.zeros_like(scores), np.zeros_like(scores)
    totals = np.broadcast_to(topic_totals, scores.shape)
    grand = np.broadcast_to(grand_total, (runs,))
    for row in range(runs):
        above[row], below[row] = _sums_without_each(scores[row], totals[row], float(grand[row]))
    return Deleted(above, below, _means_without_each(scores))


def _means_without_each(scores: Floats) -> Floats:
    left = np.maximum(scores.sum(axis=1, keepdims=True) - scores, 0.0)
    return np.asarray(left / max(scores.shape[1] - 1, 1))


def _sums_without_each(x: Floats, totals: Floats, grand: float) -> tuple[Floats, Floats]:
    """The sums of z above 0 and of -z below 0, for each topic left out."""
    grand_left = grand - totals
    left = np.maximum(x.sum() - x, 0.0)
    share = np.divide(left, grand_left, out=np.zeros_like(x), where=grand_left > 0)
    return SumsByShare(x, totals).without(np.arange(len(x)), share)


@dataclass(frozen=True)
class Jackknife:
    """Standard errors of "zrisk" (as ZRisk/c) and "georisk" for the runs of a comparison."""

    comparison: Comparison

    @cached_property
    def _own(self) -> Deleted:
        return _delete_from(self.comparison.crowd)

    @cached_property
    def _references(self) -> list[Deleted]:
        """Each reference run without each topic; in its own population each run meets it under
        other totals than the next run, so that there is a row for each run.
        """
        return [_delete_from(crowd) for crowd in self.comparison.reference_crowds()]

    def errors(self, name: str, alpha: float) -> tuple[Floats, Floats]:
        """The error of each run's statistic, and of its difference to the reference's."""
        runs, topics = self.comparison.scores.shape
        own, difference = np.empty(runs), np.empty(runs)
        shared = self._shared_reference(name, alpha)
        for rows in _blocks(runs, topics):
            values = self._own.statistic(name, alpha, rows)
            reference = self._own_reference(name, alpha, rows) if shared is None else shared
            own[rows] = jackknife_error(values)
            difference[rows] = jackknife_error(values - reference)
        return own, difference

    def deviations(self, name: str, alpha: float) -> Floats:
        """By run and topic, as those of a mean: SE^2 = sum of squares / (c (c - 1))."""
        values = self._own.statistic(name, alpha)
        topics = values.shape[1]
        return np.asarray((topics - 1) * (values.mean(axis=1, keepdims=True) - values))

    def _shared_reference(self, name: str, alpha: float) -> Floats | None:
        """The reference without each topic, where it is the same for every run."""
        if self.comparison.population != "all":
            return None
        rows = self.comparison.reference
        total = np.zeros(self.comparison.topics)
        if len(rows) < len(self.comparison.scores):
            for row in rows:
                total += self._own.statistic(name, alpha, slice(row, row + 1))[0]
        else:
            for block in _blocks(*self.comparison.scores.shape):
                total += self._own.statistic(name, alpha, block).sum(axis=0)
        return total / len(rows)

    def _own_reference(self, name: str, alpha: float, rows: slice) -> Floats:
        each = [deleted.statistic(name, alpha, rows) for deleted in self._references]
        return np.asarray(sum(each) / len(each))


def jackknife_error(replicates: Floats) -> Floats:
    """sqrt((c - 1)/c * sum of squared deviations of the delete-one values from their mean)."""
    topics = replicates.shape[1]
    centred = replicates - replicates.mean(axis=1, keepdims=True)
    centred[(replicates == replicates[:, :1]).all(axis=1)] = 0.0
    squares = np.einsum("ij,ij->i", centred, centred)
    return np.asarray(np.sqrt(squares * (topics - 1) / topics))


def _delete_from(crowd: Population) -> Deleted:
    if isinstance(crowd, SmoothPopulation):
        return Deleted(*crowd.without_each, _means_without_each(crowd.scores))
    return delete_each_topic(crowd.scores, crowd.topic_totals, crowd.grand_total)


def _blocks(runs: int, topics: int) -> Iterator[slice]:
    """Rows in portions, so that scratch memory stays small whatever the matrix."""
    at_once = max(1, _CELLS_AT_ONCE // max(topics, 1))
    for start in range(0, runs, at_once):
        yield slice(start, min(start + at_once, runs))
