"""What a risk measure declares of itself, once; everything else reads it from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from riskcli.core.arrays import Floats
from riskcli.risk.columns import FIELDS, Column, FieldName
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, Turn
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Statistic
from riskcli.risk.paired import Moments
from riskcli.risk.ranks import rank_intervals

Values = Callable[[Comparison, float], Floats]
Details = Callable[[Comparison, float, Inference], Estimate]
Steps = Callable[[Comparison, float, int], list[tuple[str, float]]]
FindSwaps = Callable[[Comparison, Pairs, Span], Swaps]
FindTurns = Callable[[Moments, Span, float, Sequence[int]], list[Turn]]


@dataclass(frozen=True)
class Claim:
    """What the words of a flag depend on."""

    baseline: str
    reference: str
    """What a run's ZRisk and GeoRisk are compared with."""
    test: str
    """How ZRisk and GeoRisk are compared."""
    mean_test: str
    """How means are compared."""
    alphas: tuple[float, ...]
    """Empty where the loss is smooth."""


@dataclass(frozen=True)
class RiskMeasure:
    """One measure: what it is called, what it means, how it is computed and tested.

    `values` gives each run's value at an alpha. `details` gives an estimate with more than that;
    `fields` says which of its fields are columns, in words of the measure's own where the usual
    ones do not fit, and `columns` declares what it has beside them. With a `p` among the fields
    come the corrected p-value and the flag. `paired` values are empty in the baseline's own row;
    `nonnegative` scores are needed by some.
    """

    id: str
    title: str
    summary: str
    formula: str
    source: str
    reading: str
    position: int
    """Where it stands in tables, from the left."""
    values: Values
    details: Details | None = None
    fields: Mapping[FieldName, str | None] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    paired: bool = False
    nonnegative: bool = False
    depends_on_alpha: bool = True
    plain_mean: bool = False
    """Whether it is a mean over topics: what d_z, the paired t test and Tukey's HSD are about."""
    value_is_t: bool = False
    """Whether the value is Student's t itself, with c - 1 degrees of freedom."""
    headline: bool = False
    """Whether it stands for a run where there is space for one measure only."""
    claim: Callable[[Claim], str] | None = None
    """What a flag says of a run, in words."""
    statistic: Statistic | None = None
    """How a measure of the population is tested."""
    contributions: Values | None = None
    """What each topic (column) adds to each run's value, for explanations; a gain is above 0."""
    steps: Steps | None = None
    """The numbers that make up a run's value, in the order of the formula, for explanations."""
    deviations: Values | None = None
    """By run and topic, rows summing to 0: what a test of every pair of runs rests on."""
    swaps: FindSwaps | None = None
    """Where two runs swap places as alpha grows."""
    turns: FindTurns | None = None
    """Where a run alone turns as alpha grows, at a level gamma."""
    signed: bool = True
    """Whether the minus convention (higher is riskier) turns its sign round."""
    decimals: int = 4

    def of(self, comparison: Comparison, alpha: float) -> Floats | None:
        """The values, NaN in the baseline's own row; None where a score below 0 forbids them."""
        if self.nonnegative and comparison.has_negative:
            return None
        values = self.values(comparison, alpha)
        return comparison.off_baseline(values) if self.paired else values

    def estimate(
        self, comparison: Comparison, alpha: float, inference: Inference
    ) -> Estimate | None:
        """All that is known of each run but ranks, tests not yet corrected; None as with `of`."""
        values = self.of(comparison, alpha)
        if values is None:
            return None
        known = Estimate(values)
        if self.details is not None:
            known = replace(self.details(comparison, alpha, inference), value=values)
        if known.rank_low is not None or self.deviations is None or not inference.ranked:
            return known
        deviations = self.deviations(comparison, alpha)
        low, high = rank_intervals(values, deviations, inference.significance.gamma)
        return replace(known, rank_low=low, rank_high=high)

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The columns of its fields, and those of its own."""
        shown: dict[FieldName, str | None] = {"value": f"{self.title}: {self.summary}"}
        shown |= {"rank": None, **self.fields}
        if "p" in shown:
            shown = {"p_adjusted": None, "flag": None, **shown}
        own = [replace(column, measure=self.id) for column in self.columns]
        return (*_columns_of_fields(self.id, self.title, shown), *own)


def _columns_of_fields(
    measure: str, title: str, shown: Mapping[FieldName, str | None]
) -> list[Column]:
    """The columns of a measure's fields; `shown` has words where the usual ones do not fit."""
    return [
        Column(
            each.name.format(id=measure),
            each.kind,
            shown[each.field] or each.meaning.format(id=measure, title=title),
            each.averages,
            measure,
            each.field,
        )
        for each in FIELDS
        if each.field in shown
    ]
