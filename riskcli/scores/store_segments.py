"""A folder of Parquet files that never change; each is named by the checksum of its bytes.

So a damaged file is noticed whenever it is read, two writers cannot disturb one another, and a
writer that is killed leaves at most a file that nobody takes for part of the store.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from riskcli.core.files import replace_file
from riskcli.core.inputs import note_input
from riskcli.core.messages import InputError
from riskcli.trec.arrow import UNREADABLE, column, reader

ENDING = ".parquet"
DAMAGED = ".damaged"
_MANY = 16
_SMALL = 4 * 2**20
_DICTIONARY = 2**26
"""Bytes of texts that are stored once; a collection's topics take far less."""


@dataclass
class Segments:
    """The files of one folder, all with the same columns."""

    folder: Path
    schema: pa.Schema
    key: tuple[str, ...]
    """The columns that identify a row; rows that agree in them are the same."""
    dictionaries: tuple[str, ...] = ()
    """Columns (as Parquet names them) whose few texts are stored once."""
    damaged: list[tuple[Path, str]] = field(default_factory=list)
    """Files that were set aside, each with what is wrong with it."""

    def files(self) -> list[Path]:
        """The files there are."""
        return sorted(self.folder.glob("*" + ENDING))

    def tables(self) -> Iterator[pa.Table]:
        """The rows of all files that are whole; damaged ones are set aside.

        A file that vanishes meanwhile has been merged into another one, which is read in its place.
        """
        seen: set[Path] = set()
        vanished = True
        while vanished:
            vanished = False
            for path in [path for path in self.files() if path not in seen]:
                seen.add(path)
                try:
                    table = self.read(path)
                except FileNotFoundError:
                    vanished = True
                    continue
                if table is not None:
                    yield table

    def read(self, path: Path) -> pa.Table | None:
        """The rows of a file; None where it is damaged.

        That the machine has no rights, files or memory left for it says nothing about the file.
        """
        note_input(path)
        data = path.read_bytes()
        same = checksum(data) == path.stem
        trouble = "" if same else "its bytes do not have the checksum in its name"
        try:
            table = None if trouble else self._parsed(data)
        except UNREADABLE as error:
            if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
                raise
            table, trouble = None, str(error)
        if table is None:
            self.damaged.append((path, trouble or "its columns are not those of this store"))
            with suppress(OSError):  # a store that may only be read
                path.rename(path.with_suffix(DAMAGED))
        return table

    def add(self, table: pa.Table) -> Path | None:
        """Write rows as a file of their own; where many files are small, together with theirs."""
        small = self._small()
        return self.merge(small if len(small) >= _MANY else [], table)

    def try_add(self, table: pa.Table) -> str:
        """Write rows; in words why that cannot be done, or nothing."""
        try:
            self.add(table)
        except InputError as error:
            return error.message
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def tidy(self) -> None:
        """One file in place of all small ones."""
        small = self._small()
        if len(small) > 1:
            self.merge(small)

    def merge(self, paths: Sequence[Path], more: pa.Table | None = None) -> Path | None:
        """One file in place of several, and of more rows; None where nothing of them is whole."""
        tables = [] if more is None else [more.cast(self.schema)]
        merged = []
        for path in paths:
            with suppress(FileNotFoundError):  # another writer was quicker
                table = self.read(path)
                if table is not None:
                    tables.append(table.cast(self.schema))
                    merged.append(path)
        if not tables:
            return None
        written = self._write(_distinct(pa.concat_tables(tables), self.key))
        for path in merged:
            if path != written:
                path.unlink(missing_ok=True)
        return written

    def _small(self) -> list[Path]:
        return [path for path in self.files() if size(path) < _SMALL]

    def _write(self, table: pa.Table) -> Path:
        sink = pa.BufferOutputStream()
        parquet.write_table(
            table,
            sink,
            compression="none",
            use_dictionary=list(self.dictionaries),
            dictionary_pagesize_limit=_DICTIONARY,
        )
        data = sink.getvalue().to_pybytes()
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / (checksum(data) + ENDING)
        if not path.exists():
            replace_file(path, data)
        return path

    def _parsed(self, data: bytes) -> pa.Table | None:
        source = reader(data)
        if parquet.ParquetFile(source).schema_arrow.names != self.schema.names:
            return None
        return parquet.ParquetFile(source, read_dictionary=list(self.dictionaries)).read()


