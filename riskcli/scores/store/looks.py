"""The quick look: a file whose place, size, times and inode are as they were holds what it held.

It spares hashing where git's index would spare it, by the same rules: a file counts as unchanged
only if its device, inode, size, time of change of content and time of change of status (which no
program can set) are all the same to the nanosecond; and a look is remembered only if both times lay
well before the file was hashed, since a file changed twice within a tick of the file system's clock
would look alike ("racy git"). Where the system keeps no time of change of status, files are hashed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

import pyarrow as pa

from riskcli.scores.store.segments import Segments, cannot_keep
from riskcli.trec.arrow import numbers, texts

LOOKS = pa.schema(
    [
        pa.field("path", pa.string(), metadata={"meaning": "the file's absolute path"}),
        pa.field("device", pa.uint64(), metadata={"meaning": "the file system's number"}),
        pa.field("inode", pa.uint64(), metadata={"meaning": "the file's number in it"}),
        pa.field("size", pa.int64(), metadata={"meaning": "bytes"}),
        pa.field("modified_ns", pa.int64(), metadata={"meaning": "when its content changed last"}),
        pa.field("changed_ns", pa.int64(), metadata={"meaning": "when anything of it changed"}),
        pa.field("sha256", pa.string(), metadata={"meaning": "checksum of its bytes"}),
    ]
)
_TICK = 2 * 10**9
"""Nanoseconds of the coarsest clock of a file system in use (FAT's)."""


class Look(NamedTuple):
    """What the system says of a file without reading it."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


def look_at(path: Path) -> Look | None:
    """A look at a regular file; None at anything else, and where a look tells too little."""
    if os.name == "nt":  # st_ctime is when the file was made
        return None
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    if not S_ISREG(status.st_mode):
        return None
    numbers = (status.st_dev, status.st_ino, status.st_size)
    return Look(os.path.abspath(path), *numbers, status.st_mtime_ns, status.st_ctime_ns)  # noqa: PTH100


class Looks:
    """The looks that a store remembers."""

    def __init__(self, folder: Path, rehash: bool = False) -> None:
        """With `rehash` nothing is taken from a look."""
        self.segments = Segments(folder, LOOKS, key=tuple(LOOKS.names), dictionaries=("sha256",))
        self._known = {} if rehash else dict(self.remembered())
        self._new: dict[Look, str] = {}
        self._start = _now(folder)

    def remembered(self) -> Iterator[tuple[Look, str]]:
        """Each look with the checksum of the file that it was a look at."""
        for table in self.segments.tables():
            *columns, sums = (table[name].to_pylist() for name in LOOKS.names)
            yield from zip(map(Look, *columns), sums, strict=True)

    def checksum(self, look: Look | None) -> str | None:
        """The checksum of the file that looks so, if it is remembered."""
        return None if look is None else self._known.get(look)

    def keep(self, before: Look | None, sha256: str) -> None:
        """Remember the look at a file that was hashed after it, if the file is still the same."""
        if before is None or before in self._known:
            return
        settled = max(before.modified_ns, before.changed_ns) + _TICK < self._start
        if settled and look_at(Path(before.path)) == before:
            self._new[before] = sha256

    def flush(self) -> str:
        """Write what is new; in words why that cannot be done, or nothing."""
        if not self._new:
            return ""
        table, self._new = _table(self._new), {}
        return cannot_keep(partial(self.segments.add, table))

    def renew(self) -> None:
        """Forget the looks at files that are gone or have changed since."""
        before = self.segments.files()
        true = {look: kept for look, kept in self.remembered() if look_at(Path(look.path)) == look}
        written = self.segments.merge([], _table(true)) if true else None
        for path in before:
            if path != written:
                path.unlink(missing_ok=True)


def _table(looks: Mapping[Look, str]) -> pa.Table:
    columns = [*zip(*looks, strict=True), tuple(looks.values())]
    arrays = [
        texts(values) if field.type == pa.string() else numbers(values, field.type)
        for field, values in zip(LOOKS, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=LOOKS)


def _now(folder: Path) -> int:
    """The time by the clock here or that of the store's file system, whichever is behind."""
    now = time.time_ns()
    try:
        with tempfile.TemporaryFile(dir=folder.parent) as file:
            return min(now, os.fstat(file.fileno()).st_mtime_ns)
    except OSError:
        return now
