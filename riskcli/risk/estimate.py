"""What is known of every run by one risk measure, and how its differences are tested."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from riskcli.core.arrays import Flags, Floats, Rows
from riskcli.core.choices import Correction, Family, Test, check_words
from riskcli.core.messages import UsageError, short_repr
from riskcli.risk.rounding import equal_digits

LEAST_SWAPS = 9_999
LEAST_SHUFFLES = 999
DEFAULT_SEED = 20161


@dataclass(frozen=True)
class Significance:
    """How differences are tested: level, test of ZRisk and GeoRisk, correction and its family."""

    gamma: float = 0.05
    """The significance level."""
    test: Test = "jackknife"
    correction: Correction = "holm"
    family: Family = "column"
    swaps: int = LEAST_SWAPS
    shuffles: int | None = None
    """Of the test against virtual baselines; None: 999, or 9,999 where the whole table is one
    family, whose correction needs finer p-values."""
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 0 < self.gamma < 1:
            raise UsageError(f"gamma is {self.gamma}, expected a number between 0 and 1")
        check_words(
            test=(self.test, Test),
            correction=(self.correction, Correction),
            family=(self.family, Family),
        )
        if self.swaps < LEAST_SWAPS:
            raise UsageError(f"found {self.swaps} swaps, expected at least {LEAST_SWAPS}")
        if self.shuffles is not None and self.shuffles < LEAST_SHUFFLES:
            raise UsageError(f"found {self.shuffles} shuffles, expected at least {LEAST_SHUFFLES}")

    __repr__ = short_repr

    @property
    def number_of_shuffles(self) -> int:
        """Of the test against virtual baselines."""
        return self.shuffles or (LEAST_SHUFFLES if self.family == "column" else LEAST_SWAPS)

    def level_among(self, tests: int) -> float:
        """What is significant at this level is so whatever the other tests of a family say."""
        return self.gamma if self.correction == "none" else self.gamma / max(tests, 1)


def holm(p: Floats) -> Floats:
    """Holm (1979): step-down; the chance of any false flag; never worse than Bonferroni."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg (1995): controls the expected share of false flags."""
    order = np.argsort(p)
    stepped = p[order] * (len(p) / np.arange(1, len(p) + 1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


CORRECTIONS: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": lambda p: np.minimum(p * len(p), 1.0),
    "bh": benjamini_hochberg,
    "none": lambda p: p,
}


CORRECTION_TITLES: dict[str, str] = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "none": "no correction",
}


def correction_title(correction: Correction, family: Family, by_shuffles: bool) -> str:
    """What takes care of the number of tests; shuffled runs are corrected by their largest t."""
    if by_shuffles and correction == "holm" and family == "column":
        return "max-t over runs, step-down; TRisk: Holm"
    return CORRECTION_TITLES[correction]


def adjust(p: Floats, method: Correction) -> tuple[Floats, int]:
    """The adjusted p-values and the size of the family; a NaN is no test and stays NaN."""
    tested = np.isfinite(p)
    adjusted = np.full_like(p, np.nan)
    if tested.any():
        adjusted[tested] = CORRECTIONS[method](p[tested])
    return adjusted, int(np.count_nonzero(tested))


def flags(effect: Floats, p: Floats, gamma: float) -> Flags:
    """`better` or `worse` where p < gamma, by the sign of the effect; empty otherwise."""
    with np.errstate(invalid="ignore"):
        sides = [(p < gamma) & (effect > 0), (p < gamma) & (effect < 0)]
    return np.select(sides, ["better", "worse"], "")


@dataclass(frozen=True)
class Estimate:
    """The values of all runs by one risk measure: an array a field, a cell a run.

    A field is None where the measure has no such number; a cell is NaN where the run has none.
    `difference` is that to the baseline, and `p` tests it; without one, `p` tests the value itself.
    """

    value: Floats
    low: Floats | None = None
    high: Floats | None = None
    difference: Floats | None = None
    difference_error: Floats | None = None
    difference_low: Floats | None = None
    difference_high: Floats | None = None
    p: Floats | None = None
    p_stepped: Floats | None = None
    """p corrected step-down by the test itself, where it can: this is Holm's with less to lose."""
    p_adjusted: Floats | None = None
    flag: Flags | None = None
    family: int = 0
    """How many tests `p_adjusted` was corrected for."""
    heaviest: Floats | None = None
    """The share of the difference's variance that one topic carries."""
    rank: Floats | None = None
    rank_low: Floats | None = None
    rank_high: Floats | None = None
    extra: Mapping[str, Floats] = field(default_factory=dict)
    """The further columns that the measure declares, by name."""

    @property
    def effect(self) -> Floats:
        """What `p` tests against 0: the difference, or else the value."""
        return self.value if self.difference is None else self.difference

    def flagged(self, adjusted: Floats, family: int, gamma: float) -> Self:
        """With these adjusted p-values, and the flags that follow."""
        flag = flags(self.effect, adjusted, gamma)
        return replace(self, p_adjusted=adjusted, family=family, flag=flag)

    def corrected(self, method: Correction, gamma: float) -> Self:
        """With p-values corrected as one family (by the test's own steps, if any), and flags."""
        if self.p is None:
            return self
        adjusted, family = adjust(self.p, method)
        if method == "holm" and self.p_stepped is not None:
            adjusted = self.p_stepped
        return self.flagged(adjusted, family, gamma)

    def of_runs(self, rows: Rows) -> Self:
        """Only these runs, in this order."""
        return self.mapped([self], lambda columns: columns[0][rows])

    @classmethod
    def mapped(cls, estimates: Sequence[Self], function: Callable[[Sequence[Any]], Any]) -> Self:
        """One estimate, each of its columns made of that column of all."""
        first, arrays = estimates[0], {}
        for each in fields(cls):
            columns = [getattr(estimate, each.name) for estimate in estimates]
            if isinstance(columns[0], np.ndarray):
                arrays[each.name] = function(columns)
        extra = {name: function([one.extra[name] for one in estimates]) for name in first.extra}
        return replace(first, **arrays, extra=extra)

    def negated(self) -> Self:
        """With the signs of the value, its difference and the ends of intervals turned round."""
        return replace(
            self,
            value=negative(self.value),
            low=_negative(self.high),
            high=_negative(self.low),
            difference=_negative(self.difference),
            difference_low=_negative(self.difference_high),
            difference_high=_negative(self.difference_low),
        )


def negative(values: Floats) -> Floats:
    """-x without a negative zero."""
    return np.asarray(0.0 - values)


def _negative(values: Floats | None) -> Floats | None:
    return None if values is None else negative(values)


def rank(values: Floats) -> Floats:
    """1 for the highest; equal values share the smaller rank; NaN has none.

    Values that differ by rounding only, in the 13th digit, are equal.
    """
    ranks, present = np.full(len(values), np.nan), ~np.isnan(values)
    digits = equal_digits(values[present])
    ranks[present] = np.searchsorted(np.sort(-digits), -digits, side="left") + 1
    return ranks
