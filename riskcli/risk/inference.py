"""Intervals and tests: what a flag of the table rests on. The sampling unit is the topic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import ALL, Floats
from riskcli.core.errors import UsageError
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate
from riskcli.risk.jackknife import Jackknife, Statistic
from riskcli.risk.options import Significance
from riskcli.risk.paired import ratio_to_error, two_sided_p
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.swap import swap_p_values


@dataclass(frozen=True)
class Inference:
    """The tests of one comparison; `together` are the statistics that one resampling serves."""

    comparison: Comparison
    significance: Significance
    together: tuple[Statistic, ...] = ()

    @property
    def degrees(self) -> int:
        """The degrees of freedom, c - 1."""
        return self.comparison.topics - 1

    @cached_property
    def critical(self) -> float:
        """The two-sided critical value of Student's t at level gamma."""
        if self.degrees < 1:
            return float("nan")
        return float(stdtrit(self.degrees, 1 - self.significance.gamma / 2))

    def in_population(self, statistic: Statistic, alpha: float) -> Estimate:
        """Interval, difference and p-value of a measure of runs in their population.

        A run whose scores are all 0, or whose baseline's are, has none of them.
        """
        comparison = self.comparison
        values = statistic.value(comparison.population.departures, 1 + alpha, ALL)
        empty = comparison.scores.sum(axis=1) == 0
        void = empty | empty[list(comparison.reference)].all()
        difference = values - self._reference_values(statistic, alpha, values)
        unknown = np.full(len(values), np.nan)
        margin, error, p = unknown, unknown, unknown
        if self.degrees >= 1:
            scale = statistic.scale(comparison.topics)
            own_error, error = (e * scale for e in self._jackknife.errors(statistic, alpha))
            margin = self.critical * own_error
            p = self._p_values(statistic, alpha, difference, error)

        def kept(cells: Floats) -> Floats:
            return comparison.off_baseline(np.where(void, np.nan, cells))

        return Estimate(
            values,
            low=np.where(empty, np.nan, values - margin),
            high=np.where(empty, np.nan, values + margin),
            difference=kept(difference),
            difference_error=kept(error),
            p=kept(p),
        )

    @cached_property
    def _jackknife(self) -> Jackknife:
        return Jackknife(self.comparison)

    def _reference_values(self, statistic: Statistic, alpha: float, values: Floats) -> Floats:
        """What each run's value is compared with, measured in the same matrix as the run."""
        comparison = self.comparison
        if comparison.rule == "all":
            return np.full(len(values), values[list(comparison.reference)].mean())
        measured = [
            statistic.value(population.departures, 1 + alpha, ALL)
            for population in comparison.reference_populations()
        ]
        return np.asarray(sum(measured) / len(measured))

    def _p_values(
        self, statistic: Statistic, alpha: float, difference: Floats, error: Floats
    ) -> Floats:
        if self.significance.test == "swap":
            return self._swap_p_values(alpha, statistic)
        topics, scores = self.comparison.topics, self.comparison.scores
        noise = statistic.scale(topics) * NO_DIFFERENCE * np.sqrt(scores.mean(axis=1).max())
        nothing = (np.abs(difference) <= noise) & (error <= noise)
        t = ratio_to_error(np.where(nothing, 0.0, difference), np.where(nothing, 0.0, error))
        return two_sided_p(t, self.degrees)

    @cached_property
    def _swapped(self) -> dict[tuple[float, Statistic], Floats]:
        """The p-values of the swap test that are known already."""
        return {}

    def _swap_p_values(self, alpha: float, statistic: Statistic) -> Floats:
        """The swap test of every run against the baseline run, with the same swaps for each."""
        if (alpha, statistic) not in self._swapped:
            statistics = self.together if statistic in self.together else (statistic,)
            by_run = np.array(self._swap_tests(alpha, statistics))
            for each, column in zip(statistics, by_run.T, strict=True):
                self._swapped[alpha, each] = column
        return self._swapped[alpha, statistic]

    def _swap_tests(self, alpha: float, statistics: tuple[Statistic, ...]) -> list[list[float]]:
        """A row a run, a column a statistic."""
        comparison, plan = self.comparison, self.significance
        if len(comparison.reference) != 1:
            raise UsageError("the swap test needs one run as the baseline")
        if comparison.smooth is not None:
            raise UsageError("the swap test knows the linear loss only; use the jackknife")
        baseline = comparison.scores[comparison.reference[0]]
        totals = np.broadcast_to(comparison.population.topic_totals, comparison.scores.shape)
        grand = np.broadcast_to(comparison.population.grand_total, (len(totals),))
        return [
            swap_p_values(
                run, baseline, totals[row], float(grand[row]), alpha, plan.swaps, plan.seed,
                statistics,
            )
            for row, run in enumerate(comparison.scores)
        ]  # fmt: skip
