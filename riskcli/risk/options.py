"""What is compared with what, and how it is tested: the options of every analysis."""

from __future__ import annotations

from dataclasses import dataclass

from riskcli.core.choices import (
    Correction,
    Family,
    Test,
    check_words,
)
from riskcli.core.messages import UsageError
from riskcli.core.text import short_repr

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
