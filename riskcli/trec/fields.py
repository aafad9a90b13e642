"""Lines of fields separated by white space, as a table of columns, at the speed of the machine.

A loop over lines in Python takes about four times as long, and several times the memory, since each
field becomes an object. Here a file stays bytes: Arrow finds the columns, numpy does the rest.

The quick way only ever *vouches*: `read` answers with a table where every line has as many fields
as it should and every number is one; otherwise it answers None, and the caller reads line by line
to say what is wrong, and where. Tests compare the two ways on the same texts.

White space other than single blanks or tabs is squeezed first. Equal texts in columns of few
distinct ones (topic, tag) are mostly neighbours: comparing each with the one above finds them
sooner than hashing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from riskcli.trec import arrow
from riskcli.trec.arrow import Texts, reader, values_in

_ROWS_A_LENGTH = 512
"""Where lengths change more often than once in so many rows, hashing is quicker."""
_ROWS_A_VALUE = 8


def encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Large_string chunks without nulls as codes of the distinct texts, in order of appearance."""
    code_of: dict[bytes, int] = {}
    codes = [_codes(chunk, code_of) for chunk in column.chunks]
    return arrow.coded(np.concatenate(codes), list(code_of))


def _codes(chunk: pa.Array, code_of: dict[bytes, int]) -> NDArray[np.int32]:
    """The code of each row; texts that are not known yet are added."""
    texts = Texts.of_column(chunk)
    starts = _starts(texts)
    if starts is not None:
        distinct = texts.take(starts).as_bytes()
        return np.repeat(_noted(distinct, code_of), np.diff(starts, append=len(chunk)))
    words = texts.as_words()
    if words is None:
        encoded = chunk.dictionary_encode()
        distinct = [text.encode() for text in encoded.dictionary.to_pylist()]
        return _noted(distinct, code_of)[arrow.values_in(encoded.indices, np.int32)]
    # Without Arrow's own encoding, whose import takes longer than a small file.
    _, first, places = np.unique(words, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    numbers = np.empty(len(first), dtype=np.int32)
    numbers[by_appearance] = _noted(texts.take(first[by_appearance]).as_bytes(), code_of)
    return numbers[places]


def _noted(texts: list[bytes], code_of: dict[bytes, int]) -> NDArray[np.int32]:
    return np.array([code_of.setdefault(text, len(code_of)) for text in texts], dtype=np.int32)


def _starts(texts: Texts) -> NDArray[np.intp] | None:
    """The rows whose text is not that of the row above; None where there are too many."""
    data: NDArray[np.uint8] = np.frombuffer(texts.data, dtype=np.uint8)
    lengths = texts.end - texts.start
    rows = len(lengths)
    new_length = np.flatnonzero(lengths[1:] != lengths[:-1]) + 1
    if len(new_length) > rows // _ROWS_A_LENGTH + 1:
        return None
    edges = [0, *new_length.tolist(), rows]
    starts: list[NDArray[np.intp]] = []
    for first, end in pairwise(edges):
        size = int(lengths[first])
        block = data[texts.start[first] : texts.end[end - 1]]
        differing = np.flatnonzero(block[size:] != block[: len(block) - size])
        if len(differing) > rows // _ROWS_A_VALUE + size:
            return None
        changed = np.unique(differing // max(size, 1)) + first + 1
        starts += [np.array([first]), changed]
    return np.concatenate(starts)


# Lines of fields separated by white space, as a table of columns.
#
# A line means here what `bytes.split()` makes of it.


TEXT = pa.large_string()
REPEATED = pa.dictionary(pa.int32(), pa.string())
NUMBER = pa.float64()
_WHOLE = pa.int64()

Layout = Mapping[str, Any]
"""The fields of a line in their order: TEXT, REPEATED (few distinct texts) or NUMBER."""

_SPACE, _NEWLINE, _FIRST_NOT_ASCII = 0x20, 0x0A, 0x80
_OTHER_SPACES = b"\t\v\f\r"
"""What `bytes.split()` takes for white space besides the blank and the line end."""
_BLOCK = 1 << 20
"""Bytes looked at at once: fewer would make threads wait for each other more often."""
_ARROW_BLOCK = 1 << 24
"""Bytes that Arrow makes one chunk of: a piece of a run is not cut in two."""
_POOL = pa.system_memory_pool()
"""It gives less memory back between files than Arrow's own, which costs time."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Arrow would drop one at the start of a text; here it belongs to the first field."""


@dataclass(frozen=True)
class Table:
    """Columns of fields; a row is a line that is not blank."""

    columns: pa.Table

    @classmethod
    def of_lists(cls, layout: Layout, columns: Mapping[str, Sequence[Any]]) -> "Table":
        """The table that `read` makes, from values that were read in another way."""
        arrays = {}
        for name, values in columns.items():
            if layout[name] == NUMBER:
                arrays[name] = pa.array(values, NUMBER)
            else:
                texts = pa.array(values, TEXT)
                arrays[name] = texts if layout[name] == TEXT else texts.dictionary_encode()
        return cls(pa.table(arrays))

    def __len__(self) -> int:
        rows: int = self.columns.num_rows
        return rows

    def coded(self, name: str) -> tuple[list[str], NDArray[np.int32]]:
        """The distinct texts of a REPEATED column, and which one each row holds."""
        column = self._array(name)
        return column.dictionary.to_pylist(), values_in(column.indices, np.int32)

    def texts(self, name: str) -> Texts:
        """A TEXT column."""
        return Texts.of_column(self._array(name))

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A NUMBER column."""
        return values_in(self._array(name), np.float64)

    def whole_numbers(self, name: str) -> NDArray[np.int64] | None:
        """A TEXT column as numbers, where each text is spelled in digits alone; else None."""
        column = self._array(name)
        if not column.buffers()[2].to_pybytes().isdigit():  # Arrow would take 0x10 for a number
            return None
        try:
            return values_in(column.cast(_WHOLE), np.int64)
        except pa.ArrowInvalid:
            return None

    def _array(self, name: str) -> pa.Array:
        """A column as one array, with one dictionary where its texts are repeated ones."""
        column = self.columns[name]
        if column.num_chunks == 1:
            return column.chunk(0)
        combined = column.unify_dictionaries().combine_chunks()
        return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def read(text: bytes, layout: Layout, wanted: tuple[str, ...]) -> Table | None:
    """The wanted columns of a text with one field for each name of the layout.

    None where a line has more or fewer fields, or a wanted number is none: a closer look is needed.
    """
    table = _tidy_table(text, layout, wanted)
    if table is None:
        text = single_spaced(text)
        table = None if b"\0" in text else _table(text, layout, wanted)
    if table is None:
        return None
    for place, name in enumerate(wanted):
        if layout[name] == REPEATED:
            table = table.set_column(place, name, encoded(table.column(name)))
    return Table(table)


def _tidy_table(text: bytes, layout: Layout, wanted: tuple[str, ...]) -> pa.Table | None:
    """The columns of a text that has one blank, or one tab, between fields and nothing else."""
    gaps = _gaps(text)
    if gaps is None or b"\r" in text or text.endswith((b" ", b"\t")):
        return None
    table = _table(text, layout, wanted)
    fields = 0 if table is None else table.num_rows * len(layout)
    return table if gaps + (not text.endswith(b"\n")) == fields else None


def _gaps(text: bytes) -> int | None:
    """The number of bytes that are blanks or control characters, if no two are adjacent."""
    byte: NDArray[np.uint8] = np.frombuffer(text, dtype=np.uint8)
    count, after_gap = 0, True
    for start in range(0, len(byte), _BLOCK):
        gap = byte[start : start + _BLOCK] <= _SPACE
        if (after_gap and gap[0]) or np.any(gap[1:] & gap[:-1]):
            return None
        after_gap = bool(gap[-1])
        count += int(np.count_nonzero(gap))
    return count


def _table(text: bytes, layout: Layout, wanted: tuple[str, ...]) -> pa.Table | None:
    """The wanted columns, repeated texts not yet encoded; None where Arrow finds a wrong line."""
    if not text or text.isspace() or text.startswith(_BYTE_ORDER_MARK):
        return None
    first_line = text[: text.find(b"\n")] if b"\n" in text else text
    types = {name: TEXT if kind == REPEATED else kind for name, kind in layout.items()}
    other_letters = not _is_ascii(text)
    try:
        return csv.read_csv(
            reader(text),
            read_options=csv.ReadOptions(
                column_names=list(layout),
                use_threads=False,
                block_size=min(len(text), _ARROW_BLOCK),
            ),
            parse_options=csv.ParseOptions(
                delimiter="\t" if b"\t" in first_line else " ", quote_char=False, escape_char=False
            ),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=list(wanted),
                null_values=[],
                strings_can_be_null=False,
                check_utf8=other_letters,
            ),
            memory_pool=_POOL,
        )
    except pa.ArrowInvalid:
        return None


def _is_ascii(text: bytes) -> bool:
    """What `isascii` says, but sooner."""
    return bool(np.frombuffer(text, dtype=np.uint8).max(initial=0) < _FIRST_NOT_ASCII)


def single_spaced(text: bytes) -> bytes:
    """The text with one separator between fields and none around a line."""
    for other in _OTHER_SPACES:
        if other in text:
            text = text.replace(bytes([other]), b" ")
    byte: NDArray[np.uint8] = np.frombuffer(text, dtype=np.uint8)
    space = byte == _SPACE
    after_gap = np.ones(len(byte), dtype=bool)
    after_gap[1:] = (space | (byte == _NEWLINE))[:-1]
    squeezed: bytes = byte[~(space & after_gap)].tobytes()
    return squeezed.replace(b" \n", b"\n").removesuffix(b" ")
