"""ERR: the highest difference of all completions, by branch and bound over the shared documents.

ERR is linear in each stop probability R_i, so that only the grades 0 and G matter, and rises in
each: its derivative by R_i is P_i (1/i - T_i), where P_i is the chance to get to rank i and T_i the
ERR of what follows for who does not stop there, which is at most 1/(i+1). So the run's own
documents are of grade G, the baseline's own of grade 0. A shared document's derivative is that in
the run less that in the baseline: P falls and T rises in every other R, which bounds it while other
documents are undecided. Where it cannot be below 0, or above, the document is decided. That leaves
few; of one of these both grades are tried, and a branch is left whose bound is no higher than what
was reached.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats, Mask, Rows
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.measures.err import stop_probability
from riskcli.effectiveness.unjudged.pairs import Case, End, Side

_ROUNDING = 1e-14
"""Differences of ERR that are no differences."""
_MOST_BRANCHES = 2**9
"""Open at a time for one topic: beyond it, what is proved so far is a bound."""
_CELLS = 2**19
"""Of all branches at a time; those of one topic may have a quarter."""


def err(_measure: Measure, case: Case) -> End:
    """The scores where the difference is highest."""
    sides = case.run, case.baseline
    ranks = max(1, *(side.elsewhere.shape[1] for side in sides))
    max_grade = case.run.ranked.max_grade
    most = float(stop_probability(np.array([max_grade]), max_grade)[0])
    stops = np.stack([_by_rank(_stops(side), ranks) for side in sides], axis=1)
    stops[:, 0][_by_rank(case.run.alone, ranks)] = most
    undecided = np.stack([_by_rank(side.shared, ranks) for side in sides], axis=1)
    places = _by_rank(np.maximum(case.run.elsewhere, 0), ranks)
    topics = np.arange(len(case.levels))
    found = _Found(np.full((3, len(topics)), -np.inf), np.full(len(topics), -np.inf))
    _search(_Branches(topics, stops, undecided, places, most), found)
    return found.end()


def _stops(side: Side) -> Floats:
    return stop_probability(side.ranked.grades, side.ranked.max_grade)


def _by_rank(values: NDArray[Any], ranks: int) -> NDArray[Any]:
    """The values of each rank side by side, which is quick to go through; 0 beyond the last."""
    padded = np.zeros((ranks, len(values)), dtype=values.dtype)
    padded[: values.shape[1]] = values.T
    return padded


@dataclass
class _Found:
    """What was reached for each topic, and what is proved where the search was given up."""

    reached: Floats
    """The difference, and the run's and the baseline's score where it is reached."""
    proved: Floats

    def reach(self, topics: Rows, differences: Floats, scores: Floats) -> None:
        """Keep what is higher than before."""
        order = np.argsort(differences, kind="stable")
        best = np.zeros(self.reached.shape[1], dtype=np.intp)
        best[topics[order]] = order  # the last one of a topic is the highest
        there = np.unique(topics)
        there = there[differences[best[there]] > self.reached[0, there]]
        self.reached[:, there] = differences[best[there]], *scores[:, best[there]]

    def end(self) -> End:
        """The scores; where the search was given up, such as have the proved difference."""
        difference, run, baseline = self.reached
        given_up = self.proved > difference
        proved = np.minimum(self.proved, 1.0)
        run = np.where(given_up, np.minimum(1.0, np.maximum(baseline, 0.0) + proved), run)
        baseline = np.where(given_up, run - proved, baseline)
        return End(baseline=baseline, run=run, exact=not given_up.any())


@dataclass(frozen=True)
class _Branches:
    """Topics with some shared documents decided; arrays are by rank, then run and baseline."""

    topics: Rows
    stops: Floats
    """Stop probabilities, 0 where a document is undecided."""
    undecided: Mask
    places: Rows
    """The rank of each of the run's documents in the baseline's ranking."""
    most: float
    """The stop probability of the highest grade."""

    def __len__(self) -> int:
        return len(self.topics)

    def of(self, some: Rows | Mask | slice) -> "_Branches":
        """Some of the branches."""
        return _Branches(
            self.topics[some],
            self.stops[..., some],
            self.undecided[..., some],
            self.places[..., some],
            self.most,
        )

    def decided(self, ranks: Rows, branches: Rows, relevant: Mask) -> "_Branches":
        """The same with the run's documents at these ranks of the highest grade, or of grade 0."""
        stops, undecided = self.stops.copy(), self.undecided.copy()
        for side, rank in enumerate((ranks, self.places[ranks, branches])):
            stops[rank, side, branches] = np.where(relevant, self.most, 0.0)
            undecided[rank, side, branches] = False
        return _Branches(self.topics, stops, undecided, self.places, self.most)

    def derivatives(self) -> tuple[Floats, Floats]:
        """The least and the largest derivative by each R, by rank, side and branch."""
        ranks = np.arange(1, len(self.stops) + 1)[:, None, None]
        highest = np.where(self.undecided, self.most, self.stops)
        reached = [_reached(stops) for stops in (highest, self.stops)]
        tails = [_tails(stops)[1:] for stops in (highest, self.stops)]
        low, high = (p * (1 / ranks - t) for p, t in zip(reached, tails, strict=True))
        return low, high


