"""Formats of runs and of judgements besides TREC's own, recognised by how the text begins.

Those of JSON, and tables with a header, are in `records.py`. Here are:

    topic docno rank                                      MS MARCO: the score is the rank, reversed
    2 qid:10 1:0.03 2:0.66 #docid = GX029-35-5894638      LETOR: a judged document
    0.7312                                                a score a line, as LETOR's lines stand
    10<TAB>0<TAB>0.7312                                   RankLib: query, place in it from 0, score

Also what ranx keeps: Parquet, with columns q_id, doc_id and score (or a name that others give
them), a document a row; and LZ4 (CBOR packed twice; an extra).
"""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from riskcli.core.messages import InputError
from riskcli.trec import arrow, findings, records
from riskcli.trec.findings import Entries, Entry, Finding, LineFormat, RunFormat, WrongLineError
from riskcli.trec.source import DamagedError, archive_of

# MS MARCO


_RANKS = LineFormat(3, "topic docno rank")


def _are_ranks(text: bytes) -> bool:
    """Whether the first lines are of three columns, the last of them a rank, first of all 1."""
    sample = [raw.split() for raw in findings.first_lines(text)]
    if not sample or len(sample[0]) != 3 or sample[0][2] != b"1":
        return False
    whole = sum(len(parts) == 3 and parts[2].isdigit() for parts in sample)
    return 2 * whole > len(sample)


def _inspect_likely_ranks(path: Path, text: bytes) -> Entries:
    """The same where nobody said that these are ranks: what has gaps may be scores."""
    counts: Counter[str] = Counter()
    deepest: Counter[str] = Counter()
    for entry in _inspect_ranks(path, text):
        yield entry
        if isinstance(entry, Entry):
            counts[entry.topic] += 1
            deepest[entry.topic] = max(deepest[entry.topic], -int(entry.value))
    gap = next((topic for topic, count in counts.items() if deepest[topic] != count), None)
    if gap is None and not _are_of_ranklib(text):
        return
    found = "" if gap is None else f"topic {gap} has {counts[gap]} lines and up to {deepest[gap]}; "
    message = (
        f"is the third column ranks (1, 2, 3 ... on every topic) or scores? {found}say which with "
        "input-format in riskeval.toml (msmarco, ranklib), or write a run in six columns"
    )
    yield Finding(path, None, "ambiguous-format", message)


def _inspect_ranks(path: Path, text: bytes) -> Entries:
    lines: dict[tuple[str, int], int] = {}

    def read(line: int, parts: list[bytes]) -> Entry:
        topic, docno, spelled = (part.decode() for part in parts)
        rank = findings.whole_number(spelled)
        if rank is None or rank < 1:
            message = f"the rank (3rd column) is {spelled!r}, expected a whole number from 1 on"
            raise WrongLineError("bad-score", message)
        first = lines.setdefault((topic, rank), line)
        if first != line:  # were it a score, the run would be turned upside down
            raise WrongLineError(
                "bad-score", f"topic {topic} has rank {rank} already on line {first}"
            )
        return Entry(line, topic, docno, -float(rank))

    return _RANKS.inspect(path, text, read)


# LETOR's feature files as judgements


Documents = Sequence[tuple[str, str]]
"""Topic and document of each line of a feature file."""

_is_features = re.compile(
    rb"(?:[ \t]*#[^\n]*\n|\s)*[-+.\d]+[ \t]+qid:\S+[ \t]*(?:\d+:|#|\r?\n|\Z)"
).match
"""Whether the first line is a grade and a query with its features."""
_NAMED = (
    re.compile(rb"#.*?\bdocno\s*=\s*(\S+)", re.IGNORECASE),
    re.compile(rb"#.*?\bdocid\s*=\s*(\S+)", re.IGNORECASE),
    re.compile(rb"#\s*(\S+)(?!.*=)"),
)


def docno_of(line: bytes) -> str:
    """The document's id in a line's comment, or nothing."""
    match = next((match_here for pattern in _NAMED if (match_here := pattern.search(line))), None)
    return match[1].decode() if match else ""


def inspect_features(path: Path, text: bytes) -> Entries:
    """The grade of each line's document; one without an id is called `<qid>-<n>`."""
    counts: Counter[str] = Counter()
    for line, raw in findings.text_lines(text):
        parts = raw.partition(b"#")[0].split()
        if not parts:
            continue
        try:
            grade, topic, docno = parts[0].decode(), parts[1].decode(), docno_of(raw)
        except IndexError:
            yield findings.wrong_columns(path, line, parts, "a grade and qid:<query>")
            continue
        except UnicodeDecodeError:
            yield findings.not_utf8(path, line)
            continue
        if not topic.startswith("qid:") or topic == "qid:":
            yield findings.wrong_columns(path, line, parts, "qid:<query> behind the grade")
            continue
        topic = topic.removeprefix("qid:")
        counts[topic] += 1
        yield Entry(line, topic, docno or f"{topic}-{counts[topic]}", grade)


