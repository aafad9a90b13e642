"""The test against virtual baselines where teams or frozen runs are the population.

The members' runs are shuffled within topics, and with them a run that is no member; the labels
(which team, a member or not) stay where they are. So totals and the virtual baseline change, and
are made again for every shuffle. A run that is no member is shuffled with the members alone: what
is said of it depends on no other run at hand.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats, Rows
from riskcli.risk.comparison import VIRTUAL, Comparison
from riskcli.risk.influences import Influences
from riskcli.risk.jackknife import Statistic
from riskcli.risk.losses import Cubic
from riskcli.risk.population import Members
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.shuffles import (
    Key,
    Measured,
    Shuffled,
    ShuffleTest,
    canonical_order,
    means_and_errors,
    root_unit,
    shuffle_tests,
)
from riskcli.risk.weights import Weights, column


@dataclass(frozen=True)
class Cohort:
    """Runs that are shuffled together: the members', by falling weight, and perhaps one more.

    Those of a team stand side by side. `places` are the columns of the runs `at_hand` that it
    tests: members, or the one that is none.
    """

    members: Floats
    weights: Floats
    at_hand: Rows
    places: Rows
    outsider: Floats
    """One row or none."""
    of_topics: Weights = None
    """How much each topic counts."""

    @property
    def has_outsider(self) -> bool:
        """Whether its last run is no member."""
        return len(self.outsider) > 0

    @property
    def size(self) -> int:
        """How many scores are shuffled."""
        return self.members.size + self.outsider.size

    @cached_property
    def runs(self) -> Floats:
        """All that are shuffled, the outsider last."""
        return np.concatenate([self.members, self.outsider])

    @cached_property
    def _sizes(self) -> Rows:
        """How many runs each member is made of."""
        sizes, first = [], 0
        while first < len(self.weights):
            sizes.append(round(1 / float(self.weights[first])))
            first += sizes[-1]
        return np.array(sizes, dtype=np.intp)

    def split(self, cells: Floats) -> tuple[Floats, Floats]:
        """Of shuffled cells the members' runs, and those that are tested."""
        members = cells[..., : len(self.weights)]
        return members, cells[..., len(self.weights) :] if self.has_outsider else members

    def rows(self, members: Floats) -> Floats:
        """The members, of their shuffled runs."""
        if (self._sizes == 1).all():
            return members
        starts = np.cumsum(self._sizes) - self._sizes
        return np.asarray(np.add.reduceat(members, starts, axis=2) / self._sizes)

    def of_means(self, baseline: str) -> Shuffled:
        """The mean of each tested run against that of a virtual baseline of the members."""

        def measured(cells: Floats, topics: Rows | slice) -> tuple[Floats, Floats]:
            members, tested = self.split(cells)
            pooled = VIRTUAL[baseline](np.moveaxis(self.rows(members), 2, 0))
            return means_and_errors(tested - pooled[..., None], column(self.of_topics, topics))

        unit = root_unit(self.runs) ** 2
        noise = NO_DIFFERENCE * float(np.abs(self.runs / unit).max(initial=0.0))
        return self._shuffled([None], measured, noise, unit, unit)

    def of_statistics(
        self, keys: Sequence[tuple[Statistic, float]], smooth: Cubic | None
    ) -> Shuffled:
        """The statistics of each tested run against their means over the members."""

        def measured(cells: Floats, topics: Rows | slice) -> tuple[Floats, Floats]:
            members, tested = self.split(cells)
            totals, of_topics = (members @ self.weights)[..., None], column(self.of_topics, topics)
            of_members = Influences.of(members, totals, keys, smooth, of_topics)
            reference = of_members.averaged(self.weights)
            if self.has_outsider:
                of_tested = Influences.of(tested, totals + tested, keys, smooth, of_topics)
                return of_tested.differences(reference)
            return of_members.differences(reference)

        # ZRisk and GeoRisk grow with the root of the scores, where losses are linear.
        root = root_unit(self.runs) if smooth is None else 1.0
        noise = NO_DIFFERENCE * float(np.sqrt((self.runs / root**2).mean(axis=1).max()))
        return self._shuffled(keys, measured, noise, root**2, root)

    def _shuffled(
        self, keys: Sequence[Key], measured: Measured, noise: float, of_scores: float, unit: float
    ) -> Shuffled:
        scores = self.runs / of_scores
        cells = np.sort(scores.T, axis=1)
        order = canonical_order(cells, cells.sum(axis=1), self.of_topics)
        return Shuffled(scores, keys, measured, noise, order, unit)


def cohorts(comparison: Comparison) -> list[Cohort]:
    """The members, where some of them are at hand; then each other run that is at hand."""
    members = comparison.members
    assert members is not None
    order = np.argsort(-members.weights, kind="stable")
    runs, weights = members.runs[order] + 0.0, members.weights[order]
    scores = comparison.scores + 0.0
    places = Members(members.rows, runs, weights, members.name).places(scores)
    inside = np.flatnonzero(places >= 0)
    own, counts = places[inside], comparison.weights
    found = [Cohort(runs, weights, inside, own, runs[:0], counts)] if len(inside) else []
    others: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(places < 0).tolist():
        others.setdefault(scores[row].tobytes(), []).append(row)
    for alike in others.values():
        rows = np.array(alike)
        outsider = scores[alike[:1]]
        found.append(Cohort(runs, weights, rows, np.zeros_like(rows), outsider, counts))
    return found


def member_tests(
    comparison: Comparison,
    shuffled_together: Sequence[Cohort],
    keys: Sequence[tuple[Statistic, float]],
    shuffles: int,
    seed: int,
) -> dict[Key, ShuffleTest]:
    """The tests of the mean and of the statistics, of all runs at hand."""
    by_cohort = []
    for cohort in shuffled_together:
        each = [cohort.of_means(comparison.baseline.name)]
        if keys:
            each.append(cohort.of_statistics(keys, comparison.smooth))
        # Runs that are shuffled with the same members must not see the same shuffles.
        own = [zlib.crc32(each[0].cells.tobytes())] if cohort.has_outsider else []
        by_cohort.append(shuffle_tests(each, shuffles, [seed, *own]))
    return {
        key: _joined(len(comparison.scores), shuffled_together, [tests[key] for tests in by_cohort])
        for key in by_cohort[0]
    }


def _joined(runs: int, parts: Sequence[Cohort], tests: Sequence[ShuffleTest]) -> ShuffleTest:
    """One test of all runs; of a kind are members' runs of equal weight."""
    difference, error, noise = np.empty((3, runs))
    of_run, of_column = np.empty(runs, dtype=np.intp), []
    kinds = 0
    for cohort, test in zip(parts, tests, strict=True):
        kind = np.zeros(1, dtype=np.intp)
        if not cohort.has_outsider:
            kind = np.unique(cohort.weights, return_inverse=True)[1]
        rows, places = cohort.at_hand, cohort.places
        difference[rows], error[rows] = test.difference[places], test.error[places]
        noise[rows] = test.noise
        of_run[rows] = kinds + kind[places]
        of_column.append(kinds + kind)
        kinds += int(kind.max()) + 1
    sizes = np.concatenate([test.shuffled for test in tests], axis=1)
    return ShuffleTest(difference, error, sizes, noise, (of_run, np.concatenate(of_column)))
