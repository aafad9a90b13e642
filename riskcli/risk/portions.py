"""The estimates of a matrix too large to be computed with at once: some of its runs at a time.

What is known of a run depends on its own scores, the totals of its population and the reference
that it is compared with; so runs are taken in portions, and scratch memory stays far below that of
the matrix. Only intervals of ranks compare every pair of runs: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from riskcli.core.arrays import ALL, Floats, Mask, row_blocks
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate, rank
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Reference, References, Statistic
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.population import Population

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

    def reference_scores(self) -> Iterator[Floats]:
        """The scores of each reference run, which need not be among these runs."""
        yield from self.whole.reference_scores()

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
