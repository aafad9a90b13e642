"""What a risk measure declares of its computation, once, and its estimates of a large matrix."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

import numpy as np

from riskcli.core.arrays import ALL, Floats, Mask, row_blocks
from riskcli.risk.comparison import Comparison
from riskcli.risk.crossings import Pairs, Span, Swaps, Turn
from riskcli.risk.estimate import Estimate, rank
from riskcli.risk.inference import Inference
from riskcli.risk.intervals import Lent
from riskcli.risk.jackknife import Jackknife, Reference, References, Statistic
from riskcli.risk.paired import Moments
from riskcli.risk.population import Population
from riskcli.risk.ranks import MarksAgainst, rank_intervals

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
    as_printed: Callable[[Floats, Floats], Floats] | None = None
    """ECIR'20's own formula of the minus convention, of mean and ZRisk/c, where it is another."""
    signed: bool = True
    """Whether the minus convention (higher is riskier) turns its sign round."""

    def of(self, comparison: Comparison, alpha: float) -> Floats | None:
        """The values as they are shown, NaN in the baseline's own row; None where a score below 0
        forbids them.
        """
        if self.nonnegative and comparison.has_negative:
            return None
        values = self.values(comparison, alpha)
        return comparison.off_baseline(values) if self.paired else self.shown(comparison, values)

    def shown(self, comparison: Comparison, values: Floats) -> Floats:
        """Values, which are tested, as they are shown: a mean of logarithms is a geometric mean."""
        return comparison.shown_mean(values) if self.plain_mean else values

    def of_baseline(self, comparison: Comparison, alpha: float) -> float:
        """The baseline's own value, NaN where it has none: a pool of runs is in no population."""
        baseline = comparison.baseline
        if self.paired:
            alone = replace(baseline, members=())
            itself = replace(comparison, scores=baseline.scores[None], baseline=alone, noise=None)
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
        tested = self.details(comparison, alpha, inference)
        estimate = replace(tested, value=values)
        if self.deviations is None or not inference.ranked:
            return estimate
        deviations = self.deviations(comparison, alpha)
        gamma = inference.significance.gamma
        marks = MarksAgainst.of(tested, comparison.baseline.own_row, gamma)
        freedom = inference.degrees
        low, high = rank_intervals(tested.value, deviations, gamma, marks, degrees=freedom)
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


# The estimates of a matrix too large to be computed with at once: some of its runs at a time.
#
# What is known of a run depends on its own scores, the totals of its population and the reference
# that it is compared with; so runs are taken in portions, and scratch memory stays far below that
# of the matrix. Only intervals of ranks compare every pair of runs: they are left out.


MOST_CELLS_AT_ONCE = 20_000_000
"""A larger matrix (of 160 MB) is computed in portions."""
MOST_RANKED_RUNS = 10_000
"""More runs make more pairs than intervals of ranks can be had of in a minute or two."""
_CELLS_IN_PORTION = 1_000_000

Estimates = Mapping[tuple[str, float], Estimate]
"""By the id of the measure and alpha."""


def in_portions(scores: Floats) -> bool:
    """Whether a matrix is so large that its runs are taken in portions."""
    return scores.size > MOST_CELLS_AT_ONCE or len(scores) > MOST_RANKED_RUNS


@dataclass(frozen=True)
class Portion(Comparison):
    """Some runs of a comparison, in the population of the whole and beside its reference."""

    whole: Comparison = field(kw_only=True)
    rows: slice = field(kw_only=True)

    @property
    def cells(self) -> int:
        """Those of the whole matrix."""
        return self.whole.cells

    @property
    def has_negative(self) -> bool:
        """Whether any score of the whole is below 0."""
        return self.whole.has_negative

    @property
    def is_baseline(self) -> Mask:
        """Which of these runs is the baseline."""
        return self.whole.is_baseline[self.rows]

    @property
    def reference_is_empty(self) -> bool:
        """As in the whole."""
        return self.whole.reference_is_empty

    @property
    def lent(self) -> Lent:
        """As in the whole."""
        return self.whole.lent

    def reference_scores(self) -> Iterator[Floats]:
        """The scores of each reference run, which need not be among these runs."""
        return self.whole.reference_scores()

    def population_of(self, rows: slice) -> Population:
        """As in the whole; `rows` are those of the portion, all of them."""
        assert rows == ALL
        return self.whole.population_of(self.rows)


def estimates_of(
    inference: Inference, chosen: Sequence[RiskMeasure], alphas: Sequence[float]
) -> Estimates:
    """Every measure that the scores allow, at each alpha that changes it, with ranks."""
    by_key: dict[tuple[str, float], list[Estimate]] = {}
    for some in _portions(inference, chosen, alphas):
        for measure in chosen:
            for alpha in alphas if measure.depends_on_alpha else alphas[:1]:
                estimate = measure.estimate(some.comparison, alpha, some)
                if estimate is not None:
                    by_key.setdefault((measure.id, alpha), []).append(estimate)
    return {key: _joined(estimates) for key, estimates in by_key.items()}


def _portions(
    inference: Inference, chosen: Sequence[RiskMeasure], alphas: Sequence[float]
) -> Iterator[Inference]:
    """All runs at once, or, of a large matrix, some at a time without intervals of ranks."""
    comparison = inference.comparison
    if not in_portions(comparison.scores):
        yield inference
        return
    statistics = tuple(m.statistic for m in chosen if m.statistic is not None)
    references = {} if comparison.has_negative else _references(comparison, statistics, alphas)
    for rows in row_blocks(len(comparison.scores), comparison.topics, _CELLS_IN_PORTION):
        given = {each.name: getattr(comparison, each.name) for each in fields(comparison)}
        given["scores"] = comparison.scores[rows]
        given["noise"] = None if comparison.noise is None else comparison.noise[rows]
        portion = Portion(**given, whole=comparison, rows=rows)
        yield replace(inference, comparison=portion, ranked=False, references=references)


def _references(
    comparison: Comparison, statistics: Sequence[Statistic], alphas: Sequence[float]
) -> References:
    """The reference that all runs share: its value, and that without each topic, by key.

    Empty where each run meets its reference in a population of its own.
    """
    if comparison.rule != "all" or not statistics:
        return {}
    keys = [(statistic, alpha) for statistic in statistics for alpha in alphas]
    values, without = np.zeros(len(keys)), np.zeros((len(keys), comparison.topics))
    count = 0.0
    for population, weights in _reference_blocks(comparison):
        deleted = population.without_each()
        count += weights.sum()
        for k, (statistic, alpha) in enumerate(keys):
            values[k] += (weights * statistic.value(population.departures, alpha)).sum()
            without[k] += (weights[:, None] * statistic.tested(deleted, alpha)).sum(axis=0)
    return {
        key: Reference(float(values[k]) / count, without[k] / count) for k, key in enumerate(keys)
    }


def _reference_blocks(comparison: Comparison) -> Iterator[tuple[Population, Floats]]:
    """The reference runs in their population, some at a time, and what each weighs."""
    members = comparison.reference_members
    if members is not None:
        yield members  # teams, or frozen runs
    elif comparison.baseline.members:
        for row in comparison.baseline.members:
            yield comparison.population_of(slice(row, row + 1)), np.ones(1)
    else:
        for rows in row_blocks(*comparison.scores.shape):
            population = comparison.population_of(rows)
            yield population, np.ones(len(population.scores))


def _joined(estimates: Sequence[Estimate]) -> Estimate:
    """One after the other, ranked among all."""
    joined = Estimate.mapped(estimates, np.concatenate)
    return replace(joined, rank=rank(joined.value))
