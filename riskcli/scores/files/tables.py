"""What every format of scores is read into, and scores as CSV or TSV."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riskcli.core.content_hash import CONTENT_HASH
from riskcli.core.limits import is_score, score_expected
from riskcli.core.messages import OTHER_JUDGEMENTS, TEXT_HASH, InputError
from riskcli.effectiveness.measures import canonical_name, is_measure
from riskcli.scores.matrix import ScoreMatrix, are_scores, from_cells
from riskcli.scores.plausibility import is_index
from riskcli.trec.findings import Finding, number, or_empty, unfit
from riskcli.trec.records import of_full_lines, table_lines

UNNAMED_RUN = ""
"""The run of a file that holds one run's scores and leaves naming it to its own name or tag."""


class ScoreRow(NamedTuple):
    """Scores of one run on some topics; NaN is a topic that it did not answer."""

    run: str
    measure: str | None
    """None where the file does not say it."""
    topics: Sequence[str]
    values: Sequence[float]


JUDGEMENTS = "judgements"
"""The setting that names the judgements behind scores which files of scores held already."""
SCALE = "scale"
"""The setting that says what scores in files of scores were multiplied by."""


@dataclass(frozen=True)
class About:
    """What a file of riskeval says of how its scores were made."""

    settings: Mapping[str, Any]
    judgements: tuple[str, ...] = ()
    """The checksums of the text of qrels that it names, or that files of scores named before it."""
    mixed: bool = False
    """Whether it says that its scores are not all made from the same judgements."""
    content: str | None = None
    """The hash of its content."""
    told: str = ""
    """What its columns were taken for, where that was guessed."""

    @property
    def scales(self) -> tuple[float, ...]:
        """What it says that its scores were multiplied by; several where they are of files."""
        stated = self.settings.get(SCALE)
        scales = stated if isinstance(stated, list) else [stated]
        return tuple(float(each) for each in scales if isinstance(each, int | float))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "About":
        """The settings and judgements that a document names; others name none."""
        settings, inputs = document.get("settings"), document.get("inputs")
        judgements = {
            str(each.get(TEXT_HASH) or each["sha256"])
            for each in (inputs if isinstance(inputs, list) else ())
            if isinstance(each, dict) and each.get("kind") == "qrels" and each.get("sha256")
        }
        by_name = settings if isinstance(settings, dict) else {}
        before = by_name.get(JUDGEMENTS)
        judgements.update(map(str, before if isinstance(before, list) else ()))
        settings = {name: _whole(value) for name, value in by_name.items()}
        warnings = document.get("warnings")
        mixed = any(
            isinstance(each, dict) and each.get("code") == OTHER_JUDGEMENTS
            for each in (warnings if isinstance(warnings, list) else ())
        )
        return cls(settings, tuple(sorted(judgements)), mixed, document.get(CONTENT_HASH))


def _whole(value: Any) -> Any:
    """The number as it was before it was hashed."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Item = ScoreRow | Finding
Items = Iterator[Item]
Content = Iterator[About | Item]
"""The rows of a file, and before them what it says of them."""

measure_name = cache(canonical_name)
"""A measure's canonical name. (Cached: looking for a name that is none takes long.)"""


def score_in(cell: str) -> float | None:
    """The score in a cell, NaN where it is empty, None where it is something else."""
    text = cell.strip()
    if not text:
        return math.nan
    value = number(text)
    return value if value is not None and is_score(value) else None


def _unfit(names: str) -> str | None:
    """What names must not hold; in quotes of CSV they may hold line ends."""
    return unfit(names.replace("\n", ""))


def bad_score(path: Path, run: str, topic: str, cell: str, line: int | None) -> Finding:
    """The finding for a cell that holds no score."""
    where = f"run {run}, topic {topic}" if run != UNNAMED_RUN else f"topic {topic}"
    message = f"{where}: the score is {cell!r}, {score_expected(number(cell.strip()))}"
    return Finding(path, line, "bad-score", message)


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
        if held := _unfit(run + topic + (measure or "")):
            return Finding(self._path, line, "bad-name", f"a name holds {held}")
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


