"""The kinds of arrays that the program computes with, under one name each."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Rows = NDArray[np.intp]
"""Numbers of rows, or of anything else that an array is indexed by."""
Mask = NDArray[np.bool_]
Flags = NDArray[np.str_]
"""`better`, `worse`, or empty."""

ALL = slice(None)
"""Every row."""

_CELLS_AT_ONCE = 50_000


def row_blocks(rows: int, columns: int) -> list[slice]:
    """Rows in portions that fit into the processor's cache, so that scratch memory stays small."""
    at_once = max(1, _CELLS_AT_ONCE // max(columns, 1))
    return [slice(start, min(start + at_once, rows)) for start in range(0, rows, at_once)]
