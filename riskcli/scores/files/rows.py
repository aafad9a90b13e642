"""What every format of scores is read into, and the matrices made of that."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from riskcli.core.limits import is_score, score_expected
from riskcli.effectiveness.measures import canonical_name
from riskcli.scores.matrix import ScoreMatrix, from_cells
from riskcli.trec.findings import Finding, number

UNNAMED_RUN = ""
"""The run of a file that holds one run's scores and leaves naming it to its own name or tag."""


class ScoreRow(NamedTuple):
    """Scores of one run on some topics; NaN is a topic that it did not answer."""

    run: str
    measure: str | None
    """None where the file does not say it."""
    topics: Sequence[str]
    values: Sequence[float]


Item = ScoreRow | Finding
Items = Iterator[Item]

measure_name = cache(canonical_name)
"""A measure's canonical name. (Cached: looking for a name that is none takes long.)"""


def score_in(cell: str) -> float | None:
    """The score in a cell, NaN where it is empty, None where it is something else."""
    text = cell.strip()
    if not text:
        return math.nan
    value = number(text)
    return value if value is not None and is_score(value) else None


def bad_score(path: Path, run: str, topic: str, cell: str, line: int | None) -> Finding:
    """The finding for a cell that holds no score."""
    where = f"run {run}, topic {topic}" if run != UNNAMED_RUN else f"topic {topic}"
    message = f"{where}: the score is {cell!r}, {score_expected(number(cell.strip()))}"
    return Finding(path, line, "bad-score", message)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def or_empty(path: Path, items: Items, message: str) -> Items:
    """The items; a finding with that message where there is none."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        yield Finding(path, None, "empty-file", message)


class Cells:
    """Turns single scores into rows, and refuses the second one of a place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: set[tuple[str, str, str | None]] = set()

    def row(self, run: str, topic: str, measure: str | None, cell: str, line: int | None) -> Item:
        """The score, or what is wrong with it; without a measure where the file names none."""
        score = score_in(cell)
        if score is None:
            return bad_score(self._path, run, topic, cell, line)
        if not _is_unicode(run + topic + (measure or "")):
            message = "a name holds half of a surrogate pair, which is not valid text"
            return Finding(self._path, line, "bad-json", message)
        name = None if measure is None else measure_name(measure)
        if (run, topic, name) in self._seen:
            of = f"run {run}, topic" if run != UNNAMED_RUN else "topic"
            by = "" if measure is None else f" and measure {measure}"
            message = f"{of} {topic}{by} occur{'' if by else 's'} a second time"
            return Finding(self._path, line, "duplicate-score", message)
        self._seen.add((run, topic, name))
        return ScoreRow(run, name, (topic,), (score,))

    def named(self, run: str, topic: str, measure: str | None, cell: str, line: int | None) -> Item:
        """The score of a run that must have a name."""
        if not run or not topic:
            message = "the name of the run or the topic is empty"
            return Finding(self._path, line, "no-name", message)
        return self.row(run, topic, measure, cell, line)


def assemble(rows: Iterable[ScoreRow], label: str) -> tuple[ScoreMatrix, ...]:
    """A matrix for each measure; `label` names the one that the file does not name."""
    groups: dict[str, list[ScoreRow]] = {}
    for row in rows:
        groups.setdefault(label if row.measure is None else row.measure, []).append(row)
    return tuple([_matrix_of(measure, members) for measure, members in groups.items()])


def _matrix_of(measure: str, rows: Sequence[ScoreRow]) -> ScoreMatrix:
    topics = rows[0].topics
    if len(topics) > 1 and all(row.topics is topics for row in rows):
        values = np.array([row.values for row in rows], dtype=np.float64)
        return ScoreMatrix(measure, tuple(row.run for row in rows), tuple(topics), values)
    return from_cells(
        measure,
        (
            (row.run, topic, score)
            for row in rows
            for topic, score in zip(row.topics, row.values, strict=True)
        ),
    )
