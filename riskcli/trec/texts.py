"""Many short texts in one buffer, hashed and compared eight bytes at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Words = NDArray[np.uint64]

_WORD = 8
_AT_ONCE = 1 << 14
"""So few texts that what is worked on stays in the processor's cache."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(29)


@dataclass(frozen=True)
class Texts:
    """UTF-8 texts, each the bytes of `data` from its `start` to its `end`."""

    data: Any
    start: Places
    end: Places

    @classmethod
    def of_column(cls, column: Any) -> Texts:
        """The texts of an Arrow large_string array without nulls."""
        _, offsets, data = column.buffers()
        where: Places = np.frombuffer(offsets, dtype=np.int64)
        where = where[column.offset : column.offset + len(column) + 1]
        return cls(_long_enough(data or b""), where[:-1], where[1:])

    @classmethod
    def of_strings(cls, strings: Sequence[str]) -> Texts:
        """The texts of a list."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
        where: Places = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(_long_enough(b"".join(encoded)), where[:-1], where[1:])

    def __len__(self) -> int:
        return len(self.start)

    def take(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> Texts:
        """The texts at these places."""
        return Texts(self.data, self.start[places], self.end[places])

    def as_bytes(self) -> list[bytes]:
        """Each text by itself."""
        whole = memoryview(self.data)
        bounds = zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [bytes(whole[start:end]) for start, end in bounds]

    def hashes(self) -> Words:
        """A hash of each text, which depends on its bytes alone."""
        found: Words = np.empty(len(self), dtype=np.uint64)
        for first in range(0, len(self), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            found[some] = Texts(self.data, self.start[some], self.end[some])._some_hashes()
        return found

    def equal(self, other: Texts) -> NDArray[np.bool_]:
        """Which texts are the same as the other's at the same place."""
        size = self.end - self.start
        same = np.asarray(size == other.end - other.start)
        for step in range(0, int(size[same].max(initial=0)), _WORD):
            same[same] = self.take(same)._words(step) == other.take(same)._words(step)
        return same

    def _some_hashes(self) -> Words:
        size = self.end - self.start
        hashes = size.astype(np.uint64)
        shortest, longest = int(size.min()), int(size.max())
        for step in range(0, longest, _WORD):
            mixed = (hashes ^ self._words(step)) * _MIX
            mixed ^= mixed >> _HALF
            hashes = mixed if shortest > step else np.where(size > step, mixed, hashes)
        return hashes

    def _words(self, step: int) -> Words:
        """The eight bytes from `step` on, or the last eight of a text, or all that it has."""
        places = np.minimum(self.start + step, np.maximum(self.end - _WORD, 0))
        words = self._read(places)
        size = self.end - self.start
        short = size < _WORD
        if short.any():
            before = (8 * (self.start - places)).astype(np.uint64)
            mask = (np.uint64(1) << (8 * np.minimum(size, 7)).astype(np.uint64)) - np.uint64(1)
            words = np.where(short, (words >> before) & mask, words)
        return words

    def _read(self, places: Places) -> Words:
        """Eight bytes at each place; places at even distances need no copy."""
        first = int(places[0]) if len(places) else 0
        stride = int(places[1]) - first if len(places) > 1 else 1
        words: Words
        if stride > 0 and np.array_equal(places, first + stride * np.arange(len(places))):
            words = np.ndarray((len(places),), "<u8", self.data, offset=first, strides=(stride,))
            return words
        words = np.ndarray((len(self.data) - _WORD + 1,), "<u8", self.data, strides=(1,))
        return words[places]


def _long_enough(data: Any) -> Any:
    return data if len(data) >= _WORD else bytes(data) + bytes(_WORD)
