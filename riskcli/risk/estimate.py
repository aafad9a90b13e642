"""What is known of every run by one risk measure, and p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from riskcli.core.arrays import Flags, Floats, Rows
from riskcli.core.choices import Correction
from riskcli.risk.rounding import equal_digits
from riskcli.risk.significance import adjust, flags


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

    def flagged(self, adjusted: Floats, family: int, gamma: float) -> Estimate:
        """With these adjusted p-values, and the flags that follow."""
        flag = flags(self.effect, adjusted, gamma)
        return replace(self, p_adjusted=adjusted, family=family, flag=flag)

    def corrected(self, method: Correction, gamma: float) -> Estimate:
        """With p-values corrected as one family (by the test's own steps, if any), and flags."""
        if self.p is None:
            return self
        adjusted, family = adjust(self.p, method)
        if method == "holm" and self.p_stepped is not None:
            adjusted = self.p_stepped
        return self.flagged(adjusted, family, gamma)

    def of_runs(self, rows: Rows) -> Estimate:
        """Only these runs, in this order."""
        chosen: dict[str, Any] = {
            each.name: cells[rows]
            for each in fields(self)
            if isinstance(cells := getattr(self, each.name), np.ndarray)
        }
        extra = {name: cells[rows] for name, cells in self.extra.items()}
        return replace(self, **chosen, extra=extra)

    def negated(self) -> Estimate:
        """With the signs of the value, its difference and the ends of intervals turned round."""
        return replace(
            self,
            value=negative(self.value),
            low=_where_known(negative, self.high),
            high=_where_known(negative, self.low),
            difference=_where_known(negative, self.difference),
            difference_low=_where_known(negative, self.difference_high),
            difference_high=_where_known(negative, self.difference_low),
        )


def negative(values: Floats) -> Floats:
    """-x without a negative zero."""
    return np.asarray(0.0 - values)


def _where_known(function: Callable[[Floats], Floats], values: Floats | None) -> Floats | None:
    return None if values is None else function(values)


def rank(values: Floats) -> Floats:
    """1 for the highest; equal values share the smaller rank; NaN has none.

    Values that differ by rounding only, in the 13th digit, are equal.
    """
    ranks, present = np.full(len(values), np.nan), ~np.isnan(values)
    digits = equal_digits(values[present])
    ranks[present] = np.searchsorted(np.sort(-digits), -digits, side="left") + 1
    return ranks