# The scores that rankers print for lines of feature files


_PREDICTIONS = LineFormat(1, "a score")
_RANKLIB = LineFormat(3, "query, place, score")


def _number(text: bytes) -> float | None:
    return findings.number(text.decode(errors="replace"))


def _are_predictions(text: bytes) -> bool:
    good = [
        len(parts) == 1 and _number(parts[0]) is not None
        for parts in map(bytes.split, findings.first_lines(text))
    ]
    return bool(good) and good[0] and 2 * sum(good) > len(good)


def _are_of_ranklib(text: bytes) -> bool:
    """Whether the second of three columns counts from 0 within each query."""
    sample = [parts for parts in map(bytes.split, findings.first_lines(text)) if len(parts) == 3]
    places: Counter[bytes] = Counter()
    right = 0
    for topic, place, score in sample:
        right += place == str(places[topic]).encode() and _number(score) is not None
        places[topic] += 1
    counted = len(sample) == 1 or max(places.values(), default=0) > 1
    return bool(sample) and sample[0][1] == b"0" and counted and 2 * right > len(sample)


def _score(cell: bytes) -> float:
    score = _number(cell)
    if score is None:
        shown = cell.decode(errors="replace")
        raise WrongLineError("bad-score", f"the score is {shown!r:.60}, expected a number")
    return score


def _inspect_predictions(path: Path, text: bytes) -> Entries:
    scores = _PREDICTIONS.inspect(path, text, lambda line, parts: (line, _score(parts[0])))
    for place, item in enumerate(scores):
        yield item if isinstance(item, Finding) else Entry(item[0], "", str(place), item[1])


def _inspect_ranklib(path: Path, text: bytes) -> Entries:
    def read(line: int, parts: list[bytes]) -> Entry:
        place = findings.whole_number(parts[1].decode(errors="replace"))
        if place is None or place < 0:
            message = f"the place (2nd column) is {parts[1]!r:.60}, expected a whole number from 0"
            raise WrongLineError("bad-score", message)
        return Entry(line, parts[0].decode(errors="replace"), str(place), _score(parts[2]))

    return _RANKLIB.inspect(path, text, read)


def named(path: Path, entries: Entries, documents: Documents | None) -> Entries:
    """Scores of line numbers as scores of the feature file's documents on these lines."""
    if documents is None:
        message = "scores of places: give the feature file whose documents they are as --qrels"
        yield Finding(path, None, "wrong-format", message)
        return
    of_topic: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for document in documents:
        of_topic[document[0]].append(document)
    count, complete = 0, True
    for entry in entries:
        if isinstance(entry, Finding):
            complete = False
            yield entry
            continue
        ranked = of_topic.get(entry.topic, []) if entry.topic else documents
        place, count = int(entry.docno), count + 1
        if place < len(ranked):
            topic, docno = ranked[place]
            yield entry._replace(topic=topic, docno=docno)
        elif entry.topic or place == len(ranked):
            of = f" of query {entry.topic}" if entry.topic else ""
            message = f"place {place}{of}, but the judgements list {len(ranked)} documents there"
            yield Finding(path, entry.line, "wrong-format", message)
    if complete and count < len(documents):
        message = f"found {count} scores, the judgements list {len(documents)} documents"
        yield Finding(path, None, "wrong-format", message)


# Parquet


PARQUET = b"PAR1"
_SCORE = ("score",)
_BATCH = 2**16
"""Rows that are read at once."""


def _columns(text: bytes, value: tuple[str, ...]) -> list[str] | None:
    """The columns of topic, document and value, if a whole Parquet file has just these."""
    if not (text.startswith(PARQUET) and text.endswith(PARQUET)):
        return None
    try:
        names = arrow.parquet().read_schema(arrow.reader(text)).names
    except arrow.UNREADABLE:
        return None
    matches = [
        [name for name in names if name in accepted]
        for accepted in (records.TOPIC, records.DOCNO, value)
    ]
    return [some[0] for some in matches] if all(len(some) == 1 for some in matches) else None


def _rows(path: Path, text: bytes, value: tuple[str, ...]) -> Entries:
    yield from arrow.readable(path, _entries(path, text, _columns(text, value) or []))


