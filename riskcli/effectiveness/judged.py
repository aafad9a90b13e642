"""Which of the documents of a run are judged: found by hash, and only then compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from riskcli.core.arrays import Counts, Rows
from riskcli.trec.fast import Texts, pair_hashes

_SPARSE = 3
_FEWEST_BITS, _MOST_BITS = 12, 22
_LARGEST = np.iinfo(np.uint64).max


class Judged:
    """All judged documents in one list, topic after topic."""

    def __init__(self, judgements: Mapping[str, Mapping[str, int]]) -> None:
        self.topics = {topic: index for index, topic in enumerate(judgements)}
        self.docnos = [docno for grades in judgements.values() for docno in grades]
        grades = [grade for grades in judgements.values() for grade in grades.values()]
        self.grades: Counts = np.array([*grades, 0], dtype=np.int64)
        """Their grades, and at the end 0: that of -1, which is not judged."""
        sizes = [len(grades) for grades in judgements.values()]
        self._topic_of = np.repeat(np.arange(len(sizes)), sizes)
        self._texts = Texts.of_strings(self.docnos)
        self._topic_words = np.arange(len(sizes), dtype=np.uint64)
        hashes = pair_hashes(self._topic_words, self._topic_of, self._texts)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]
        bits = min(max(len(hashes).bit_length() + _SPARSE, _FEWEST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        prefixes = self._hashes >> self._shift
        self._first = np.full(1 << bits, -1, dtype=np.int32)
        self._first[prefixes[::-1]] = np.arange(len(prefixes), dtype=np.int32)[::-1]

    def find(self, docnos: Texts, lines: Rows, topics: Rows) -> Rows:
        """Where the document of each of these lines is in the list, for its topic; else -1."""
        docnos = docnos.take(lines)
        found = np.full(len(topics), -1, dtype=np.intp)
        hashes = pair_hashes(self._topic_words, topics, docnos)
        rank = self._first[hashes >> self._shift]
        pending = np.flatnonzero(rank >= 0)
        rank = rank[pending]
        while len(pending):  # hashes rise: go on until one is as large as that of the document
            there, wanted = self._hashes[rank], hashes[pending]
            hit = np.flatnonzero(there == wanted)
            index, document = self._order[rank[hit]], pending[hit]
            same = self._topic_of[index] == topics[document]
            same[same] = self._texts.take(index[same]).equal(docnos.take(document[same]))
            found[document[same]] = index[same]
            there[hit[same]] = _LARGEST
            on = np.flatnonzero((there <= wanted) & (rank < len(self._hashes) - 1))
            pending, rank = pending[on], rank[on] + 1
        return found
