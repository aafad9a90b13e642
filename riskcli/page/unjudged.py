"""What the page knows of documents that nobody judged: shares, ranges of differences, documents.

Nothing of it is in a page of which nothing is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskcli.analyses.score import ComparisonTable
from riskcli.analyses.unjudged import compared_with, shares
from riskcli.analyses.verdicts import called
from riskcli.core.messages import Note
from riskcli.effectiveness.parts import parts
from riskcli.output.escape import all_visible, visible
from riskcli.page.packing import packed, packed_in_half, packed_percents
from riskcli.risk.comparison import Comparison
from riskcli.scores.comparisons import comparisons
from riskcli.scores.documents import Documents
from riskcli.scores.judging import Judging
from riskcli.scores.matrix import ScoreMatrix

MOST_RANGES = 8_000_000
"""Characters of the topics' ranges in a page; of more, it has those of whole runs alone."""
MOST_DOCUMENTS = 8_000_000
"""Characters of documents in a page: names, rankings, and what each adds to a score."""
_OF_A_RANGE = 2 * 8 * 4 // 3
_BESIDE_A_NAME = 5
"""Quotes, commas and a grade."""
_OF_A_PLACE = 4 + 4 * 4 // 3
"""Characters for one place of a ranking: a document's number, and a part in single precision."""


@dataclass(frozen=True)
class Taken:
    """What `--unjudged bounds` puts into a page, as far as it is not too much."""

    ranges: bool = False
    documents: bool = False
    notes: tuple[Note, ...] = ()


def taken(matrices: Sequence[ScoreMatrix], tables: Sequence[ComparisonTable]) -> Taken:
    """What fits; a note says what does not."""
    known = [(m, m.judging, d) for m in matrices if m.judging and (d := m.judging.documents)]
    if not known:
        return Taken()
    baselines = {name for matrix, *_ in known for name in _baselines(matrix, tables)}
    ends = sum(m.values.size for m, *_ in known) * len(baselines) * _OF_A_RANGE
    names = {id(d): _names(d, _depth(matrices)) for _, _, d in known}
    places = sum(m.values.size * _shown(judging, d) for m, judging, d in known)
    size = sum(names.values()) + places * _OF_A_PLACE
    notes = []
    if ends > MOST_RANGES:
        notes.append(_left_out("the ranges of topics", ends, MOST_RANGES))
    if size > MOST_DOCUMENTS:
        notes.append(_left_out("the documents behind a difference", size, MOST_DOCUMENTS))
    return Taken(ends <= MOST_RANGES, size <= MOST_DOCUMENTS, tuple(notes))


def _baselines(matrix: ScoreMatrix, tables: Sequence[ComparisonTable]) -> list[str]:
    return [c.baseline.name for table in tables for c in comparisons(matrix, table.options)]


def _left_out(what: str, size: int, most: int) -> Note:
    message = f"the page is without {what}, which would take {size / 1e6:.1f} MB"
    return Note("left-out-of-page", f"{message} (at most {most / 1e6:g})", False)


def of_measure(matrix: ScoreMatrix, fits: Taken) -> dict[str, Any]:
    """How much of each run is judged; topic by topic where documents were asked for."""
    judging = matrix.judging
    if judging is None:
        return {}
    own = judging.mean_shares(matrix.runs, matrix.topics)
    if np.isnan(own).all():
        return {}
    found: dict[str, Any] = {"depth": judging.depth, "rule": judging.rule, "runs": packed(own)}
    if judging.documents is not None:
        found["cutoff"] = judging.measure.cutoff
        found["byTopic"] = packed_percents(judging.shares(matrix.runs, matrix.topics))
        if fits.documents:
            found["parts"] = _parts(matrix, judging, judging.documents)
    return {"judging": found}


def of_baseline(matrix: ScoreMatrix, comparison: Comparison) -> dict[str, Any]:
    """How much of the baseline is judged, and what sentences call it."""
    known = shares(matrix, comparison)
    if known is None:
        return {}
    share, name = float(known[1][0]), comparison.baseline.name
    whom = compared_with(name, called(name, len(comparison.baseline.members)))
    return {"judged": [None if np.isnan(share) else share, visible(whom)]}


def of_ranges(
    matrix: ScoreMatrix, tables: Sequence[ComparisonTable], fits: Taken
) -> dict[str, dict[str, Any]]:
    """By name of the baseline the ranges of every run on every topic, as far as they fit."""
    if not fits.ranges:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for block in (block for table in tables for block in table.blocks):
        if block.measure == matrix.measure and block.ranges and block.baseline not in found:
            rows = np.array([block.runs.index(run) for run in matrix.runs])
            low, high = (packed(end[rows]) for end in (block.ranges.low, block.ranges.high))
            found[block.baseline] = {"low": low, "high": high, "exact": block.ranges.exact}
    return found


def documents_of(matrices: Sequence[ScoreMatrix], fits: Taken) -> dict[str, Any]:
    """The documents down to which the measures look, and their grades (None: unjudged), by topic.

    A topic has each of its documents once; the rankings hold their numbers.
    """
    if not fits.documents:
        return {}
    depth, runs = _depth(matrices), matrices[0].runs
    topics: dict[str, Any] = {}
    for matrix in matrices:
        documents = matrix.judging.documents if matrix.judging else None
        for topic in matrix.topics:
            if documents is not None and visible(topic) not in topics:
                topics[visible(topic)] = _of_topic(documents, topic, runs, depth)
    return {"documents": {"depth": depth, "topics": topics}}


def _of_topic(
    documents: Documents, topic: str, runs: Sequence[str], depth: int
) -> dict[str, list[Any]]:
    column = documents.topics[topic]
    rows = [documents.runs.get(run) for run in runs]
    places = documents.numbers[:, column, :depth].tolist()
    kept = [[] if row is None else [each for each in places[row] if each >= 0] for row in rows]
    numbers = np.unique(np.array([number for ranked in kept for number in ranked], dtype=np.intp))
    place = {number: index for index, number in enumerate(numbers.tolist())}
    judged, grades = documents.judged[numbers].tolist(), documents.grades[numbers].tolist()
    return {
        "docnos": all_visible(documents.docnos.take(numbers).as_strings()),
        "grades": [g if known else None for g, known in zip(grades, judged, strict=True)],
        "runs": [[place[number] for number in ranked] for ranked in kept],
    }


def _depth(matrices: Sequence[ScoreMatrix]) -> int:
    return max(matrix.judging.depth for matrix in matrices if matrix.judging)


def _shown(judging: Judging, documents: Documents) -> int:
    ranks: int = documents.numbers.shape[2]
    return min(judging.depth, ranks)


def _names(documents: Documents, depth: int) -> int:
    """The characters of the names of all documents that are shown, of each topic by itself."""
    shown = np.unique(documents.numbers[:, :, :depth])
    names = documents.docnos.take(shown[shown >= 0])
    return len(names.packed()) + _BESIDE_A_NAME * len(names)


def _parts(matrix: ScoreMatrix, judging: Judging, documents: Documents) -> str | None:
    """What the documents add to each score, by run, topic and rank; None of other measures."""
    depth = _shown(judging, documents)
    found = np.zeros((*matrix.values.shape, depth))
    for row, run in enumerate(matrix.runs):
        if run in documents.runs:
            ranked = documents.ranked(run, matrix.topics, judging.measure.cutoff)
            own = parts(judging.measure, ranked, documents.levels(matrix.topics))
            if own is None:
                return None
            found[row, :, : own.shape[1]] = own[:, :depth]
    return packed_in_half(found)
