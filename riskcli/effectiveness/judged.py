"""Which of the documents of a run are judged: found by hash, and only then compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from riskcli.core.arrays import Counts, Rows
from riskcli.trec.fast import Texts, Words

_SLOTS = 8
"""Places of the table for each document: more of them would be further apart in memory."""
_HALF = np.uint64(32)


class Judged:
    """All judged documents in one list, topic after topic, and a hash table for each topic."""

    def __init__(self, judgements: Mapping[str, Mapping[str, int]]) -> None:
        self.topics = {topic: index for index, topic in enumerate(judgements)}
        self.docnos = [docno for grades in judgements.values() for docno in grades]
        grades = [grade for grades in judgements.values() for grade in grades.values()]
        self.grades: Counts = np.array([*grades, 0], dtype=np.int64)
        """Their grades, and at the end 0: that of -1, which is not judged."""
        self._texts = Texts.of_strings(self.docnos)
        sizes = np.array([len(grades) for grades in judgements.values()], dtype=np.uint64)
        self._slots = _SLOTS * np.maximum(sizes, 1)  # no slot serves two topics
        self._first_slot = np.cumsum(self._slots) - self._slots
        hashes = self._texts.hashes()
        slot = self._slot(hashes, np.repeat(np.arange(len(sizes)), sizes.astype(np.intp)))
        self._order = np.argsort(slot, kind="stable").astype(np.int32)
        slot, self._hashes = slot[self._order], hashes[self._order]
        self._shared = np.append(slot[1:] == slot[:-1], False)
        """Whether the next document is of the same slot."""
        self._first = np.full(int(self._slots.sum()), -1, dtype=np.int32)
        self._first[slot[::-1]] = np.arange(len(slot), dtype=np.int32)[::-1]

    def find(self, docnos: Texts, lines: Rows, topics: Rows) -> Rows:
        """Where the document of each of these lines is in the list, for its topic; else -1."""
        # Texts are hashed sooner as they stand in the file, unless few of them are asked for.
        most = 2 * len(lines) > len(docnos)
        hashes = docnos.hashes()[lines] if most else docnos.take(lines).hashes()
        found = np.full(len(topics), -1, dtype=np.intp)
        rank = self._first[self._slot(hashes, topics)]
        pending = np.flatnonzero(rank >= 0)
        rank, wanted = rank[pending], hashes[pending]
        while len(pending):  # go on while the documents of a slot last
            hit = self._hashes[rank] == wanted
            index, document = self._order[rank[hit]], pending[hit]
            same = self._texts.take(index).equal(docnos.take(lines[document]))
            found[document[same]] = index[same]
            hit[hit] = same
            on = np.flatnonzero(self._shared[rank] & ~hit)
            pending, rank, wanted = pending[on], rank[on] + 1, wanted[on]
        return found

    def _slot(self, hashes: Words, topics: Rows) -> Rows:
        """Which place of its topic's table each hash belongs to."""
        within = (hashes >> _HALF) * self._slots[topics] >> _HALF
        return np.asarray(within + self._first_slot[topics], dtype=np.intp)
