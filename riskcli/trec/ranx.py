"""Runs and judgements as ranx keeps them in Parquet, and as LZ4 (CBOR packed twice).

Parquet: columns q_id, doc_id and score (or a name that others give them), a document a row.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riskcli.trec.archives import ARCHIVES, DamagedError
from riskcli.trec.findings import Finding
from riskcli.trec.records import (
    DOCNO,
    GRADE,
    TOPIC,
    Judgement,
    Retrieved,
    RunFormat,
    bad_score,
    score_of,
)

PARQUET = b"PAR1"
_LZ4 = next(archive for archive in ARCHIVES if archive.name == "LZ4")
_SIZES = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_DEEPEST = 2


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
    found = [[name for name in names if name in known] for known in (TOPIC, DOCNO, value)]
    return [some[0] for some in found] if all(len(some) == 1 for some in found) else None


def is_run_table(text: bytes) -> bool:
    """Whether a whole file is Parquet with a retrieved document a row."""
    return _columns(text, ("score",)) is not None


def is_judged_table(text: bytes) -> bool:
    """Whether a whole file is Parquet with a judged document a row."""
    return _columns(text, GRADE) is not None


def _rows(text: bytes, value: tuple[str, ...]) -> Iterator[tuple[str, str, Any]]:
    arrow = _arrow()
    names = _columns(text, value)
    table = arrow.parquet().ParquetFile(arrow.reader(text)).read(columns=names)
    columns = [table.column(name).to_pylist() for name in names or ()]
    for topic, docno, found in zip(*columns, strict=True):
        yield "" if topic is None else str(topic), "" if docno is None else str(docno), found


def _inspect_run_table(path: Path, text: bytes) -> Iterator[Finding | Retrieved]:
    for row, (topic, docno, value) in enumerate(_rows(text, ("score",)), start=1):
        score = score_of(value)
        if not topic or not docno:
            yield Finding(path, None, "no-name", f"row {row}: a topic or document has no name")
        elif score is None:
            yield bad_score(path, None, topic, docno, value)
        else:
            yield Retrieved(None, topic, docno, score)


def inspect_judged_table(path: Path, text: bytes) -> Iterator[Finding | Judgement]:
    """The judgements in a Parquet file."""
    for row, (topic, docno, grade) in enumerate(_rows(text, GRADE), start=1):
        if not topic or not docno:
            yield Finding(path, None, "no-name", f"row {row}: a topic or document has no name")
        else:
            yield Judgement(None, topic, docno, str(grade))


# LZ4


def is_packed(text: bytes) -> bool:
    """Whether what was unpacked once is LZ4 again."""
    return text.startswith(_LZ4.magic)


def unpacked(path: Path, text: bytes) -> Mapping[str, Any] | Finding:
    """The dictionary that ranx packed, or what is wrong with it."""
    try:
        data = _LZ4.open(io.BytesIO(text)).read()
    except DamagedError as error:
        return Finding(path, None, "damaged-archive", f"damaged LZ4 data: {error}")
    try:
        found, end = _cbor(data, 0, 0)
    except (struct.error, IndexError, ValueError, UnicodeDecodeError, TypeError) as error:
        return Finding(path, None, "bad-json", f"expected CBOR as ranx writes it: {error}")
    if end != len(data) or not isinstance(found, dict):
        return Finding(path, None, "bad-json", "expected CBOR as ranx writes it: one dictionary")
    return found


def _cbor(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins there (RFC 8949: numbers, texts and maps of them), and its end."""
    kind, short = data[at] >> 5, data[at] & 31
    at += 1
    if kind == 7:
        return _float(data, at, short)
    size = short
    if short in _SIZES:
        (size,) = struct.unpack_from(_SIZES[short], data, at)
        at += struct.calcsize(_SIZES[short])
    elif short > 24:
        raise ValueError("a value without an end")
    if kind in (0, 1):
        return (size if kind == 0 else -1 - size), at
    if kind == 3:
        if at + size > len(data):
            raise ValueError("it is cut off")
        return data[at : at + size].decode(), at + size
    if kind != 5 or depth == _DEEPEST:
        raise ValueError("another kind of value is in it")
    return _map(data, at, size, depth)


def _map(data: bytes, at: int, size: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    for _ in range(size):
        key, at = _cbor(data, at, depth + 1)
        value, at = _cbor(data, at, depth + 1)
        if not isinstance(key, str) or key in found:
            raise ValueError(f"the key {key!r} is no text, or occurs twice")
        found[key] = value
    return found, at


def _float(data: bytes, at: int, short: int) -> tuple[float, int]:
    if short not in _FLOATS:
        raise ValueError("another kind of value is in it")
    (value,) = struct.unpack_from(_FLOATS[short], data, at)
    return value, at + struct.calcsize(_FLOATS[short])


RUN_TABLE = RunFormat(
    "run-parquet", "ranx' Parquet: q_id, doc_id, score", is_run_table, _inspect_run_table
)
