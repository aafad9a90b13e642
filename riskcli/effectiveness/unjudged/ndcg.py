"""nDCG, both gains: the highest difference of all completions, its ideal ranking included.

Let the u unjudged documents stand by falling weight: the discount in the run less that in the
baseline. The ideal depends only on how many of them have each grade, so that, by the rearrangement
inequality, the highest grades belong to the first ones. So a completion is n_1 >= ... >= n_G, the
first n_j documents being of grade j or more, and both DCGs' difference N and the ideal I are sums
over the levels j: of (gain_j - gain_(j-1)) W(n_j) and (gain_j - gain_(j-1)) D(levels_j + n_j), with
W the sums of the first weights and D those of the first discounts.

max N / I is found by Dinkelbach's steps: where t is a ratio that is reached, the best completion of
N - t I reaches a higher one, or t is the highest. That is a sum over the levels, too: one pass over
the levels, from the highest, finds the best n_j given the bound by n_(j-1).
"""

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Counts, Floats, Mask, discounts, divided
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.parts import gains, ideal, of_best_ranks, row_sums
from riskcli.effectiveness.unjudged.pairs import End, TwoSides

_MOST_STEPS = 100
_ROUNDING = 1e-15


def highest_ndcg(measure: Measure, case: TwoSides) -> End:
    """The scores where the difference is highest."""
    places = [discounts(side.ranked.grades.shape[1]) for side in (case.run, case.baseline)]
    in_run = np.broadcast_to(places[0], case.run.elsewhere.shape)
    in_baseline = np.broadcast_to(places[1], case.baseline.elsewhere.shape)
    alone = case.baseline.alone
    there = np.hstack([case.run.unjudged, alone])
    of_run = np.hstack([in_run, np.zeros(alone.shape)])
    of_baseline = np.hstack([case.run.gather(in_baseline), in_baseline])
    order = np.argsort(np.where(there, of_baseline - of_run, np.inf), axis=1, kind="stable")
    order = order[:, : int(there.sum(axis=1).max(initial=0))]
    of_run, of_baseline = (np.take_along_axis(v, order, axis=1) for v in (of_run, of_baseline))
    there = np.take_along_axis(there, order, axis=1)
    judged = [
        row_sums(gains(measure, side.ranked.grades) * discount)
        for side, discount in zip((case.run, case.baseline), places, strict=True)
    ]
    problem = _Ratio.of(measure, case.levels, judged[0] - judged[1], of_run - of_baseline, there)
    counts = problem.best()
    given = gains(measure, (counts[:, :, None] > np.arange(there.shape[1])).sum(axis=1))
    best = ideal(measure, case.levels + counts)
    return End(
        baseline=divided(judged[1] + row_sums(given * of_baseline), best),
        run=divided(judged[0] + row_sums(given * of_run), best),
    )


@dataclass(frozen=True)
class _Ratio:
    """N / I of each topic, as functions of the counts n_1 >= ... >= n_G."""

    judged: Floats
    """N without the unjudged documents."""
    prefix: Floats
    """W(n) by topic and n; minus infinity where n documents are more than there are."""
    ideals: Floats
    """D(levels_j + n) by topic, j and n."""
    steps: Floats
    """gain_j - gain_(j-1)."""

    @classmethod
    def of(
        cls, measure: Measure, levels: Counts, judged: Floats, weights: Floats, there: Mask
    ) -> "_Ratio":
        topics, documents = weights.shape
        prefix = np.zeros((topics, documents + 1))
        prefix[:, 1:] = np.cumsum(np.where(there, weights, -np.inf), axis=1)
        ideals = of_best_ranks(measure, levels[:, :, None] + np.arange(documents + 1))
        steps = np.diff(gains(measure, np.arange(levels.shape[1] + 1)))
        return cls(judged, prefix, ideals, steps)

    def best(self) -> Counts:
        """The counts where the ratio is highest."""
        counts = np.zeros(self.ideals.shape[:2], dtype=np.int64)
        ratio = self.at(counts)
        going = np.arange(len(counts))
        for _ in range(_MOST_STEPS):
            some = self._of(going)
            found = some._step(ratio[going])
            reached = some.at(found)
            better = reached > ratio[going] + _ROUNDING
            going, counts_there = going[better], found[better]
            if not len(going):
                break
            counts[going], ratio[going] = counts_there, reached[better]
        return counts

    def _of(self, rows: Counts) -> "_Ratio":
        if len(rows) == len(self.judged):
            return self
        return _Ratio(self.judged[rows], self.prefix[rows], self.ideals[rows], self.steps)

    def at(self, counts: Counts) -> Floats:
        """The ratio; 0 where nothing is relevant."""
        above = row_sums(np.take_along_axis(self.prefix, counts, axis=1) * self.steps)
        ideals = np.take_along_axis(self.ideals, counts[:, :, None], axis=2)[:, :, 0]
        return divided(self.judged + above, row_sums(ideals * self.steps))

    def _step(self, ratio: Floats) -> Counts:
        """The counts where N - ratio I is highest."""
        topics, levels, sizes = self.ideals.shape
        places = np.arange(sizes)
        chosen: list[Counts] = []
        above = np.zeros((topics, sizes))
        for j in reversed(range(levels)):
            value = self.steps[j] * (self.prefix - ratio[:, None] * self.ideals[:, j]) + above
            above = np.maximum.accumulate(value, axis=1)
            last = np.maximum.accumulate(np.where(value == above, places, 0), axis=1)
            chosen.append(last)
        counts = np.empty((topics, levels), dtype=np.int64)
        most = np.full(topics, sizes - 1)
        for j, last in enumerate(reversed(chosen)):
            counts[:, j] = most = last[np.arange(topics), most]
        return counts
