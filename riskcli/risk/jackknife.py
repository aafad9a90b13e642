"""The exact delete-one-topic jackknife of ZRisk/c and GeoRisk.

Leaving topic q out changes every marginal: a run's share becomes p' = (S - x_q) / (N - T_q).
Prefix sums answer for every share at once: O(c log c) a run instead of O(c^2), and free of
alpha.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riskcli.core.arrays import ALL, Floats, Rows, divided, row_blocks
from riskcli.risk.comparison import Comparison
from riskcli.risk.intervals import log_interval, pseudo_deviations, t_interval
from riskcli.risk.population import Departures


@dataclass(frozen=True)
class Statistic:
    """What a risk measure of a population declares of its tests.

    `of` computes what is tested from the mean score and ZRisk/c, and `gradient` says how it changes
    with either. With `per_topic` it is ZRisk/c itself, so that samples of different sizes are
    comparable, and the value shown is ZRisk.
    """

    of: Callable[[Floats, Floats], Floats]
    gradient: Callable[[Floats, Floats], tuple[Floats, Floats]]
    per_topic: bool = False

    def tested(self, departures: Departures, alpha: float, rows: Rows | slice = ALL) -> Floats:
        """The statistic that is tested."""
        return self.of(departures.mean[rows], departures.zeta(1 + alpha, rows))

    def value(self, departures: Departures, alpha: float) -> Floats:
        """The value shown."""
        if self.per_topic:
            return departures.zrisk(1 + alpha)
        return self.tested(departures, alpha)

    def scale(self, topics: int) -> int:
        """What turns the statistic that is tested into the value shown."""
        return topics if self.per_topic else 1


@dataclass(frozen=True)
class LeftOut:
    """What the values without each topic say of a statistic, by run.

    `error` is that of the difference to the reference, and `heaviest` the share of its variance
    that one topic carries.
    """

    error: Floats
    heaviest: Floats
    deviations: Floats | None
    """By run and topic, as those of a mean, on the scale of the value shown; None where the
    statistic is put together from two parts, and so is its interval."""
    low: Floats
    """The lower end of its own interval."""
    high: Floats


class Reference(NamedTuple):
    """What all runs are compared with by a statistic: its value, and that without each topic."""

    value: float
    without_each: Floats


References = Mapping[tuple[Statistic, float], Reference]
"""By statistic and alpha, where they are known beforehand."""


@dataclass(frozen=True)
class Jackknife:
    """Standard errors of statistics for the runs of a comparison."""

    comparison: Comparison
    references: References = field(default_factory=dict)

    @cached_property
    def without_each(self) -> Departures:
        """The runs without each topic in turn."""
        return self.comparison.population.without_each()

    @cached_property
    def _members(self) -> tuple[Departures, Floats] | None:
        """The members of the population without each topic, where they are the reference."""
        members = self.comparison.reference_members
        return None if members is None else (members[0].without_each(), members[1])

    @cached_property
    def _references(self) -> list[Departures]:
        """Each reference run without each topic; in its own population each run meets it under
        other totals than the next run, so that there is a row for each run.
        """
        return [each.without_each() for each in self.comparison.reference_populations()]

    def left_out(self, statistic: Statistic, alpha: float, gamma: float) -> LeftOut:
        """All that is read from the values without each topic, computed once, some runs a time."""
        comparison = self.comparison
        runs, topics = comparison.scores.shape
        error, heaviest, low, high = np.empty((4, runs))
        has_parts = statistic.per_topic and comparison.smooth is None
        deviations = np.empty((0 if has_parts else runs, topics))
        whole = statistic.value(comparison.population.departures, alpha)
        shared = self._shared_reference(statistic, alpha)
        for rows in row_blocks(runs, topics):
            values = statistic.tested(self.without_each, alpha, rows)
            reference = self._own_reference(statistic, alpha, rows) if shared is None else shared
            error[rows], heaviest[rows] = error_and_heaviest(values - reference)
            if has_parts:
                continue
            deviations[rows] = pseudo_deviations(values) * statistic.scale(topics)
            low[rows], high[rows] = (
                t_interval(whole[rows], deviations[rows], gamma)
                if statistic.per_topic
                else log_interval(whole[rows], values, gamma)
            )
        return LeftOut(error, heaviest, None if has_parts else deviations, low, high)

    def parts(self, rows: slice) -> tuple[Floats, Floats]:
        """The deviations of the means over topics of z above 0, and of -z below 0."""
        without = self.without_each
        above, below = without.above[rows], without.below[rows]
        return pseudo_deviations(above / without.topics), pseudo_deviations(below / without.topics)

    def deviations(self, statistic: Statistic, alpha: float) -> Floats:
        """By run and topic, as those of a mean, on the scale of the value shown."""
        values = statistic.tested(self.without_each, alpha)
        return pseudo_deviations(values) * statistic.scale(self.comparison.topics)

    def _shared_reference(self, statistic: Statistic, alpha: float) -> Floats | None:
        """The reference without each topic, where it is the same for every run."""
        if (statistic, alpha) in self.references:
            return self.references[statistic, alpha].without_each
        if self._members is not None:
            members, weights = self._members
            return np.average(statistic.tested(members, alpha), axis=0, weights=weights)
        if self.comparison.rule != "all":
            return None
        rows = self.comparison.reference
        total = np.zeros(self.comparison.topics)
        if len(rows) < len(self.comparison.scores):
            for row in rows:
                total += statistic.tested(self.without_each, alpha, slice(row, row + 1))[0]
        else:
            for block in row_blocks(*self.comparison.scores.shape):
                total += statistic.tested(self.without_each, alpha, block).sum(axis=0)
        return total / len(rows)

    def _own_reference(self, statistic: Statistic, alpha: float, rows: slice) -> Floats:
        each = [statistic.tested(deleted, alpha, rows) for deleted in self._references]
        return np.asarray(sum(each) / len(each))


def error_and_heaviest(replicates: Floats) -> tuple[Floats, Floats]:
    """The jackknife's error of each row, and how much of its variance the outermost topic carries.

    sqrt((c - 1)/c * sum of squared deviations of the delete-one values from their mean); both are 0
    for a constant row.
    """
    topics = replicates.shape[1]
    centred = replicates - replicates.mean(axis=1, keepdims=True)
    centred[replicates.max(axis=1) == replicates.min(axis=1)] = 0.0
    squares = np.einsum("ij,ij->i", centred, centred)
    outermost = np.maximum(centred.max(axis=1), -centred.min(axis=1)) ** 2
    return np.asarray(np.sqrt(squares * (topics - 1) / topics)), divided(outermost, squares)