# Scores as CSV or TSV: wide, long, or gdeval.pl's with a column a measure.
#
# Wide: a first column `run`, then a column a topic. Long: `run,topic,measure,score`, or those
# columns under the names that other programs give them. An empty cell is a topic that was not
# answered.


RUN = "run"
LONG = ("run", "topic", "measure", "score")
"""The columns of a long table, as riskeval writes it."""
NAMES = {
    "run": ("run", "runid", "run_id", "system", "name"),
    "topic": ("topic", "topic_id", "query", "query_id", "qid"),
    "measure": ("measure", "metric"),
    "score": ("score", "value"),
}
"""The same columns in other programs' words."""
WIDE_HEADINGS = ("run", "runid", "run_id", "system")
SUMMARY_ROW = "amean"
_MEASURE = re.compile("(?i)faith|relevan|precision|recall|correct|accura|score|simil|f1|pass|succ")
_GDEVAL_MEASURE = re.compile(r"(ndcg|err)@(\d+)")

Lines = Iterable[tuple[int, list[str]]]


def heading(text: bytes, delimiter: str) -> list[str]:
    """The cells of the first line."""
    end = text.find(b"\n")
    first_line = (text if end < 0 else text[:end]).decode(errors="replace")
    return [cell.strip('" \r') for cell in first_line.split(delimiter)]


def is_table(header: list[str]) -> bool:
    """Whether a first line is that of a wide or long table."""
    if header[:1] == [""] or is_index("".join(header[:1])):
        return is_table(header[1:])
    if is_gdeval(header) or len(header) < 2 or header[1] == "Q0":
        return False
    if header[:2] == ["runid", "all"]:  # the first line of trec_eval
        return False
    is_wide = header[1] not in NAMES["topic"] or not any(map(like_measure, header[2:]))
    return (header[0] in WIDE_HEADINGS and is_wide) or is_long(header)


def like_measure(name: str) -> bool:
    """Whether it is a measure's name, or like those of answers that a language model judges."""
    return _MEASURE.search(name) is not None or is_measure(name)


def is_gdeval(header: Sequence[str]) -> bool:
    """Whether a first line is that of gdeval.pl: `runid,topic,ndcg@20,err@20`."""
    return list(header[:2]) == ["runid", "topic"] and len(header) > 2 and not is_long(header)


def is_long(header: Sequence[str]) -> bool:
    """Whether a first line names topic, measure and score, perhaps the run, and nothing else.

    A column of another name may distinguish runs, so the table is not taken. The measure may
    be left out where the run is named (`system,topic,score`).
    """
    run, topic, measure, score = (any(n in header for n in NAMES[column]) for column in LONG)
    words = {name for names in NAMES.values() for name in names}
    return topic and score and (measure or run) and words.issuperset(header)


def inspect_table(path: Path, text: bytes, delimiter: str) -> Items:
    """The scores of a table, and what is wrong with it."""
    lines = table_lines(path, text, delimiter)
    try:
        _, header = next(lines, (0, []))
        numbered = (item for item in lines if item[1])
        if header[:1] == [""] and is_table(header[1:]):  # R and pandas number the rows there
            header, numbered = header[1:], ((line, row[1:]) for line, row in numbered)
        yield from _inspect(path, header, numbered)
    except InputError as error:
        yield Finding.of(error)


def _inspect(path: Path, header: Sequence[str], lines: Lines) -> Items:
    if is_index("".join(header[:1])):
        message = "the first column is an index of pandas: write the frame with index=False"
        return iter([Finding(path, 1, "index-column", message)])
    if is_gdeval(header):
        return _inspect_gdeval(path, header, lines)
    if is_long(header):
        return _inspect_long(path, header, lines)
    if len(header) < 2:
        expected = "a first line that names the columns: run and one column per topic"
        return iter([Finding(path, 1, "wrong-format", f"expected {expected}")])
    return _inspect_wide(path, header, lines)


# Wide


