"""How far a run's profile over topics departs from what a population leads one to expect.

Who is a member weighs one in the totals of a population and in virtual baselines. A team is one
member: the mean of its distinct runs, so that copies of a run change nothing. A run that is no
member is added to the totals for its own figures, as SIGIR'16 adds it to a set of baselines; one
that is, whatever it is called, is not added twice: runs are recognised by their scores.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from riskcli.core.arrays import (
    ALL,
    Floats,
    Mask,
    Rows,
    divided,
    is_nearly_all,
    row_blocks,
    sums_of_others,
)
from riskcli.core.messages import naturally
from riskcli.risk.rounding import EXPECTED
from riskcli.risk.weights import Weights, mean, of_others, weighed


@dataclass(frozen=True)
class Members:
    """`rows` weigh one each; `runs` are the scores of the runs that they are made of.

    Of a team those are its distinct runs, which have its weight together.
    """

    rows: Floats
    runs: Floats
    weights: Floats
    name: str
    """What the population is called in results."""

    @classmethod
    def of_runs(cls, scores: Floats, name: str) -> Self:
        """Every run is a member."""
        return cls(scores, scores, np.ones(len(scores)), name)

    @classmethod
    def of_teams(
        cls, scores: Floats, runs: Sequence[str], teams: Sequence[str | None], name: str
    ) -> Self:
        """A member a team, the mean of its distinct runs, and each run without one."""
        distinct = distinct_runs(scores, runs, teams)
        return cls(
            np.array([rows.mean(axis=0) for rows in distinct], dtype=np.float64),
            np.concatenate(distinct),
            np.concatenate([np.full(len(rows), 1 / len(rows)) for rows in distinct]),
            name,
        )

    def include(self, scores: Floats) -> Mask:
        """Which of these runs are in the population already, by their scores."""
        return np.asarray(self.places(scores) >= 0)

    def places(self, scores: Floats) -> Rows:
        """Which row of `runs` each of these is, by its scores; -1 for none."""
        known = {_key(self.runs[row]): row for row in reversed(range(len(self.runs)))}
        return np.array([known.get(_key(row), -1) for row in scores], dtype=np.intp)

    def count_of(self, scores: Floats) -> Floats:
        """How many members are equal to each of these runs."""
        known = Counter(map(_key, self.rows))
        return np.array([known[_key(row)] for row in scores], dtype=np.float64)


def _key(row: Floats) -> bytes:
    return (np.ascontiguousarray(row) + 0.0).tobytes()  # -0.0 is 0.0


def distinct_runs(scores: Floats, runs: Sequence[str], teams: Sequence[str | None]) -> list[Floats]:
    """The distinct runs of each team, and each run without a team by itself."""
    groups: dict[tuple[int, str], list[int]] = {}
    for row, (run, team) in enumerate(zip(runs, teams, strict=True)):
        groups.setdefault((1, run) if team is None else (0, team), []).append(row)
    # Distinct rows come sorted: neither copies nor the order of the runs change a digit.
    return [
        np.unique(scores[groups[kind, name]] + 0.0, axis=0)
        for kind in (0, 1)
        for name in naturally(name for each, name in groups if each == kind)
    ]


# How far a run's profile over topics departs from what a population leads one to expect.


_LOST = 1e-290
"""An expected score below it may have lost digits."""
_FEW = 1000
"""Topics of which each share is looked up among all."""


class SumsByShare:
    """Scores x and the topic totals T of the population; the share is yet to come.

    Topics are the last axis: of one run, or of several (rows), each with its own totals.
    """

    def __init__(self, x: Floats, totals: Floats, weights: Weights = None) -> None:
        root = np.sqrt(totals)
        self.scaled = weighed(divided(x, root), weights)
        self._root = root = weighed(root, weights)
        self._per_total = divided(x, totals, otherwise=-1.0)
        order = np.argsort(self._per_total, axis=-1)
        self._ordered = np.take_along_axis(self._per_total, order, -1)
        self._scaled_after = _suffix_sums(np.take_along_axis(self.scaled, order, -1))
        self._root_after = _suffix_sums(np.take_along_axis(root, order, -1))

    def without(self, topics: Rows | slice, share: Floats) -> tuple[Floats, Floats]:
        """The sums of z above 0 and of -z below 0 at these shares, each without its topic."""
        scaled, root = self.scaled[..., topics], self._root[..., topics]
        first_above = self._first_above(share)
        is_above = self._per_total[..., topics] > share
        scaled_after = np.take_along_axis(self._scaled_after, first_above, -1)
        root_after = np.take_along_axis(self._root_after, first_above, -1)
        scaled_sum = scaled_after - np.where(is_above, scaled, 0.0)
        root_sum = root_after - np.where(is_above, root, 0.0)
        root_share = np.sqrt(share)
        alone = divided(scaled_sum, root_share) - root_share * root_sum
        scaled_rest = self._scaled_after[..., :1] - scaled
        root_rest = self._root_after[..., :1] - root
        everything = divided(scaled_rest, root_share) - root_share * root_rest
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


def shares_without_each(x: Floats, totals: Floats) -> Floats:
    """(S - x_q) / (N - T_q), a run's share of what is left without topic q."""
    return divided(sums_of_others(x), sums_of_others(totals))


