"""A quick test for a document listed twice for one topic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORD = 8
_ROWS_AT_ONCE = 1 << 14
"""So few that what is worked on stays in the processor's cache."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_TOPIC_MIX = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(29)


def may_repeat(topic_codes: NDArray[np.int32], docnos: Any) -> bool:
    """False only if no (topic, docno) pair occurs twice; True asks for a close look.

    Pairs are compared by a 64-bit hash, so True can be a chance hit, False never is.
    """
    hashes = _hashes(docnos)
    hashes ^= topic_codes.astype(np.uint64) * _TOPIC_MIX
    hashes.sort()
    return bool(np.any(hashes[1:] == hashes[:-1]))


def _hashes(docnos: Any) -> NDArray[np.uint64]:
    """A hash of each string of an Arrow large_string array, eight bytes at a time."""
    count = len(docnos)
    offsets = np.frombuffer(docnos.buffers()[1], dtype=np.int64)
    offsets = offsets[docnos.offset : docnos.offset + count + 1]
    text = docnos.buffers()[2]
    if len(text) < _WORD or offsets[1] < _WORD:
        text = bytes(_WORD) + text.to_pybytes()
        offsets = offsets + _WORD
    hashes: NDArray[np.uint64] = np.empty(count, dtype=np.uint64)
    for row in range(0, count, _ROWS_AT_ONCE):
        edges = offsets[row : row + _ROWS_AT_ONCE + 1]
        hashes[row : row + _ROWS_AT_ONCE] = _some_hashes(text, edges[:-1], edges[1:])
    return hashes


def _some_hashes(text: Any, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The hashes of the strings between those places; each end is at least a word into the text."""
    length = end - start
    hashes = length.astype(np.uint64)
    longest = int(length.max())
    for step in range(0, longest if longest >= _WORD else 0, _WORD):
        hashes ^= _words(text, start + step, end - _WORD)
        hashes *= _MIX
        hashes ^= hashes >> _HALF
    short = length < _WORD
    if short.any():
        size = length[short]
        bits = (8 * (_WORD - size)).astype(np.uint64)
        last = _words(text, end[short] - _WORD, end[short] - _WORD)
        hashes[short] = (last >> bits) * _MIX ^ size.astype(np.uint64)
    return hashes


def _words(text: Any, wanted: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The eight bytes at each place that is wanted, or at the last one that a string has."""
    places = np.minimum(wanted, last)
    first = int(places[0])
    stride = int(places[1]) - first if len(places) > 1 else 1
    evenly: NDArray[np.uint64]
    if stride > 0 and np.array_equal(places, first + stride * np.arange(len(places))):
        evenly = np.ndarray((len(places),), "<u8", text, offset=first, strides=(stride,))
        return evenly
    evenly = np.ndarray((len(text) - _WORD + 1,), "<u8", text, strides=(1,))
    return evenly[places]
