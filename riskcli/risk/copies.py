"""Runs that are copies of each other, or all but that, and runs that score the same everywhere.

Each copy weighs one in the population of ZRisk and GeoRisk, and so changes the figures of all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.notes import Note, counted, listed
from riskcli.scores.matrix import ScoreMatrix

LEAST_TOPICS = 10
"""On fewer topics, equal scores may well be chance."""
ALL_BUT = 20
"""Runs that differ on no more than one topic in so many are all but the same."""
_MOST_CELLS = 200_000_000
"""Pairs of runs times topics: beyond this only exact copies are looked for."""


def copy_notes(matrix: ScoreMatrix, teams: Sequence[str | None]) -> list[Note]:
    """What to know before the figures are read. Copies within one team do no harm."""
    topics = len(matrix.topics)
    notes = []
    if topics >= LEAST_TOPICS:
        groups = [group for group in equal_rows(matrix.values) if _apart(group, teams)]
        if groups:
            names = [" = ".join(matrix.runs[row] for row in group) for group in groups]
            message = f"{matrix.measure}: the same score on every topic: {listed(names)}; {_ADVICE}"
            notes.append(Note("copies", message))
        near = [
            f"{matrix.runs[one]} and {matrix.runs[other]} ({counted(differing, 'topic')})"
            for one, other, differing in nearly_equal_rows(matrix.values)
            if _apart((one, other), teams)
        ]
        if near:
            message = (
                f"{matrix.measure}: all but the same scores, by the number of topics on which "
            )
            notes.append(Note("near-copies", f"{message}they differ: {listed(near)}; {_ADVICE}"))
    flat = [run for run, row in zip(matrix.runs, matrix.values, strict=True) if constant(row)]
    if flat:
        message = f"{matrix.measure}: one and the same score on all {topics} topics: "
        notes.append(Note("constant-scores", message + listed(flat)))
    return notes


_ADVICE = "each counts in the population of ZRisk and GeoRisk, unless they are a team (--teams)"


def _apart(rows: Sequence[int], teams: Sequence[str | None]) -> bool:
    """Whether these runs are not all of one team."""
    return len({teams[row] for row in rows}) > 1 or teams[rows[0]] is None


def equal_rows(scores: Floats) -> list[list[int]]:
    """The groups of equal rows, but for those of zeros alone."""
    groups: dict[bytes, list[int]] = {}
    for row, values in enumerate(scores + 0.0):
        if values.any():
            groups.setdefault(values.tobytes(), []).append(row)
    return [rows for rows in groups.values() if len(rows) > 1]


def nearly_equal_rows(scores: Floats) -> Iterator[tuple[int, int, int]]:
    """Pairs that differ on few topics, and agree above 0 on most; with how many topics differ."""
    runs, topics = scores.shape
    if runs**2 * topics / 2 > _MOST_CELLS:
        return
    most = max(1, topics // ALL_BUT)
    for one in range(runs - 1):
        differs = scores[one + 1 :] != scores[one]
        agrees = (~differs & (scores[one] != 0)).sum(axis=1)
        differing = differs.sum(axis=1)
        for later in np.flatnonzero((differing > 0) & (differing <= most) & (2 * agrees > topics)):
            yield one, one + 1 + int(later), int(differing[later])


def constant(row: Floats) -> bool:
    """Whether a run has one and the same score above 0 on all topics."""
    return len(row) > 1 and bool(row[0] != 0) and bool((row == row[0]).all())
