"""Systems that were run several times: what the noise between their replicates does alone.

A system of r replicates has r scores on a topic. Of a system of one run no noise is known, and none
is taken into account.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Floats, divided
from riskcli.risk.comparison import Comparison
from riskcli.risk.paired import LEAST_TOPICS

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
        """How many there are of each system."""
        return np.array([len(scores) for scores in self.each], dtype=np.float64)

    @cached_property
    def variances(self) -> Floats:
        """By system and topic, over replicates; 0 where there are no two.

        It is exactly 0 where all score the same, whatever the rounding of a mean.
        """
        return np.array([np.var(own - own[0], axis=0, ddof=len(own) > 1) for own in self.each])

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
        shared = pulls**2 * self.errors
        own = (1 - pulls) ** 2 * self.errors
        variance = own + shared.sum(axis=0) - shared
        parts = own**2 / degrees + (shared**2 / degrees).sum(axis=0) - shared**2 / degrees
        freedom = divided(variance**2, parts, otherwise=1.0)
        return np.asarray(stdtrit(freedom, 1 - gamma / 2) * np.sqrt(variance))

    def self_risks(self, counted: Loss, weights: Floats | None = None) -> Floats:
        """The mean URisk of a replicate against another of its system; 0 where there are no two."""

        def of(scores: Floats) -> float:
            pairs = [np.average(counted(scores - one), axis=1, weights=weights) for one in scores]
            return float(np.sum(pairs) / max(len(scores) * (len(scores) - 1), 1)) + 0.0

        return np.array([of(scores) for scores in self.each])

    def floors(self, self_risks: Floats, pulls: Floats) -> Floats:
        """The URisk to expect of each system if it and the baseline differed by noise alone.

        URisk of noise is proportional to its standard deviation, and self-risk is that of two
        single replicates: so its square, halved, is divided by the numbers of replicates and added.
        """
        of_one = self_risks**2 / (2 * self.counts)
        shared = ((pulls**2).mean(axis=1) * of_one).sum()
        total = shared + of_one * (1 - 2 * pulls.mean(axis=1))
        return np.asarray(0.0 - np.sqrt(np.maximum(total, 0)))


def pulls_of(comparison: Comparison, pool: str) -> Floats:
    """By run and topic, how much a run's score moves the baseline's, which pools some of them.

    A virtual baseline made of others (teams, frozen runs) is taken as it is.
    """
    scores, baseline = comparison.scores, comparison.baseline
    pulls, rows = np.zeros(scores.shape), list(baseline.members)
    if not rows and comparison.members is None:
        rows, pool = list(range(len(scores))), baseline.name.removeprefix("@")
    count, order = len(rows), np.argsort(scores[rows], axis=0, kind="stable")
    places = {
        "mean": range(count), "max": [count - 1], "min": [0],
    }.get(pool, ((count - 1) // 2, count // 2))  # the median  # fmt: skip
    for place in places if rows else ():
        pulls[np.array(rows)[order[place]], np.arange(scores.shape[1])] += 1 / len(places)
    return pulls


def components(each: Sequence[Floats]) -> dict[str, float]:
    """The variance of one score of one replicate, by what it is due to.

    By moments: topics crossed with systems, replicates within systems; none is below 0. Systems of
    one replicate say nothing of noise, and are taken as having none. Nothing of one system, on too
    few topics, or where no system has two replicates.
    """
    several = [scores for scores in each if len(scores) > 1]
    averages = np.array([scores.mean(axis=0) for scores in each])
    systems, topics = averages.shape
    if systems < 2 or topics < LEAST_TOPICS or not several:
        return {}
    degrees = sum(len(scores) - 1 for scores in several)
    within = sum(_left(scores) for scores in several)
    between = sum(float(scores.mean(axis=1).var() * len(scores)) for scores in several)
    # what of one replicate's noise is left in the averages, on average over systems
    left = sum(1 / len(scores) for scores in several) / systems
    seed_topic = within / (degrees * (topics - 1))
    seed = between / degrees - seed_topic / topics
    crossed = _left(averages) / ((systems - 1) * (topics - 1))
    by_system = float(averages.mean(axis=1).var(ddof=1)) - crossed / topics
    found = {
        "system": by_system - left * max(seed, 0.0),
        "topic": float(averages.mean(axis=0).var(ddof=1)) - crossed / systems,
        "system_topic": crossed - left * seed_topic,
        "seed": seed,
        "seed_topic": seed_topic,
    }
    return {name: max(value, 0.0) for name, value in found.items()}


def _left(scores: Floats) -> float:
    """The sum of squares without what rows and columns differ by."""
    means = scores.mean(axis=1, keepdims=True) + scores.mean(axis=0, keepdims=True)
    return float(((scores - means + scores.mean()) ** 2).sum())
