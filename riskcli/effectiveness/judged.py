"""Which of the documents of a run are judged: found by hash, and only then compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from riskcli.trec.fast import Texts, Words, pair_hashes

_SPARSE = 3
_FEWEST_BITS, _MOST_BITS = 12, 24


class Judged:
    """All judged documents in one list, topic after topic."""

    def __init__(self, judgements: Mapping[str, Mapping[str, int]]) -> None:
        self.topics = {topic: index for index, topic in enumerate(judgements)}
        self.docnos = [docno for grades in judgements.values() for docno in grades]
        grades = [grade for grades in judgements.values() for grade in grades.values()]
        self._grades = np.array([*grades, 0], dtype=np.int64)
        sizes = [len(grades) for grades in judgements.values()]
        self._topic_of = np.repeat(np.arange(len(sizes)), sizes)
        self._texts = Texts.of_strings(self.docnos)
        self._topic_words = np.arange(len(sizes), dtype=np.uint64)
        hashes = self._pair_hashes(self._texts, self._topic_of)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]
        bits = min(max(len(hashes).bit_length() + _SPARSE, _FEWEST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._may_hold = np.zeros(1 << bits, dtype=bool)
        self._may_hold[hashes >> self._shift] = True

    def grades(self, places: NDArray[np.intp]) -> NDArray[np.int64]:
        """The grades of the documents at these places of the list; 0 for -1, not judged."""
        return self._grades[places]

    def find(self, docnos: Texts, topics: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where each document, retrieved for the topic of that place, is in the list; else -1."""
        found = np.full(len(docnos), -1, dtype=np.intp)
        hashes = self._pair_hashes(docnos, topics)
        pending = np.flatnonzero(self._may_hold[hashes >> self._shift])
        pending = pending[np.argsort(hashes[pending])]  # then neighbours are searched for in turn
        rank = np.searchsorted(self._hashes, hashes[pending])
        while len(pending):
            there = rank < len(self._hashes)
            there[there] = self._hashes[rank[there]] == hashes[pending[there]]
            pending, rank = pending[there], rank[there]
            index = self._order[rank]
            same = self._topic_of[index] == topics[pending]
            same[same] = self._texts.take(index[same]).equal(docnos.take(pending[same]))
            found[pending[same]] = index[same]
            pending, rank = pending[~same], rank[~same] + 1
        return found

    def _pair_hashes(self, docnos: Texts, topics: NDArray[np.intp]) -> Words:
        return pair_hashes(self._topic_words, topics, docnos)
