"""What a risk measure declares of its computation, once; everything else reads it from here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, Turn
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.intervals import rank_intervals
from riskcli.risk.jackknife import Jackknife, Statistic
from riskcli.risk.paired import Moments

Values = Callable[[Comparison, float], Floats]
Details = Callable[[Comparison, float, Inference], Estimate]
Steps = Callable[[Comparison, float, int], list[tuple[str, float]]]
FindSwaps = Callable[[Comparison, Pairs, Span], Swaps]
FindTurns = Callable[[Moments, Span, float, Sequence[int]], list[Turn]]

Kind = Literal["name", "count", "number", "p", "flag", "rank"]
FieldName = Literal[
    "value", "low", "high", "difference", "difference_low", "difference_high", "p", "p_adjusted",
    "flag", "rank", "rank_low", "rank_high",
]  # fmt: skip
"""The fields of an `Estimate` that can be columns."""


@dataclass(frozen=True)
class MeasureColumn:
    """A column of a risk table: its name and the kind of value that it holds."""

    name: str
    kind: Kind
    averages: bool = True
    """Whether its mean over several baselines says anything."""
    measure: str | None = None
    """The id of the risk measure that it belongs to, if it does."""
    field: FieldName | None = None
    """The field of the measure's estimate that it shows; None: a further column of its own."""


FIELDS: dict[FieldName, MeasureColumn] = {
    "value": MeasureColumn("{id}", "number"),
    "low": MeasureColumn("{id}_lo", "number", averages=False),
    "high": MeasureColumn("{id}_hi", "number", averages=False),
    "difference": MeasureColumn("{id}_diff", "number"),
    "difference_low": MeasureColumn("{id}_diff_lo", "number", averages=False),
    "difference_high": MeasureColumn("{id}_diff_hi", "number", averages=False),
    "p": MeasureColumn("{id}_p", "p", averages=False),
    "p_adjusted": MeasureColumn("{id}_p_adj", "p", averages=False),
    "flag": MeasureColumn("{id}_flag", "flag", averages=False),
    "rank": MeasureColumn("rank_{id}", "rank", averages=False),
    "rank_low": MeasureColumn("rank_{id}_lo", "rank", averages=False),
    "rank_high": MeasureColumn("rank_{id}_hi", "rank", averages=False),
}
"""The column of each field of an estimate, whatever the measure."""

OF_A_STATISTIC: tuple[FieldName, ...] = (
    "low", "high", "difference", "difference_low", "difference_high", "p", "rank_low", "rank_high",
)  # fmt: skip
"""The fields that the tests of a `Statistic` fill in."""


@dataclass(frozen=True)
class RiskMeasure:
    """One measure: how it is computed and tested. `output.measure_words` says how it is shown.

    `id` and `values` are enough: (comparison, alpha) -> the value of each run, shape (runs,).
    `details` gives an estimate with more than that, of which `fields` are columns; with a `p` among
    them come the corrected p-value and the flag. A measure with a `statistic` has both from it.
    """

    id: str
    values: Values
    details: Details | None = None
    fields: tuple[FieldName, ...] = ()
    """Columns beside the value and the rank."""
    columns: tuple[MeasureColumn, ...] = ()
    """Columns of its own, which are in the `extra` of its estimates."""
    paired: bool = False
    """Whether it is about differences to the baseline, whose own row is empty."""
    nonnegative: bool = False
    """Whether scores below 0 leave it undefined."""
    depends_on_alpha: bool = True
    plain_mean: bool = False
    """Whether it is a mean over topics: what d_z, the paired t test and Tukey's HSD are about."""
    value_is_t: bool = False
    """Whether the value is Student's t itself, with c - 1 degrees of freedom."""
    statistic: Statistic | None = None
    """How a measure of the population is tested."""
    contributions: Values | None = None
    """What each topic adds to each run's value, shape (runs, topics); a gain is above 0."""
    steps: Steps | None = None
    """The numbers that make up a run's value, in the order of the formula."""
    deviations: Values | None = None
    """Shape (runs, topics), rows summing to 0: what a test of every pair of runs rests on."""
    swaps: FindSwaps | None = None
    """Where two runs swap places as alpha grows."""
    turns: FindTurns | None = None
    """Where a run alone turns as alpha grows, at a level gamma."""
    signed: bool = True
    """Whether the minus convention (higher is riskier) turns its sign round."""

    def of(self, comparison: Comparison, alpha: float) -> Floats | None:
        """The values, NaN in the baseline's own row; None where a score below 0 forbids them."""
        if self.nonnegative and comparison.has_negative:
            return None
        values = self.values(comparison, alpha)
        return comparison.off_baseline(values) if self.paired else values

    def of_baseline(self, comparison: Comparison, alpha: float) -> float:
        """The baseline's own value, NaN where it has none: a pool of runs is in no population."""
        baseline = comparison.baseline
        if self.paired:
            alone = replace(baseline, members=())
            itself = replace(comparison, scores=baseline.scores[None], baseline=alone)
            return float(self.values(itself, alpha)[0])
        own_row = baseline.own_row
        return float("nan") if own_row is None else float(self.values(comparison, alpha)[own_row])

    def deviations_of(self, comparison: Comparison, alpha: float) -> Floats | None:
        """Those declared, or the jackknife's of the statistic; None: no pair can be tested."""
        if self.deviations is not None:
            return self.deviations(comparison, alpha)
        if self.statistic is not None:
            return Jackknife(comparison).deviations(self.statistic, alpha)
        return None

    def estimate(
        self, comparison: Comparison, alpha: float, inference: Inference
    ) -> Estimate | None:
        """All that is known of each run but ranks, tests not yet corrected; None as with `of`."""
        values = self.of(comparison, alpha)
        if values is None:
            return None
        if self.statistic is not None:
            return replace(inference.of_statistic(self.statistic, alpha), value=values)
        if self.details is None:
            return Estimate(values)
        estimate = replace(self.details(comparison, alpha, inference), value=values)
        if self.deviations is None or not inference.ranked:
            return estimate
        deviations = self.deviations(comparison, alpha)
        low, high = rank_intervals(values, deviations, inference.significance.gamma)
        return replace(estimate, rank_low=low, rank_high=high)

    @property
    def all_columns(self) -> tuple[MeasureColumn, ...]:
        """The columns of its fields, and those of its own."""
        fields = {"value", "rank", *self.fields, *(OF_A_STATISTIC if self.statistic else ())}
        if "p" in fields:
            fields |= {"p_adjusted", "flag"}
        return (
            *(
                replace(column, name=column.name.format(id=self.id), measure=self.id, field=name)
                for name, column in FIELDS.items()
                if name in fields
            ),
            *(replace(column, measure=self.id) for column in self.columns),
        )
