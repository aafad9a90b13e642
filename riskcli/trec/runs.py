"""TREC run files: `topic Q0 docno rank score tag`, one retrieved document a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    "rank": fields.WHOLE,
    "score": fields.NUMBER,
    "tag": fields.REPEATED,
}
_WANTED = ("topic", "docno", "score", "tag")
_PLACES = tuple(list(LAYOUT).index(name) for name in _WANTED)


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


def parse_run(path: Path, text: bytes) -> Run:
    """The run in a file's text; `path` is what errors call it."""
    table = fields.columns(text, LAYOUT, _WANTED)
    if table is not None:
        run = _from_table(path, table)
        if np.isfinite(run.scores).all() and not may_repeat(run.topic_codes, run.docnos):
            return run
    return _read_closely(path, text)


def inspect_run(path: Path, text: bytes) -> Iterator[Finding | tuple[str, str, float, str]]:
    """Each line of a run as (topic, docno, score, tag), or what is wrong with it."""
    seen: dict[tuple[str, str], int] = {}
    for line, raw in text_lines(text):
        parts = raw.split()
        if len(parts) != len(LAYOUT):
            yield wrong_columns(path, line, parts, "6 (topic Q0 docno rank score tag)")
            continue
        try:
            topic, docno, score_text, tag = (parts[place].decode() for place in _PLACES)
        except UnicodeDecodeError:
            yield Finding(path, line, "encoding", "this line is not UTF-8 text")
            continue
        if b"\0" in raw:
            yield Finding(path, line, "nul-byte", "this line holds a NUL byte")
            continue
        score = number(score_text)
        if score is None:
            message = f"the score (5th column) is {score_text!r}, expected a finite number"
            yield Finding(path, line, "bad-score", message)
            continue
        first = seen.setdefault((topic, docno), line)
        if first != line:
            message = f"topic {topic} has document {docno} already on line {first}"
            yield Finding(path, line, "duplicate-document", message)
            continue
        yield topic, docno, score, tag
    if not seen:
        yield Finding(path, None, "empty-file", "no line of a run in this file")


def _read_closely(path: Path, text: bytes) -> Run:
    """Read line by line: slower, but it says where the trouble is, if there is any."""
    rows: list[tuple[str, str, float, str]] = []
    for item in inspect_run(path, text):
        if isinstance(item, Finding):
            raise item.as_error()
        rows.append(item)
    return run_of_lines(path, *zip(*rows, strict=True))


def run_of_lines(
    path: Path,
    topics: Sequence[str],
    docnos: Sequence[str],
    scores: Sequence[float],
    tags: Sequence[str],
) -> Run:
    """A run from its columns, which must be those of a valid run."""
    columns = {
        "topic": pa.array(topics).dictionary_encode(),
        "docno": pa.array(docnos, fields.TEXT),
        "score": pa.array(scores, fields.NUMBER),
        "tag": pa.array(tags).dictionary_encode(),
    }
    return _from_table(path, pa.table(columns))


def _from_table(path: Path, table: pa.Table) -> Run:
    topics = fields.one_chunk(table["topic"])
    return Run(
        path=path,
        tags=tuple(fields.one_chunk(table["tag"]).dictionary.to_pylist()),
        topics=tuple(topics.dictionary.to_pylist()),
        topic_codes=fields.numbers(topics.indices, np.int32),
        docnos=fields.one_chunk(table["docno"]),
        scores=fields.numbers(fields.one_chunk(table["score"]), np.float64),
    )
