"""Runs and judgements as ranx keeps them in Parquet, and as LZ4 (CBOR packed twice; an extra).

Parquet: columns q_id, doc_id and score (or a name that others give them), a document a row.
"""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riskcli.trec import findings, records
from riskcli.trec.archives import DamagedError, archive_of
from riskcli.trec.findings import Finding

PARQUET = b"PAR1"


def _arrow() -> Any:
    """Loaded late: few files are Parquet, and Arrow takes long to load."""
    from riskcli.trec import arrow

    return arrow


def _columns(text: bytes, value: tuple[str, ...]) -> list[str] | None:
    """The columns of topic, document and value, if a whole Parquet file has just these."""
    if not (text.startswith(PARQUET) and text.endswith(PARQUET)):
        return None
    arrow = _arrow()
    try:
        names = arrow.parquet().read_schema(arrow.reader(text)).names
    except arrow.UNREADABLE:
        return None
    matches = [
        [name for name in names if name in accepted]
        for accepted in (records.TOPIC, records.DOCNO, value)
    ]
    return [some[0] for some in matches] if all(len(some) == 1 for some in matches) else None


def is_run_table(text: bytes) -> bool:
    """Whether a whole file is Parquet with a retrieved document a row."""
    return _columns(text, ("score",)) is not None


def is_judged_table(text: bytes) -> bool:
    """Whether a whole file is Parquet with a judged document a row."""
    return _columns(text, records.GRADE) is not None


def _rows(text: bytes, value: tuple[str, ...]) -> Iterator[tuple[str, str, Any]]:
    arrow = _arrow()
    names = _columns(text, value)
    table = arrow.parquet().ParquetFile(arrow.reader(text)).read(columns=names)
    columns = [table.column(name).to_pylist() for name in names or ()]
    for topic, docno, cell in zip(*columns, strict=True):
        yield "" if topic is None else str(topic), "" if docno is None else str(docno), cell


def _inspect_run_table(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    for row, (topic, docno, value) in enumerate(_rows(text, ("score",)), start=1):
        if topic and docno:
            yield records.scored(path, None, topic, docno, value)
        else:
            yield Finding(path, None, "no-name", f"row {row}: a topic or document has no name")


def inspect_judged_table(path: Path, text: bytes) -> Iterator[Finding | findings.Judgement]:
    """The judgements in a Parquet file."""
    for row, (topic, docno, grade) in enumerate(_rows(text, records.GRADE), start=1):
        if topic and docno:
            yield findings.Judgement(None, topic, docno, str(grade))
        else:
            yield Finding(path, None, "no-name", f"row {row}: a topic or document has no name")


# LZ4


def is_packed(text: bytes) -> bool:
    """Whether what was unpacked once is LZ4 again."""
    archive = archive_of(text)
    return archive is not None and archive.name == "LZ4"


def unpacked(path: Path, text: bytes) -> Mapping[str, Any] | Finding:
    """The dictionary that ranx packed, or what is wrong with it."""
    try:
        import cbor2
    except ImportError:
        message = "ranx' LZ4 files need the extra `ranx` (the package cbor2)"
        return Finding(path, None, "unreadable", message)
    archive = archive_of(text)
    try:
        data = archive.open(io.BytesIO(text)).read() if archive else text
    except DamagedError as error:
        return Finding(path, None, "damaged-archive", f"damaged LZ4 data: {error}")
    stream = io.BytesIO(data)
    try:
        content = cbor2.load(
            stream, max_depth=2, allow_indefinite=False, allow_duplicate_keys=False
        )
    except (cbor2.CBORError, ValueError, TypeError) as error:
        return Finding(path, None, "bad-json", f"expected CBOR as ranx writes it: {error}")
    if stream.tell() != len(data) or not _is_plain(content):
        message = "expected CBOR as ranx writes it: one dictionary of names, texts and numbers"
        return Finding(path, None, "bad-json", message)
    found: dict[str, Any] = content
    return found


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is what JSON could hold: CBOR has dates, fractions and the like."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item, depth + 1)
                   for key, item in value.items())  # fmt: skip
    return depth > 0 and type(value) in (str, int, float)


def _inspect_packed_run(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    return records.retrieved(path, records.cells_of(path, unpacked(path, text)))


def inspect_packed_judgements(path: Path, text: bytes) -> Iterator[Finding | findings.Judgement]:
    """The judgements in what ranx packed."""
    return records.judged(records.cells_of(path, unpacked(path, text)))


FORMATS = (
    findings.RunFormat(
        "run-parquet", "ranx' Parquet: q_id, doc_id, score", is_run_table, _inspect_run_table
    ),
    findings.RunFormat("run-lz4", "ranx' LZ4", is_packed, _inspect_packed_run),
)