def _inspect_wide(path: Path, header: Sequence[str], lines: Lines) -> Items:
    topics = tuple(header[1:])
    names: dict[str, int] = {}

    def of_run(line: int, row: list[str]) -> Items:
        run, *cells = row
        wrong = _inspect_run_name(path, names, run, line)
        if wrong:
            yield wrong
            return
        values = _quick_values(cells)
        if values is None:
            scores = [score_in(cell) for cell in cells]
            bad = [index for index, score in enumerate(scores) if score is None]
            for index in bad:
                yield bad_score(path, run, topics[index], cells[index], line)
            values = [] if bad else [score for score in scores if score is not None]
        if len(values):
            yield ScoreRow(run, None, topics, values)

    yield from inspect_names(path, "topic", topics, 1)
    found = of_full_lines(path, len(header), lines, of_run)
    yield from or_empty(path, found, "no run below the first line")


def _inspect_run_name(path: Path, names: dict[str, int], run: str, line: int) -> Finding | None:
    if not run:
        return Finding(path, line, "no-name", "the name of the run (1st column) is empty")
    if held := _unfit(run):
        return Finding(path, line, "bad-name", f"the name of the run (1st column) holds {held}")
    first = names.setdefault(run, line)
    if first != line:
        message = f"run {run} is already defined on line {first}"
        return Finding(path, line, "duplicate-run", message)
    return None


def _quick_values(cells: Sequence[str]) -> Sequence[float] | None:
    """The scores of a row in which all are numbers; None asks for a look at each."""
    together = "".join(cells)
    if together.isascii() and "_" not in together:  # 1_000 is a number to numpy, not to us
        with suppress(ValueError):
            quick = np.array(cells, dtype=np.float64)
            if are_scores(quick).all():
                return list(quick.tolist())
    return None


def inspect_names(
    path: Path, kind: str, names: Sequence[str], line: int | None
) -> Iterator[Finding]:
    """Names that are empty, no text, or occur twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            yield Finding(path, line, "no-name", f"the name of a {kind} is empty")
        elif held := _unfit(name):
            yield Finding(path, line, "bad-name", f"the name of a {kind} holds {held}")
        elif name in seen:
            yield Finding(path, line, f"duplicate-{kind}", f"{kind} {name!r} occurs twice")
        seen.add(name)


# Long


def long_places(path: Path, header: Sequence[str]) -> dict[str, int | None] | Finding:
    """Where run, topic, measure and score stand; None for what is not there."""
    places: dict[str, int | None] = {}
    for column in LONG:
        fitting = [index for index, name in enumerate(header) if name in NAMES[column]]
        if len(fitting) > 1:
            named = " and ".join(repr(header[index]) for index in fitting)
            message = f"columns {named} could each be the {column}; rename all but one"
            return Finding(path, 1, "ambiguous-format", message)
        places[column] = fitting[0] if fitting else None
    return places


def _inspect_long(path: Path, header: Sequence[str], lines: Lines) -> Items:
    places = long_places(path, header)
    if isinstance(places, Finding):
        yield places
        return
    run_place, measure_place = places["run"], places["measure"]
    topic, score = places["topic"] or 0, places["score"] or 0
    cells = Cells(path)

    def of_cell(line: int, row: list[str]) -> Items:
        measure = None if measure_place is None else row[measure_place]
        if run_place is None:
            yield cells.row(UNNAMED_RUN, row[topic], measure, row[score], line)
        else:
            yield cells.named(row[run_place], row[topic], measure, row[score], line)

    found = of_full_lines(path, len(header), lines, of_cell)
    yield from or_empty(path, found, "no score below the first line")


# gdeval.pl


def _inspect_gdeval(path: Path, header: Sequence[str], lines: Lines) -> Items:
    measures = [_gdeval_measure(name) for name in header[2:]]
    cells = Cells(path)
    topics = set()

    def of_topic(line: int, row: list[str]) -> Items:
        run, topic, *scores = row
        if topic != SUMMARY_ROW:
            topics.add(topic)
            for measure, cell in zip(measures, scores, strict=True):
                yield cells.named(run, topic, measure, cell, line)

    yield from of_full_lines(path, len(header), lines, of_topic)
    if not topics:
        yield Finding(path, None, "empty-file", "no topic below the first line")


def _gdeval_measure(name: str) -> str:
    """What gdeval.pl's column holds: its nDCG has the gain 2^grade - 1."""
    match = _GDEVAL_MEASURE.fullmatch(name)
    if match is None:
        return measure_name(name)
    return f"nDCG(dcg='exp-log2')@{match[2]}" if match[1] == "ndcg" else f"ERR@{match[2]}"
