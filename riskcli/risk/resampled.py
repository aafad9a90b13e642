"""The tests of a comparison that resample it: runs shuffled within topics, or swapped."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.errors import UsageError
from riskcli.risk.comparison import Comparison
from riskcli.risk.jackknife import Statistic
from riskcli.risk.options import Significance
from riskcli.risk.permutation import (
    ShuffleTest,
    shuffled_means,
    shuffled_statistics,
    shuffled_together,
)
from riskcli.risk.swap import SwapTest, swap_tests


@dataclass(frozen=True)
class Resampled:
    """One resampling serves the statistics `together` and `alphas`; what is known is kept."""

    comparison: Comparison
    significance: Significance
    together: tuple[Statistic, ...]
    alphas: tuple[float, ...]

    @cached_property
    def of_means(self) -> ShuffleTest:
        """With that of the statistics `together`, which are asked for as well."""
        comparison, plan = self.comparison, self.significance
        scores, baseline = comparison.scores, comparison.baseline.scores
        if not self.together or not self.alphas or comparison.has_negative:
            return shuffled_means(scores, baseline, plan.number_of_shuffles, plan.seed)
        means, others = shuffled_together(
            scores,
            baseline,
            self.together,
            self.alphas,
            plan.number_of_shuffles,
            plan.seed,
            comparison.smooth,
        )
        self._shuffled.update(others)
        return means

    @cached_property
    def _shuffled(self) -> dict[tuple[Statistic, float], ShuffleTest]:
        """Those that are known already."""
        return {}

    def by_shuffles(self, statistic: Statistic, alpha: float) -> ShuffleTest:
        """The shuffle test of a statistic, with all that are asked for as well."""
        if (statistic, alpha) not in self._shuffled:
            comparison, plan = self.comparison, self.significance
            self._shuffled.update(
                shuffled_statistics(
                    comparison.scores,
                    self.together if statistic in self.together else (statistic,),
                    self.alphas if alpha in self.alphas else (alpha,),
                    plan.number_of_shuffles,
                    plan.seed,
                    comparison.smooth,
                )
            )
        return self._shuffled[statistic, alpha]

    @cached_property
    def _swapped(self) -> dict[tuple[Statistic, float], list[SwapTest]]:
        """The tests by swaps, a run each, that are known already."""
        return {}

    def by_swaps(self, statistic: Statistic, alpha: float) -> list[SwapTest]:
        """The swap test of every run against the baseline run, with the same swaps for each."""
        if (statistic, alpha) not in self._swapped:
            statistics = self.together if statistic in self.together else (statistic,)
            by_run = self._swap(alpha, statistics)
            for index, each in enumerate(statistics):
                self._swapped[each, alpha] = [tests[index] for tests in by_run]
        return self._swapped[statistic, alpha]

    def _swap(self, alpha: float, statistics: tuple[Statistic, ...]) -> list[list[SwapTest]]:
        """By run, then by statistic."""
        comparison = self.comparison
        if len(comparison.reference) != 1:
            raise UsageError("the swap test needs one run as the baseline")
        if comparison.smooth is not None:
            raise UsageError("the swap test supports the linear loss only; use the jackknife")
        baseline = comparison.scores[comparison.reference[0]]
        totals = np.broadcast_to(comparison.population.topic_totals, comparison.scores.shape)
        grand = np.broadcast_to(comparison.population.grand_total, (len(totals),))
        return [
            swap_tests(
                run, baseline, totals[row], float(grand[row]), alpha, self.significance, statistics
            )
            for row, run in enumerate(comparison.scores)
        ]
