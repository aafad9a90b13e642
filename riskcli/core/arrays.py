"""The kinds of arrays that the program computes with, under one name each."""

from collections.abc import Sequence

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

LEAST_OF_LOGARITHMS = 0.00001
"""What trec_eval's geometric means take in place of a smaller score."""
_CELLS_AT_ONCE = 50_000
TINY = 1e-60
"""Fourth powers of smaller numbers are lost."""
NEARLY_NOTHING = 1e-6
"""A rest this small beside its whole is no longer to be had by subtraction."""


def row_blocks(rows: int, columns: int, cells: int | None = None) -> list[slice]:
    """Rows in portions of so many cells: by default such as fit into the processor's cache."""
    at_once = max(1, (cells or _CELLS_AT_ONCE) // max(columns, 1))
    return [slice(start, min(start + at_once, rows)) for start in range(0, rows, at_once)]


def logarithms(scores: Floats, most: float = 1.0) -> Floats:
    """ln of each score from 0 to the `most`, above which rounding may leave one."""
    return np.asarray(np.log(np.clip(scores, LEAST_OF_LOGARITHMS, most)))


def units(rows: Floats) -> Floats:
    """For each row (the last axis) a power of two to compute it in, which costs no digit.

    It is 1 but where all numbers of a row are so small that their fourth powers would be lost.
    """
    largest = np.maximum(rows.max(axis=-1, initial=0.0), -rows.min(axis=-1, initial=0.0))
    is_tiny = (largest > 0) & (largest < TINY)
    return np.where(is_tiny, np.ldexp(1.0, np.frexp(largest)[1]), 1.0)


def in_units(rows: Floats) -> tuple[Floats, Floats]:
    """The rows in their units, and these."""
    unit = units(rows)
    return (rows if (unit == 1).all() else rows / unit[..., None]), unit


def sums_of_others(values: Floats) -> Floats:
    """For each number the sum of the others of its row (the last axis), or 0 if that is below 0.

    Where one is nearly all of its row, what a subtraction leaves is rounding: the rest is added up.
    """
    others = np.asarray(values.sum(axis=-1, keepdims=True) - values)
    lost = np.nonzero(is_nearly_all(values))
    if len(lost[-1]):
        rows = values[lost[:-1]].reshape(len(lost[-1]), -1)
        rows = np.where(np.arange(values.shape[-1]) == lost[-1][:, None], 0.0, rows)
        others[lost] = rows.sum(axis=-1)
    return np.asarray(np.maximum(others, 0.0, out=others))


def is_nearly_all(values: Floats) -> Mask:
    """Where a number is nearly the sum of its row, so that a subtraction leaves only rounding."""
    total = values.sum(axis=-1, keepdims=True)
    return np.asarray((values <= total) & (values > (1 - NEARLY_NOTHING) * total))


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


def discounts(ranks: int) -> Floats:
    """1 / log2(1 + i) of the ranks i = 1, 2, ..., as DCG has them."""
    return np.asarray(1 / np.log2(np.arange(2, ranks + 2, dtype=np.float64)))


def mean_of_known(rows: Sequence[Floats] | Floats) -> Floats:
    """The mean over rows, cell by cell, of what is not NaN; NaN where all is."""
    stacked = np.array(rows, dtype=float)
    counts = np.count_nonzero(~np.isnan(stacked), axis=0)
    return divided(np.nansum(stacked, axis=0), counts, otherwise=np.nan)
