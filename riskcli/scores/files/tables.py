"""What every format of scores is read into, and scores as CSV or TSV."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
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
from riskcli.trec.records import held, of_full_lines, table_lines

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

    settings: Mapping[str, Any] = field(default_factory=dict)
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
        judgements = {
            str(each.get(TEXT_HASH) or each["sha256"])
            for each in held(document, "inputs") or ()
            if held(each, "kind", str) == "qrels" and each.get("sha256")
        }
        by_name = held(document, "settings", dict) or {}
        judgements.update(map(str, held(by_name, JUDGEMENTS) or ()))
        settings = {name: _whole(value) for name, value in by_name.items()}
        codes = [held(each, "code", str) for each in held(document, "warnings") or ()]
        mixed = OTHER_JUDGEMENTS in codes
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
    return None if names.isprintable() else unfit(names.replace("\n", ""))


def bad_score(path: Path, run: str, topic: str, cell: str, line: int | None) -> Finding:
    """The finding for a cell that holds no score."""
    where = f"run {run}, topic {topic}" if run != UNNAMED_RUN else f"topic {topic}"
    message = f"{where}: the score is {cell!r}, {score_expected(number(cell.strip()))}"
    return Finding(path, line, "bad-score", message)


def spelled(score: object) -> str:
    """A value as the text of a cell; what is no number gets no text that is one."""
    number = float(score) if isinstance(score, float) else score  # numpy spells its own names
    return "" if score is None else repr(number)


Cell = tuple[int | None, Any, Any, Any, str]
"""A single score: line, run, topic, measure, score; None for a name that the file does not say."""


def of_cells(path: Path, cells: Iterable[Cell | Finding], nothing: str, cure: str = "") -> Items:
    """Rows of single scores, and what is wrong: a second one of a place (`cure`), or `nothing`."""
    seen: set[tuple[str, str, str | None]] = set()

    def row(line: int | None, run: Any, topic: Any, measure: Any, cell: str) -> Item:
        if run is not None and "" in (run, topic):
            message = "the name of the run or the topic is empty"
            return Finding(path, line, "no-name", message)
        run, topic = UNNAMED_RUN if run is None else str(run), str(topic)
        score, name = score_in(cell), None if measure is None else str(measure)
        if score is None:
            return bad_score(path, run, topic, cell, line)
        if held := _unfit(run + topic + (name or "")):
            return Finding(path, line, "bad-name", f"a name holds {held}")
        place = (run, topic, None if name is None else measure_name(name))
        if place in seen:
            of = f"run {run}, topic" if run != UNNAMED_RUN else "topic"
            said = "occurs" if name is None else f"and measure {name} occur"
            message = f"{of} {topic} {said} a second time{cure}"
            return Finding(path, line, "duplicate-score", message)
        seen.add(place)
        return ScoreRow(run, place[2], (topic,), (score,))

    empty = True
    for each in cells:
        yield each if isinstance(each, Finding) else row(*each)
        empty = False
    if empty:
        yield Finding(path, None, "empty-file", nothing)


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

Lines = Iterable[Finding | tuple[int | None, Sequence[Any]]]


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
    lines: Iterator[tuple[int, list[str]]] = table_lines(path, text, delimiter)
    try:
        _, header = next(lines, (0, []))
        if header[:1] == [""] and is_table(header[1:]):  # R and pandas number the rows there
            header, lines = header[1:], ((line, row[1:]) for line, row in lines)
        yield from _inspect(path, header, of_full_lines(path, len(header), lines))
    except InputError as error:
        yield Finding.of(error)


def _inspect(path: Path, header: Sequence[str], lines: Lines) -> Items:
    if is_index("".join(header[:1])):
        message = "the first column is an index of pandas: write the frame with index=False"
        yield Finding(path, 1, "index-column", message)
    elif is_gdeval(header):
        yield from of_cells(path, _gdeval(header, lines), "no topic below the first line")
    elif is_long(header):
        cells = of_long(lines, long_places(path, header))
        yield from of_cells(path, cells, "no score below the first line")
    elif len(header) < 2:
        expected = "a first line that names the columns: run and one column per topic"
        yield Finding(path, 1, "wrong-format", f"expected {expected}")
    else:
        of_run = (i if isinstance(i, Finding) else (i[0], i[1][0], i[1][1:]) for i in lines)
        found = of_wide(path, tuple(header[1:]), 1, of_run)
        yield from or_empty(path, found, "no run below the first line")


# Wide


def of_wide(
    path: Path,
    topics: Sequence[str],
    heading: int | None,
    lines: Iterable[Finding | tuple[int | None, str, Sequence[Any]]],
    measure: str | None = None,
) -> Items:
    """The scores of lines of a run's name and its scores, below a heading of topics."""
    known, names = dict[str, int | None](), dict[str, int | None]()
    for topic in topics:
        yield from _wrong_name(path, "topic", topic, heading, known)
    for item in lines:
        if isinstance(item, Finding):
            yield item
            continue
        line, run, cells = item
        wrong = list(_wrong_name(path, "run", run, line, names))
        values = [] if wrong else _quick_values(cells)
        if values is None:
            texts = [cell if isinstance(cell, str) else spelled(cell) for cell in cells]
            scores = list(map(score_in, texts))
            bad = [index for index, score in enumerate(scores) if score is None]
            wrong = [bad_score(path, run, topics[index], texts[index], line) for index in bad]
            values = [score for score in scores if score is not None]
        yield from wrong
        if not wrong:
            yield ScoreRow(run, measure, topics, values)


