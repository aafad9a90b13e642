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


def row_blocks(rows: int, columns: int, cells: int | None = None) -> list[slice]:
    """Rows in portions of so many cells: by default such as fit into the processor's cache."""
    at_once = max(1, (cells or _CELLS_AT_ONCE) // max(columns, 1))
    return [slice(start, min(start + at_once, rows)) for start in range(0, rows, at_once)]


def divided(
    over: Floats | Counts | float,
    under: Floats | Counts,
    where: Mask | None = None,
    otherwise: float = 0.0,
) -> Floats:
    """Over / under where `under` is above 0, or only at these cells; `otherwise` elsewhere."""
    over, under = np.broadcast_arrays(over, under)
    quotient = np.full_like(over, otherwise, dtype=np.float64)
    return np.divide(over, under, out=quotient, where=under > 0 if where is None else where)
