"""Intervals and tests: what a flag of the table rests on. The sampling unit is the topic."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, Mask, row_blocks, sums_of_others
from riskcli.core.messages import UsageError
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate, Significance
from riskcli.risk.intervals import (
    LENT_FROM,
    Parts,
    gains_and_losses,
    log_interval,
    t_interval,
)
from riskcli.risk.jackknife import (
    Jackknife,
    LeftOut,
    References,
    Statistic,
    SwapTest,
    error_and_heaviest,
    swap_tests,
)
from riskcli.risk.member_shuffles import Cohort, cohorts, member_tests
from riskcli.risk.paired import LEAST_TOPICS, ratio_to_error, two_sided_p
from riskcli.risk.ranks import MarksAgainst, Stacked, rank_intervals, rank_intervals_of_parts
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.shuffles import Key, ShuffleTest, of_means, of_statistics, shuffle_tests
from riskcli.risk.weights import leveraged, of_others, weighed

MOST_SHUFFLED_CELLS = 1_000_000
"""A larger matrix is not shuffled: that would take a minute for every alpha or two."""


@dataclass(frozen=True)
class Compared:
    """The differences of all runs to what they are compared with, and the test of each.

    p is below gamma where |difference| exceeds `critical` times the error.
    """

    difference: Floats
    error: Floats
    p: Floats
    critical: float | Floats
    p_stepped: Floats | None = None
    heaviest: Floats | None = None


@dataclass(frozen=True)
class Inference:
    """The tests of one comparison: of these statistics at these alphas, by one resampling."""

    comparison: Comparison
    significance: Significance
    statistics: tuple[Statistic, ...]
    alphas: tuple[float, ...]
    ranked: bool = True
    """Whether ranks have intervals; they compare every pair of runs."""
    references: References = field(default_factory=dict)

    @cached_property
    def degrees(self) -> float:
        """The degrees of freedom: c - 1 where all topics count the same."""
        return self.comparison.degrees

    @cached_property
    def critical(self) -> float:
        """The two-sided critical value of Student's t at level gamma; NaN below 3 topics."""
        if self.comparison.topics < LEAST_TOPICS:
            return float("nan")
        return float(stdtrit(self.degrees, 1 - self.significance.gamma / 2))

    @property
    def by_shuffles(self) -> bool:
        """Whether runs are shuffled within topics to compare them with a virtual baseline."""
        return self._can_shuffle and self.shuffled_cells <= MOST_SHUFFLED_CELLS

    @property
    def shuffled_cells(self) -> int:
        """How many scores are shuffled each time."""
        comparison = self.comparison
        if comparison.members is None or comparison.cells > MOST_SHUFFLED_CELLS:
            return comparison.cells
        return sum(cohort.size for cohort in self._cohorts)

    @cached_property
    def _cohorts(self) -> list[Cohort]:
        """The runs that are shuffled together, where members are teams or frozen runs."""
        return cohorts(self.comparison)

    @property
    def too_large_to_shuffle(self) -> bool:
        """Whether only the size of the matrix stands in the way: t tests it instead."""
        return self._can_shuffle and not self.by_shuffles

    @property
    def _can_shuffle(self) -> bool:
        comparison = self.comparison
        return (
            self.significance.test != "swap"
            and not comparison.baseline.members
            and comparison.topics >= LEAST_TOPICS
        )

    @cached_property
    def of_means(self) -> Estimate:
        """Each run's mean: its interval, its difference to the baseline and the test of that."""
        comparison = self.comparison
        means = comparison.mean(comparison.scores)
        paired = comparison.paired
        if not self.by_shuffles:
            compared = self._by_t(paired.gain, paired.gain_se)
        else:
            compared = self._shuffled(None, np.ones(len(means), dtype=np.bool_))
            if comparison.members is not None:
                compared = replace(compared, difference=paired.gain, error=paired.gain_se)
        delta, gain, weights = paired.delta, paired.gain, comparison.weights
        if weights is not None:
            delta = leveraged(delta - gain[:, None], weights)
            delta[paired.constant] = 0.0
        heaviest = [error_and_heaviest(delta[rows])[1] for rows in self._blocks]
        compared = replace(compared, heaviest=np.concatenate(heaviest))
        return self._estimate(means, self._interval_of_means(means), compared)

    def of_statistic(self, statistic: Statistic, alpha: float) -> Estimate:
        """The same of a measure of runs in their population.

        A run whose scores are all 0, or whose baseline's are, has a value only.
        """
        if self._has_parts(statistic):
            estimate = self._of_parts[alpha]
            if not self.ranked:
                return estimate
            low, high = self._ranks_of_parts[alpha]
        else:
            estimate, deviations = self._without_ranks(statistic, alpha)
            if not self.ranked or deviations is None:
                return estimate
            marks = self._marks(estimate)
            gamma, tested = self.significance.gamma, self._present
            low, high = rank_intervals(
                estimate.value, deviations, gamma, marks, tested, self.degrees
            )
        return replace(estimate, rank_low=low, rank_high=high)

    def _has_parts(self, statistic: Statistic) -> bool:
        """Whether the statistic is put together from two parts, and so is its interval: ZRisk."""
        return statistic.per_topic and self.comparison.smooth is None

    @property
    def _present(self) -> Mask:
        """The runs whose scores are not all 0."""
        return np.asarray(self.comparison.scores.any(axis=1))

    def _marks(self, estimate: Estimate) -> MarksAgainst | None:
        """Those against the baseline, where it is a run."""
        own_row = self.comparison.baseline.own_row
        return MarksAgainst.of(estimate, own_row, self.significance.gamma)

    def _without_ranks(self, statistic: Statistic, alpha: float) -> tuple[Estimate, Floats | None]:
        """The estimate, and the deviations that ranks rest on."""
        comparison = self.comparison
        values = statistic.value(comparison.population.departures, alpha)
        empty = comparison.scores.sum(axis=1) == 0
        void = empty | comparison.reference_is_empty
        left_out = self.jackknife.left_out(statistic, alpha, self.significance.gamma)
        scale = statistic.scale(comparison.topics)
        if self.by_shuffles and comparison.members is None:
            compared = self._shuffled((statistic, alpha), ~void)
            compared = replace(compared, heaviest=left_out.heaviest)
        else:
            difference = values - self._reference_values(statistic, alpha, values)
            compared = self._compared(statistic, alpha, difference / scale, left_out)
            if self.by_shuffles:
                shuffled = self._shuffled((statistic, alpha), ~void)
                difference, heaviest = compared.difference, compared.heaviest
                compared = replace(shuffled, difference=difference, heaviest=heaviest)
        low, high = left_out.low, left_out.high
        if left_out.deviations is None:
            low, high = comparison.topics * np.array(self._parts_of_zrisk.interval(1 + alpha))
        own = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
        return self._estimate(values, own, compared, void, scale), left_out.deviations

    def urisk_interval(self, alpha: float) -> tuple[Floats, Floats]:
        """URisk's, put together from those of its reward and its risk."""
        if self.comparison.smooth is not None:
            return self._parts_of_urisk.interval(1.0)
        parts = self._parts_of_urisk if 1 + alpha < LENT_FROM else self._borrowing_parts
        return parts.interval(1 + alpha)

    @cached_property
    def _blocks(self) -> list[slice]:
        """The rows in portions that fit into the processor's cache."""
        return row_blocks(*self.comparison.scores.shape)

    @cached_property
    def _shuffle_tests(self) -> dict[Key, ShuffleTest]:
        """That of the means, and those of all statistics at all alphas."""
        comparison, plan = self.comparison, self.significance
        weights = comparison.weights
        keys = [(statistic, alpha) for statistic in self.statistics for alpha in self.alphas]
        if comparison.has_negative:
            keys = []
        if comparison.members is not None:
            shuffles, seed = plan.number_of_shuffles, plan.seed
            return member_tests(comparison, self._cohorts, keys, shuffles, seed)
        each = [of_means(comparison.scores, comparison.baseline.scores, weights)]
        if keys:
            each.append(of_statistics(comparison.scores, keys, comparison.smooth, weights))
        return shuffle_tests(each, plan.number_of_shuffles, plan.seed)

    @cached_property
    def _swap_tests(self) -> dict[float, list[list[SwapTest]]]:
        """By alpha, run and statistic: every run against the baseline, the same swaps for each."""
        comparison = self.comparison
        if len(comparison.reference) != 1:
            raise UsageError("the swap test needs one run as the baseline")
        if comparison.smooth is not None:
            raise UsageError("the swap test supports the linear loss only; use the jackknife")
        if comparison.weights is not None:
            cure = "use the jackknife, or leave out --weights"
            raise UsageError(f"the swap test counts all topics the same: {cure}")
        scores = comparison.scores
        baseline, plan = scores[comparison.reference[0]], self.significance
        totals = np.broadcast_to(comparison.population.topic_totals, scores.shape)
        grand = np.broadcast_to(comparison.population.grand_total, (len(totals),)).tolist()
        return {
            alpha: [
                swap_tests(run, baseline, totals[row], grand[row], alpha, plan, self.statistics)
                for row, run in enumerate(scores)
            ]
            for alpha in self.alphas
        }

    @cached_property
    def jackknife(self) -> Jackknife:
        """The values without each topic, computed once for all statistics and alphas."""
        return Jackknife(self.comparison, self.references)

    def _estimate(
        self,
        values: Floats,
        own: tuple[Floats, Floats],
        compared: Compared,
        void: Mask | None = None,
        scale: int = 1,
    ) -> Estimate:
        untested = np.isnan(compared.p)
        difference, error = scale * compared.difference, scale * compared.error
        with np.errstate(invalid="ignore"):
            margin = np.where(error == 0, 0.0, compared.critical * error)
        empty = self.comparison.is_baseline if void is None else void | self.comparison.is_baseline

        def off_empty(cells: Floats | None) -> Floats | None:
            return None if cells is None else np.where(empty, np.nan, cells)

        def ends(cells: Floats) -> Floats | None:
            return off_empty(np.where(untested, np.nan, cells))

        return Estimate(
            values,
            low=own[0],
            high=own[1],
            difference=off_empty(difference),
            difference_error=off_empty(error),
            difference_low=ends(difference - margin),
            difference_high=ends(difference + margin),
            p=off_empty(compared.p),
            p_stepped=off_empty(compared.p_stepped),
            heaviest=off_empty(compared.heaviest),
        )

    def _by_t(self, difference: Floats, error: Floats, noise: Floats | float = 0.0) -> Compared:
        """Student's t; what is below `noise` is rounding."""
        nothing = (np.abs(difference) <= noise) & (error <= noise)
        t = ratio_to_error(np.where(nothing, 0.0, difference), np.where(error <= noise, 0.0, error))
        return Compared(difference, error, two_sided_p(t, self.degrees), self.critical)

    def _shuffled(self, key: Key, tested: Mask) -> Compared:
        test = self._shuffle_tests[key]
        critical = test.critical(self.significance.gamma)
        stepped = test.step_down(tested)
        return Compared(test.difference, test.error, test.p, critical, stepped)

    def _compared(
        self, statistic: Statistic, alpha: float, difference: Floats, left_out: LeftOut
    ) -> Compared:
        """The statistic against the baseline's, on the scale that is tested."""
        if self.significance.test == "swap" and self.comparison.topics >= LEAST_TOPICS:
            index = self.statistics.index(statistic)
            p, error, critical = np.array([tests[index] for tests in self._swap_tests[alpha]]).T
            return Compared(difference, error, p, critical)
        unknown = np.full(len(difference), np.nan)
        if self.degrees < 1:
            return Compared(difference, unknown, unknown, self.critical)
        means, baseline = self.comparison.scores.mean(axis=1), self.comparison.baseline
        alone = baseline.own_row is not None  # then who else is in the table does not matter
        largest = np.maximum(means, baseline.scores.mean()) if alone else means.max()
        compared = self._by_t(difference, left_out.error, NO_DIFFERENCE * np.sqrt(largest))
        return replace(compared, heaviest=left_out.heaviest)

    def _reference_values(self, statistic: Statistic, alpha: float, values: Floats) -> Floats:
        """What each run's value is compared with, measured in the same matrix as the run."""
        comparison = self.comparison
        if (statistic, alpha) in self.references:
            return np.full(len(values), self.references[statistic, alpha].value)
        if comparison.reference_members is not None:
            members, weights = comparison.reference_members
            mean = np.average(statistic.value(members.departures, alpha), weights=weights)
            return np.full(len(values), mean)
        if comparison.rule == "all":
            return np.full(len(values), values[list(comparison.reference)].mean())
        measured = [
            statistic.value(population.departures, alpha)
            for population in comparison.reference_populations()
        ]
        return np.asarray(sum(measured) / len(measured))

    def _interval_of_means(self, means: Floats) -> tuple[Floats, Floats]:
        """On the log scale; a run with a score below 0 has Student's."""
        gamma, weights = self.significance.gamma, self.comparison.weights
        low, high = np.empty((2, len(means)))
        others = of_others(self.comparison.topics, weights)
        for rows in self._blocks:
            scores, of_rows = self.comparison.scores[rows], means[rows]
            without_each = sums_of_others(weighed(scores, weights)) / others
            low[rows], high[rows] = log_interval(of_rows, without_each, gamma)
            below = (scores < 0).any(axis=1) | self.comparison.logarithms
            if below.any():
                plain_low, plain_high = t_interval(
                    of_rows, leveraged(scores - of_rows[:, None], weights), gamma
                )
                low[rows] = np.where(below, plain_low, low[rows])
                high[rows] = np.where(below, plain_high, high[rows])
        return low, high

    @cached_property
    def _parts_of_zrisk(self) -> Parts:
        """The means over topics of z above 0, and of -z below 0."""
        departures, jackknife = self.comparison.population.departures, self.jackknife
        topics = self.comparison.topics
        plus, minus = departures.above / topics, departures.below / topics
        # What is left out is subtracted from sums over all topics, whose digits it is lost in.
        noise = NO_DIFFERENCE * np.sqrt(departures.mean)
        return Parts.of(plus, minus, jackknife.parts, topics, self.significance.gamma, noise)

    @cached_property
    def _parts_of_urisk(self) -> Parts:
        """Reward and risk, or the gains and the losses of a smooth loss."""
        comparison, topics = self.comparison, self.comparison.topics
        w, weights = comparison.paired.weighted(0.0), comparison.weights
        reward, risk = (comparison.mean(part) for part in gains_and_losses(w))

        def contributions(rows: slice) -> tuple[Floats, Floats]:
            gains, losses = gains_and_losses(w[rows])
            centred = gains - reward[rows, None], losses - risk[rows, None]
            return leveraged(centred[0], weights), leveraged(centred[1], weights)

        return Parts.of(reward, risk, contributions, topics, self.significance.gamma)

    @cached_property
    def _borrowing_parts(self) -> Parts:
        """The same with the variance of other runs; in a population of its own, of its members."""
        comparison = self.comparison
        return self._parts_of_urisk.borrowing(comparison.lent, comparison.own_among_lenders)

    @cached_property
    def _of_parts(self) -> dict[float, Estimate]:
        """By alpha, that of the statistic of two parts."""
        (statistic,) = filter(self._has_parts, self.statistics)
        return {alpha: self._without_ranks(statistic, alpha)[0] for alpha in self.alphas}

    @cached_property
    def _ranks_of_parts(self) -> dict[float, tuple[Floats, Floats]]:
        """From the comparisons of all pairs, at all alphas at once: ZRisk has two parts."""
        spread = np.empty((2, *self.comparison.scores.shape))
        for rows in self._blocks:
            spread[:, rows] = self.jackknife.parts(rows)
        spread *= self.comparison.topics
        estimates = list(self._of_parts.values())
        statistics = Stacked(
            np.array([estimate.value for estimate in estimates]),
            list(spread),
            np.array([(1.0, -(1 + alpha)) for alpha in self.alphas]),
        )
        marks = list(map(self._marks, estimates))
        gamma, tested = self.significance.gamma, self._present
        intervals = rank_intervals_of_parts(statistics, gamma, marks, tested, self.degrees)
        return dict(zip(self.alphas, intervals, strict=True))
