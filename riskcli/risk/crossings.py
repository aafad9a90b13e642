"""Where two runs swap places as alpha grows: every such alpha, none missed and none invented.

All measures are functions of the weight of losses, t = 1 + alpha. URisk and ZRisk are lines. TRisk
squared is a ratio of two quadratics, so that two runs meet at roots of a quartic. ln GeoRisk^2 =
ln S/c + ln Phi(a - b t) is concave, so that the difference of two is enclosed between chords and
tangents: intervals are halved until it is monotone, or has no root, on each.

A swap is a change of sign of the difference, looked for between points at which its sign is known;
differences below a bound for rounding have no sign. Runs that touch but do not cross do not swap.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, Mask, Rows, divided
from riskcli.risk.paired import LEAST_TOPICS, Moments
from riskcli.risk.population import Departures
from riskcli.risk.rounding import AT_THE_EDGE, NO_COEFFICIENT, NO_SIGN, NO_SIGN_OF_RATIOS

_HALVINGS = 40


@dataclass(frozen=True)
class Pairs:
    """Pairs of runs, by their rows."""

    first: Rows
    second: Rows

    @classmethod
    def of(cls, rows: list[int]) -> Self:
        """Every pair of these rows."""
        one, other = np.triu_indices(len(rows), k=1)
        chosen = np.asarray(rows, dtype=np.intp)
        return cls(chosen[one], chosen[other])

    def where(self, kept: Mask | Rows) -> Self:
        """Only those pairs (a mask, or their numbers)."""
        return replace(self, first=self.first[kept], second=self.second[kept])


@dataclass(frozen=True)
class Swaps:
    """Each alpha at which the run `ahead` overtakes the run `behind`."""

    alpha: Floats
    ahead: Rows
    behind: Rows


@dataclass(frozen=True)
class Span:
    """The alphas looked at; what happens exactly at an end is outside."""

    first: float
    last: float

    @property
    def ends(self) -> tuple[float, float]:
        """The ends in t = 1 + alpha."""
        return 1 + self.first, 1 + self.last

    def holds(self, t: Floats) -> Mask:
        """Which t lie between the ends, by more than rounding."""
        low, high = self.ends
        margin = NO_SIGN * high
        return np.asarray((t > low + margin) & (t < high - margin))


def swaps_of_lines(at_0: Floats, slope: Floats, pairs: Pairs, span: Span) -> Swaps:
    """Runs whose values are at_0 - slope t."""
    start = _difference_of(at_0, pairs)
    fall = _difference_of(slope, pairs)
    t = divided(start, fall, fall != 0, otherwise=np.nan)
    inside = span.holds(t)
    return _swaps(t[inside], pairs.where(inside), fall[inside] > 0)


def _swaps(t: Floats, pairs: Pairs, first_falls: Mask) -> Swaps:
    """In each pair the first is overtaken, or overtakes the second."""
    ahead = np.where(first_falls, pairs.second, pairs.first)
    return Swaps(t - 1, ahead, np.where(first_falls, pairs.first, pairs.second))


def _difference_of(values: Floats, pairs: Pairs) -> Floats:
    """First less second, exactly 0 where it is but rounding."""
    difference = values[pairs.first] - values[pairs.second]
    noise = NO_SIGN * (np.abs(values[pairs.first]) + np.abs(values[pairs.second]))
    return np.where(np.abs(difference) <= noise, 0.0, difference)


def swaps_of_trisk(moments: Moments, pairs: Pairs, span: Span) -> Swaps:
    """Runs by URisk over its standard error: T^2 is a ratio of two quadratics in t."""
    numerator, variance = moments.squared_urisk, moments.squared_error
    quartics = _product(numerator[pairs.first], variance[pairs.second])
    quartics -= _product(numerator[pairs.second], variance[pairs.first])
    numbers, points = _points_between(_real_parts(quartics), span)
    return _changes(pairs, numbers, points, moments.trisk, NO_SIGN_OF_RATIOS, least=1e-3)


def _product(one: Floats, other: Floats) -> Floats:
    """Products of quadratics, coefficients from t^0 up."""
    products = np.zeros((len(one), 5))
    for i in range(3):
        for j in range(3):
            products[:, i + j] += one[:, i] * other[:, j]
    return products


def _real_parts(polynomials: Floats) -> Floats:
    """The real parts of all roots of each row, coefficients from t^0 up; NaN where it has fewer.

    Those of pairs that rounding made complex are wanted too. Roots are eigenvalues of companion
    matrices; those of the same size are solved together. Coefficients of t^0 that are 0 make a
    root at 0, which is no weight of losses, and are left out.
    """
    scale = np.abs(polynomials).max(axis=1, keepdims=True)
    nonzero = np.abs(polynomials) > NO_COEFFICIENT * scale
    roots = np.full((len(polynomials), polynomials.shape[1] - 1), np.nan)
    lowest = nonzero.argmax(axis=1)
    highest = polynomials.shape[1] - 1 - nonzero[:, ::-1].argmax(axis=1)
    kept = np.where(nonzero, polynomials, 0.0)
    for low, high in np.unique(np.stack([lowest, highest], axis=1), axis=0).tolist():
        rows = np.flatnonzero((lowest == low) & (highest == high) & nonzero.any(axis=1))
        if high > low and len(rows):
            some = kept[rows, low : high + 1]
            companion = np.zeros((len(rows), high - low, high - low))
            companion[:, 0] = -some[:, -2::-1] / some[:, -1:]
            companion[:, np.arange(1, high - low), np.arange(high - low - 1)] = 1
            roots[rows, : high - low] = np.linalg.eigvals(companion).real
    return roots


def _points_between(roots: Floats, span: Span) -> tuple[Rows, Floats]:
    """The ends, and a point between every two neighbours of a row's roots and the ends.

    Each with the number of its row.
    """
    low, high = span.ends
    inside = np.isfinite(roots) & (roots > low) & (roots < high)
    ordered = np.sort(np.where(inside, roots, high), axis=1)
    ends = np.full((2, len(roots), 1), [[[low]], [[high]]])
    marks = np.concatenate([ends[0], ordered, ends[1]], axis=1)
    points = np.concatenate([ends[0], (marks[:, :-1] + marks[:, 1:]) / 2, ends[1]], axis=1)
    new = np.diff(points, axis=1, prepend=-np.inf) > 0  # roots outside were put at the end
    return np.nonzero(new)[0], points[new]


def swaps_of_georisk(departures: Departures, pairs: Pairs, span: Span) -> Swaps:
    """Runs by GeoRisk, compared by ln GeoRisk^2."""
    mean = departures.mean
    pairs = pairs.where((mean[pairs.first] > 0) & (mean[pairs.second] > 0))
    pairs = pairs.where(~_same_curve(departures, pairs))
    numbers, points = _settled(departures, pairs, span)
    return _changes(pairs, numbers, points, departures.log_georisk, NO_SIGN, least=1.0)


def _same_curve(departures: Departures, pairs: Pairs) -> Mask:
    """Pairs of runs whose GeoRisk is the same at every t, but for rounding."""
    c = departures.topics
    apart = [
        np.abs(x[pairs.first] - x[pairs.second]) / c for x in (departures.above, departures.below)
    ]
    apart += [np.abs(np.log(departures.mean[pairs.first]) - np.log(departures.mean[pairs.second]))]
    return np.asarray(np.max(apart, axis=0) <= NO_SIGN)


def _settled(departures: Departures, pairs: Pairs, span: Span) -> tuple[Rows, Floats]:
    """For each pair (its number), the ends of intervals that hold at most one root each."""
    low, high = span.ends
    number = np.arange(len(pairs.first), dtype=np.intp)
    start, end = np.full(len(number), low), np.full(len(number), high)
    numbers, points = [], []
    for halving in range(_HALVINGS):
        settled = _at_most_one_root(departures, pairs.where(number), start, end)
        if halving == _HALVINGS - 1:
            settled[:] = True
        numbers += [number[settled], number[settled]]
        points += [start[settled], end[settled]]
        number, start, end = (x[~settled] for x in (number, start, end))
        if not len(number):
            break
        middle = (start + end) / 2
        number = np.concatenate([number, number])
        start, end = np.concatenate([start, middle]), np.concatenate([middle, end])
    return np.concatenate(numbers), np.concatenate(points)


def _at_most_one_root(departures: Departures, pairs: Pairs, start: Floats, end: Floats) -> Mask:
    """Whether the difference of two curves has one sign, is monotone, or is but rounding."""
    width = end - start
    curve, slope = departures.log_georisk, departures.log_georisk_slope
    f0, f1 = curve(start, pairs.first), curve(end, pairs.first)
    g0, g1 = curve(start, pairs.second), curve(end, pairs.second)
    df0, df1 = slope(start, pairs.first), slope(end, pairs.first)
    dg0, dg1 = slope(start, pairs.second), slope(end, pairs.second)
    # A concave curve lies above its chord and below its tangents.
    least = np.maximum(
        np.minimum(f0 - g0, f1 - (g0 + dg0 * width)), np.minimum(f0 - (g1 - dg1 * width), f1 - g1)
    )
    most = np.minimum(
        np.maximum(f0 - g0, f0 + df0 * width - g1), np.maximum(f1 - df1 * width - g0, f1 - g1)
    )
    monotone = (df1 - dg0 > 0) | (df0 - dg1 < 0)
    rounding = np.maximum(np.abs(least), np.abs(most)) <= NO_SIGN
    return np.asarray((least > 0) | (most < 0) | monotone | rounding)


def _changes(
    pairs: Pairs,
    number: Rows,
    t: Floats,
    curve: Callable[[Floats, Rows], Floats],
    noise: float,
    least: float,
) -> Swaps:
    """The swaps between the points t of each pair: one wherever the sign changes.

    `curve` gives the values of runs, each at its own t. At the points a difference below the noise,
    relative to the values and a least size, has no sign, nor has one of infinite values; the swap
    itself is where the bare difference turns, to the last digit.
    """
    order = np.lexsort((t, number))
    number, t = number[order], t[order]
    one, other = curve(t, pairs.first[number]), curve(t, pairs.second[number])
    with np.errstate(invalid="ignore"):
        difference = one - other
        clear = np.abs(difference) > noise * (least + np.abs(one) + np.abs(other))
    sign = np.where(clear, np.sign(difference), 0.0)
    number, t, sign = (x[sign != 0] for x in (number, t, sign))
    change = np.flatnonzero((number[1:] == number[:-1]) & (sign[1:] != sign[:-1]))
    swapped, before = pairs.where(number[change]), sign[change]

    def still(x: Floats) -> Mask:
        with np.errstate(invalid="ignore"):
            return np.asarray(before * (curve(x, swapped.first) - curve(x, swapped.second)) > 0)

    return _swaps(bisected(still, t[change], t[change + 1]), swapped, before > 0)


def bisected(still: Callable[[Floats], Mask], low: Floats, high: Floats) -> Floats:
    """Where `still` turns false between low and high, to the last digit."""
    low, high = low.copy(), high.copy()
    for _ in range(64):
        middle = (low + high) / 2
        holds = still(middle)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return (low + high) / 2


# Where a single run turns as alpha grows: its break-even, and the edges of significance.


_FLAGS = {-1.0: "worse", 0.0: "", 1.0: "better"}


@dataclass(frozen=True)
class Turn:
    """A run that is `before` below alpha and `after` above it, where its value is `value`."""

    alpha: float
    kind: str
    run: int
    value: float
    before: str
    after: str


def break_evens(moments: Moments, span: Span, _gamma: float, rows: Sequence[int]) -> list[Turn]:
    """Where reward and (1 + alpha) risk are equal: alpha = Gain / Risk."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = moments.reward / moments.risk
    return [
        Turn(float(t[row] - 1), "break-even", row, 0.0, "positive", "negative")
        for row in rows
        if span.holds(t[row])
    ]


