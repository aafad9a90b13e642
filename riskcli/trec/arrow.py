"""Arrow, as the readers of CSV, Parquet and the store use it.

Arrow's threads may let go of what they read after the reading has returned. Bytes of Python cannot
be let go of while Python ends: such a thread aborts the whole program. So Arrow is given memory of
its own wherever it reads with threads, which it does CSV and Parquet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

UNREADABLE = (pa.ArrowException, OSError, ValueError)
"""What Arrow raises where a file is not what it should be."""


def parquet() -> Any:
    """The module, loaded late: few files are Parquet, and its reader takes long to load."""
    from pyarrow import parquet

    return parquet


def reader(text: bytes) -> pa.BufferReader:
    """A text for Arrow to read: a copy in memory of its own (a hundredth of reading's work)."""
    own = pa.allocate_buffer(len(text))
    np.frombuffer(own, dtype=np.uint8)[:] = np.frombuffer(text, dtype=np.uint8)
    return pa.BufferReader(own)


def file_bytes(path: Path) -> pa.Buffer:
    """The bytes of a file, in Arrow's own memory."""
    with pa.OSFile(str(path)) as file:
        return file.read_buffer()
