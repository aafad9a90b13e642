"""Paired tests where each difference is only known to lie in a range, from `low` to `high`.

t = m / (s / sqrt(c)) does not rise with each difference, as m does: a larger one may widen s more
than it lifts m. So that t is below -critical for all differences is proved by a bound of
g = m + k S, k = critical / sqrt(c (c - 1)), S^2 = sum (d - m)^2; t < -critical exactly where g < 0.
"""

from collections.abc import Callable

import numpy as np

from riskcli.core.arrays import Floats, in_units
from riskcli.risk.rounding import NO_DIFFERENCE

_STEPS = 30
"""More than any descent over ends of ranges was seen to take."""


def surely_below(low: Floats, high: Floats, critical: float) -> bool:
    """Whether t is below -critical whatever the differences; False where that is not proved.

    For every centre a and size v, S <= sum (d - a)^2 / (2 v) + v / 2, so that g is at most a sum
    over topics, each largest at one end of its range. The best a and v are looked for; whichever
    are found, the bound holds.
    """
    (low, high), unit = _scaled(low, high)
    topics = len(low)
    if topics < 2 or critical <= 0 or not high.mean() < 0:
        return False
    k = critical / np.sqrt(topics * (topics - 1))

    def bound(at: Floats) -> float:
        centre, size = float(at[0]), float(np.exp(at[1]))
        ends = np.stack([low, high])
        terms = ends / topics + k * (ends - centre) ** 2 / (2 * size)
        return float(terms.max(axis=0).sum() + k * size / 2)

    from scipy.optimize import minimize  # late: few gates need it

    middle = (low + high) / 2
    start = [middle.mean(), np.log(max(_spread(middle), 1e-6))]
    found = minimize(bound, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-9})
    return bool(found.fun * unit < -NO_DIFFERENCE)


def may_be_below(low: Floats, high: Floats, critical: float, judged: Floats) -> bool:
    """Whether some differences, each at one end of its range or as judged, have t < -critical.

    Found by descent: the sum over topics that bounds g touches it where a and S are those of the
    differences at hand, so that the least of that sum has no larger g. Between the ends g is
    convex, and its least is reached; the ends nearest to it are a start. What is found is a proof;
    that nothing is found is none.
    """
    topics = len(low)
    if topics < 2:
        return False
    k = critical / np.sqrt(topics * (topics - 1))
    ends = np.stack([low, judged, high])

    def is_below(delta: Floats) -> bool:
        return bool(delta.mean() + k * _spread(delta) < -NO_DIFFERENCE)

    def to_end(delta: Floats, size: float) -> Floats:
        terms = ends / topics + k * (ends - delta.mean()) ** 2 / (2 * size)
        return _each(ends, terms)

    def within(delta: Floats, size: float) -> Floats:
        return np.asarray(np.clip(delta.mean() - size / (topics * k), low, high))

    starts = [low, judged, high]
    if k > 0:  # else g is not convex
        starts.append(_each(ends, np.abs(ends - _descended(low, within))))
    return any(is_below(delta) or is_below(_descended(delta, to_end)) for delta in starts)


def _descended(start: Floats, step: Callable[[Floats, float], Floats]) -> Floats:
    """Where steps from a start lead to, each given what is reached and its S."""
    delta = start
    for _ in range(_STEPS):
        size = _spread(delta)
        if size == 0:
            break
        nearer = step(delta, size)
        if (nearer == delta).all():
            break
        delta = nearer
    return delta


def _each(ends: Floats, terms: Floats) -> Floats:
    """Of each topic the end with the least term."""
    chosen = terms.argmin(axis=0)
    nearest: Floats = ends[chosen, np.arange(ends.shape[1])]
    return nearest


def _spread(delta: Floats) -> float:
    """S, the root of the sum of squared departures from the mean."""
    return float(np.sqrt(((delta - delta.mean()) ** 2).sum()))


def _scaled(low: Floats, high: Floats) -> tuple[Floats, float]:
    """Both ends in a unit in which their squares are neither 0 nor infinite."""
    both, unit = in_units(np.stack([low, high]).ravel())
    return both.reshape(2, -1), float(unit)
