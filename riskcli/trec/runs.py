"""TREC run files: `topic Q0 docno rank score tag`, one retrieved document a line."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskcli.core.locations import place_of
from riskcli.core.parallel import pulled
from riskcli.trec import arrow, fields, findings
from riskcli.trec.findings import Entries, Finding, LineFormat, RunFormat, WrongLineError, taken
from riskcli.trec.formats import Documents, named, run_format_of
from riskcli.trec.source import MAX_BYTES, TextFile

LAYOUT = {
    "topic": fields.REPEATED,
    "q0": fields.REPEATED,
    "docno": fields.TEXT,
    "rank": fields.TEXT,
    "score": fields.NUMBER,
    "tag": fields.REPEATED,
}
LINES = LineFormat(len(LAYOUT), "topic Q0 docno rank score tag", list(LAYOUT).index("score"))
WANTED = ("topic", "docno", "score", "tag")
"""The columns that scoring needs."""


class Line(NamedTuple):
    """A line of a run that can be taken, with its number in the file (None: JSON has no lines)."""

    line: int | None
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
    docnos: arrow.Texts
    scores: NDArray[np.float64]

    @property
    def tag(self) -> str | None:
        """The run's tag, where all of its lines carry the same one."""
        return self.tags[0] if len(self.tags) == 1 else None

    @classmethod
    def of_table(cls, path: Path, table: fields.Table) -> "Run":
        """The run whose lines are the rows of a table."""
        tags, _ = table.coded("tag")
        topics, codes = table.coded("topic")
        scores = table.numbers("score")
        return cls(path, tuple(tags), tuple(topics), codes, table.texts("docno"), scores)

    @classmethod
    def of_lines(cls, path: Path, lines: Sequence[Line]) -> "Run":
        """The run with these lines, of which there is at least one."""
        return cls.of_table(path, table_of(lines))

    @classmethod
    def joined(cls, parts: "Sequence[Run]") -> "Run":
        """The run of which these are the parts, in order."""
        codes_of: dict[str, int] = {}
        codes = []
        for part in parts:
            code = [codes_of.setdefault(topic, len(codes_of)) for topic in part.topics]
            codes.append(np.array(code, dtype=np.int32)[part.topic_codes])
        return cls(
            path=parts[0].path,
            tags=tuple(dict.fromkeys(tag for part in parts for tag in part.tags)),
            topics=tuple(codes_of),
            topic_codes=np.concatenate(codes),
            docnos=arrow.Texts.joined([part.docnos for part in parts]),
            scores=np.concatenate([part.scores for part in parts]),
        )

    def pairs(self) -> arrow.PairHashes:
        """The topic and the document of each line."""
        return arrow.PairHashes.of(self.topics, self.topic_codes, self.docnos)


def table_of(lines: Sequence[Line]) -> fields.Table:
    """Lines as the columns that the quick reader makes."""
    columns = dict(zip(Line._fields, zip(*lines, strict=True), strict=True))
    return fields.Table.of_lists(LAYOUT, {name: columns[name] for name in LAYOUT})


def _good_pairs(run: Run) -> arrow.PairHashes | None:
    """The pairs of topic and document, if all are distinct and all scores finite; else None."""
    if not np.isfinite(run.scores).all():
        return None
    pairs = run.pairs()
    return None if arrow.may_repeat(pairs) else pairs


def quick_run(path: Path, text: bytes) -> tuple[Run, arrow.PairHashes] | None:
    """Lines in which nothing is wrong, and their pairs; None asks for a close look."""
    table = _quickly(text, WANTED)
    if table is None:
        return None
    run = Run.of_table(path, table)
    pairs = _good_pairs(run)
    return None if pairs is None else (run, pairs)


def quick_table(text: bytes) -> fields.Table | None:
    """All columns of a run in which nothing is wrong; None asks for a close look."""
    table = _quickly(text, tuple(LAYOUT))
    return None if table is None or _good_pairs(Run.of_table(Path(), table)) is None else table


def table_in(path: Path, text: bytes) -> fields.Table:
    """All columns of a run; an `InputError` names the first line that is not one of a run."""
    table = quick_table(LINES.uncommented(text))
    return table_of(list(taken(inspect_run(path, text)))) if table is None else table


def run_of_piece(path: Path, text: bytes) -> Run:
    """The run in some lines of which each has been read before."""
    quick = quick_run(path, text)
    return read_closely(path, text) if quick is None else quick[0]


def _quickly(text: bytes, wanted: tuple[str, ...]) -> fields.Table | None:
    undoubted = LINES.undoubted(text)
    return None if undoubted is None else fields.read(undoubted, LAYOUT, wanted)


def inspect_run(path: Path, text: bytes, lines_before: int = 0) -> Iterator[Finding | Line]:
    """Each line of a run, or what is wrong with it; numbering starts after `lines_before`."""
    text = LINES.uncommented(text)
    return _unrepeated(path, text, LINES.inspect(path, text, _line, lines_before))


def _line(line: int, parts: list[bytes]) -> Line:
    topic, docno, spelled, tag = (parts[used].decode() for used in (0, 2, 4, 5))
    score = findings.number(spelled)
    if score is None:
        message = f"the score (5th column) is {spelled!r}, expected a finite number"
        raise WrongLineError("bad-score", message)
    q0, rank = (parts[unused].decode(errors="replace") for unused in (1, 3))
    return Line(line, topic, q0, docno, rank, score, tag)


