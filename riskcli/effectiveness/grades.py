"""What a measure computed here sees of a run: the grades of its documents, by subtopic too."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Counts, Floats, Mask, Rows
from riskcli.core.messages import naturally

if TYPE_CHECKING:
    from riskcli.trec.qrels import Qrels

Grades = NDArray[np.int32]


class JudgedSubtopics:
    """The grades by subtopic of all relevant documents, in one table, topic after topic."""

    def __init__(self, qrels: "Qrels") -> None:
        by_topic = [qrels.subtopics.get(topic, {}) for topic in qrels.judgements]
        names = [naturally({name for of in each.values() for name in of}) for each in by_topic]
        padding = [0] * max(map(len, names), default=0)
        row_of, table, self._docnos, self._bounds = [], [padding], [b""], [1]
        for judged, documents, subtopics in zip(
            qrels.judgements.values(), by_topic, names, strict=True
        ):
            for docno in judged:
                grades = documents.get(docno)
                row_of.append(len(table) if grades else 0)
                if grades:
                    row = [grades.get(name, 0) for name in subtopics]
                    table.append(row + padding[len(row) :])
                    self._docnos.append(docno.encode())
            self._bounds.append(len(table))
        self._row_of = np.array([*row_of, 0], dtype=np.intp)
        self._grades: Grades = np.array(table, dtype=np.int32)
        self._ideals: dict[tuple[int, float], Floats] = {}

    def of_documents(self, documents: Rows) -> Grades:
        """Their grades by subtopic: of places in the list of judged documents, -1 for none."""
        return self._grades[self._row_of[documents]]

    def relevant(self, relevance: int) -> Counts:
        """By topic and subtopic, how many documents are relevant."""
        relevant = self._grades >= relevance
        return np.array([relevant[start:end].sum(axis=0) for start, end in pairwise(self._bounds)])

    def ideal(self, relevance: int, alpha: float, depth: int) -> Floats:
        """By topic and rank, what the document of the best ranking adds (see `novelty`)."""
        key = relevance, alpha
        if key not in self._ideals or self._ideals[key].shape[1] < depth:
            ideals = np.zeros((len(self._bounds) - 1, depth))
            for topic, (start, end) in enumerate(pairwise(self._bounds)):
                relevant = self._grades[start:end] >= relevance
                gains = _greedy(relevant, self._docnos[start:end], 1 - alpha, depth)
                ideals[topic, : len(gains)] = gains
            self._ideals[key] = ideals
        return self._ideals[key][:, :depth]


def _greedy(relevant: Mask, docnos: Sequence[bytes], kept: float, depth: int) -> list[float]:
    """What each document adds where the next one is always that which adds most.

    Nobody finds the very best ranking in time. As in ndeval, of equal ones the highest name comes
    first. Documents on the same subtopics stand in line: only their first can be the next.
    """
    lines: dict[tuple[int, ...], list[bytes]] = {}
    for docno, row in sorted(zip(docnos, relevant, strict=True), key=lambda pair: pair[0]):
        lines.setdefault(tuple(np.flatnonzero(row).tolist()), []).append(docno)
    lines.pop((), None)
    left, gains = [1.0] * relevant.shape[1], list[float]()
    while lines and len(gains) < depth:
        added = {on: sum(left[subtopic] for subtopic in on) for on in lines}
        best = max(lines, key=lambda on: (added[on], lines[on][-1]))
        gains.append(added[best])
        lines[best].pop()
        if not lines[best]:
            del lines[best]
        for subtopic in best:
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