def _suffix_sums(values: Floats) -> Floats:
    """Sums of the values from each index to the end, and a last 0."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    sums[..., :-1] = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return sums


# How far a run's profile over topics departs from what a population of runs leads to expect.
#
# Notation of Dinçer, Macdonald and Ounis (SIGIR'16): S_i row totals, T_j column totals, N grand
# total of the population's matrix, e_ij = S_i T_j / N. The run itself belongs to its population.


@dataclass(frozen=True)
class Departures:
    """ZRisk and GeoRisk of each run at any weight of shortfalls t: the one place of both formulas.

    `above` and `below` are the sums of z above 0 and of -z below 0 by run, `mean` its mean score;
    all three may have further axes. `rows` chooses runs, each of which may have a t of its own.
    """

    above: Floats
    below: Floats
    mean: Floats
    topics: int | Floats
    """c: what the topics count together, which may depend on the one that is left out."""

    def zrisk(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """ZRisk = sum of z above 0 + (1 + alpha) times the sum of z below 0 (SIGIR'16, Eq. 6)."""
        return np.asarray(self.above[rows] - t * self.below[rows])

    def georisk(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """GeoRisk = sqrt(S_i / c * Phi(ZRisk_i / c)) (SIGIR'16, Eq. 7)."""
        return georisk_of(self.mean[rows], self.zeta(t, rows))

    def log_georisk(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """ln GeoRisk^2, which is concave in t and does not vanish where GeoRisk does."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mean[rows]) + log_ndtr(self.zeta(t, rows)))

    def log_georisk_slope(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """The derivative of ln GeoRisk^2 by t."""
        zeta = self.zeta(t, rows)
        share = np.sqrt(2 / np.pi) / erfcx(-zeta / np.sqrt(2))  # of the density in Φ, at any zeta
        return np.asarray(-self.below[rows] / self.topics * share)

    def zeta(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """ZRisk / c."""
        return self.zrisk(t, rows) / self.topics


@dataclass(frozen=True)
class Population:
    """The runs of a matrix, each measured against the totals of its population.

    `topic_totals` is T, one row for all runs or one row a run; `grand_total` is N, likewise.
    """

    scores: Floats
    topic_totals: Floats
    grand_total: Floats
    weights: Weights = field(default=None, kw_only=True)
    """How much each topic counts, 1 on average; None: all the same."""

    @classmethod
    def of_all(cls, scores: Floats) -> Self:
        """Every run of the matrix is measured against all of them."""
        return cls.within(scores, scores.sum(axis=0, keepdims=True))

    @classmethod
    def of_baselines(cls, scores: Floats, members: Sequence[int]) -> Self:
        """Each run is measured against the member runs and itself; a member is not added twice."""
        own = np.isin(np.arange(len(scores)), members)
        return cls.beside(scores, scores[list(members)], own)

    @classmethod
    def beside(cls, scores: Floats, members: Floats, own: Mask, weights: Weights = None) -> Self:
        """Each run is measured against these rows, and itself where it is not its `own` member."""
        totals = members.sum(axis=0) + np.where(own[:, None], 0.0, scores)
        return cls.within(scores, totals, weights)

    @classmethod
    def within(cls, scores: Floats, totals: Floats, weights: Weights = None) -> Self:
        """Each run is measured against these topic totals, a row for all or a row a run."""
        return cls(scores, totals, weighed(totals, weights).sum(axis=1), weights=weights)

    @property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @cached_property
    def share(self) -> Floats:
        """S_i / N, the run's share of all the population's effectiveness."""
        return divided(weighed(self.scores, self.weights).sum(axis=1), self.grand_total)

    @property
    def expected(self) -> Floats:
        """e_ij = S_i T_j / N (SIGIR'16, Eq. 5)."""
        return np.asarray(self.share[:, None] * self.topic_totals)

    @property
    def z(self) -> Floats:
        """z_ij = (x_ij - e_ij) / sqrt(e_ij), 0 where e_ij = 0 (SIGIR'16, below Eq. 5)."""
        root = root_of_expected(self.share[:, None], self.topic_totals)
        return standardised(self.scores, self.expected, root)

    @cached_property
    def departures(self) -> Departures:
        """What ZRisk and GeoRisk are computed from."""
        return Departures(*self.sums_of_z, self.mean, self.topics)

    @cached_property
    def sums_of_z(self) -> tuple[Floats, Floats]:
        """The sums of z above 0, and of -z below 0, by run."""
        z = weighed(self.z, self.weights)
        above = np.maximum(z, 0).sum(axis=1)
        return above, above - z.sum(axis=1)

    @cached_property
    def mean(self) -> Floats:
        """S_i / c, the run's mean effectiveness."""
        return mean(self.scores, self.weights)

    def zrisk(self, alpha: float) -> Floats:
        """The sum of z, shortfalls 1 + alpha times."""
        return self.departures.zrisk(1 + alpha)

    def georisk(self, alpha: float) -> Floats:
        """The geometric mean of effectiveness and Phi(ZRisk / c)."""
        return self.departures.georisk(1 + alpha)

    def without_each(self) -> Departures:
        """Every run (row) without each topic (column) in turn."""
        without = of_others(self.topics, self.weights)
        left = sums_of_others(weighed(self.scores, self.weights))
        return Departures(*self.sums_without_each, left / without, without)

    @property
    def sums_without_each(self) -> tuple[Floats, Floats]:
        """The sums of z above 0 and of -z below 0, by run and topic left out."""
        scores, weights = self.scores, self.weights
        above, below = np.zeros_like(scores), np.zeros_like(scores)
        totals = np.broadcast_to(self.topic_totals, scores.shape)
        for rows in row_blocks(*scores.shape):
            x, of_topics = scores[rows], totals[rows]
            own, whole = weighed(x, weights), weighed(of_topics, weights)
            share = shares_without_each(own, whole)
            sums = SumsByShare(x, of_topics, weights)
            above[rows], below[rows] = sums.without(ALL, share)
            hidden = is_nearly_all(own) | is_nearly_all(whole) | is_nearly_all(sums.scaled)
            hidden &= share > 0
            for topic in np.flatnonzero(hidden.any(axis=0)).tolist():
                some, others = hidden[:, topic], np.arange(self.topics) != topic
                left = None if weights is None else weights[others]
                rest = Population.within(x[some][:, others], of_topics[some][:, others], left)
                above[rows][some, topic], below[rows][some, topic] = rest.sums_of_z
        return above, below


def standardised(scores: Floats, expected: Floats, root: Floats | None = None) -> Floats:
    """z = (x - e) / sqrt(e), 0 where e = 0 (SIGIR'16, below Eq. 5)."""
    return divided(departure(scores, expected), np.sqrt(expected) if root is None else root)


def g_squared(scores: Floats, weights: Weights = None) -> float:
    """Σ z² of a matrix (SIGIR'16, Eq. 4), which scores allow no p-value of; NaN below 0."""
    scores = np.asarray(scores, dtype=np.float64)
    if np.min(scores, initial=0.0) < 0:
        return float("nan")
    population = Population.within(scores, scores.sum(axis=0, keepdims=True), weights)
    return float(weighed(population.z**2, weights).sum())


def g_squared_of_two(scores: Floats, baseline: Floats) -> float:
    """Σ (x − y)² / (x + y) (SIGIR'16, Eq. 8): each is expected to have half of a topic's total.

    For runs of equal means it is the G² of their matrix; NaN where a score is below 0.
    """
    both = np.stack([scores, baseline])
    return (
        float("nan") if (both < 0).any() else float((standardised(both, both.mean(0)) ** 2).sum())
    )


def departure(scores: Floats, expected: Floats) -> Floats:
    """x - e, exactly 0 where it is no more than rounding."""
    difference = np.asarray(scores - expected)
    difference[np.abs(difference) <= EXPECTED * expected] = 0.0
    return difference


def root_of_expected(share: Floats, totals: Floats) -> Floats:
    """sqrt(e) of e = share T, from the roots of both where their product is lost."""
    expected = share * totals
    root = np.sqrt(expected)
    is_lost = expected < _LOST
    return np.where(is_lost, np.sqrt(share) * np.sqrt(totals), root) if is_lost.any() else root


def shortfalls_weighted(z: Floats, alpha: float) -> Floats:
    """What each z adds to ZRisk: 1 + alpha times itself where it is below 0."""
    return np.where(z < 0, (1 + alpha) * z, z)


def georisk_of(mean: Floats, zeta: Floats) -> Floats:
    """GeoRisk from the mean score S_i / c and from ZRisk_i / c (SIGIR'16, Eq. 7)."""
    return np.asarray(np.sqrt(mean * ndtr(zeta)))


def georisk_slopes(mean: Floats, zeta: Floats) -> tuple[Floats, Floats]:
    """The derivatives of GeoRisk by the mean score and by ZRisk/c; 0 where GeoRisk is 0."""
    twice = 2 * georisk_of(mean, zeta)
    density = np.exp(-(zeta**2) / 2) / np.sqrt(2 * np.pi)
    return divided(ndtr(zeta), twice), divided(mean * density, twice)
