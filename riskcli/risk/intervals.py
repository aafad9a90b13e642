"""Confidence intervals of single values.

Means, GeoRisk and sums of gains or losses are skewed to the right, sums that weigh losses to the
left, and few topics show too little of it. So a mean and GeoRisk have their interval on the log
scale, URisk and ZRisk are put together from an interval of each of their two parts on the scale of
the square root (Zou and Donner 2008), and the degrees of freedom follow the kurtosis of what the
topics contribute to a part, or to the value if that has heavier tails.
`docs/appendix-calibration.md` has the coverage that this gives.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, divided, in_units, row_blocks
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.weights import Weights, deviations


def _degrees(fourth: Floats, second: Floats, topics: int) -> Floats:
    """Degrees of freedom of a variance, from the central moments of what the topics contribute.

    At most c - 1; heavy tails leave fewer: 2 c / (k - (c - 3)/(c - 1)), with k the kurtosis
    m4 / m2^2: c - 1 for a normal distribution (k = 3).
    """
    kurtosis = np.maximum(divided(fourth, second**2, otherwise=3.0), 1.0)  # less is rounding
    found = 2 * topics / (kurtosis - (topics - 3) / (topics - 1))
    return np.asarray(np.minimum(found, topics - 1))


def pseudo_deviations(without_each: Floats) -> Floats:
    """The deviations of jackknife pseudo-values, by row and topic left out.

    Like those of a mean over topics: SE^2 = sum of squares / (c (c - 1)).
    """
    topics = without_each.shape[1]
    return np.asarray((topics - 1) * (without_each.mean(axis=1, keepdims=True) - without_each))


def error_of(deviations: Floats) -> Floats:
    """The standard error of each row's statistic."""
    topics = deviations.shape[1]
    deviations, unit = in_units(deviations)
    squares = np.einsum("ij,ij->i", deviations, deviations)
    return np.asarray(unit * np.sqrt(squares / (topics * (topics - 1))))


def t_interval(values: Floats, deviations: Floats, gamma: float) -> tuple[Floats, Floats]:
    """Student's, with degrees of freedom by kurtosis; NaN where the values do not vary."""
    if deviations.shape[1] < LEAST_TOPICS:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    error = error_of(deviations)
    known = error > NO_DIFFERENCE * np.abs(values)
    margin = np.where(known, _critical(deviations, gamma) * error, np.nan)
    return values - margin, values + margin


def log_interval(values: Floats, without_each: Floats, gamma: float) -> tuple[Floats, Floats]:
    """The interval of a statistic that is above 0, from its values without each topic.

    NaN where the statistic is 0 without some topic, does not vary, or varies beyond all bounds.
    """
    unknown = np.full(len(values), np.nan)
    if without_each.shape[1] < LEAST_TOPICS:
        return unknown, unknown
    known = (values > 0) & (without_each > 0).all(axis=1)
    deviations = pseudo_deviations(np.log(np.where(known[:, None], without_each, 1.0)))
    error = error_of(deviations)
    reach = _critical(deviations, gamma) * error
    known &= (error > NO_DIFFERENCE) & (reach < _FARTHEST)
    reach = np.exp(np.where(known, reach, 0.0))
    return np.where(known, values / reach, np.nan), np.where(known, values * reach, np.nan)


_FARTHEST = 230.0
"""An interval that reaches a hundred powers of ten up and down says nothing."""
_ROUNDED = 1e-6
"""A fourth moment this small beside its terms has lost too many digits for a kurtosis."""
Contributions = Callable[[slice], tuple[Floats, Floats]]
"""Of some runs, what each topic contributes to either part: deviations, as those of a mean."""

LENT_FROM = 6.0
"""Where losses weigh so much, few of them decide, and a sample may lack those that do."""
_LENT_TOPICS = 5
"""How many topics the variance of other runs counts for, beside the run's own c - 1."""
_MOST_WIDENED = 1.3
_LEAST_LENDERS = 2
"""Fewer other runs say too little; of two runs and their mean, one is the other's mirror image."""


