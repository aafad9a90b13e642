"""One score matrix against one baseline within one population: what every measure is given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskcli.core.arrays import ALL, Counts, Floats, Mask
from riskcli.core.choices import PopulationRule
from riskcli.core.messages import UsageError
from riskcli.risk.losses import Cubic, SmoothPaired, SmoothPopulation, chosen_cubic
from riskcli.risk.paired import Paired
from riskcli.risk.population import Members, Population


def column_mean(scores: Floats) -> Floats:
    """The mean of each topic's column; where all of a column is equal, that very number."""
    mean = scores.mean(axis=0)
    return np.asarray(np.clip(mean, scores.min(axis=0), scores.max(axis=0)))


def column_median(scores: Floats) -> Floats:
    """The median of each topic's column."""
    return np.asarray(np.median(scores, axis=0))


def column_max(scores: Floats) -> Floats:
    """The best score of each topic."""
    return np.asarray(scores.max(axis=0))


def column_min(scores: Floats) -> Floats:
    """The worst score of each topic."""
    return np.asarray(scores.min(axis=0))


POOLS: dict[str, Callable[[Floats], Floats]] = {
    "mean": column_mean,
    "median": column_median,
    "max": column_max,
    "min": column_min,
}
"""How the scores of several runs on a topic become one (ECIR'14, section 4.2; SIGIR'16, 3.1)."""

VIRTUAL = {f"@{name}": pool for name, pool in POOLS.items()}


@dataclass(frozen=True)
class Baseline:
    """Scores to compare with. `members` are its rows of the matrix; a virtual run has none."""

    name: str
    members: tuple[int, ...]
    scores: Floats

    @cached_property
    def own_row(self) -> int | None:
        """The row that is the baseline itself, whose paired cells stay empty."""
        return self.members[0] if len(self.members) == 1 else None


@dataclass(frozen=True)
class Comparison:
    """Runs (rows of `scores`) against `baseline`; `named` are the rows of all baselines named.

    By the rule "baselines" a run's population is the named rows and itself; else it is all.
    With `members` it is those (teams, or frozen runs), and the run itself where it is none of them.
    With `smooth` differences count s(x) and no alpha applies; without it the loss is linear.
    """

    scores: Floats
    baseline: Baseline
    rule: PopulationRule = "all"
    """Which runs a run's population is made of."""
    named: tuple[int, ...] = ()
    smooth: Cubic | None = None
    members: Members | None = None

    def __post_init__(self) -> None:
        if self.rule == "baselines" and not self.named:
            raise UsageError("population 'baselines' needs a baseline that is a run of the matrix")

    @cached_property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @property
    def cells(self) -> int:
        """Runs times topics."""
        return int(self.scores.size)

    @cached_property
    def paired(self) -> Paired:
        """The runs topic by topic against the baseline, under the loss function."""
        if self.smooth is None:
            return Paired(self.scores, self.baseline.scores)
        return SmoothPaired(self.scores, self.baseline.scores, self.smooth)

    @cached_property
    def population(self) -> Population:
        """The runs against their population, under the loss function."""
        return self.population_of(ALL)

    def population_of(self, rows: slice) -> Population:
        """Some of the runs against their population, under the loss function."""
        return self._under_loss(self._linear_population(rows))

    def _linear_population(self, rows: slice) -> Population:
        scores = self.scores[rows]
        if self.members is not None:
            return Population.of_members(scores, self.members)
        if self.rule == "all":
            return Population(scores, self._totals, self._totals.sum(axis=1))
        return Population.of_set(scores, self.scores[list(self.named)], self._named_in(rows))

    @cached_property
    def _totals(self) -> Floats:
        """T, each topic's total over all runs, as a row."""
        return np.asarray(self.scores.sum(axis=0, keepdims=True))

    def _named_in(self, rows: slice) -> list[int]:
        """The rows of the baselines among these rows, counted from their first."""
        start, stop, _ = rows.indices(len(self.scores))
        return [row - start for row in self.named if start <= row < stop]

    def _under_loss(self, linear: Population) -> Population:
        if self.smooth is None:
            return linear
        return SmoothPopulation(linear.scores, linear.topic_totals, linear.grand_total, self.smooth)

    @property
    def population_name(self) -> str:
        """What the population is called in results."""
        return self.rule if self.members is None else self.members.name

    @cached_property
    def has_negative(self) -> bool:
        """Whether a score is below 0, so that ZRisk and GeoRisk are undefined."""
        return bool(self.scores.min(initial=0.0) < 0)

    @cached_property
    def reference(self) -> tuple[int, ...]:
        """The rows whose mean ZRisk or GeoRisk a run's is compared with (all for a virtual one)."""
        return self.baseline.members or tuple(range(len(self.scores)))

    @cached_property
    def reference_members(self) -> Population | None:
        """The members' runs, where their mean is what a run's ZRisk or GeoRisk is compared with.

        That is so for a virtual baseline, where members are not simply the runs at hand. (It is no
        mean of the teams' rows: those vary less over topics than any run, so that nearly every run
        of a field of equal ones would be below it.)
        """
        if self.baseline.members or self.members is None:
            return None
        return self._under_loss(Population.of_members(self.members.runs, self.members))

    @property
    def reference_weights(self) -> Floats:
        """What each of the members' runs weighs in that mean: a team's have one together."""
        assert self.members is not None
        return self.members.weights

    @property
    def reference_is_empty(self) -> bool:
        """Whether all scores are 0 that a run's ZRisk or GeoRisk is compared with."""
        members = self.reference_members
        if members is not None:
            return not members.scores.any()
        return not any(scores.any() for scores in self.reference_scores())

    def reference_scores(self) -> Iterator[Floats]:
        """The scores of each reference run."""
        for row in self.reference:
            yield self.scores[row]

    def reference_populations(self) -> list[Population]:
        """Each reference run measured in every run's own population (a row a population)."""
        return [
            replace(self.population, scores=np.broadcast_to(scores, self.scores.shape))
            for scores in self.reference_scores()
        ]

    def off_baseline(self, values: Floats | Counts) -> Floats:
        """Values by run, compared with the baseline: empty (NaN) in the baseline's own row."""
        return np.where(self.is_baseline, np.nan, values)

    @cached_property
    def is_baseline(self) -> Mask:
        """Which run, if any, is the baseline itself."""
        own = np.zeros(len(self.scores), dtype=bool)
        own[[] if self.baseline.own_row is None else self.baseline.own_row] = True
        return own


def with_loss(comparison: Comparison, loss: str) -> Comparison:
    """The comparison under a loss of that name; a fit sees the differences of all other runs."""

    def differences() -> Floats:
        own, delta = comparison.baseline.own_row, comparison.paired.delta
        return delta if own is None else np.delete(delta, own, axis=0)

    return replace(comparison, smooth=chosen_cubic(loss, differences))