def _unrepeated(
    path: Path, text: bytes, items: Iterator[Finding | Line]
) -> Iterator[Finding | Line]:
    """The lines of a text, but those of documents that the topic has already as findings."""
    seen: dict[tuple[str, str], int | None] = {}
    for item in items:
        if isinstance(item, Finding):
            yield item
        elif (item.topic, item.docno) in seen:
            first = seen[item.topic, item.docno]
            message = f"topic {item.topic} has document {item.docno} already on line {first}"
            yield Finding(path, item.line, "duplicate-document", message)
        else:
            seen[item.topic, item.docno] = item.line
            yield item
    if not text.strip():
        yield empty_run(path)


def empty_run(path: Path) -> Finding:
    """The finding for a file without a line."""
    return Finding(path, None, "empty-file", "no line of a run in this file")


def inspect_foreign(
    path: Path, text: bytes, format: RunFormat, documents: Documents | None = None
) -> Iterator[Finding | Line]:
    """The same for a run that another program wrote; such a file names no tag.

    `documents` are those that scores of places belong to.
    """
    entries = format.inspect(path, text)
    entries = named(path, entries, documents) if format.by_place else entries
    return _unrepeated(path, text, _scored(path, findings.reported(path, entries)))


def _scored(path: Path, entries: Entries) -> Iterator[Finding | Line]:
    """The entries that have a finite number for a score."""
    for entry in entries:
        if isinstance(entry, Finding):
            yield entry
            continue
        score = _finite(entry.value)
        if score is None:
            where = f"topic {entry.topic}, document {entry.docno}"
            message = f"{where}: the score is {entry.value!r:.60}, expected a finite number"
            yield Finding(path, entry.line, "bad-score", message)
        else:
            yield Line(entry.line, entry.topic, "Q0", entry.docno, "0", score, "")


def _finite(value: object) -> float | None:
    """The finite number that a value is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        score = float(value)
    except OverflowError:
        return None
    return score if math.isfinite(score) else None


def read_foreign(
    path: Path, text: bytes, format: RunFormat, documents: Documents | None = None
) -> Run:
    """The run that another program wrote; what is wrong first is an `InputError`."""
    lines = list(taken(inspect_foreign(path, text, format, documents)))
    if not lines:
        raise empty_run(path).as_error()
    return replace(Run.of_lines(path, lines), tags=())


def read_closely(path: Path, text: bytes) -> Run:
    """Read line by line: slower, but the first wrong line, if there is one, is an `InputError`."""
    return Run.of_lines(path, list(taken(inspect_run(path, text))))


# A run file read in pieces: each piece quickly, or line by line where something is wrong in it.
#
# Neither the pieces nor the threads that work on them show in the run, or in an error.


Keep = Callable[[Run], Run]
"""Leaves out lines that no measure can see."""


def whole(run: Run) -> Run:
    """Keeps every line."""
    return run


def read_run(path: Path | str, max_bytes: int = MAX_BYTES) -> Run:
    """Read a run file; an `InputError` names the first line that is not one of a run."""
    return run_of(TextFile(place_of(path), max_bytes))


def run_of(source: TextFile) -> Run:
    """The run in a file, whatever program wrote it."""
    with source.mistakes_named():
        format = run_format_of(source.start)
        if format is None:
            return run_in(source)
        return read_foreign(source.path, source.text(), format)


def run_in(source: TextFile, keep: Keep = whole, jobs: int = 1) -> Run:
    """The run in a file, worked on by `jobs` threads.

    `keep` is applied to each piece of the file, so that no more of it is held than asked for.
    """
    pieces = pulled(partial(_read_piece, source.path, keep), source.pieces(), jobs)
    good = list(filter(None, pieces))
    if len(good) < len(pieces):
        good = _with_closely_read(source, keep, pieces)
    if len(good) == 1:
        return good[0].run
    if arrow.may_repeat_between([piece.pairs for piece in good]):
        return keep(read_closely(source.path, source.text_again()))
    return Run.joined([piece.run for piece in good])


@dataclass(frozen=True)
class _Piece:
    """Some lines of a run, as far as they are kept, and all of their pairs."""

    run: Run
    pairs: arrow.PairHashes


def _read_piece(path: Path, keep: Keep, text: bytes) -> _Piece | None:
    """Lines in which nothing is wrong; None asks for a close look."""
    read = quick_run(path, text)
    return None if read is None else _Piece(keep(read[0]), read[1])


def _with_closely_read(
    source: TextFile, keep: Keep, pieces: Sequence[_Piece | None]
) -> list[_Piece]:
    """The parts, with those that are None read line by line; the first wrong line is an error."""
    good: list[_Piece] = []
    lines_before = 0
    for piece, text in zip(pieces, source.pieces_again(), strict=True):
        if piece is not None:
            good.append(piece)
        elif LINES.uncommented(text).strip():
            run = _close_run(source, text, lines_before, good)
            good.append(_Piece(keep(run), run.pairs()))
        lines_before += text.count(b"\n")
    if not good:
        raise empty_run(source.path).as_error()
    return good


def _close_run(
    source: TextFile, text: bytes, lines_before: int, pieces_before: Sequence[_Piece]
) -> Run:
    """The lines of a piece; an error is that of the first wrong line of the whole file."""
    lines: list[Line] = []
    for item in inspect_run(source.path, text, lines_before):
        if isinstance(item, Finding):
            above = [Run.of_lines(source.path, lines).pairs()] if lines else []
            if arrow.may_repeat_between([*(piece.pairs for piece in pieces_before), *above]):
                read_closely(source.path, source.text_again())  # the first wrong line is an error
            raise item.as_error()
        lines.append(item)
    return Run.of_lines(source.path, lines)
