"""How far one ranking of documents is from another: Kendall's distance, RBO, overlap at a depth.

All topics of a run at once: a ranking is told by its length, and by where the documents that both
rankings have stand in either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Counts, Floats, Rows


@dataclass(frozen=True)
class Shared:
    """The documents that two rankings of each topic share, topic after topic, by falling rank.

    `lengths` and `base_lengths` are how many documents either ranking of each topic has; `topics`,
    `places` and `base_places` are of the shared documents, counted from 0.
    """

    lengths: Counts
    base_lengths: Counts
    topics: Rows
    places: Rows
    base_places: Rows

    @property
    def counts(self) -> Counts:
        """How many documents both rankings have, by topic."""
        return np.asarray(np.bincount(self.topics, minlength=len(self.lengths)))


def kendall_distance(shared: Shared) -> Floats:
    """The share of pairs of documents, of those that either ranking has, in another order.

    A document that a ranking lacks stands below all that it has; of two that it lacks the order is
    unknown, and such a pair counts one half (Fagin, Kumar and Sivakumar 2003, with p = 1/2). 0 for
    equal rankings, 1 for the reverse, 3/4 for long ones that share nothing.
    """
    both = shared.counts
    mine, others = shared.lengths - both, shared.base_lengths - both
    # A shared document below one that the other ranking lacks: there it stands above it.
    places = np.bincount(shared.topics, shared.places + shared.base_places, len(both))
    passed = places - both * (both - 1)
    lacking = (mine * (mine - 1) + others * (others - 1)) / 2
    turned = inversions(shared.base_places, both) + passed + mine * others
    documents = both + mine + others
    pairs = documents * (documents - 1) / 2
    distance: Floats = np.zeros(len(both))
    np.divide(turned + lacking / 2, pairs, out=distance, where=pairs > 0)
    return distance


def inversions(values: Rows, sizes: Counts) -> Floats:
    """How many pairs of each group stand the wrong way round: the larger value first.

    The elements stand group after group, no value twice in one. From the highest bit down, each
    group is parted into values without and with the bit, in the order they stood: a pair that the
    bit tells apart is counted there, all at once.
    """
    ends = np.cumsum(sizes)
    starts, filled = ends - sizes, np.flatnonzero(sizes)
    # In 32 bits: half the memory to walk through.
    start, end = (np.repeat(each, sizes).astype(np.int32) for each in (starts, ends))
    left, here = values.astype(np.int32), np.arange(len(values), dtype=np.int32)
    so_far, total = np.zeros(len(values) + 1, dtype=np.int32), np.zeros(len(sizes))
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        high = (left >> bit) & 1
        np.cumsum(high, out=so_far[1:])
        before = so_far[start]
        ahead, middle = so_far[:-1] - before, end - so_far[end] + before
        total[filled] += np.add.reduceat(ahead * (1 - high), starts[filled])
        has_bit = high.astype(bool)
        target = np.where(has_bit, middle + ahead, here - ahead)
        moved = np.empty((3, len(left)), dtype=np.int32)
        moved[0, target] = left
        moved[1, target] = np.where(has_bit, middle, start)
        moved[2, target] = np.where(has_bit, end, middle)
        left, start, end = moved
    return total


def _met(shared: Shared, depth: int) -> Floats:
    """X_d: how many documents both have among their first d, by topic and d = 1, 2, ..."""
    cells = shared.topics * depth + np.maximum(shared.places, shared.base_places)
    found = np.bincount(cells, minlength=len(shared.lengths) * depth)
    return np.asarray(np.cumsum(found.reshape(-1, depth), axis=1), dtype=np.float64)


def agreement(shared: Shared, at: int, persistence: float) -> tuple[Floats, Floats]:
    """Of each topic the overlap at a depth, and the extrapolated RBO.

    Overlap: the share of the first `at` documents that both have; of fewer, where both rankings are
    shorter. RBO as in Webber, Moffat and Zobel (2010), Eq. 32, which goes on below the end of a
    ranking as the agreement was there. 1 for a topic that neither answers.
    """
    lengths = np.stack([shared.lengths, shared.base_lengths])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    depth = max(int(long.max(initial=0)), 1)
    met, every = _met(shared, depth), np.arange(len(short))
    within = np.clip(long, 1, at)
    overlap = met[every, np.minimum(within, depth) - 1] / within
    at_end = met[every, np.maximum(short, 1) - 1] / np.maximum(short, 1)
    depths = np.arange(1, depth + 1)
    held = met + np.maximum(depths - short[:, None], 0) * at_end[:, None]
    held[depths > long[:, None]] = 0.0
    weight = (1 - persistence) * persistence ** (depths - 1) / depths
    last = held[every, np.maximum(long, 1) - 1] / np.maximum(long, 1)
    rbo = np.minimum(held @ weight + persistence**long * last, 1.0)
    nothing = long == 0
    return np.where(nothing, 1.0, overlap), np.where(nothing, 1.0, rbo)
