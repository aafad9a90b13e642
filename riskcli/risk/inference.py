"""Intervals and tests: what a flag of the table rests on. The sampling unit is the topic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from riskcli.core.errors import UsageError
from riskcli.risk.comparison import Comparison
from riskcli.risk.jackknife import Jackknife
from riskcli.risk.options import Significance
from riskcli.risk.paired import ratio_to_error, two_sided_p
from riskcli.risk.swap import swap_p_values

Floats = NDArray[np.float64]

_ROUNDING = 1e-12
"""A difference and an error both below this, at the scale of the scores, are rounding."""


@dataclass(frozen=True)
class Inference:
    """The tests of one comparison, for all the alphas of a table."""

    comparison: Comparison
    significance: Significance
    alphas: tuple[float, ...]

    @property
    def degrees(self) -> int:
        """C - 1 degrees of freedom."""
        return self.comparison.topics - 1

    @cached_property
    def critical(self) -> float:
        """The two-sided critical value of Student's t at level gamma."""
        if self.degrees < 1:
            return float("nan")
        return float(stdtrit(self.degrees, 1 - self.significance.gamma / 2))

    def population_columns(
        self, measure_id: str, alpha: float, values: Floats, scale: float
    ) -> dict[str, Floats]:
        """Interval, difference and p-value of "zrisk" or "georisk".

        `scale` turns the statistic that is jackknifed (ZRisk/c, GeoRisk) into the value shown. A
        run whose scores are all 0, or whose baseline's are, has none of them.
        """
        comparison = self.comparison
        empty = comparison.scores.sum(axis=1) == 0
        void = empty | empty[list(comparison.reference)].all()
        difference = values - self._reference_values(measure_id, alpha, values)
        unknown = np.full(len(values), np.nan)
        margin, error, p = unknown, unknown, unknown
        if self.degrees >= 1:
            own_error, error = (e * scale for e in self._jackknife.errors(measure_id, alpha))
            margin = self.critical * own_error
            p = self._p_values(measure_id, alpha, difference, error, scale)
        return {
            f"{measure_id}_lo": np.where(empty, np.nan, values - margin),
            f"{measure_id}_hi": np.where(empty, np.nan, values + margin),
            f"{measure_id}_diff": comparison.off_baseline(np.where(void, np.nan, difference)),
            f"{measure_id}_diff_se": comparison.off_baseline(np.where(void, np.nan, error)),
            f"{measure_id}_p": comparison.off_baseline(np.where(void, np.nan, p)),
        }

    @cached_property
    def _jackknife(self) -> Jackknife:
        return Jackknife(self.comparison)

    def _reference_values(self, measure_id: str, alpha: float, values: Floats) -> Floats:
        """What each run's value is compared with, measured in the same matrix as the run."""
        comparison = self.comparison
        if comparison.population == "all":
            return np.full(len(values), values[list(comparison.reference)].mean())
        crowds = comparison.reference_crowds()
        measured = [
            crowd.zrisk(alpha) if measure_id == "zrisk" else crowd.georisk(alpha)
            for crowd in crowds
        ]
        return np.asarray(sum(measured) / len(measured))

    def _p_values(
        self, measure_id: str, alpha: float, difference: Floats, error: Floats, scale: float
    ) -> Floats:
        if self.significance.test == "swap":
            return self._swap_p_values[alpha][measure_id]
        noise = scale * _ROUNDING * np.sqrt(self.comparison.scores.mean(axis=1).max())
        nothing = (np.abs(difference) <= noise) & (error <= noise)
        t = ratio_to_error(np.where(nothing, 0.0, difference), np.where(nothing, 0.0, error))
        return two_sided_p(t, self.degrees)

    @cached_property
    def _swap_p_values(self) -> dict[float, dict[str, Floats]]:
        """The swap test of every run against the baseline run, with the same swaps for each."""
        comparison = self.comparison
        if len(comparison.reference) != 1:
            raise UsageError("the swap test needs one run as the baseline")
        if comparison.smooth is not None:
            raise UsageError("the swap test knows the linear loss only; use the jackknife")
        baseline = comparison.scores[comparison.reference[0]]
        totals = np.broadcast_to(comparison.crowd.topic_totals, comparison.scores.shape)
        grand = np.broadcast_to(comparison.crowd.grand_total, (len(totals),))
        found: dict[float, dict[str, Floats]] = {}
        for alpha in self.alphas:
            by_run = [
                swap_p_values(
                    run, baseline, totals[row], float(grand[row]), alpha,
                    self.significance.swaps, self.significance.seed,
                )
                for row, run in enumerate(comparison.scores)
            ]  # fmt: skip
            found[alpha] = {
                name: np.array([each[name] for each in by_run]) for name in ("zrisk", "georisk")
            }
        return found
