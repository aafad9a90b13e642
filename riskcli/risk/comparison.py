"""One score matrix against one baseline within one population: what every measure is given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskcli.core.arrays import ALL, Counts, Floats, Mask
from riskcli.core.choices import Loss, PopulationRule, check_words
from riskcli.core.messages import UsageError
from riskcli.risk import losses
from riskcli.risk.intervals import Lent
from riskcli.risk.paired import Paired
from riskcli.risk.population import Members, Population
from riskcli.risk.weights import Weights, degrees, effective_topics, mean


def column_mean(scores: Floats) -> Floats:
    """The mean of each topic's column; where all of a column is equal, that very number."""
    mean = scores.mean(axis=0)
    return np.asarray(np.clip(mean, scores.min(axis=0), scores.max(axis=0)))


POOLS: dict[str, Callable[[Floats], Floats]] = {
    "mean": column_mean,
    "median": lambda scores: np.asarray(np.median(scores, axis=0)),
    "max": lambda scores: np.asarray(scores.max(axis=0)),
    "min": lambda scores: np.asarray(scores.min(axis=0)),
}
"""How the scores of several runs on a topic become one (ECIR'14, section 3; SIGIR'16, Eq. 3)."""

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
    smooth: losses.Cubic | None = None
    members: Members | None = None
    logarithms: bool = False
    """Whether the scores are logarithms, whose means are shown as geometric means."""
    weights: Weights = None
    """How much each topic counts, 1 on average; None where all count the same."""
    noise: Floats | None = None
    """By run and topic, which differences are no more than noise of repeats; None without any."""

    def __post_init__(self) -> None:
        if self.rule == "baselines" and not self.named:
            raise UsageError("population 'baselines' needs a baseline that is a run of the matrix")

    @cached_property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @property
    def effective_topics(self) -> float:
        """How many topics that count the same tell as much."""
        return effective_topics(self.topics, self.weights)

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Student's t: c - 1 where all topics count the same."""
        return degrees(self.topics, self.weights)

    def mean(self, scores: Floats | Mask) -> Floats:
        """The mean over topics, the last axis."""
        return mean(scores, self.weights)

    @property
    def cells(self) -> int:
        """Runs times topics."""
        return int(self.scores.size)

    @cached_property
    def paired(self) -> Paired:
        """The runs topic by topic against the baseline, under the loss function."""
        scores, baseline, weights = self.scores, self.baseline.scores, self.weights
        pooled = len(self.members.rows if self.members else self.reference)
        if self.smooth is None:
            return Paired(scores, baseline, pooled=pooled, noise=self.noise, weights=weights)
        return losses.SmoothPaired(
            scores, baseline, self.smooth, pooled=pooled, noise=self.noise, weights=weights
        )

    @cached_property
    def lent(self) -> Lent:
        """What the runs of the population say of the variance of gains and losses.

        Members are those given, whoever else is at hand: a run's figures hang on them alone.
        """
        rows = self.scores if self.members is None else self.members.rows
        return Lent.of(rows, self.baseline.scores, self.weights)

    @property
    def own_among_lenders(self) -> Floats:
        """How many of those each run itself is."""
        if self.members is None:
            return np.ones(len(self.scores))
        return self.members.count_of(self.scores)

    @cached_property
    def losses20(self) -> Floats | Counts:
        """Topics that lose more than a fifth of a baseline score above 0.

        NaN where there are baseline scores below 0 and none above: nothing could be counted.
        """
        if self.logarithms:
            return np.asarray(np.count_nonzero(self.ruined, axis=1))
        if (self.baseline.scores < 0).any() and not (self.baseline.scores > 0).any():
            return np.full(len(self.scores), np.nan)
        return self.paired.losses20

    def of_rows(self, rows: slice) -> "Comparison":
        """Some of the runs, topic by topic: a large matrix has no room for all differences."""
        noise = None if self.noise is None else self.noise[rows]
        return replace(self, scores=self.scores[rows], noise=noise)

    @property
    def ruined(self) -> Mask:
        """Which topics lose more than a fifth, by run."""
        if self.logarithms:
            return np.asarray(self.paired.lost & (self.paired.delta < np.log(0.8)))
        return self.paired.ruined

    @cached_property
    def population(self) -> Population:
        """The runs against their population, under the loss function."""
        return self.population_of(ALL)

    def population_of(self, rows: slice) -> Population:
        """Some of the runs against their population, under the loss function."""
        return self._under_loss(self._linear_population(rows))

    def _linear_population(self, rows: slice) -> Population:
        scores, weights = self.scores[rows], self.weights
        if self.members is not None:
            own = self.members.include(scores)
            return Population.beside(scores, self.members.rows, own, weights)
        if self.rule == "all":
            return Population.within(scores, self._totals, weights)
        own = np.isin(np.arange(len(self.scores))[rows], self.named)
        return Population.beside(scores, self.scores[list(self.named)], own, weights)

    @cached_property
    def _totals(self) -> Floats:
        """T, each topic's total over all runs, as a row."""
        return np.asarray(self.scores.sum(axis=0, keepdims=True))

    def _under_loss(self, linear: Population) -> Population:
        if self.smooth is None:
            return linear
        scores, totals, grand = linear.scores, linear.topic_totals, linear.grand_total
        weights = self.weights
        return losses.SmoothPopulation(scores, totals, grand, self.smooth, weights=weights)

    @property
    def population_name(self) -> str:
        """What the population is called in results."""
        return self.rule if self.members is None else self.members.name

    @cached_property
    def has_negative(self) -> bool:
        """Whether a score is below 0, or a logarithm, so that ZRisk and GeoRisk are undefined."""
        return self.logarithms or bool(self.scores.min(initial=0.0) < 0)

    def shown_mean(self, means: Floats) -> Floats:
        """Means as they are shown: exp of the mean of logarithms, as trec_eval shows gm_map."""
        return np.exp(means) if self.logarithms else means

    @cached_property
    def reference(self) -> tuple[int, ...]:
        """The rows whose mean ZRisk or GeoRisk a run's is compared with (all for a virtual one)."""
        return self.baseline.members or tuple(range(len(self.scores)))

    @cached_property
    def reference_members(self) -> tuple[Population, Floats] | None:
        """The members' runs, where their mean is what a run's ZRisk or GeoRisk is compared with.

        That is so for a virtual baseline, where members are not simply the runs at hand. Beside
        them is what each run weighs in the mean: a team's have one together. (It is no mean of the
        teams' rows: those vary less over topics than any run, so that nearly every run of a field
        of equal ones would be below it.)
        """
        if self.baseline.members or self.members is None:
            return None
        runs, rows = self.members.runs, self.members.rows
        own = np.ones(len(runs), dtype=np.bool_)
        everyone = Population.beside(runs, rows, own, self.weights)
        return self._under_loss(everyone), self.members.weights

    @property
    def reference_is_empty(self) -> bool:
        """Whether all scores are 0 that a run's ZRisk or GeoRisk is compared with."""
        if self.reference_members is not None:
            return not self.reference_members[0].scores.any()
        return not any(scores.any() for scores in self.reference_scores())

    def reference_scores(self) -> Iterator[Floats]:
        """The scores of each reference run."""
        return (self.scores[row] for row in self.reference)

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
        own = self.baseline.own_row
        return np.asarray(np.arange(len(self.scores)) == (-1 if own is None else own))


def with_loss(comparison: Comparison, loss: str) -> Comparison:
    """The comparison under a loss of that name; a fit sees the differences of all other runs."""
    check_words(loss=(loss, Loss))
    if loss != losses.SMOOTH_FIT:
        return replace(comparison, smooth=losses.PUBLISHED if loss == losses.SMOOTH else None)
    if comparison.weights is not None:
        raise UsageError("smooth:fit counts all topics the same: with weights take --loss smooth")
    delta = comparison.paired.delta[~comparison.is_baseline]
    return replace(comparison, smooth=losses.through_fences(*losses.fences(delta)))
