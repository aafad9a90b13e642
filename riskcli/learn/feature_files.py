"""Documents with features and grades: LETOR's format (SVMlight with qid), CSV and Parquet.

    2 qid:10 1:0.03 2:0.66 3:NULL ... #docid = GX029-35-5894638 inc = 1 prob = 0.086622

Feature numbers start with 1; one that a line leaves out is 0, NULL or nan is missing. Lines of a
query need not lie together. Documents without an id are called `<qid>-<n>`, counted within the
query. CSV and Parquet have columns `topic` (or qid), `grade` (label, relevance) and, if they like,
`docno` (docid); every other column is a feature.
"""

import csv
import io
import re
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from riskcli.core.limits import BASE, FEATURE_CELL, refuse_beyond
from riskcli.core.messages import InputError
from riskcli.core.supervisor import Natively
from riskcli.learn.features import FeatureLines, Features, features_of_lines
from riskcli.trec.arrow import UNREADABLE, damaged, parquet_file
from riskcli.trec.findings import number, whole_number
from riskcli.trec.formats import docno_of
from riskcli.trec.qrels import MAX_GRADE
from riskcli.trec.source import TextFile

TOPIC, GRADE, DOCNO = ("topic", "qid", "query"), ("grade", "label", "relevance"), ("docno", "docid")
_COMMENT = re.compile(rb"#[^\n]*")
_MISSING = ("null", "nan", "na")
_HIGHEST_FEATURE = 1_000_000
_COPIES = 3
"""Of the table of features, while it is put together."""
_PARQUET_MAGIC = b"PAR1"


def read_features(path: Path | str) -> Features:
    """Read a file of features, whatever its format; wrong lines are told by number."""
    with closing(TextFile(Path(path), checksum=True)) as source:
        features = _read(source)
        return replace(features, sha256=source.sha256)


def _read(source: TextFile) -> Features:
    path = source.path
    if source.start.startswith(_PARQUET_MAGIC):
        return _from_table(path, source.text())
    if not source.start.strip():
        raise InputError(path, "empty-file", "no document in this file")
    first = source.start.lstrip().split(b"\n", 1)[0]
    if b"," in first and b"qid:" not in first:
        return _from_csv(path, source.text())
    lines_before, parts = 0, []
    for text in source.pieces():
        part = _quick(text, lines_before)
        parts.append(_closely(path, text, lines_before) if part is None else part)
        lines_before += text.count(b"\n")
    return features_of_lines(path, parts)