def _entries(path: Path, text: bytes, names: Sequence[str]) -> Entries:
    file = arrow.parquet_file(path, text, len(names))
    for name in names[:2]:
        kind = file.schema_arrow.field(name).type
        if not arrow.is_name(kind):
            message = f"column {name!r} is {kind}, expected text or whole numbers"
            yield Finding(path, None, "odd-name", message)
            return
    row = 0
    for batch in file.iter_batches(_BATCH, columns=names):
        columns = [batch.column(name).to_pylist() for name in names]
        for topic, docno, cell in zip(*columns, strict=True):
            row += 1
            if topic in (None, "") or docno in (None, ""):
                yield Finding(path, None, "no-name", f"row {row}: a topic or document has no name")
            else:
                yield Entry(None, str(topic), str(docno), cell)


def _inspect_judged_table(path: Path, text: bytes) -> Entries:
    return records.judged(_rows(path, text, records.GRADE), str)


# LZ4


def is_packed(text: bytes) -> bool:
    """Whether what was unpacked once is LZ4 again."""
    archive = archive_of(text)
    return archive is not None and archive.name == "LZ4"


def _inspect_packed(path: Path, text: bytes) -> Entries:
    yield from records.cells(path, _unpacked(path, text))


def _unpacked(path: Path, text: bytes) -> dict[str, Any]:
    """The dictionary that ranx packed."""
    try:
        import cbor2
    except ImportError as error:
        message = "ranx' LZ4 files need the extra `ranx` (the package cbor2)"
        raise InputError(path, "unreadable", message) from error
    archive = archive_of(text)
    try:
        data = archive.open(io.BytesIO(text)).read() if archive else text
    except DamagedError as error:
        raise InputError(path, "damaged-archive", f"damaged LZ4 data: {error}") from error
    expected = "expected CBOR as ranx writes it"
    stream = io.BytesIO(data)
    try:
        content: dict[str, Any] = cbor2.load(
            stream, max_depth=2, allow_indefinite=False, allow_duplicate_keys=False
        )
    except (cbor2.CBORError, ValueError, TypeError) as error:
        raise InputError(path, "bad-json", f"{expected}: {error}") from error
    if stream.tell() != len(data) or not _is_plain(content):
        message = f"{expected}: one dictionary of names, texts and numbers"
        raise InputError(path, "bad-json", message)
    return content


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is what JSON could hold: CBOR has dates, fractions and the like."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item, depth + 1)
                   for key, item in value.items())  # fmt: skip
    return depth > 0 and type(value) in (str, int, float)


# All of them


RUN_FORMATS = {
    format.name: format
    for format in (
        *records.RUNS,
        RunFormat("msmarco", "MS MARCO: topic, docno, rank", _are_ranks, _inspect_ranks),
        RunFormat("ranklib", "RankLib's -score: query, place, score", _are_of_ranklib,
                  _inspect_ranklib, by_place=True),
        RunFormat("predictions", "a score a line of a feature file (--qrels)", _are_predictions,
                  _inspect_predictions, by_place=True),
        RunFormat("run-parquet", "ranx' Parquet: q_id, doc_id, score",
                  partial(_columns, value=_SCORE), partial(_rows, value=_SCORE)),
        RunFormat("run-lz4", "ranx' LZ4", is_packed, _inspect_packed),
    )
}  # fmt: skip

_BLANKS = rb"[ \t\v\f\r]"
_FIELDS = (rb'(?!PAR1)[^\s,{"]+', rb"+Q0", rb"+\S+", rb"+[-+]?\d+", rb"+[-+.\deE]+", rb"+\S+")
begins_as_trec = re.compile(_BLANKS.join((*_FIELDS, rb"*\n"))).match
"""Whether a text begins with a line that no format but TREC's own has."""


def run_format_of(text: bytes) -> RunFormat | None:
    """The format of a run that begins so; None for TREC's own. (Parquet: of a whole text.)"""
    if begins_as_trec(text):
        return None
    format = next((format for format in RUN_FORMATS.values() if format.fits(text)), None)
    likely = format is not None and format.name == "msmarco"
    return replace(format, inspect=_inspect_likely_ranks) if format and likely else format


JudgementReader = Callable[[Path, bytes], Entries]


def judgement_reader(text: bytes) -> JudgementReader | None:
    """What reads judgements that begin so; None for TREC's own."""
    readers: tuple[tuple[Callable[[bytes], object], JudgementReader], ...] = (
        (records.is_ratings, records.inspect_ratings),
        (records.is_nested, records.inspect_nested_judgements),
        (_is_features, inspect_features),
        (is_packed, lambda path, text: records.judged(_inspect_packed(path, text))),
        (lambda text: _columns(text, records.GRADE), _inspect_judged_table),
        (records.judged_heading, records.inspect_judged_lines),
    )
    return next((reader for fits, reader in readers if fits(text)), None)