def _wrong_name(
    path: Path, kind: str, name: str, line: int | None, known: dict[str, int | None]
) -> Items:
    """What is wrong with a name: empty, no text, or there already."""
    said = "the run (1st column)" if kind == "run" else f"a {kind}"
    first = known.get(name, line)
    if not name:
        yield Finding(path, line, "no-name", f"the name of {said} is empty")
    elif held := _unfit(name):
        yield Finding(path, line, "bad-name", f"the name of {said} holds {held}")
    elif name in known:
        twice = f"{kind} {name!r} occurs twice"
        message = twice if first == line else f"{kind} {name} is already defined on line {first}"
        yield Finding(path, line, f"duplicate-{kind}", message)
    known.setdefault(name, line)


def _quick_values(cells: Sequence[Any]) -> Sequence[float] | None:
    """The scores of a row in which all are numbers; None asks for a look at each."""
    texts = "".join(cells) if isinstance(cells, list) else ""
    if texts.isascii() and "_" not in texts:  # 1_000 is a number to numpy, not to us
        with suppress(ValueError):
            quick = np.array(cells, dtype=np.float64)
            if are_scores(quick).all():
                return list(quick.tolist())
    return None


# Long


def long_places(path: Path, header: Sequence[str], line: int | None = 1) -> dict[str, int | None]:
    """Where run, topic, measure and score stand; None for what is not there."""
    places: dict[str, int | None] = {}
    for column in LONG:
        fitting = [index for index, name in enumerate(header) if name in NAMES[column]]
        if len(fitting) > 1:
            named = " and ".join(repr(header[index]) for index in fitting)
            message = f"columns {named} could each be the {column}; rename all but one"
            raise InputError(path, "ambiguous-format", message, line)
        places[column] = fitting[0] if fitting else None
    return places


def of_long(lines: Lines, places: Mapping[str, int | None]) -> Iterator[Cell | Finding]:
    """The single scores of rows that have run, topic, measure and score in these places."""
    cells = itemgetter(*(-1 if at is None else at for at in places.values()))
    for item in lines:
        if isinstance(item, Finding):
            yield item
            continue
        run, topic, measure, score = cells((*item[1], None))
        yield item[0], run, topic, measure, score if isinstance(score, str) else spelled(score)


# gdeval.pl


def _gdeval(header: Sequence[str], lines: Lines) -> Iterator[Cell | Finding]:
    measures = [_gdeval_measure(name) for name in header[2:]]
    for item in lines:
        if isinstance(item, Finding):
            yield item
            continue
        line, (run, topic, *scores) = item
        if topic != SUMMARY_ROW:
            yield from ((line, run, topic, *of) for of in zip(measures, scores, strict=True))


def _gdeval_measure(name: str) -> str:
    """What gdeval.pl's column holds: its nDCG has the gain 2^grade - 1."""
    match = _GDEVAL_MEASURE.fullmatch(name)
    if match is None:
        return measure_name(name)
    return f"nDCG(dcg='exp-log2')@{match[2]}" if match[1] == "ndcg" else f"ERR@{match[2]}"
