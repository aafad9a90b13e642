"""A quick test for a document listed twice for one topic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORD = 8
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
    start, end = offsets[:-1], offsets[1:]
    length = end - start
    text = docnos.buffers()[2]
    word_count = len(text) - _WORD + 1
    if word_count < 1 or np.any(end < _WORD):
        text = bytes(_WORD) + text.to_pybytes()
        start, end = start + _WORD, end + _WORD
        word_count = len(text) - _WORD + 1
    words: NDArray[np.uint64] = np.ndarray((word_count,), dtype="<u8", buffer=text, strides=(1,))
    hashes = length.astype(np.uint64)
    for step in range(0, int(length.max()), _WORD):
        word = words[np.minimum(start + step, end - _WORD)]
        hashes = (hashes ^ word) * _MIX
        hashes ^= hashes >> _HALF
    short = length < _WORD
    if short.any():
        bits = (8 * (_WORD - length[short])).astype(np.uint64)
        hashes[short] = (words[end[short] - _WORD] >> bits) * _MIX ^ length[short].astype(np.uint64)
    return hashes
