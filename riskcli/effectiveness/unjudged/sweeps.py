"""Every way to grade the shared documents of two rankings 0 or G, all at once, for ERR.

Both rankings are read from the top. A document is graded where it is first seen, both ways. Of what
was read, the rest knows no more than the two chances to get there, and the grades of the documents
that it will see again. Both chances follow from these grades and from the number of documents seen
twice that are of grade G: of all ways that agree in these, only the best one goes on. So there are
hardly more ways than rankings of similar runs differ in, and no more of them are followed than may
still be higher than what was reached.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats, Mask, Rows
from riskcli.effectiveness.unjudged.pairs import End

ROUNDING = 1e-14
"""Differences of ERR that are no differences."""
_NO_CHANCE = 1e-16
"""What follows then does not matter, nor what was seen."""
_MOST_WAYS = 2**12
"""Of one topic: beyond it, what is proved so far is a bound."""
_AT_ONCE = 2**16
"""Ways of all topics; a topic's are never parted."""
_SLOTS = 52
"""Bits for documents that will be seen again; those above count the ones that were."""
_COUNTED = np.uint64(1 << _SLOTS)
_NONE = np.uint64(0)

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Stops:
    """Stop probabilities by rank, side (run, baseline) and topic."""

    values: Floats
    """0 where a document is undecided."""
    undecided: Mask
    """Documents that both rankings have, of grade 0 or G."""
    places: Rows
    """The rank of each document in the other ranking, where it is undecided."""
    most: float
    """The stop probability of the highest grade."""

    def of(self, topics: Rows) -> "Stops":
        """Some of the topics."""
        values, undecided = self.values[..., topics], self.undecided[..., topics]
        return Stops(values, undecided, self.places[..., topics], self.most)

    def decided(self, ranks: Rows, topics: Rows, relevant: Mask) -> "Stops":
        """The same with the run's documents at these ranks of the highest grade, or of grade 0."""
        values, undecided = self.values.copy(), self.undecided.copy()
        for side, rank in enumerate((ranks, self.places[ranks, 0, topics])):
            values[rank, side, topics] = np.where(relevant, self.most, 0.0)
            undecided[rank, side, topics] = False
        return Stops(values, undecided, self.places, self.most)


def tails(stops: Floats) -> Floats:
    """The ERR from each rank on, for who gets there; at the end 0."""
    found = np.zeros((len(stops) + 1, *stops.shape[1:]))
    for rank in range(len(stops), 0, -1):
        stop = stops[rank - 1]
        found[rank - 1] = stop / rank + (1 - stop) * found[rank]
    return found


@dataclass
class Found:
    """The scores that were reached for each topic, and what is proved where that may be less."""

    run: Floats
    baseline: Floats
    proved: Floats
    """Minus infinity where the search came to its end."""
    bound: Floats
    """What no difference is above, as known before the search."""

    def reach(self, ways: "_Ways") -> None:
        """Keep what is higher than before, of ways in the order of their topics."""
        order = np.lexsort((ways.difference, ways.topics))
        topics = ways.topics[order]
        best = order[np.append(topics[1:] != topics[:-1], True)] if len(order) else order
        higher = ways.difference[best] > self.reached[ways.topics[best]]
        there = ways.topics[best[higher]]
        self.run[there], self.baseline[there] = ways.scores[:, best[higher]]

    @property
    def reached(self) -> Floats:
        """The highest difference so far."""
        return self.run - self.baseline

    def give_up(self, topics: Rows, bounds: Floats) -> None:
        """Take for proved that no way of these topics leads above these bounds."""
        np.maximum.at(self.proved, topics, np.minimum(bounds, self.bound[topics]))

    def end(self) -> End:
        """The scores; where the search was given up, some that have the proved difference."""
        given_up = self.proved > self.reached
        run = np.where(given_up, np.minimum(1.0, self.baseline + self.proved), self.run)
        baseline = np.where(given_up, run - self.proved, self.baseline)
        return End(baseline=baseline, run=run, exact=not given_up.any())


@dataclass(frozen=True)
class _Ways:
    """Ways to grade what was read, in the order of their topics."""

    topics: Rows
    """Of all topics searched."""
    rows: Rows
    """The topic's column in the stops."""
    keys: Words
    """The documents of grade G that will be seen again, and above them how many will not be."""
    scores: Floats
    """ERR so far: of the run (row 0) and the baseline (row 1)."""
    chances: Floats
    """To get to the next rank."""

    def __len__(self) -> int:
        return len(self.topics)

    @property
    def difference(self) -> Floats:
        """Run less baseline, so far."""
        return np.asarray(self.scores[0] - self.scores[1])

    def of(self, some: Rows | Mask) -> "_Ways":
        """Some of them."""
        scores, chances = self.scores[:, some], self.chances[:, some]
        return _Ways(self.topics[some], self.rows[some], self.keys[some], scores, chances)


