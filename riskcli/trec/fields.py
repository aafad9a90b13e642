"""Lines of fields parted by white space, at the speed of the machine.

`columns` answers only for text that it can vouch for: every line holds the expected number of
fields and every number is one. Otherwise it answers None, and the caller looks closely, line by
line, at what is wrong. A line means here what `bytes.split()` makes of it.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from riskcli.trec import repeated

TEXT = pa.large_string()
REPEATED = pa.dictionary(pa.int32(), pa.string())
NUMBER = pa.float64()
WHOLE = pa.int64()

Number = TypeVar("Number", np.int32, np.int64, np.float64)

_SPACE, _NEWLINE = 0x20, 0x0A
_OTHER_SPACES = b"\t\v\f\r"
"""What `bytes.split()` takes for white space besides the blank and the line end."""
_BLOCK = 1 << 18
"""Bytes looked at at once: few enough to stay in the processor's cache."""
_POOL = pa.system_memory_pool()
"""It gives less memory back between files than Arrow's own, which costs time."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Arrow would drop one at the start of a text; here it belongs to the first field."""


def columns(
    text: bytes, layout: dict[str, Any], wanted: tuple[str, ...], threads: bool = False
) -> pa.Table | None:
    """The wanted columns of a text with one field for each name of the layout, or None.

    `threads` is for a text that is read alone; it changes nothing else.
    """
    if b"\0" in text:
        return None
    single = single_spaced(text)
    if not single or single.isspace() or single.startswith(_BYTE_ORDER_MARK):
        return None
    try:
        table = _table(single, layout, wanted, threads)
    except pa.ArrowInvalid:
        return None
    for place, name in enumerate(wanted):
        if layout[name] == REPEATED:
            column = repeated.encoded(table[name])
            table = table.set_column(place, name, column)
    return table


def _table(text: bytes, layout: dict[str, Any], wanted: tuple[str, ...], threads: bool) -> pa.Table:
    """The wanted columns, repeated texts not yet encoded."""
    first_line = text[: text.find(b"\n")] if b"\n" in text else text
    types = {name: TEXT if kind == REPEATED else kind for name, kind in layout.items()}
    return csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=list(layout), use_threads=threads),
        parse_options=csv.ParseOptions(
            delimiter="\t" if b"\t" in first_line else " ", quote_char=False, escape_char=False
        ),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(wanted),
            null_values=[],
            strings_can_be_null=False,
            check_utf8=not text.isascii(),
        ),
        memory_pool=_POOL,
    )


def single_spaced(text: bytes) -> bytes:
    """The text with one separator between fields and none around a line; most need no change."""
    if _is_single_spaced(text):
        return text
    for other in _OTHER_SPACES:
        if other in text:
            text = text.replace(bytes([other]), b" ")
    byte: NDArray[np.uint8] = np.frombuffer(text, dtype=np.uint8)
    space = byte == _SPACE
    after_gap = np.ones(len(byte), dtype=bool)
    after_gap[1:] = (space | (byte == _NEWLINE))[:-1]
    squeezed: bytes = byte[~(space & after_gap)].tobytes()
    return squeezed.replace(b" \n", b"\n").removesuffix(b" ")


def _is_single_spaced(text: bytes) -> bool:
    """Whether only one of space and tab parts the fields, once each, and lines end in LF."""
    if any(other in text for other in b"\v\f\r") or (b"\t" in text and b" " in text):
        return False
    if text.endswith((b" ", b"\t")):
        return False
    byte: NDArray[np.uint8] = np.frombuffer(text, dtype=np.uint8)
    after_blank = True
    for start in range(0, len(byte), _BLOCK):
        blank = byte[start : start + _BLOCK] <= _SPACE
        if (after_blank and blank[0]) or np.any(blank[1:] & blank[:-1]):
            return False
        after_blank = bool(blank[-1])
    return True


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array, with one dictionary where its texts are repeated ones."""
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.unify_dictionaries().combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def numbers(column: pa.Array, kind: type[Number]) -> NDArray[Number]:
    """An Arrow array without nulls, as numpy sees it. (Its own `to_numpy` would import pandas.)"""
    values: NDArray[Number] = np.frombuffer(column.buffers()[1], dtype=kind)
    return values[column.offset : column.offset + len(column)]
