"""Confidence intervals of single values.

Means, GeoRisk and sums of gains or losses are skewed to the right, sums that weigh losses to the
left, and few topics show too little of it. So a mean and GeoRisk have their interval on the log
scale, URisk and ZRisk are put together from an interval of each of their two parts on the scale of
the square root (Zou and Donner 2008), and the degrees of freedom follow the kurtosis of what the
topics contribute. `docs/significance.md` has the coverage that this gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, row_blocks
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.rounding import NO_DIFFERENCE


def degrees_by_kurtosis(deviations: Floats) -> Floats:
    """Degrees of freedom of each row's variance, at most c - 1; heavy tails leave fewer.

    2 c / (k - (c - 3)/(c - 1)), with k the kurtosis m4 / m2^2: c - 1 for a normal row (k = 3).
    """
    topics = deviations.shape[1]
    centred = deviations - deviations.mean(axis=1, keepdims=True)
    squares = centred**2
    second = squares.mean(axis=1)
    kurtosis = np.full(len(deviations), 3.0)
    np.divide((squares**2).mean(axis=1), second**2, out=kurtosis, where=second**2 > 0)
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
    squares = np.einsum("ij,ij->i", deviations, deviations)
    return np.asarray(np.sqrt(squares / (topics * (topics - 1))))


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

    NaN where the statistic is 0 without some topic, or does not vary.
    """
    unknown = np.full(len(values), np.nan)
    if without_each.shape[1] < LEAST_TOPICS:
        return unknown, unknown
    known = (values > 0) & (without_each > 0).all(axis=1)
    deviations = pseudo_deviations(np.log(np.where(known[:, None], without_each, 1.0)))
    error = error_of(deviations)
    known &= error > NO_DIFFERENCE
    reach = np.exp(np.where(known, _critical(deviations, gamma) * error, 0.0))
    return np.where(known, values / reach, np.nan), np.where(known, values * reach, np.nan)


Contributions = Callable[[slice], tuple[Floats, Floats]]
"""Of some runs, what each topic contributes to either part: deviations, as those of a mean."""


@dataclass(frozen=True)
class Parts:
    """Two parts of a value, both at least 0, and the errors of either.

    The value is plus - weight minus. With l and u the ends of each part's own interval and r the
    correlation of the parts, its interval reaches below it by sqrt(a^2 - 2 r a b + b^2), where
    a = plus - l(plus) and b = weight (u(minus) - minus); above likewise with the other ends.
    """

    plus: Floats
    minus: Floats
    errors: tuple[Floats, Floats]
    shared: Floats
    """The covariance of the parts."""
    critical: tuple[Floats, Floats]
    """The critical value of Student's t for either part."""

    @classmethod
    def of(
        cls, plus: Floats, minus: Floats, contributions: Contributions, topics: int, gamma: float
    ) -> Parts:
        """The parts of all runs; without errors below 3 topics."""
        found = np.full((5, len(plus)), np.nan)
        for rows in row_blocks(len(plus), topics) if topics >= LEAST_TOPICS else ():
            both = contributions(rows)
            found[:2, rows] = [error_of(each) for each in both]
            found[2, rows] = np.einsum("ij,ij->i", *both) / (topics * (topics - 1))
            found[3:, rows] = [_critical(each, gamma) for each in both]
        return cls(plus, minus, (found[0], found[1]), found[2], (found[3], found[4]))

    def interval(self, weight: float) -> tuple[Floats, Floats]:
        """Lower and upper end; NaN where the value does not vary but for rounding."""
        value = self.plus - weight * self.minus
        errors = self.errors
        variance = errors[0] ** 2 - 2 * weight * self.shared + (weight * errors[1]) ** 2
        known = variance > (NO_DIFFERENCE * np.maximum(self.plus, weight * self.minus)) ** 2
        (plus_down, plus_up), (minus_down, minus_up) = (
            _reach(part, critical * error)
            for part, critical, error in zip(
                (self.plus, self.minus), self.critical, errors, strict=True
            )
        )
        below = self._joined(plus_down, weight * minus_up)
        above = self._joined(plus_up, weight * minus_down)
        return np.where(known, value - below, np.nan), np.where(known, value + above, np.nan)

    def _joined(self, one: Floats, other: Floats) -> Floats:
        product = self.errors[0] * self.errors[1]
        correlation = np.divide(self.shared, product, out=np.zeros_like(product), where=product > 0)
        squares = one**2 - 2 * correlation * one * other + other**2
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _critical(deviations: Floats, gamma: float) -> Floats:
    return np.asarray(stdtrit(degrees_by_kurtosis(deviations), 1 - gamma / 2))


def _reach(part: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Down and up from a part, by the margin of its square root (delta method), never below 0."""
    relative = np.divide(margin, 2 * part, out=np.zeros_like(part), where=part > 0)
    return part * (1 - np.maximum(1 - relative, 0.0) ** 2), part * ((1 + relative) ** 2 - 1)
