"""How differences are tested: level, correction for the number of tests, and flags."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Flags, Floats
from riskcli.core.choices import Correction, Family, Test, check_words
from riskcli.core.messages import UsageError, short_repr

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

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def number_of_shuffles(self) -> int:
        """Of the test against virtual baselines."""
        return self.shuffles or (LEAST_SHUFFLES if self.family == "column" else LEAST_SWAPS)


def holm(p: Floats) -> Floats:
    """Holm (1979): step-down; the chance of any false flag; never worse than Bonferroni."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def bonferroni(p: Floats) -> Floats:
    """Each p times the number of tests."""
    return np.minimum(p * len(p), 1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg (1995): controls the expected share of false flags."""
    order = np.argsort(p)
    stepped = p[order] * (len(p) / np.arange(1, len(p) + 1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


def uncorrected(p: Floats) -> Floats:
    """The p-values as they are, as in the papers' tables."""
    return p


CORRECTIONS: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": uncorrected,
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
        significant = p < gamma
        return np.where(
            significant & (effect > 0),
            "better",
            np.where(significant & (effect < 0), "worse", ""),
        )
