"""What a measure computed here sees of a run: the grades of its documents, by subtopic too."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from math import fsum
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Counts, Floats, Mask, Rows
from riskcli.core.messages import UsageError, naturally

if TYPE_CHECKING:
    from riskcli.trec.qrels import Qrels

Grades = NDArray[np.int32]
MOST_SUBTOPICS = 1_000
"""Of a topic; each takes a column of every topic's table."""


_ONE_AT_A_TIME = Lock()
"""So that threads do not look for the same best rankings."""


class JudgedSubtopics:
    """The grades by subtopic of all relevant documents, in one table, topic after topic."""

    def __init__(self, qrels: "Qrels") -> None:
        by_topic = [(qrels.subtopics or {}).get(topic, {}) for topic in qrels.judgements]
        names = [naturally({name for of in each.values() for name in of}) for each in by_topic]
        most = max(map(len, names), default=0)
        if most > MOST_SUBTOPICS:
            message = f"a topic has {most:,} subtopics, expected {MOST_SUBTOPICS:,} at most"
            raise UsageError(f"{qrels.path or 'qrels'}: {message}")
        self._grades: Grades = np.zeros((sum(map(len, by_topic)) + 1, most), dtype=np.int32)
        row_of, self._docnos, self._bounds = [], [b""], [1]
        for judged, documents, subtopics in zip(
            qrels.judgements.values(), by_topic, names, strict=True
        ):
            column = {name: place for place, name in enumerate(subtopics)}
            for docno in judged:
                grades = documents.get(docno)
                row_of.append(len(self._docnos) if grades else 0)
                if grades:
                    columns = [column[name] for name in grades]
                    self._grades[len(self._docnos), columns] = [*grades.values()]
                    self._docnos.append(docno.encode())
            self._bounds.append(len(self._docnos))
        self._row_of = np.array([*row_of, 0], dtype=np.intp)
        self._counts: dict[int, Counts] = {}
        self._ideals: dict[tuple[int, float], Floats] = {}

    def of_documents(self, documents: Rows) -> Grades:
        """Their grades by subtopic: of places in the list of judged documents, -1 for none."""
        return self._grades[self._row_of[documents]]

    def relevant(self, relevance: int) -> Counts:
        """By topic and subtopic, how many documents are relevant."""
        if relevance not in self._counts:
            relevant = self._grades >= relevance
            counts = [relevant[start:end].sum(axis=0) for start, end in pairwise(self._bounds)]
            self._counts[relevance] = np.array(counts)
        return self._counts[relevance]

    def ideal(self, relevance: int, alpha: float, depth: int) -> Floats:
        """By topic and rank, what the document of the best ranking adds (see `novelty`).

        Down to the depth, or to where a topic has no more relevant documents.
        """
        longest = max((end - start for start, end in pairwise(self._bounds)), default=0)
        depth, key = min(depth, longest), (relevance, alpha)
        with _ONE_AT_A_TIME:
            known = self._ideals.get(key)
            if known is None or known.shape[1] < depth:
                known = np.zeros((len(self._bounds) - 1, depth))
                for topic, (start, end) in enumerate(pairwise(self._bounds)):
                    relevant = self._grades[start:end] >= relevance
                    gains = _greedy(relevant, self._docnos[start:end], 1 - alpha, depth)
                    known[topic, : len(gains)] = gains
                self._ideals[key] = known
        return known[:, :depth]


def _greedy(relevant: Mask, docnos: Sequence[bytes], kept: float, depth: int) -> list[float]:
    """What each document adds where the next one is always that which adds most.

    Nobody finds the very best ranking in time. As in ndeval, of equal ones the highest name comes
    first. What a document adds only falls: one that still adds as much as when it was last looked
    at is the next, if no other added more then.
    """
    falling = sorted(range(len(docnos)), key=docnos.__getitem__, reverse=True)
    subtopics = [np.flatnonzero(relevant[document]).tolist() for document in falling]
    left = [1.0] * relevant.shape[1]
    heap = [(-float(len(on)), place) for place, on in enumerate(subtopics) if on]
    heapify(heap)
    gains: list[float] = []
    while heap and len(gains) < depth:
        before, place = heap[0]
        added = fsum(left[subtopic] for subtopic in subtopics[place])
        if added < -before:
            heapreplace(heap, (-added, place))
            continue
        heappop(heap)
        gains.append(added)
        for subtopic in subtopics[place]:
            left[subtopic] *= kept
    return gains


@dataclass(frozen=True)
class RankedSubtopics:
    """The rankings of a run by topic (row), rank (column) and subtopic."""

    grades: Grades
    topics: Rows
    """Which of the judged topics each row is."""
    judged: JudgedSubtopics

    def novelty(self, relevance: int, alpha: float) -> Floats:
        """What each document adds: 1 a subtopic, times 1 - alpha for each earlier document on it.

        (Clarke et al., SIGIR 2008.)
        """
        relevant = self.grades >= relevance
        earlier = relevant.cumsum(axis=1) - relevant
        return np.asarray((relevant * (1 - alpha) ** earlier).sum(axis=2))


@dataclass(frozen=True)
class RankedGrades:
    """The rankings of a run by topic (row) and rank (column): what a measure computed here sees.

    Beyond the end of a ranking nothing is judged.
    """

    grades: NDArray[np.int64]
    """0 where a document is not judged."""
    judged: NDArray[np.bool_]
    counts: NDArray[np.intp]
    """How many documents each topic has, as far as there are columns."""
    max_grade: int
    """The highest grade that there can be (--max-grade)."""
    subtopics: RankedSubtopics | None = None
    """Of judgements by subtopic, for a measure of these."""