@dataclass(frozen=True)
class _Steps:
    """What happens at each rank, by rank, side and topic's column."""

    stops: Stops
    bits: Words
    """The bit of the undecided document that stands there."""
    is_new: Mask
    """Whether it is seen for the first time; at the same rank of both, in the run."""
    is_last: Mask
    """Whether it is seen for the last time, in the run or, in the same step, in the baseline."""
    best: Floats
    """The run's ERR from each rank on with every undecided document of grade G."""
    worst: Floats
    """The baseline's with every one of grade 0."""

    @classmethod
    def of(cls, stops: Stops) -> "_Steps":
        """The steps, with bits that are taken up again where a document is done with."""
        ranks = np.arange(len(stops.values))[:, None]
        is_new, is_last = stops.undecided.copy(), stops.undecided.copy()
        is_new[:, 0] &= stops.places[:, 0] >= ranks
        is_new[:, 1] &= stops.places[:, 1] > ranks
        is_last[:, 0] &= stops.places[:, 0] < ranks
        is_last[:, 1] &= stops.places[:, 1] <= ranks
        bits = np.zeros(stops.values.shape, dtype=np.uint64)
        free = np.full(stops.values.shape[2], _COUNTED - np.uint64(1))
        for rank in np.flatnonzero(stops.undecided.any(axis=(1, 2))):
            for side in (0, 1):
                new = np.flatnonzero(is_new[rank, side])
                bit = free[new] & (~free[new] + np.uint64(1))  # 0 where none is free
                bits[rank, side, new] = bit
                bits[stops.places[rank, side, new], 1 - side, new] = bit
                free[new] ^= bit
            for side in (0, 1):
                free |= np.where(is_last[rank, side], bits[rank, side], _NONE)
        relevant = np.where(stops.undecided[:, 0], stops.most, stops.values[:, 0])
        return cls(stops, bits, is_new, is_last, tails(relevant), tails(stops.values[:, 1]))

    def run(self, ways: _Ways, found: Found, rank: int = 0) -> None:
        """Follow the ways from this rank to the last one."""
        for here in range(rank, len(self.bits)):
            if len(ways) > _AT_ONCE and ways.topics[0] != ways.topics[-1]:
                middle = ways.topics[len(ways) // 2]
                above = ways.topics > middle if middle == ways.topics[0] else ways.topics >= middle
                self.run(ways.of(~above), found, here)
                ways = ways.of(above)
            ways = self._pruned(self._read(self._graded(ways, here), here), here, found)
        found.reach(ways)

    def _graded(self, ways: _Ways, rank: int) -> _Ways:
        """The ways with both grades of what is new."""
        for side in (0, 1):
            new = np.flatnonzero(self.is_new[rank, side, ways.rows])
            if len(new):
                more = ways.of(new)
                keys = more.keys | self.bits[rank, side, more.rows]
                ways = ways.of(np.concatenate([np.arange(len(ways)), new]))
                ways.keys[len(ways) - len(new) :] = keys
        return ways

    def _read(self, ways: _Ways, rank: int) -> _Ways:
        """The ways after this rank."""
        keys, rows = ways.keys, ways.rows
        bits = self.bits[rank][:, rows]
        undecided = self.stops.undecided[rank][:, rows]
        relevant = undecided & ((keys & bits) != 0)
        stops = np.where(relevant, self.stops.most, self.stops.values[rank][:, rows])
        scores = ways.scores + ways.chances * stops / (rank + 1)
        done = relevant & self.is_last[rank][:, rows]
        for side in (0, 1):
            keys = np.where(done[side], (keys ^ bits[side]) + _COUNTED, keys)
        chances = ways.chances * (1 - stops)
        over = (chances < _NO_CHANCE).all(axis=0)
        keys, chances = np.where(over, _NONE, keys), np.where(over, 0.0, chances)
        return _Ways(ways.topics, rows, keys, scores, chances)

    def _pruned(self, ways: _Ways, rank: int, found: Found) -> _Ways:
        """Of ways that go on alike the best one, and none that cannot be the best in the end."""
        rest = ways.chances[0] * self.best[rank + 1, ways.rows]
        rest = rest - ways.chances[1] * self.worst[rank + 1, ways.rows]
        bounds = ways.difference + rest
        alive = np.flatnonzero(bounds > found.reached[ways.topics] + ROUNDING)
        order = alive[np.lexsort((ways.difference[alive], ways.keys[alive], ways.topics[alive]))]
        topics, keys = ways.topics[order], ways.keys[order]
        differs = (topics[1:] != topics[:-1]) | (keys[1:] != keys[:-1])
        best = order[np.append(differs, True)] if len(order) else order
        counts = np.bincount(ways.topics[best], minlength=len(found.run))
        many = counts[ways.topics[best]] > _MOST_WAYS
        found.give_up(ways.topics[best[many]], bounds[best[many]])
        return ways.of(best[~many])


def sweep(stops: Stops, topics: Rows, found: Found) -> None:
    """Find what is reached at most for these topics, of which the stops are given."""
    steps = _Steps.of(stops)
    without = (steps.is_new & (steps.bits == 0)).any(axis=(0, 1))
    found.give_up(topics[without], found.bound[topics[without]])
    rows = np.flatnonzero(~without)
    zeros, ones = np.zeros((2, len(rows))), np.ones((2, len(rows)))
    steps.run(_Ways(topics[rows], rows, np.zeros(len(rows), np.uint64), zeros, ones), found)
