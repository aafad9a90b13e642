"""A folder of Parquet files that never change; each is named by the checksum of its bytes.

So a damaged file is noticed whenever it is read, two writers cannot disturb one another, and a
writer that is killed leaves at most a file that nobody takes for part of the store.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from riskcli.core.errors import InputError
from riskcli.core.files import replace_file
from riskcli.trec.arrow import UNREADABLE, file_bytes

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
    """The columns that tell rows apart; rows that agree in them are the same."""
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
        while new := [path for path in self.files() if path not in seen]:
            vanished = False
            for path in new:
                seen.add(path)
                try:
                    table = self.read(path)
                except FileNotFoundError:
                    vanished = True
                    continue
                if table is not None:
                    yield table
            if not vanished:
                return

    def read(self, path: Path) -> pa.Table | None:
        """The rows of a file; None where it is damaged.

        That the machine has no rights, files or memory left for it says nothing about the file.
        """
        data = _bytes_of(path)
        trouble = damage(path, data)
        try:
            table = None if trouble else self._parsed(data)
        except UNREADABLE as error:
            if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
                raise
            table, trouble = None, str(error)
        if table is None:
            self._set_aside(path, trouble or "its columns are not those of this store")
        return table

    def add(self, table: pa.Table) -> Path | None:
        """Write rows as a file of their own; where many files are small, together with theirs."""
        small = self._small()
        return self.merge(small if len(small) >= _MANY else [], table)

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

    def _parsed(self, data: pa.Buffer) -> pa.Table | None:
        file = parquet.ParquetFile(pa.BufferReader(data))
        if file.schema_arrow.names != self.schema.names:
            return None
        coded = list(self.dictionaries)
        return parquet.ParquetFile(pa.BufferReader(data), read_dictionary=coded).read()

    def _set_aside(self, path: Path, trouble: str) -> None:
        self.damaged.append((path, trouble))
        with suppress(OSError):  # a store that may only be read
            path.rename(path.with_suffix(DAMAGED))


def _bytes_of(path: Path) -> pa.Buffer:
    try:
        return file_bytes(path)
    except OSError as error:  # Arrow names the file in its message alone
        number = error.errno or errno.EISDIR
        raise OSError(number, os.strerror(number), str(path)) from error


def checksum(data: bytes | pa.Buffer) -> str:
    """The name of a file with these bytes, without its ending."""
    return hashlib.sha256(data).hexdigest()


def damage(path: Path, data: bytes | pa.Buffer) -> str:
    """What is wrong with a file of a store: nothing, or that its bytes are not those written."""
    return "" if checksum(data) == path.stem else "its bytes do not have the checksum in its name"


def cannot_keep(work: Callable[[], object]) -> str:
    """Do what writes to a store; in words why that cannot be done, or nothing."""
    try:
        work()
    except InputError as error:
        return error.message
    except OSError as error:
        return error.strerror or str(error)
    return ""


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
    kept = [i for i, row in enumerate(keys) if i == 0 or row != keys[i - 1]]
    return table if len(kept) == len(keys) else table.take(kept)
