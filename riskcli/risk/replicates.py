"""Systems that were run several times: what the noise between their replicates does alone.

A system of r replicates has r scores on a topic. Of a system of one run, or whose replicates are
not known, no noise is known, and none is taken into account.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, divided

PRIOR = 4.0
"""Degrees of freedom with which a topic's variance is drawn to the mean over topics: of two or
three replicates alone it would be next to 0 on some topics, and huge on others."""
Loss = Callable[[Floats], Floats]
"""What differences count for."""


@dataclass(frozen=True)
class Repeats:
    """The scores of the replicates of each system, an array of runs by topics a system."""

    each: Sequence[Floats]

    @cached_property
    def counts(self) -> Floats:
        """How many there are of each system, 1 where none are known."""
        return np.array([max(len(scores), 1) for scores in self.each], dtype=np.float64)

    @cached_property
    def variances(self) -> Floats:
        """By system and topic, over replicates; 0 where there are no two."""
        return np.array([_variance(scores) for scores in self.each])

    @cached_property
    def errors(self) -> Floats:
        """By system and topic, the squared standard error of the mean over replicates.

        Of each topic's variance and the system's mean variance, weighted by their degrees of
        freedom: those of the topic, and the prior's.
        """
        own = (self.counts - 1)[:, None]
        typical = self.variances.mean(axis=1, keepdims=True)
        moderated = (PRIOR * typical + own * self.variances) / (PRIOR + own)
        return np.asarray(moderated / self.counts[:, None])

    def half_widths(self, pulls: Floats, gamma: float) -> Floats:
        """By system and topic, which differences to the baseline are no more than noise.

        Student's t times the standard error of the difference of two averages, degrees of freedom
        by Welch and Satterthwaite. `pulls` is how much each system's score moves the baseline's.
        """
        degrees = (PRIOR + self.counts - 1)[:, None]
        shared, own = pulls**2 * self.errors, self.errors * (1 - 2 * pulls)
        variance = np.maximum(shared.sum(axis=0) + own, 0)
        # each system's part of the variance, squared over its degrees of freedom
        part = ((1 - pulls) ** 2 * self.errors) ** 2 / degrees
        others = (shared**2 / degrees).sum(axis=0) - shared**2 / degrees
        freedom = divided(variance**2, part + others, otherwise=1.0)
        return np.asarray(stdtrit(freedom, 1 - gamma / 2) * np.sqrt(variance))

    def self_risks(self, counted: Loss, weights: Floats | None = None) -> Floats:
        """The mean URisk of a replicate against another of its system; 0 where there are no two."""
        return np.array([_self_risk(scores, counted, weights) for scores in self.each])

    def floors(self, self_risks: Floats, pulls: Floats) -> Floats:
        """The URisk to expect of each system if it and the baseline differed by noise alone.

        URisk of noise is proportional to its standard deviation, and self-risk is that of two
        single replicates: so its square, halved, is divided by the numbers of replicates and added.
        """
        of_one = self_risks**2 / (2 * self.counts)
        shared = ((pulls**2).mean(axis=1) * of_one).sum()
        total = shared + of_one * (1 - 2 * pulls.mean(axis=1))
        return np.asarray(0.0 - np.sqrt(np.maximum(total, 0)))

    @property
    def deviations(self) -> Floats:
        """By system and topic, the standard deviation over replicates; NaN where it is not known"""
        return np.where(self.counts[:, None] > 1, np.sqrt(self.variances), np.nan)


def _variance(scores: Floats) -> Floats:
    """By topic; exactly 0 where all replicates score the same, whatever the rounding of a mean."""
    if len(scores) < 2:
        return np.zeros(scores.shape[1])
    same = (scores == scores[0]).all(axis=0)
    return np.where(same, 0.0, scores.var(axis=0, ddof=1))


def _self_risk(scores: Floats, counted: Loss, weights: Floats | None) -> float:
    count = len(scores)
    if count < 2:
        return 0.0
    pairs = (np.average(counted(scores - one), axis=1, weights=weights).sum() for one in scores)
    return float(sum(pairs) / (count * (count - 1))) + 0.0


_PLACES: dict[str, Callable[[int], tuple[int, int]]] = {
    "max": lambda _: (-1, -1),
    "min": lambda _: (0, 0),
    "median": lambda count: ((count - 1) // 2, count // 2),
}
"""The two scores in order that a pool is the mean of; the mean itself is none of them."""


def pulls_of_pool(pool: str, scores: Floats) -> Floats:
    """By run and topic, how much the run's score moves the mean, median, max or min of all."""
    count = len(scores)
    places = _PLACES.get(pool, lambda _: None)(count)
    if places is None:
        return np.full(scores.shape, 1 / count)
    order, pulls = np.argsort(scores, axis=0, kind="stable"), np.zeros(scores.shape)
    for place in places:
        pulls[order[place], np.arange(scores.shape[1])] += 0.5
    return pulls


class VarianceParts(NamedTuple):
    """The variance of one score of one replicate, by what it is due to; NaN of one topic."""

    system: float
    topic: float
    system_topic: float
    seed: float
    seed_topic: float


def components(each: Sequence[Floats]) -> VarianceParts:
    """By moments: topics crossed with systems, replicates within systems; none is below 0.

    Systems of one replicate say nothing of noise, and are taken as having none.
    """
    several = [scores for scores in each if len(scores) > 1]
    averages = np.array([scores.mean(axis=0) for scores in each])
    systems, topics = averages.shape
    if topics < 2:
        return VarianceParts(*[float("nan")] * 5)
    degrees = sum(len(scores) - 1 for scores in several)
    within = sum(float((_centred(scores) ** 2).sum()) for scores in several)
    seed_topic = within / (degrees * (topics - 1)) if degrees else 0.0
    between = sum(float(scores.mean(axis=1).var() * len(scores)) for scores in several)
    seed = between / degrees - seed_topic / topics if degrees else 0.0
    # what of one replicate's noise is left in the averages, on average over systems
    left = sum(1 / len(scores) for scores in several) / systems
    crossed, by_system, by_topic = 0.0, 0.0, float(averages.mean(axis=0).var(ddof=1))
    if systems > 1:
        crossed = float((_centred(averages) ** 2).sum()) / ((systems - 1) * (topics - 1))
        by_system = float(averages.mean(axis=1).var(ddof=1)) - crossed / topics
    # of one system, its own noise and its own topics are all that topics differ by
    by_topic -= crossed / systems if systems > 1 else left * seed_topic
    by_system -= left * max(seed, 0.0)
    crossed -= left * seed_topic
    found = (max(value, 0.0) for value in (by_system, by_topic, crossed, seed, seed_topic))
    return VarianceParts(*found)


def _centred(scores: Floats) -> Floats:
    """Less the means of rows and of columns."""
    return np.asarray(
        scores
        - scores.mean(axis=1, keepdims=True)
        - scores.mean(axis=0, keepdims=True)
        + scores.mean()
    )