def checksum(data: bytes) -> str:
    """The name of a file with these bytes, without its ending."""
    return hashlib.sha256(data).hexdigest()


def size(path: Path) -> int:
    """A file's size; that of a file which has just been merged into another is 0."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _distinct(table: pa.Table, key: Sequence[str]) -> pa.Table:
    """The rows by their key, each once: the same rows make the same file whoever writes it."""
    table = table.sort_by([(name, "ascending") for name in key])
    keys = list(zip(*(table[name].to_pylist() for name in key), strict=True))
    rows = [i for i, row in enumerate(keys) if i == 0 or row != keys[i - 1]]
    return table if len(rows) == len(keys) else table.take(rows)


# The quick look: a file whose place, size, times and inode are as they were holds what it held.
#
# It spares hashing where git's index would spare it, by the same rules: a file counts as
# unchanged only if its device, inode, size, time of change of content and time of change of
# status (which no program can set) are all the same to the nanosecond; and a look is remembered
# only if both times lay well before the file was hashed, since a file changed twice within a tick
# of the file system's clock would look alike ("racy git"). Where the system keeps no time of
# change of status, files are hashed.


FILE_STATES = pa.schema(
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


class FileState(NamedTuple):
    """What the system says of a file without reading it."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


def file_state(path: Path) -> FileState | None:
    """The state of a regular file; None for anything else, and on Windows."""
    if os.name == "nt":  # st_ctime is when the file was made
        return None
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    if not S_ISREG(status.st_mode):
        return None
    numbers = (status.st_dev, status.st_ino, status.st_size)
    return FileState(os.path.abspath(path), *numbers, status.st_mtime_ns, status.st_ctime_ns)  # noqa: PTH100


class FileStates:
    """Checksums of files by their state: a file in the same state is not hashed again."""

    def __init__(self, folder: Path, rehash: bool = False) -> None:
        """With `rehash` every file is hashed."""
        self.segments = Segments(
            folder, FILE_STATES, key=tuple(FILE_STATES.names), dictionaries=("sha256",)
        )
        self._checksums = {} if rehash else dict(self.remembered())
        self._unsaved: dict[FileState, str] = {}
        self.seen: dict[Path, FileState | None] = {}
        """Each file that was asked for, as it was then; None for one that is always hashed."""
        self._start = _now(folder)

    def remembered(self) -> Iterator[tuple[FileState, str]]:
        """Each state with the checksum of the file."""
        for table in self.segments.tables():
            *columns, sums = (table[name].to_pylist() for name in FILE_STATES.names)
            yield from zip(map(FileState, *columns), sums, strict=True)

    def checksum(self, path: Path) -> str | None:
        """The checksum of a file in its state of now, if that is remembered."""
        state = self.seen[path] = file_state(path)
        return None if state is None else self._checksums.get(state)

    def keep(self, path: Path, checksum: str) -> None:
        """Remember the checksum of a file whose state is still as seen before it was hashed."""
        before = self.seen.get(path)
        if before is None or before in self._checksums:
            return
        settled = max(before.modified_ns, before.changed_ns) + _TICK < self._start
        if settled and file_state(path) == before:
            self._unsaved[before] = checksum

    def flush(self) -> str:
        """Write what is new; in words why that cannot be done, or nothing."""
        if not self._unsaved:
            return ""
        table, self._unsaved = _table(self._unsaved), {}
        return self.segments.try_add(table)

    def renew(self) -> None:
        """Forget files that are gone or have changed since."""
        before = self.segments.files()
        unchanged = {
            state: checksum
            for state, checksum in self.remembered()
            if file_state(Path(state.path)) == state
        }
        written = self.segments.merge([], _table(unchanged)) if unchanged else None
        for path in before:
            if path != written:
                path.unlink(missing_ok=True)


def _table(looks: Mapping[FileState, str]) -> pa.Table:
    columns = [*zip(*looks, strict=True), tuple(looks.values())]
    kinds = [field.type for field in FILE_STATES]
    return pa.Table.from_arrays(list(map(column, kinds, columns)), schema=FILE_STATES)


def _now(folder: Path) -> int:
    """The time by the clock here or that of the store's file system, whichever is behind."""
    now = time.time_ns()
    try:
        with tempfile.TemporaryFile(dir=folder.parent) as file:
            return min(now, os.fstat(file.fileno()).st_mtime_ns)
    except OSError:
        return now
