"""Arrow, as the readers of CSV, Parquet and the store use it.

Arrow's threads may let go of what they read after the reading has returned. Bytes of Python cannot
be let go of while Python ends: such a thread aborts the whole program. So Arrow is given memory of
its own wherever it reads with threads, as it does CSV and Parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_DTYPES = {
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint64(): np.uint64,
    pa.float64(): np.float64,
}
UNREADABLE = (pa.ArrowException, OSError, ValueError)
"""What Arrow raises where a file is not what it should be."""


def parquet() -> Any:
    """The module, loaded late: few files are Parquet, and its reader takes long to load."""
    from pyarrow import parquet

    return parquet


def reader(text: bytes) -> pa.BufferReader:
    """A text for Arrow to read: a copy in memory of its own (a hundredth of reading's work)."""
    own = pa.allocate_buffer(len(text), pa.system_memory_pool())
    np.frombuffer(own, dtype=np.uint8)[:] = np.frombuffer(text, dtype=np.uint8)
    return pa.BufferReader(own)


def file_bytes(path: Path) -> pa.Buffer:
    """The bytes of a file, in Arrow's own memory."""
    with pa.OSFile(str(path)) as file:
        return file.read_buffer()


def numbers(values: Iterable[float], kind: pa.DataType) -> pa.Array:
    """Numbers as Arrow has them. (`pa.array` would import pandas, which takes long.)"""
    own = np.ascontiguousarray(values, dtype=_DTYPES[kind])
    return pa.Array.from_buffers(kind, len(own), [None, pa.py_buffer(own)])


def texts(values: Sequence[str | bytes]) -> pa.Array:
    """Texts as Arrow has them."""
    data = [value.encode() if isinstance(value, str) else value for value in values]
    ends = numbers([0, *accumulate(map(len, data))], pa.int32())
    buffers = [None, ends.buffers()[1], pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.string(), len(data), buffers)


def coded(codes: NDArray[np.int32], distinct: Sequence[str | bytes]) -> pa.DictionaryArray:
    """Texts of which few are distinct: codes that point into these."""
    indices = numbers(codes, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, texts(distinct), safe=False)


def lists(counts: Iterable[int], values: pa.Array) -> pa.Array:
    """Lists of so many of the values each."""
    return pa.ListArray.from_arrays(numbers([0, *accumulate(counts)], pa.int32()), values)