@dataclass(frozen=True)
class Lent:
    """What runs say of a variance: second moments of gains and losses, as `Parts` has them, summed.

    A run that is equal to the baseline lends nothing.
    """

    second: Floats
    count: int
    unit: float
    """The moments are in its square."""

    @classmethod
    def of(cls, scores: Floats, baseline: Floats, weights: Weights = None) -> "Lent":
        """Of these runs' differences to the baseline."""
        second, unit = np.zeros((3, len(scores))), np.ones(len(scores))
        lends = np.zeros(len(scores), dtype=np.bool_)
        topics = len(baseline)
        for rows in row_blocks(len(scores), topics):
            delta = scores[rows] - baseline
            lends[rows] = delta.any(axis=1)
            both, unit[rows] = in_units(np.concatenate(gains_and_losses(delta), axis=1))
            plus, minus = both[:, :topics], both[:, topics:]
            if weights is not None:
                plus, minus = deviations(plus, weights), deviations(minus, weights)
            second[:, rows] = _moments(plus, minus)[:3]
        largest = float(unit.max(initial=0.0, where=lends)) or 1.0
        squared = (np.where(lends, unit, 0.0) / largest) ** 2
        return cls(second @ squared, int(np.count_nonzero(lends)), largest)


def gains_and_losses(delta: Floats) -> tuple[Floats, Floats]:
    """Either part of each difference, at least 0."""
    return np.maximum(delta, 0.0), np.maximum(-delta, 0.0)


