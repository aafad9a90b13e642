"""Numbers as the page reads them: little-endian, row by row, in base64."""

import base64

import numpy as np

from riskcli.core.arrays import Counts, Floats

Numbers = Floats | Counts
_UNKNOWN = 255


def packed(values: Numbers) -> str:
    """Doubles, in which nothing is lost."""
    return _coded(values, "<f8")


def packed_in_half(values: Numbers) -> str:
    """Single precision, seven digits: for what is shown with four."""
    return _coded(values, "<f4")


def packed_percents(shares: Floats) -> str:
    """Shares as whole per cent, a byte each; 255 where there is none."""
    percents = np.where(np.isnan(shares), _UNKNOWN, np.rint(100 * shares))
    return _coded(percents, "u1")


def _coded(values: Numbers, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
