"""Arrow arrays, and many short texts in one buffer, hashed and compared eight bytes at a time.

Arrow's threads may let go of what they read after the reading has returned. Bytes of Python cannot
be let go of while Python ends: such a thread aborts the whole program. So Arrow is given memory of
its own wherever it reads with threads, as it does CSV and Parquet.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riskcli.core.content_hash import content_sha256
from riskcli.core.limits import CELL, refuse_table
from riskcli.core.messages import InputError
from riskcli.core.supervisor import Natively
from riskcli.trec.findings import Finding

_DTYPES = {
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint64(): np.uint64,
    pa.float64(): np.float64,
}
Number = TypeVar("Number", bound=np.generic)
Item = TypeVar("Item")
UNREADABLE = (pa.ArrowException, OSError, ValueError)
"""What Arrow raises where a file is not what it should be."""


def parquet() -> Any:
    """The module, loaded late: few files are Parquet, and its reader takes long to load."""
    from pyarrow import parquet

    return parquet


def is_name(kind: pa.DataType) -> bool:
    """Whether values of a type are names, or nothing: texts, whole numbers as topics may be."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    texts = ("string", "large_string", "string_view", "null")
    return pa.types.is_integer(kind) or str(kind) in texts


def reader(text: bytes) -> pa.BufferReader:
    """A text for Arrow to read: a copy in memory of its own (a hundredth of reading's work)."""
    buffer = pa.allocate_buffer(len(text), pa.system_memory_pool())
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(text, dtype=np.uint8)
    return pa.BufferReader(buffer)


def parquet_file(path: Path, text: bytes, columns: int | None = None, each: int = CELL) -> Any:
    """Parquet to read, so many columns of it; its pages are checked where they have checksums.

    A table that would exceed the memory is refused by the sizes that the file states.
    """
    file = parquet().ParquetFile(reader(text), page_checksum_verification=True)
    about = file.metadata
    refuse_table(path, about.num_rows, about.num_columns if columns is None else columns, each)
    return file


def readable(path: Path, items: Iterator[Finding | Item]) -> Iterator[Finding | Item]:
    """What is read from a table of Parquet; what Arrow says of damage ends it as a finding."""
    try:
        with Natively(path, "bad-parquet", "Arrow crashes on it"):
            yield from items
    except InputError as error:
        yield Finding.of(error)
    except UNREADABLE as error:
        yield damaged(path, error)


def damaged(path: Path, error: Exception) -> Finding:
    """The finding for what Arrow cannot read."""
    return Finding(path, None, "bad-parquet", f"{error}".partition("\n")[0] or repr(error))


def numbers(values: Iterable[float], kind: pa.DataType) -> pa.Array:
    """Numbers as Arrow has them. (`pa.array` would import pandas, which takes long.)"""
    array = np.ascontiguousarray(values, dtype=_DTYPES[kind])
    return pa.Array.from_buffers(kind, len(array), [None, pa.py_buffer(array)])


def texts(values: Sequence[str | bytes]) -> pa.Array:
    """Texts as Arrow has them."""
    data = [value.encode() if isinstance(value, str) else value for value in values]
    ends = numbers([0, *accumulate(map(len, data))], pa.int32())
    buffers = [None, ends.buffers()[1], pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.string(), len(data), buffers)


def coded(codes: NDArray[Any], distinct: Sequence[str | bytes]) -> pa.DictionaryArray:
    """Texts of which few are distinct: codes that point into these."""
    indices = numbers(codes, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, texts(distinct), safe=False)


