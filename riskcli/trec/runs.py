"""TREC run files: `topic Q0 docno rank score tag`, one retrieved document a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riskcli.trec import fields
from riskcli.trec.duplicates import may_repeat
from riskcli.trec.findings import Finding, number, text_lines, wrong_columns
from riskcli.trec.source import MAX_BYTES, load

LAYOUT = {
    "topic": fields.REPEATED,
    "q0": fields.REPEATED,
    "docno": fields.TEXT,
    "rank": fields.TEXT,
    "score": fields.NUMBER,
    "tag": fields.REPEATED,
}
_WANTED = ("topic", "docno", "score", "tag")
_NAMES = ("topic", "q0", "docno", "rank", "tag")


class Line(NamedTuple):
    """A line of a run that can be taken, with its number in the file."""

    line: int
    topic: str
    q0: str
    docno: str
    rank: str
    score: float
    tag: str


@dataclass(frozen=True)
class Run:
    """A run file's lines as columns; `topic_codes` point into `topics`, ids are the file's own.

    The rank column is not kept: a ranking is made from the scores, as trec_eval does.
    """

    path: Path
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    topic_codes: NDArray[np.int32]
    docnos: Any
    scores: NDArray[np.float64]

    @property
    def tag(self) -> str | None:
        """The run's tag, where all of its lines carry the same one."""
        return self.tags[0] if len(self.tags) == 1 else None


def read_run(path: Path | str, max_bytes: int = MAX_BYTES) -> Run:
    """Read a run file; an `InputError` names the first line that is not one of a run."""
    path = Path(path)
    return parse_run(path, load(path, max_bytes))


def parse_run(path: Path, text: bytes, threads: bool = False) -> Run:
    """The run in a file's text; `path` is what errors call it.

    `threads` takes several cores for the one text, and the same run comes out.
    """
    table = quick_table(text, _WANTED, threads)
    if table is None:
        table = _read_closely(path, text)
    return run_of(path, table)


def quick_table(text: bytes, wanted: tuple[str, ...], threads: bool = False) -> pa.Table | None:
    """The wanted columns of a run in which nothing is wrong; None asks for a close look."""
    table = fields.columns(text, LAYOUT, wanted, threads)
    if table is None:
        return None
    topics = fields.one_chunk(table["topic"])
    scores = fields.numbers(fields.one_chunk(table["score"]), np.float64)
    repeats = may_repeat(fields.numbers(topics.indices, np.int32), fields.one_chunk(table["docno"]))
    return table if np.isfinite(scores).all() and not repeats else None


def inspect_run(path: Path, text: bytes) -> Iterator[Finding | Line]:
    """Each line of a run, or what is wrong with it."""
    seen: dict[tuple[str, str], int] = {}
    for line, raw in text_lines(text):
        item = _inspect_line(path, line, raw)
        if isinstance(item, Line):
            first = seen.setdefault((item.topic, item.docno), line)
            if first != line:
                message = f"topic {item.topic} has document {item.docno} already on line {first}"
                item = Finding(path, line, "duplicate-document", message)
        yield item
    if not text.strip():
        yield Finding(path, None, "empty-file", "no line of a run in this file")


def _inspect_line(path: Path, line: int, raw: bytes) -> Finding | Line:
    parts = raw.split()
    if len(parts) != len(LAYOUT):
        return wrong_columns(path, line, parts, "6 (topic Q0 docno rank score tag)")
    topic, q0, docno, rank, score_text, tag = parts
    if b"\0" in raw:
        return Finding(path, line, "nul-byte", "this line holds a NUL byte")
    try:
        names = (topic.decode(), docno.decode(), score_text.decode(), tag.decode())
    except UnicodeDecodeError:
        return Finding(path, line, "encoding", "this line is not UTF-8 text")
    score = number(names[2])
    if score is None:
        message = f"the score (5th column) is {names[2]!r}, expected a finite number"
        return Finding(path, line, "bad-score", message)
    unused = (q0.decode(errors="replace"), rank.decode(errors="replace"))
    return Line(line, names[0], unused[0], names[1], unused[1], score, names[3])


def table_of(lines: Sequence[Line]) -> pa.Table:
    """Lines as the columns that the quick reader makes."""
    columns = dict(zip(Line._fields, zip(*lines, strict=True), strict=True))
    encoded = {name: pa.array(columns[name], pa.large_string()) for name in _NAMES}
    table = {
        name: column if LAYOUT[name] == fields.TEXT else column.dictionary_encode()
        for name, column in encoded.items()
    }
    return pa.table({**table, "score": pa.array(columns["score"], fields.NUMBER)})


def _read_closely(path: Path, text: bytes) -> pa.Table:
    """Read line by line: slower, but it says where the trouble is, if there is any."""
    lines: list[Line] = []
    for item in inspect_run(path, text):
        if isinstance(item, Finding):
            raise item.as_error()
        lines.append(item)
    return table_of(lines)


def run_of(path: Path, table: pa.Table) -> Run:
    """The run in a table of its columns."""
    topics = fields.one_chunk(table["topic"])
    return Run(
        path=path,
        tags=tuple(fields.one_chunk(table["tag"]).dictionary.to_pylist()),
        topics=tuple(topics.dictionary.to_pylist()),
        topic_codes=fields.numbers(topics.indices, np.int32),
        docnos=fields.one_chunk(table["docno"]),
        scores=fields.numbers(fields.one_chunk(table["score"]), np.float64),
    )