def _reached(stops: Floats) -> Floats:
    """The chance to get to each rank."""
    reached = np.ones_like(stops)
    np.cumprod(1 - stops[:-1], axis=0, out=reached[1:])
    return reached


def _tails(stops: Floats) -> Floats:
    """The ERR from each rank on, for who gets there; at the end 0."""
    tails = np.zeros((len(stops) + 1, *stops.shape[1:]))
    for rank in range(len(stops), 0, -1):
        stop = stops[rank - 1]
        tails[rank - 1] = stop / rank + (1 - stop) * tails[rank]
    return tails


def _search(branches: _Branches, found: _Found) -> None:
    """Decide documents until no branch can be higher than what was reached."""
    while len(branches):
        cells = len(branches) * len(branches.stops)
        if cells > _CELLS and branches.topics[0] != branches.topics[-1]:
            half = branches.topics <= np.median(branches.topics)  # a topic's are never parted
            if half.all():
                half = branches.topics < branches.topics[-1]
            _search(branches.of(half), found)
            branches = branches.of(~half)
        else:
            branches = _next(branches, found)


def _next(branches: _Branches, found: _Found) -> _Branches:
    """The branches after one step, in the order of their topics."""
    ranks, of = np.nonzero(branches.undecided[:, 0])
    low, high = branches.derivatives()
    there = branches.places[ranks, of]
    least = low[ranks, 0, of] - high[there, 1, of]
    largest = high[ranks, 0, of] - low[there, 1, of]
    guess = branches.decided(ranks, of, least + largest > 0)
    scores = _tails(guess.stops)[0]
    reached = scores[0] - scores[1]
    found.reach(branches.topics, reached, scores)
    # From the guess to any completion, one R after the other changes by `most`.
    open_ = np.maximum(np.minimum(largest, -least), 0.0)
    bound = reached + branches.most * np.bincount(of, open_, minlength=len(branches))
    alive = bound > found.reached[0, branches.topics] + _ROUNDING
    alive &= ~_given_up(branches, bound, alive, found)
    sure = alive[of] & (open_ == 0)
    tightened = branches.decided(ranks[sure], of[sure], least[sure] + largest[sure] > 0)
    has_sure = np.zeros(len(branches), dtype=np.bool_)
    has_sure[of[sure]] = True
    split = np.flatnonzero(alive & ~has_sure)
    order = np.argsort(open_, kind="stable")
    pick = np.zeros(len(branches), dtype=np.intp)
    pick[of[order]] = ranks[order]  # the last one of a branch is the least certain
    halves = branches.of(split)
    every = np.arange(len(split))
    parts = [
        tightened.of(np.flatnonzero(alive & has_sure)),
        *(halves.decided(pick[split], every, np.full(len(split), way)) for way in (False, True)),
    ]
    return _joined(parts)


def _given_up(branches: _Branches, bound: Floats, alive: Mask, found: _Found) -> Mask:
    """The branches of topics that have too many of them; their bounds are proved."""
    most = min(_MOST_BRANCHES, max(1, _CELLS // 4 // len(branches.stops)))
    counts = np.bincount(branches.topics[alive], minlength=len(found.proved))
    too_many = alive & (counts[branches.topics] > most)
    np.maximum.at(found.proved, branches.topics[too_many], bound[too_many])
    return too_many


def _joined(parts: list[_Branches]) -> _Branches:
    """The branches one after another, in the order of their topics."""
    joined = _Branches(
        np.concatenate([part.topics for part in parts]),
        np.concatenate([part.stops for part in parts], axis=-1),
        np.concatenate([part.undecided for part in parts], axis=-1),
        np.concatenate([part.places for part in parts], axis=-1),
        parts[0].most,
    )
    return joined.of(np.argsort(joined.topics, kind="stable"))
