"""Scores as CSV or TSV: wide, long, or gdeval.pl's with a column a measure.

Wide: a first column `run`, then a column a topic. Long: `run,topic,measure,score`, or those columns
under the names that other programs give them. An empty cell is a topic that was not answered.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from riskcli.scores.files.rows import (
    UNNAMED_RUN,
    Cells,
    Items,
    ScoreRow,
    bad_score,
    measure_name,
    or_empty,
    score_in,
)
from riskcli.scores.matrix import are_scores
from riskcli.trec.findings import Finding, line_of, not_utf8

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
_WIDE_HEADINGS = ("run", "runid", "run_id", "system")
SUMMARY_ROW = "amean"
_GDEVAL_MEASURE = re.compile(r"(ndcg|err)@(\d+)")

Lines = Iterable[tuple[int, list[str]]]


def heading(text: bytes, delimiter: str) -> list[str]:
    """The cells of the first line."""
    end = text.find(b"\n")
    first_line = (text if end < 0 else text[:end]).decode(errors="replace")
    return [cell.strip('" \r') for cell in first_line.split(delimiter)]


def is_table(header: list[str]) -> bool:
    """Whether a first line is that of a wide or long table."""
    if header[:1] == [""]:
        return is_table(header[1:])
    if is_gdeval(header) or len(header) < 2 or header[1] == "Q0":
        return False
    if header[:2] == ["runid", "all"]:  # the first line of trec_eval
        return False
    return header[0] in _WIDE_HEADINGS or is_long(header)


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
    try:
        decoded = io.StringIO(text.decode(), newline="")
    except UnicodeDecodeError as error:
        yield not_utf8(path, line_of(text, error))
        return
    rows = csv.reader(decoded, delimiter=delimiter, strict=True)
    try:
        header = next(rows, [])
        numbered = ((rows.line_num, row) for row in rows if row)
        if header[:1] == [""] and is_table(header[1:]):  # R and pandas number the rows there
            header, numbered = header[1:], ((line, row[1:]) for line, row in numbered)
        yield from _inspect(path, header, numbered)
    except csv.Error as error:
        yield Finding(path, rows.line_num, "bad-csv", str(error))


def _inspect(path: Path, header: Sequence[str], lines: Lines) -> Items:
    if is_gdeval(header):
        return _inspect_gdeval(path, header, lines)
    if is_long(header):
        return _inspect_long(path, header, lines)
    if len(header) < 2:
        expected = "a first line that names the columns: run and one column per topic"
        return iter([Finding(path, 1, "wrong-format", f"expected {expected}")])
    return _inspect_wide(path, header, lines)


def _items(
    path: Path, header: Sequence[str], lines: Lines, items_of: Callable[[int, list[str]], Items]
) -> Items:
    """The items of every line; a finding for one with fewer or more cells than the first."""
    for line, row in lines:
        if len(row) == len(header):
            yield from items_of(line, row)
        else:
            message = f"found {len(row)} cells, expected {len(header)} as in the first line"
            yield Finding(path, line, "column-count", message)


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
    found = _items(path, header, lines, of_run)
    yield from or_empty(path, found, "no run below the first line")


def _inspect_run_name(path: Path, names: dict[str, int], run: str, line: int) -> Finding | None:
    if not run:
        return Finding(path, line, "no-name", "the name of the run (1st column) is empty")
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
    """Names that are empty or occur twice."""
    seen: set[str] = set()
    for name in names:
        if not name:
            yield Finding(path, line, "no-name", f"the name of a {kind} is empty")
        elif name in seen:
            yield Finding(path, line, f"duplicate-{kind}", f"{kind} {name!r} occurs twice")
        seen.add(name)


# Long


def _inspect_long(path: Path, header: Sequence[str], lines: Lines) -> Items:
    places = {}
    for column in LONG:
        fitting = [index for index, name in enumerate(header) if name in NAMES[column]]
        if len(fitting) > 1:
            named = " and ".join(repr(header[index]) for index in fitting)
            message = f"columns {named} could each be the {column}; rename all but one"
            yield Finding(path, 1, "ambiguous-format", message)
            return
        places[column] = fitting[0] if fitting else None
    run_place, measure_place = places["run"], places["measure"]
    topic, score = places["topic"] or 0, places["score"] or 0
    cells = Cells(path)

    def of_cell(line: int, row: list[str]) -> Items:
        measure = None if measure_place is None else row[measure_place]
        if run_place is None:
            yield cells.row(UNNAMED_RUN, row[topic], measure, row[score], line)
        else:
            yield cells.named(row[run_place], row[topic], measure, row[score], line)

    found = _items(path, header, lines, of_cell)
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

    yield from _items(path, header, lines, of_topic)
    if not topics:
        yield Finding(path, None, "empty-file", "no topic below the first line")


def _gdeval_measure(name: str) -> str:
    """What gdeval.pl's column holds: its nDCG has the gain 2^grade - 1."""
    match = _GDEVAL_MEASURE.fullmatch(name)
    if match is None:
        return measure_name(name)
    return f"nDCG(dcg='exp-log2')@{match[2]}" if match[1] == "ndcg" else f"ERR@{match[2]}"
