"""The exact delete-one-topic jackknife of ZRisk/c and GeoRisk.

Leaving topic q out changes every marginal: a run's share becomes p' = (S - x_q) / (N - T_q), and
z_t = x_t / sqrt(p' T_t) - sqrt(p' T_t) is above 0 where x_t / T_t > p'. So with the topics sorted
by x/T, the sums of z above and below 0 are differences of prefix sums of x / sqrt(T) and sqrt(T):
O(c log c) a run instead of O(c^2), and free of alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from riskcli.risk.comparison import Comparison
from riskcli.risk.population import Population

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Deleted:
    """For each run (row) and each topic left out (column): its sums of z, and its mean score."""

    above: Floats
    below: Floats
    mean: Floats

    def zeta(self, alpha: float) -> Floats:
        """ZRisk/c without the topic."""
        left = max(self.above.shape[1] - 1, 1)
        return np.asarray((self.above - (1 + alpha) * self.below) / left)

    def georisk(self, alpha: float) -> Floats:
        """GeoRisk without the topic."""
        return np.asarray(np.sqrt(self.mean * ndtr(self.zeta(alpha))))


def delete_each_topic(scores: Floats, topic_totals: Floats, grand_total: Floats) -> Deleted:
    """Every run without each topic in turn; totals are one row for all runs or one a run."""
    runs, topics = scores.shape
    above, below = np.zeros_like(scores), np.zeros_like(scores)
    totals = np.broadcast_to(topic_totals, scores.shape)
    grand = np.broadcast_to(grand_total, (runs,))
    for row in range(runs):
        above[row], below[row] = _sums_without_each(scores[row], totals[row], float(grand[row]))
    left = np.maximum(scores.sum(axis=1, keepdims=True) - scores, 0.0)
    return Deleted(above, below, left / max(topics - 1, 1))


def _sums_without_each(x: Floats, totals: Floats, grand: float) -> tuple[Floats, Floats]:
    """The sums of z above 0 and of -z below 0, for each topic left out."""
    alive = totals > 0
    root = np.sqrt(totals)
    scaled = np.divide(x, root, out=np.zeros_like(x), where=alive)
    per_total = np.divide(x, totals, out=np.full_like(x, -1.0), where=alive)
    order = np.argsort(per_total)
    ordered = per_total[order]
    scaled_after, root_after = _suffix_sums(scaled[order]), _suffix_sums(root[order])

    grand_left = grand - totals
    share = np.divide(
        np.maximum(x.sum() - x, 0.0), grand_left, out=np.zeros_like(x), where=grand_left > 0
    )
    first_above = np.searchsorted(ordered, share, side="right")
    is_above = per_total > share
    scaled_sum = scaled_after[first_above] - np.where(is_above, scaled, 0.0)
    root_sum = root_after[first_above] - np.where(is_above, root, 0.0)
    root_share = np.sqrt(share)
    alone = _safe_divide(scaled_sum, root_share) - root_share * root_sum
    everything = _safe_divide(scaled_after[0] - scaled, root_share) - root_share * (
        root_after[0] - root
    )
    above = np.where(share > 0, np.maximum(alone, 0.0), 0.0)
    below = np.where(share > 0, np.maximum(alone - everything, 0.0), 0.0)
    return above, below


def _suffix_sums(values: Floats) -> Floats:
    """Sums of the values from each place to the end, and a last 0."""
    sums = np.zeros(len(values) + 1)
    sums[:-1] = np.cumsum(values[::-1])[::-1]
    return sums


def _safe_divide(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


@dataclass(frozen=True)
class Replicates:
    """A statistic without each topic: of each run, and of the reference it is compared with."""

    own: Floats
    reference: Floats

    def deviations(self) -> Floats:
        """By run and topic, as those of a mean: SE^2 = sum of squares / (c (c - 1))."""
        topics = self.own.shape[1]
        return np.asarray((topics - 1) * (self.own.mean(axis=1, keepdims=True) - self.own))

    def own_error(self) -> Floats:
        """The jackknife standard error of the statistic."""
        return jackknife_error(self.own)

    def difference_error(self) -> Floats:
        """The jackknife standard error of its difference to the reference."""
        return jackknife_error(self.own - self.reference)


def jackknife_error(replicates: Floats) -> Floats:
    """sqrt((c - 1)/c * sum of squared deviations of the delete-one values from their mean)."""
    topics = replicates.shape[1]
    centred = replicates - replicates.mean(axis=1, keepdims=True)
    centred[(replicates == replicates[:, :1]).all(axis=1)] = 0.0
    squares = np.einsum("ij,ij->i", centred, centred)
    return np.asarray(np.sqrt(squares * (topics - 1) / topics))


def replicate(comparison: Comparison, alphas: Sequence[float]) -> dict[str, list[Replicates]]:
    """Delete-one values of "zrisk" (as ZRisk/c) and "georisk", one for each alpha."""
    own = _delete_from(comparison.crowd)
    if comparison.population == "all":
        rows = list(comparison.reference)
        return {
            name: [Replicates(values, values[rows].mean(axis=0)[None, :]) for values in by_alpha]
            for name, by_alpha in _statistics(own, alphas).items()
        }
    # In its own population each run meets the reference under other totals than the next run.
    references = [
        _statistics(_delete_from(crowd), alphas) for crowd in comparison.reference_crowds()
    ]
    return {
        name: [
            Replicates(values, np.mean([each[name][place] for each in references], axis=0))
            for place, values in enumerate(by_alpha)
        ]
        for name, by_alpha in _statistics(own, alphas).items()
    }


def _delete_from(crowd: Population) -> Deleted:
    return delete_each_topic(crowd.scores, crowd.topic_totals, crowd.grand_total)


def _statistics(deleted: Deleted, alphas: Sequence[float]) -> dict[str, list[Floats]]:
    return {
        "zrisk": [deleted.zeta(alpha) for alpha in alphas],
        "georisk": [deleted.georisk(alpha) for alpha in alphas],
    }
