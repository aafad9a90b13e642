"""How far one ranking of documents is from another: Kendall's distance, RBO, overlap at a depth.

All topics of a run at once: a ranking is told by its length, and by where the documents that both
rankings have stand in either.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from riskcli.core.arrays import Counts, Floats, Rows, divided

_CELLS = 1 << 18
"""Places of rankings that are compared at once: more would not stay near the processor."""
_SMALLEST_SIDE = 8
_BETWEEN = 64
"""How many comparisons within blocks take as long as a count of a block of either ranking."""


@dataclass(frozen=True)
class SharedDocuments:
    """The documents that two rankings of each topic share, topic after topic, in any order.

    `lengths` and `base_lengths` are how many documents either ranking of each topic has; `topics`,
    `places` and `base_places` are of the shared documents, counted from 0.
    """

    lengths: Counts
    base_lengths: Counts
    topics: Rows
    places: Rows
    base_places: Rows

    @cached_property
    def counts(self) -> Counts:
        """How many documents both rankings have, by topic."""
        return np.asarray(np.bincount(self.topics, minlength=len(self.lengths)))

    @property
    def widths(self) -> Counts:
        """The length of the longer ranking, by topic."""
        return np.maximum(self.lengths, self.base_lengths)

    def groups(self) -> Iterator[Self]:
        """Topics whose rankings fit into a table of so many cells, one after the other."""
        ends = np.cumsum(self.counts)
        for rows in _groups(self.widths):
            some = slice(ends[rows.start] - self.counts[rows.start], ends[rows.stop - 1])
            yield replace(
                self,
                lengths=self.lengths[rows],
                base_lengths=self.base_lengths[rows],
                topics=self.topics[some] - rows.start,
                places=self.places[some],
                base_places=self.base_places[some],
            )


def _groups(widths: Counts) -> Iterator[slice]:
    """The topics of each group; a long ranking may need its own."""
    first, widest = 0, 0
    for index, width in enumerate(widths.tolist()):
        if index > first and max(widest, width) * (index + 1 - first) > _CELLS:
            yield slice(first, index)
            first, widest = index, 0
        widest = max(widest, width)
    if first < len(widths):
        yield slice(first, len(widths))


def kendall_distance(shared: SharedDocuments) -> Floats:
    """The share of pairs of documents, of those that either ranking has, in another order.

    A document that a ranking lacks stands below all that it has; of two that it lacks the order is
    unknown, and such a pair counts one half (Fagin, Kumar and Sivakumar 2003, with p = 1/2). 0 for
    equal rankings, 1 for the reverse, 3/4 for long ones that share nothing.
    """
    both = shared.counts
    only_run, only_base = shared.lengths - both, shared.base_lengths - both
    # A shared document below one that the other ranking lacks: there it stands above it.
    places = np.bincount(shared.topics, shared.places + shared.base_places, len(both))
    passed = places - both * (both - 1)
    lacking = (only_run * (only_run - 1) + only_base * (only_base - 1)) / 2
    turned = inversions(shared) + passed + only_run * only_base
    documents = both + only_run + only_base
    pairs = documents * (documents - 1) / 2
    return divided(turned + lacking / 2, pairs)


def inversions(shared: SharedDocuments) -> Counts:
    """How many pairs of shared documents of each topic stand in another order."""
    turned: list[Counts] = [np.zeros(0, dtype=np.int64)]
    for some in shared.groups():
        grid = _Grid.of(int(some.widths.max()), len(some.widths))
        turned.append(grid.turned(some.topics, some.places, some.base_places))
    return np.concatenate(turned)


@dataclass(frozen=True)
class _Grid:
    """Both rankings of some topics, cut into blocks of `side` documents.

    A pair in another order is counted once: in one block of the run's ranking, or in two of them
    and one of the baseline's, or in two of either. In a block the documents are compared by their
    distance, all blocks at once; between blocks it is enough to count documents by block.
    """

    side: int
    blocks: int
    topics: int

    @classmethod
    def of(cls, width: int, topics: int) -> Self:
        """For rankings of up to that many documents, with about as much work in as between them."""
        side = _SMALLEST_SIDE
        while side**3 < _BETWEEN * width:
            side *= 2
        return cls(side, max(-(-width // side), 1), topics)

    def turned(self, topics: Rows, places: Rows, base_places: Rows) -> Counts:
        """The pairs in another order, by topic."""
        block, base_block = places // self.side, base_places // self.side
        own = topics * self.blocks
        return np.asarray(
            self._within(own + block, places, base_places, self.side * self.blocks)
            + self._within(own + base_block, base_places, block, self.blocks)
            + self._between(own + block, base_block)
        )

    def _within(self, blocks: Rows, places: Rows, values: Rows, bound: int) -> Counts:
        """Pairs of one block in which the one placed first has the larger value."""
        columns = self.blocks * self.topics
        kind = np.min_scalar_type(-bound - 1)
        left: Rows = np.full(self.side * columns, -1, dtype=kind)
        left[places % self.side * columns + blocks] = values
        left = left.reshape(self.side, columns)
        right = np.where(left < 0, np.asarray(bound, dtype=kind), left)
        larger = np.zeros(left.shape, dtype=np.min_scalar_type(self.side))
        for step in range(1, self.side):
            larger[:-step] += (left[:-step] > right[step:]).view(np.uint8)
        by_column = larger.sum(axis=0, dtype=np.int64)
        return np.asarray(by_column.reshape(self.topics, -1).sum(axis=1))

    def _between(self, blocks: Rows, base_blocks: Rows) -> Counts:
        """Pairs of two blocks in either ranking, in another order."""
        if self.blocks == 1:
            return np.zeros(self.topics, dtype=np.int64)
        shape = (self.topics, self.blocks, self.blocks)
        table = np.bincount(blocks * self.blocks + base_blocks, minlength=math.prod(shape))
        table = table.reshape(shape)
        above = np.cumsum(table[:, :-1], axis=1)
        beyond = np.cumsum(above[:, :, :0:-1], axis=2)
        return np.asarray((table[:, 1:, -2::-1] * beyond).sum(axis=(1, 2)))


def _met(shared: SharedDocuments, depth: int) -> Floats:
    """X_d: how many documents both have among their first d, by topic and d = 1, 2, ..."""
    cells = shared.topics * depth + np.maximum(shared.places, shared.base_places)
    counts = np.bincount(cells, minlength=len(shared.lengths) * depth)
    return np.asarray(np.cumsum(counts.reshape(-1, depth), axis=1), dtype=np.float64)


def agreement(shared: SharedDocuments, at: int, persistence: float) -> tuple[Floats, Floats]:
    """Of each topic the overlap at a depth, and the extrapolated RBO.

    Overlap: the share of the first `at` documents that both have; of fewer, where both rankings are
    shorter. RBO as in Webber, Moffat and Zobel (2010), Eq. 32, which goes on below the end of a
    ranking as the agreement was there. 1 for a topic that neither answers.
    """
    both = [_agreement(some, at, persistence) for some in shared.groups()]
    overlap, rbo = zip(*both, strict=True) if both else ((np.zeros(0),), (np.zeros(0),))
    return np.concatenate(overlap), np.concatenate(rbo)


def _agreement(shared: SharedDocuments, at: int, persistence: float) -> tuple[Floats, Floats]:
    """Of topics that are computed at once."""
    lengths = np.stack([shared.lengths, shared.base_lengths])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    depth = max(int(long.max(initial=0)), 1)
    met, every = _met(shared, depth), np.arange(len(short))
    within = np.clip(long, 1, at)
    overlap = met[every, np.minimum(within, depth) - 1] / within
    at_end = met[every, np.maximum(short, 1) - 1] / np.maximum(short, 1)
    depths = np.arange(1, depth + 1)
    expected = met + np.maximum(depths - short[:, None], 0) * at_end[:, None]
    expected[depths > long[:, None]] = 0.0
    weight = (1 - persistence) * persistence ** (depths - 1) / depths
    last = expected[every, np.maximum(long, 1) - 1] / np.maximum(long, 1)
    rbo = np.minimum(expected @ weight + persistence**long * last, 1.0)
    nothing = long == 0
    return np.where(nothing, 1.0, overlap), np.where(nothing, 1.0, rbo)