def significance(moments: Moments, span: Span, gamma: float, rows: Sequence[int]) -> list[Turn]:
    """Where TRisk passes the critical value of either sign: roots of a quadratic."""
    if moments.topics < LEAST_TOPICS:
        return []
    critical = float(stdtrit(moments.degrees, 1 - gamma / 2))
    quadratics = (moments.squared_urisk - critical**2 * moments.squared_error)[list(rows)]
    number, t = _points_between(_real_parts(quadratics), span)
    run = np.array(rows, dtype=np.intp)[number]
    value = moments.trisk(t, run)
    clear = np.abs(np.abs(value) - critical) > AT_THE_EDGE * critical
    run, t, value = run[clear], t[clear], value[clear]
    state = np.where(np.abs(value) > critical, np.sign(value), 0.0)
    change = np.flatnonzero((run[1:] == run[:-1]) & (state[1:] != state[:-1]))
    run, before, after = run[change], state[change], state[change + 1]

    def still(x: Floats) -> Mask:
        return np.asarray((np.abs(moments.trisk(x, run)) > critical) == (before != 0))

    alphas = bisected(still, t[change], t[change + 1]) - 1
    sides = np.where(before != 0, before, after) * critical
    columns = (alphas, run, sides, before, after)
    return [
        Turn(alpha, "significance", row, side, _FLAGS[old], _FLAGS[new])
        for alpha, row, side, old, new in zip(*(x.tolist() for x in columns), strict=True)
    ]
