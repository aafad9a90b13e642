"""TREC run files: `topic Q0 docno rank score tag`, one retrieved document a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riskcli.core.parallel import pulled
from riskcli.trec.fast import fields
from riskcli.trec.fast.duplicates import Pairs, may_repeat, may_repeat_between
from riskcli.trec.fast.texts import Texts
from riskcli.trec.findings import Finding, number, text_lines, wrong_columns
from riskcli.trec.source import MAX_BYTES, Source

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
    docnos: Texts
    scores: NDArray[np.float64]

    @property
    def tag(self) -> str | None:
        """The run's tag, where all of its lines carry the same one."""
        return self.tags[0] if len(self.tags) == 1 else None


Keep = Callable[[Run], Run]
"""Leaves out lines that nobody will ask for."""


def whole(run: Run) -> Run:
    """Keeps every line."""
    return run


def read_run(path: Path | str, max_bytes: int = MAX_BYTES) -> Run:
    """Read a run file; an `InputError` names the first line that is not one of a run."""
    return run_in(Source(Path(path), max_bytes))


def run_in(source: Source, keep: Keep = whole, jobs: int = 1) -> Run:
    """The run in a file. Neither `jobs`, the threads that work on it, nor pieces show in it.

    `keep` is applied to each piece of the file, so that no more of it is held than asked for.
    """
    parts = pulled(partial(_part, source.path, keep), source.pieces(), jobs)
    good = [part for part in parts if part is not None]
    if len(good) < len(parts):
        good = _with_closely_read(source, keep, parts)
    if may_repeat_between([part.pairs for part in good]):
        return keep(run_of(source.path, _read_closely(source.path, source.text())))
    return joined([part.run for part in good])


def parse_run(path: Path, text: bytes) -> Run:
    """The run in a file's text; `path` is what errors call it."""
    table = quick_table(text, _WANTED)
    return run_of(path, _read_closely(path, text) if table is None else table)


def quick_table(text: bytes, wanted: tuple[str, ...]) -> pa.Table | None:
    """The wanted columns of a run in which nothing is wrong; None asks for a close look."""
    table = fields.columns(text, LAYOUT, wanted)
    return None if table is None or _pairs_of_good(run_of(Path(), table)) is None else table


@dataclass(frozen=True)
class _Part:
    """Some lines of a run, as far as they are kept, and all of their pairs."""

    run: Run
    pairs: Pairs


def _part(path: Path, keep: Keep, text: bytes) -> _Part | None:
    """Lines in which nothing is wrong; None asks for a close look."""
    table = fields.columns(text, LAYOUT, _WANTED)
    if table is None:
        return None
    run = run_of(path, table)
    pairs = _pairs_of_good(run)
    return None if pairs is None else _Part(keep(run), pairs)


def _with_closely_read(source: Source, keep: Keep, parts: Sequence[_Part | None]) -> list[_Part]:
    """The parts, with those that are None read line by line; the first wrong line is an error."""
    found: list[_Part] = []
    lines_before = 0
    for part, text in zip(parts, source.pieces_again(), strict=True):
        if part is not None:
            found.append(part)
        elif text.strip():
            run = run_of(source.path, _close_table(source, text, lines_before, found))
            found.append(_Part(keep(run), _pairs(run)))
        lines_before += text.count(b"\n")
    if not found:
        raise _empty(source.path).as_error()
    return found


def _close_table(
    source: Source, text: bytes, lines_before: int, parts_before: Sequence[_Part]
) -> pa.Table:
    """The lines of a piece; an error is that of the first wrong line of the whole file."""
    lines: list[Line] = []
    for item in inspect_run(source.path, text, lines_before):
        if isinstance(item, Finding):
            above = [_pairs(run_of(source.path, table_of(lines)))] if lines else []
            if may_repeat_between([*(part.pairs for part in parts_before), *above]):
                _read_closely(source.path, source.text())  # fails at the line that comes first
            raise item.as_error()
        lines.append(item)
    return table_of(lines)


def _pairs_of_good(run: Run) -> Pairs | None:
    """The pairs, if none is there twice and all scores are finite."""
    if not np.isfinite(run.scores).all():
        return None
    pairs = _pairs(run)
    return None if may_repeat(pairs) else pairs


def _pairs(run: Run) -> Pairs:
    return Pairs.of(run.topics, run.topic_codes, run.docnos)


def joined(parts: Sequence[Run]) -> Run:
    """The run of which these are the parts, in order."""
    if len(parts) == 1:
        return parts[0]
    known: dict[str, int] = {}
    codes = []
    for part in parts:
        places = [known.setdefault(topic, len(known)) for topic in part.topics]
        codes.append(np.array(places, dtype=np.int32)[part.topic_codes])
    return Run(
        path=parts[0].path,
        tags=tuple(dict.fromkeys(tag for part in parts for tag in part.tags)),
        topics=tuple(known),
        topic_codes=np.concatenate(codes),
        docnos=Texts.joined([part.docnos for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
    )


def inspect_run(path: Path, text: bytes, lines_before: int = 0) -> Iterator[Finding | Line]:
    """Each line of a run, or what is wrong with it; `lines_before` stand above in the file."""
    seen: dict[tuple[str, str], int] = {}
    for place, raw in text_lines(text):
        line = lines_before + place
        item = _inspect_line(path, line, raw)
        if isinstance(item, Line):
            first = seen.setdefault((item.topic, item.docno), line)
            if first != line:
                message = f"topic {item.topic} has document {item.docno} already on line {first}"
                item = Finding(path, line, "duplicate-document", message)
        yield item
    if not text.strip():
        yield _empty(path)


def _empty(path: Path) -> Finding:
    return Finding(path, None, "empty-file", "no line of a run in this file")


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
        docnos=Texts.of_column(fields.one_chunk(table["docno"])),
        scores=fields.numbers(fields.one_chunk(table["score"]), np.float64),
    )
