"""Columns in which few texts stand many times, as a run's topics and its tag do.

Equal texts mostly stand together. Where they do, comparing each text with the one above it finds
them sooner than hashing every one; the codes are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riskcli.trec import arrow
from riskcli.trec.fast.texts import Texts

_ROWS_A_LENGTH = 512
"""Where lengths change more often than once in so many rows, hashing is quicker."""
_ROWS_A_VALUE = 8


def encoded(columns: Sequence[pa.ChunkedArray]) -> list[pa.DictionaryArray]:
    """Large_string chunks without nulls as codes of the distinct texts, in order of appearance."""
    found = [_coded(column) for column in columns]
    return [arrow.coded(codes, texts) for codes, texts in found]


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[bytes]]:
    """The code of each row of a column, and the texts."""
    known: dict[bytes, int] = {}
    parts = [_codes(chunk, known) for chunk in column.chunks]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32), list(known)


def _codes(chunk: pa.Array, known: dict[bytes, int]) -> NDArray[np.int32]:
    """The code of each row; texts that are not known yet are added."""
    offsets, data = _layout(chunk)
    if len(chunk) and _is_constant(offsets, data):
        text = data[offsets[0] : offsets[1]].tobytes()
        return np.full(len(chunk), known.setdefault(text, len(known)), dtype=np.int32)
    starts = _starts(offsets, data)
    if starts is None:
        return _scattered_codes(chunk, known)
    bounds = zip(offsets[starts].tolist(), offsets[starts + 1].tolist(), strict=True)
    texts = [data[start:end].tobytes() for start, end in bounds]
    return np.repeat(_noted(texts, known), np.diff(starts, append=len(chunk)))


def _scattered_codes(chunk: pa.Array, known: dict[bytes, int]) -> NDArray[np.int32]:
    """The codes where equal texts do not stand together."""
    texts = Texts.of_column(chunk)
    words = texts.as_words()
    if words is None:
        found = chunk.dictionary_encode()
        distinct = [text.encode() for text in found.dictionary.to_pylist()]
        codes: NDArray[np.int32] = np.frombuffer(found.indices.buffers()[1], dtype=np.int32)
        return _noted(distinct, known)[codes[found.offset : found.offset + len(found)]]
    values = np.unique(words)
    places = np.searchsorted(values, words)
    first = np.empty(len(values), dtype=np.intp)
    first[places[::-1]] = np.arange(len(words))[::-1]  # the last one written stays
    by_appearance = np.argsort(first)
    numbers = np.empty(len(values), dtype=np.int32)
    numbers[by_appearance] = _noted(texts.take(first[by_appearance]).as_bytes(), known)
    return numbers[places]


def _noted(texts: list[bytes], known: dict[bytes, int]) -> NDArray[np.int32]:
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int32)


def _layout(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each text begins and ends, and the bytes of all of them."""
    _, offsets, data = column.buffers()
    where: NDArray[np.int64] = np.frombuffer(offsets, dtype=np.int64)
    where = where[column.offset : column.offset + len(column) + 1]
    return where, np.frombuffer(data or b"", dtype=np.uint8)


def _is_constant(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> bool:
    """Whether all rows, of which there are some, hold the same text."""
    first, second, last = offsets[0].item(), offsets[1].item(), offsets[-1].item()
    size = second - first
    return bool(
        np.array_equal(data[last - size : last], data[first:second])  # mostly tells
        and np.all(offsets[1:] - offsets[:-1] == size)
        and np.array_equal(data[second:last], data[first : last - size])
    )


def _starts(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.intp] | None:
    """The rows whose text is not that of the row above; None where there are too many."""
    lengths = np.diff(offsets)
    rows = len(lengths)
    new_length = np.flatnonzero(lengths[1:] != lengths[:-1]) + 1
    if len(new_length) > rows // _ROWS_A_LENGTH + 1:
        return None
    edges = [0, *new_length.tolist(), rows]
    found: list[NDArray[np.intp]] = []
    for first, end in pairwise(edges):
        size = int(lengths[first])
        part = data[offsets[first] : offsets[end]]
        differing = np.flatnonzero(part[size:] != part[: len(part) - size])
        if len(differing) > rows // _ROWS_A_VALUE + size:
            return None
        changed = np.unique(differing // max(size, 1)) + first + 1
        found += [np.array([first]), changed]
    return np.concatenate(found)
