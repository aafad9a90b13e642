"""The kinds of arrays that the program computes with, under one name each."""

from __future__ import annotations

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
