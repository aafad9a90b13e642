"""Runs that are copies of each other, or all but that, and runs that score the same everywhere.

Each copy weighs one in the population of ZRisk and GeoRisk, and so changes the figures of all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.notes import Note, counted, listed
from riskcli.scores.matrix import ScoreMatrix

LEAST_TOPICS = 10
"""On fewer topics, equal scores may well be chance."""
ALL_BUT = 20
"""Runs that differ on no more than one topic in so many are all but the same."""
_MOST_CELLS = 200_000_000
"""Scores that are compared at most: beyond this only exact copies are told."""


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
    for row, values in enumerate(scores):
        if values.any():
            groups.setdefault(_digest(values), []).append(row)
    return [rows for rows in groups.values() if len(rows) > 1]


def nearly_equal_rows(scores: Floats) -> Iterator[tuple[int, int, int]]:
    """Pairs that differ on few topics, and agree above 0 on most; with how many topics differ.

    Rows that differ on at most m topics are equal on one of m + 1 parts of the topics at least:
    only rows that share a part are compared.
    """
    most = max(1, scores.shape[1] // ALL_BUT)
    parts = np.array_split(np.arange(scores.shape[1]), most + 1)
    found: dict[tuple[int, int], int] = {}
    cells = 0
    for part in parts:
        for rows in _sharing(scores[:, part[0] : part[-1] + 1]):
            for index, one in enumerate(rows[:-1]):
                others = scores[rows[index + 1 :]]
                cells += others.size
                if cells > _MOST_CELLS:
                    return
                differs = others != scores[one]
                agrees = (~differs & (scores[one] != 0)).sum(axis=1)
                count = differs.sum(axis=1)
                near = (count > 0) & (count <= most) & (2 * agrees > scores.shape[1])
                for later in np.flatnonzero(near).tolist():
                    found[one, rows[index + 1 + later]] = int(count[later])
    for (one, other), differing in sorted(found.items()):
        yield one, other, differing


def _sharing(scores: Floats) -> Iterator[list[int]]:
    """The groups of rows that are equal on some topics, of which there are few."""
    whole = np.ascontiguousarray(scores + 0.0)  # -0 is 0
    groups: dict[bytes, list[int]] = {}
    for row, values in enumerate(whole.view(f"V{whole[0].nbytes}").ravel().tolist()):
        groups.setdefault(values, []).append(row)
    yield from (rows for rows in groups.values() if len(rows) > 1)


def _digest(values: Floats) -> bytes:
    """What tells rows apart; as a checksum, for the rows themselves may take gigabytes."""
    return blake2b((values + 0.0).tobytes(), digest_size=16).digest()


def constant(row: Floats) -> bool:
    """Whether a run has one and the same score above 0 on all topics."""
    return len(row) > 1 and bool(row[0] != 0) and bool((row == row[0]).all())
