"""How much of a number is rounding: each bound that the formulas use, and why it is that large.

Sums over c topics in double precision are wrong by a few eps (2.2e-16) of their largest term; each
bound lies far above that, and far below any difference between scores that were measured.
"""

import numpy as np

from riskcli.core.arrays import Floats

_EPS = float(np.finfo(np.float64).eps)

CONSTANT = 8 * _EPS
"""Differences to the baseline that vary by no more than this, at the scale of the scores, are one
constant: x - b of scores with an exact common difference is off by at most an eps of each."""

EXPECTED = 16 * _EPS
"""A departure from the expected score of this relative size is none: e = S T / N is three sums and
two operations, so that a run proportional to its population has z = 0."""

NO_DIFFERENCE = 1e-12
"""A difference and its error both below this, at the scale of the scores, are rounding: t would be
noise over noise. Sums over thousands of topics and runs stay below it."""

NO_VARIANCE = 1e-13
"""A variance that is a difference of sums of squares, this small beside them, is rounding."""

NO_SIGN = 1e-12
"""Two runs whose values at an alpha differ by less, relative to the values, have no order there."""

NO_SIGN_OF_RATIOS = 1e3 * NO_SIGN
"""The same for TRisk: its error is a difference of sums, which costs three more digits."""

NO_COEFFICIENT = 1e-15
"""A coefficient of a polynomial this small beside the largest is 0: its root would lie at infinity
but for rounding."""

AT_THE_EDGE = 1e-9
"""TRisk this close to the critical value, relative to it, is neither inside nor outside: critical
values themselves are accurate to about ten digits."""

EQUAL_STATISTIC = 1e-10
"""A replicate's statistic this close to the observed one, relative to it, counts as equal: the same
swaps summed in another order must not decide a p-value."""

EQUAL_DIGITS = 12
"""Values that agree to so many digits share a rank."""

NOTHING_BESIDE = 1e-14
"""A value this small beside the largest is 0 for a rank."""


def equal_digits(values: Floats) -> Floats:
    """The values to twelve digits, and 0 for what is nothing beside the others."""
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max(initial=0.0))
    kept = np.array([float(f"{value:.{EQUAL_DIGITS - 1}e}") for value in values.tolist()])
    kept[finite & (np.abs(values) < NOTHING_BESIDE * min(largest, 1.0))] = 0.0
    return kept


def above_rounding(difference: Floats, size: Floats) -> Floats:
    """A difference of sums of squares, 0 where it is but rounding."""
    return np.where(difference <= NO_VARIANCE * size, 0.0, difference)