@dataclass(frozen=True)
class Parts:
    """Two parts of a value, both at least 0, and how the topics' contributions to them vary.

    The value is plus - weight minus. With l and u the ends of each part's own interval and r the
    correlation of the parts, its interval reaches below it by sqrt(a^2 - 2 r a b + b^2), where
    a = plus - l(plus) and b = weight (u(minus) - minus); above likewise with the other ends. A
    part's critical value is its own, or that of the value where the value has fewer degrees of
    freedom.
    """

    plus: Floats
    minus: Floats
    second: Floats
    """The mean p^2, p m and m^2 over topics, p and m being the contributions to either part."""
    fourth: Floats
    """The mean p^4, p^3 m, p^2 m^2, p m^3 and m^4."""
    topics: int
    gamma: float
    unit: Floats
    """All of these are in the run's unit: powers of tiny numbers would be 0."""
    noise: Floats
    """An error of the value that is no more is rounding; in the unit, too."""
    lent: Floats | None = None
    """The mean second moments of other runs, in the run's unit; NaN where too few lend."""

    @classmethod
    def of(
        cls, plus: Floats, minus: Floats, contributions: Contributions, topics: int, gamma: float,
        noise: Floats | float = 0.0,
    ) -> "Parts":  # fmt: skip
        """The parts of all runs; without errors below 3 topics."""
        found, unit = np.full((8, len(plus)), np.nan), np.ones(len(plus))
        for rows in row_blocks(len(plus), topics) if topics >= LEAST_TOPICS else ():
            both, unit[rows] = in_units(np.concatenate(contributions(rows), axis=1))
            found[:, rows] = _moments(both[:, :topics], both[:, topics:])
        parts, noise = (plus / unit, minus / unit), np.asarray(noise / unit)
        return cls(*parts, found[:3], found[3:], topics, gamma, unit, noise)

    def borrowing(self, lent: Lent, own: Floats) -> "Parts":
        """With what other runs lend; `own` says how many of the lenders each run itself is."""
        unit, count = self.unit / lent.unit, lent.count - own
        mine = own * self.second * np.minimum(unit, 1.0) ** 2  # no lender's unit is above theirs
        others = lent.second[:, None] - mine
        enough = (count >= _LEAST_LENDERS) & (unit > 0)
        with np.errstate(over="ignore"):
            mean = divided(divided(others, count, enough) / unit, unit, enough, np.nan)
        return replace(self, lent=mean)

    def interval(self, weight: float) -> tuple[Floats, Floats]:
        """Lower and upper end; NaN where the value does not vary but for rounding."""
        if self.topics < LEAST_TOPICS:
            return np.full(len(self.plus), np.nan), np.full(len(self.plus), np.nan)
        value, (pp, pm, mm) = self.plus - weight * self.minus, self.second / (self.topics - 1)
        variance = pp - 2 * weight * pm + weight**2 * mm
        least = NO_DIFFERENCE * np.maximum(self.plus, weight * self.minus)
        known = variance > np.maximum(least, self.noise * max(1.0, weight)) ** 2
        of_value = self._critical_of_value(weight)
        wider = self._widened(weight, variance)
        (plus_down, plus_up), (minus_down, minus_up) = (
            _reach(part, np.maximum(self._critical(fourth, second), of_value) * np.sqrt(squared))
            for part, fourth, second, squared in (
                (self.plus, self.fourth[0], self.second[0], pp),
                (self.minus, self.fourth[4], self.second[2], mm),
            )
        )
        below = self._joined(plus_down, weight * minus_up)
        above = self._joined(plus_up, weight * minus_down)
        ends = (value - wider * below, value + wider * above)
        low, high = (self.unit * np.where(known, end, np.nan) for end in ends)
        return low, high

    def _widened(self, weight: float, variance: Floats) -> Floats:
        """How many times as far the interval reaches: 1 at least, by the other runs' variance.

        The square is the mean of the run's variance and theirs, by c - 1 and 5 degrees of freedom,
        over the run's own: few topics tend to lack the heavy losses that make it.
        """
        if self.lent is None or weight < LENT_FROM:
            return np.ones(len(self.plus))
        gains, both, losses = self.lent / (self.topics - 1)
        theirs = gains - 2 * weight * both + weight**2 * losses
        ratio = np.fmax(divided(theirs, variance), 1.0)
        squared = (self.topics - 1 + _LENT_TOPICS * ratio) / (self.topics - 1 + _LENT_TOPICS)
        return np.asarray(np.minimum(np.sqrt(squared), _MOST_WIDENED))

    def _critical_of_value(self, weight: float) -> Floats:
        """That of the value's own kurtosis; 0 where its moments are but rounding."""
        signs = np.array([1.0, -2.0, 1.0])[:, None]
        terms = signs * weight ** np.arange(3)[:, None] * self.second
        signs = np.array([1.0, -4.0, 6.0, -4.0, 1.0])[:, None]
        fours = signs * weight ** np.arange(5)[:, None] * self.fourth
        fourth = fours.sum(axis=0)
        known = fourth > _ROUNDED * np.abs(fours).sum(axis=0)
        return np.where(known, self._critical(fourth, terms.sum(axis=0)), 0.0)

    def _critical(self, fourth: Floats, second: Floats) -> Floats:
        return np.asarray(stdtrit(_degrees(fourth, second, self.topics), 1 - self.gamma / 2))

    def _joined(self, one: Floats, other: Floats) -> Floats:
        correlation = divided(self.second[1], np.sqrt(self.second[0] * self.second[2]))
        squares = one**2 - 2 * correlation * one * other + other**2
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _moments(plus: Floats, minus: Floats) -> Floats:
    """Second and fourth moments of both, row by row, as `Parts` has them."""
    topics = plus.shape[1]
    p, m = (each - each.mean(axis=1, keepdims=True) for each in (plus, minus))
    pp, pm, mm = p * p, p * m, m * m
    fourth = [
        np.einsum("ij,ij->i", *pair) for pair in ((pp, pp), (pp, pm), (pp, mm), (pm, mm), (mm, mm))
    ]
    second = [each.sum(axis=1) for each in (pp, pm, mm)]
    return np.asarray(np.array([*second, *fourth]) / topics)


def degrees_by_kurtosis(deviations: Floats) -> Floats:
    """The degrees of freedom of each row's variance."""
    deviations, _ = in_units(deviations)
    squares = (deviations - deviations.mean(axis=1, keepdims=True)) ** 2
    return _degrees((squares**2).mean(axis=1), squares.mean(axis=1), deviations.shape[1])


def _critical(deviations: Floats, gamma: float) -> Floats:
    """Of Student's t for each row, with degrees of freedom by kurtosis."""
    return np.asarray(stdtrit(degrees_by_kurtosis(deviations), 1 - gamma / 2))


def _reach(part: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Down and up from a part, by the margin of its square root (delta method), never below 0."""
    relative = divided(margin, 2 * part)
    return part * (1 - np.maximum(1 - relative, 0.0) ** 2), part * ((1 + relative) ** 2 - 1)