def column(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    """Texts, numbers, or lists of either, as Arrow has them."""
    if pa.types.is_list(kind):
        ends = numbers([0, *accumulate(map(len, values))], pa.int32())
        flat: Any = np.concatenate(values) if kind.value_type in _DTYPES else [*chain(*values)]
        return pa.ListArray.from_arrays(ends, column(kind.value_type, flat))
    return texts(values) if kind == pa.string() else numbers(values, kind)


def values_in(array: pa.Array, kind: type[Number]) -> NDArray[Number]:
    """The numbers of an array without nulls. (Its own `to_numpy` would import pandas.)"""
    values: NDArray[Number] = np.frombuffer(array.buffers()[1] or b"", dtype=kind)
    return values[array.offset : array.offset + len(array)]


def table_sha256(table: pa.Table, about: Mapping[str, Any]) -> str:
    """The SHA-256 of a table of texts and numbers: columns, values, nulls, and what is `about` it.

    How the file lays it out in chunks, types of one kind, or packed, does not count.
    """
    head = [content_sha256(about), table.column_names, table.num_rows]
    digest = hashlib.sha256(json.dumps(head).encode())
    for whole in table.columns:
        kind = pa.float64() if is_number(whole.type) else pa.large_string()
        array = whole.cast(kind).combine_chunks()
        digest.update(array.null_count.to_bytes(8, "little"))
        if array.null_count:
            digest.update(array.is_null().to_numpy(zero_copy_only=False).tobytes())
            array = array.fill_null(0.0 if kind == pa.float64() else "")
        if kind == pa.float64():
            digest.update(values_in(array, np.float64).data)
        else:
            texts = Texts.of_column(array)
            digest.update((texts.end - texts.start).data)
            digest.update(texts.packed())
    return digest.hexdigest()


def is_number(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, or nothing."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


# Many short texts in one buffer, hashed and compared eight bytes at a time.
#
# And pairs of a topic and a document as one hash: to find repeated and judged documents.


Places = NDArray[np.int64]
Words = NDArray[np.uint64]

_WORD = 8
_AT_ONCE = 1 << 17
"""Texts worked on at once: fewer would make threads wait for each other more often."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(29)
_TOPIC_MIX = np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True)
class Texts:
    """UTF-8 texts, each the bytes of `data` from its `start` to its `end`."""

    data: Any
    start: Places
    end: Places

    @classmethod
    def of_column(cls, column: Any) -> "Texts":
        """The texts of an Arrow large_string array without nulls."""
        _, offsets, data = column.buffers()
        where: Places = np.frombuffer(offsets, dtype=np.int64)
        where = where[column.offset : column.offset + len(column) + 1]
        return cls(_long_enough(data or b""), where[:-1], where[1:])

    @classmethod
    def of_strings(cls, strings: Sequence[str]) -> "Texts":
        """The texts of a list."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
        where: Places = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(_long_enough(b"".join(encoded)), where[:-1], where[1:])

    @classmethod
    def joined(cls, parts: "Sequence[Texts]") -> "Texts":
        """The texts of all parts, one after the other, in a buffer of their own."""
        sizes = np.concatenate([part.end - part.start for part in parts])
        where = np.concatenate([[0], np.cumsum(sizes)])
        data = b"".join([part.packed() for part in parts])
        return cls(_long_enough(data), where[:-1], where[1:])

    def copy(self) -> "Texts":
        """The same texts in a buffer that holds no others."""
        return Texts.joined([self])

    def __len__(self) -> int:
        return len(self.start)

    def take(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> "Texts":
        """The texts at these places."""
        return Texts(self.data, self.start[places], self.end[places])

    def as_bytes(self) -> list[bytes]:
        """Each text by itself."""
        whole = memoryview(self.data)
        bounds = zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [bytes(whole[start:end]) for start, end in bounds]

    def as_strings(self) -> list[str]:
        """Each text by itself, decoded."""
        return [text.decode() for text in self.as_bytes()]

    def hashes(self) -> Words:
        """A hash of each text, which depends on its bytes alone."""
        size = self.end - self.start
        hashes = size.astype(np.uint64)
        scratch = np.empty(min(len(self), _AT_ONCE), dtype=np.uint64)
        for first in range(0, len(self), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            part = Texts(self.data, self.start[some], self.end[some])
            part._hash(size[some], hashes[some], scratch[: len(part)])
        return hashes

    def as_words(self) -> Words | None:
        """Each text as one number, as far as they are short enough and hold no NUL byte."""
        if int((self.end - self.start).max(initial=0)) > _WORD:
            return None
        return self._words(0)

    def equal(self, other: "Texts") -> NDArray[np.bool_]:
        """Which texts are the same as the other's at the same place."""
        size = self.end - self.start
        same = np.asarray(size == other.end - other.start)
        longest = int(size.max(where=same, initial=0))
        even = longest >= _WORD and bool(same.all()) and int(size.min()) == longest
        for step in range(0, longest, _WORD):
            if even:
                same &= self._even_words(step, longest) == other._even_words(step, longest)
            else:
                same &= self._words(step) == other._words(step)
        return same

    def packed(self) -> memoryview:
        """The bytes of all texts, with nothing between them."""
        if np.array_equal(self.start[1:], self.end[:-1]):
            bounds = slice(int(self.start[0]), int(self.end[-1])) if len(self) else slice(0)
            return memoryview(self.data)[bounds]
        size = self.end - self.start
        before = np.repeat(self.start - (np.cumsum(size) - size), size)
        byte: NDArray[np.uint8] = np.frombuffer(self.data, dtype=np.uint8)
        return byte[before + np.arange(len(before))].data

    def _hash(self, size: Places, hashes: Words, scratch: Words) -> None:
        """Mix the words of each text into its hash, in place."""
        shortest, longest = int(size.min()), int(size.max())
        even = shortest == longest >= _WORD
        stride = self._stride() if even else 0
        for step in range(0, longest, _WORD):
            words = self._even_words(step, longest, stride) if even else self._words(step)
            inside = True if shortest > step else size > step
            np.bitwise_xor(hashes, words, out=hashes, where=inside)
            np.multiply(hashes, _MIX, out=hashes, where=inside)
            np.right_shift(hashes, _HALF, out=scratch)
            np.bitwise_xor(hashes, scratch, out=hashes, where=inside)

    def _stride(self) -> int:
        """Bytes between the starts of consecutive texts; 0 if not constant."""
        stride = int(self.start[1] - self.start[0]) if len(self) > 1 else 1
        return stride if stride > 0 and np.all(np.diff(self.start) == stride) else 0

    def _even_words(self, step: int, size: int, stride: int = 0) -> Words:
        """`_words` of texts that are long enough and of one size; with a stride, no copy."""
        offset = min(step, size - _WORD)
        if stride:
            first = int(self.start[0]) + offset
            return np.ndarray((len(self),), "<u8", self.data, first, (stride,))
        words: Words = self._everywhere(offset)[self.start]
        return words

    def _words(self, step: int) -> Words:
        """The eight bytes from `step` on, or the last eight of a text, or all that it has."""
        places = np.minimum(self.start + step, np.maximum(self.end - _WORD, 0))
        words: Words = self._everywhere(0)[places]
        size = self.end - self.start
        short = size < _WORD
        if short.any():
            before = (8 * (self.start - places)).astype(np.uint64)
            mask = (np.uint64(1) << (8 * np.minimum(size, 7)).astype(np.uint64)) - np.uint64(1)
            words = np.where(short, (words >> before) & mask, words)
        return words

    def _everywhere(self, offset: int) -> Words:
        """The eight bytes so far behind each byte of the buffer."""
        return np.ndarray((len(self.data) - _WORD + 1 - offset,), "<u8", self.data, offset, (1,))


def _long_enough(data: Any) -> Any:
    return data if len(data) >= _WORD else bytes(data) + bytes(_WORD)


@dataclass(frozen=True)
class PairHashes:
    """The topic and the document of each line, as one 64-bit hash."""

    topics: tuple[str, ...]
    codes: NDArray[np.int32]
    hashes: Words

    @classmethod
    def of(cls, topics: tuple[str, ...], codes: NDArray[np.int32], docnos: Texts) -> "PairHashes":
        """The pairs of lines; `codes` point into `topics`."""
        return cls(topics, codes, pair_hashes(Texts.of_strings(topics).hashes(), codes, docnos))


def pair_hashes(topics: Words, codes: NDArray[np.integer], docnos: Texts) -> Words:
    """A hash of each document with its topic; a topic is a number, `codes` point into them."""
    hashes = docnos.hashes()
    hashes ^= (topics * _TOPIC_MIX).take(codes)
    return hashes


def may_repeat(pairs: PairHashes) -> bool:
    """False only if no pair occurs twice; True asks for a close look: it can be a chance hit."""
    return _any_twice(pairs.hashes)


def may_repeat_between(parts: Sequence[PairHashes]) -> bool:
    """`may_repeat` for the parts of a run of which none repeats a pair by itself."""
    holders = Counter(topic for part in parts for topic in part.topics)
    shared = [_of_shared_topics(part, holders) for part in parts]
    return _any_twice(np.concatenate(shared)) if shared else False


def _of_shared_topics(pairs: PairHashes, holders: Counter[str]) -> Words:
    shared = np.array([holders[topic] > 1 for topic in pairs.topics])
    hashes: Words = pairs.hashes[shared[pairs.codes]]
    return hashes


def _any_twice(hashes: Words) -> bool:
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))