def _quick(text: bytes, lines_before: int = 0) -> FeatureLines | None:
    """Lines of which each has every feature, in order; None asks for a close look."""
    lines = [
        (n, line) for n, line in enumerate(text.split(b"\n"), lines_before + 1) if line.strip()
    ]
    comments = [line for _, line in lines]
    bare = _COMMENT.sub(b"", text)
    count = len(comments)
    if bare.count(b"qid:") != count or not count:
        return None
    spaced = bare.replace(b"qid:", b"").replace(b":", b" ").replace(b"NULL", b"nan")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(spaced.decode("ascii"), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    if len(numbers) % count or bare.count(b":") != count * (len(numbers) // count // 2):
        return None
    table = numbers.reshape(count, -1)
    grades, qids, ids, values = table[:, 0], table[:, 1], table[:, 2::2], table[:, 3::2]
    if ids.shape != values.shape or not (ids == np.arange(1, ids.shape[1] + 1)).all():
        return None
    whole = (grades == np.floor(grades)) & (np.abs(grades) <= MAX_GRADE)
    whole &= (qids == np.floor(qids)) & (np.abs(qids) < 2**52)
    if not whole.all() or np.isinf(values).any():
        return None
    names = re.findall(rb"qid:(\S+)", bare)
    if len(names) != count:
        return None
    try:
        docnos = [docno_of(line) for line in comments]
    except UnicodeDecodeError:
        return None
    topics = [name.decode() for name in names]
    line_numbers = np.array([n for n, _ in lines])
    return FeatureLines(
        line_numbers, topics, grades.astype(np.int64), docnos, np.ascontiguousarray(values)
    )


def _closely(path: Path, text: bytes, lines_before: int) -> FeatureLines:
    """Read line by line: slower, but it says where the trouble is, if there is any."""
    numbers, topics, grades, docnos = [], [], [], []
    rows: list[dict[int, float]] = []
    for line, raw in enumerate(text.split(b"\n"), start=lines_before + 1):
        bare = _COMMENT.sub(b"", raw)
        if not bare.strip():
            continue
        try:
            grade, topic, pairs = _line(path, line, [part.decode() for part in bare.split()])
            docno = docno_of(raw)
        except UnicodeDecodeError as error:
            raise InputError(path, "encoding", "this line is not UTF-8 text", line) from error
        numbers.append(line)
        grades.append(grade)
        topics.append(topic)
        docnos.append(docno)
        rows.append(pairs)
    width = max((max(row, default=0) for row in rows), default=0)
    refuse_beyond(BASE + _COPIES * 8 * len(rows) * width, f"{len(rows):,} by {width:,} features")
    values = np.zeros((len(rows), width))
    for place, row in enumerate(rows):
        values[place, [feature - 1 for feature in row]] = list(row.values())
    return FeatureLines(np.array(numbers, dtype=np.int64), topics, grades, docnos, values)


def _line(path: Path, line: int, fields: Sequence[str]) -> tuple[int, str, dict[int, float]]:
    grade_text, *parts = fields
    grade = _grade(path, line, grade_text)
    if not parts or not parts[0].startswith("qid:") or parts[0] == "qid:":
        shown = parts[0] if parts else "nothing"
        message = f"found {shown!r} after the grade, expected qid:<query>"
        raise InputError(path, "bad-feature", message, line)
    pairs: dict[int, float] = {}
    for part in parts[1:]:
        name, _, text = part.partition(":")
        feature = whole_number(name)
        if feature is None or not 1 <= feature <= _HIGHEST_FEATURE:
            message = f"found {part!r}, expected <feature>:<value> with a feature from 1"
            raise InputError(path, "bad-feature", message, line)
        if feature in pairs:
            raise InputError(path, "bad-feature", f"feature {feature} is given twice", line)
        pairs[feature] = _value(path, line, f"feature {feature}", text)
    return grade, parts[0].removeprefix("qid:"), pairs


def _grade(path: Path, line: int | None, text: str) -> int:
    value = number(text)
    if value is None or value != int(value) or abs(value) > MAX_GRADE:
        message = f"the grade is {text!r}, expected a whole number of at most {MAX_GRADE}"
        raise InputError(path, "bad-grade", message, line)
    return int(value)


def _value(path: Path, line: int | None, name: str, text: str) -> float:
    if text.lower() in _MISSING:
        return float("nan")
    value = number(text)
    if value is None:
        message = f"{name} is {text!r}, expected a finite number, or NULL where it is missing"
        raise InputError(path, "bad-feature", message, line)
    return value


def _from_csv(path: Path, text: bytes) -> Features:
    try:
        reader = csv.reader(io.StringIO(text.decode(), newline=""))
        header = next(reader)
        rows = [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError as error:
        raise InputError(path, "encoding", "this file is not UTF-8 text") from error
    except csv.Error as error:
        raise InputError(path, "column-count", str(error), reader.line_num) from error
    topic, grade, docno, features = _places(path, header)
    values = np.empty((len(rows), len(features)))
    grades = []
    for index, (line, row) in enumerate(rows):
        if len(row) != len(header):
            message = f"found {len(row)} fields, the first line has {len(header)}"
            raise InputError(path, "column-count", message, line)
        grades.append(_grade(path, line, row[grade]))
        values[index] = [_value(path, line, header[f], row[f] or "nan") for f in features]
    topics = [row[topic] for _, row in rows]
    docnos = ["" if docno is None else row[docno] for _, row in rows]
    lines = FeatureLines(np.array([line for line, _ in rows]), topics, grades, docnos, values)
    return features_of_lines(path, [lines], [header[f] for f in features])


def _from_table(path: Path, text: bytes) -> Features:
    """Rows of Parquet; in messages they are lines, the first row being line 1."""
    # Late: pyarrow is large, and only Parquet needs it.
    from pyarrow import compute

    try:
        with Natively(path, "bad-parquet", "Arrow crashes on it"):
            table = parquet_file(path, text, each=FEATURE_CELL).read()
            table.validate(full=True)
    except UNREADABLE as error:
        raise damaged(path, error).as_error() from error
    header = table.column_names
    topic, grade, docno, features = _places(path, header)
    topics = _strings(path, table, topic)
    docnos = [""] * len(topics) if docno is None else _strings(path, table, docno)
    grades = [_grade(path, None, str(cell)) for cell in table.column(grade).to_pylist()]
    columns = []
    for place in features:
        try:
            cells = table.column(place).cast("double")
        except (pa.ArrowException, NotImplementedError) as error:
            raise InputError(path, "bad-feature", f"{header[place]} is not numeric") from error
        columns.append(compute.fill_null(cells, float("nan")).to_numpy())
    values = np.column_stack(columns)
    if np.isinf(values).any():
        raise InputError(path, "bad-feature", "a feature is infinite, expected finite numbers")
    names = [header[place] for place in features]
    rows = np.arange(1, len(topics) + 1)
    return features_of_lines(path, [FeatureLines(rows, topics, grades, docnos, values)], names)


def _strings(path: Path, table: Any, place: int) -> list[str]:
    column = table.column(place)
    if column.null_count:
        raise InputError(path, "bad-feature", f"{table.column_names[place]} is empty somewhere")
    return [str(value) for value in column.to_pylist()]


def _places(path: Path, header: Sequence[str]) -> tuple[int, int, int | None, list[int]]:
    """The columns of the topic, the grade, the document's id, and the features."""
    lowered = [name.strip().lower() for name in header]

    def place(names: tuple[str, ...]) -> int | None:
        return next((lowered.index(name) for name in names if name in lowered), None)

    topic, grade, docno = place(TOPIC), place(GRADE), place(DOCNO)
    if topic is None or grade is None:
        expected = "topic" if topic is None else "grade"
        message = f"no column is called {expected!r}; there are {', '.join(header[:8])}"
        raise InputError(path, "bad-feature", message, 1)
    features = [place for place in range(len(header)) if place not in (topic, grade, docno)]
    if not features:
        raise InputError(path, "bad-feature", "no column is a feature", 1)
    return topic, grade, docno, features
