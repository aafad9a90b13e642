"""Places that are no files of this machine, in the place of paths: URLs and data sets.

URLs (s3://, gs://, https://, hdfs:// ...) are read through fsspec in ranges of some megabytes. A
range that does not come, or comes short, is asked for again; a file that is no longer there, or may
not be read, is not. (universal-pathlib does none of this, and drops the host of some URLs.)
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, TypeVar

from riskcli.core.messages import InputError

_URL = re.compile(r"(?:[^=/]+=)?[A-Za-z][A-Za-z0-9+.-]+://")
_COLLAPSED = re.compile(r"^((?:[^=/]+=)?[A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
_RANGE = 8 * 2**20
_DELAYS = (0.2, 0.8, 2.0)
"""Seconds to wait before another attempt."""
_FINAL = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError)
Answer = TypeVar("Answer")


if TYPE_CHECKING:
    _Path = Path
else:
    _Path = PurePosixPath
"""To the type checker a location is a path: it has every method that is called on one."""


def place_of(place: Path | str) -> Path:
    """The path that a text spells, here or elsewhere."""
    if isinstance(place, Location):
        return place
    if str(place).startswith(PREFIX):
        return DataSetPath(str(place))
    return RemotePath(place) if _URL.match(str(place)) else Path(place)


class Location(_Path):
    """A place that is no file of this machine."""

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return True

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return False

    def is_symlink(self) -> bool:
        return False

    def resolve(self, strict: bool = False) -> Location:
        return self

    def absolute(self) -> Location:
        return self

    def stat(self, *, follow_symlinks: bool = True) -> Any:
        raise FileNotFoundError(f"{self} lies on no disk here")

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        raise InputError(self, "cannot-write", "folders can be written on this machine only")


class RemotePath(Location):
    """A path of another file system, which fsspec knows."""

    _cached_info: dict[str, Any] | None = None

    def __str__(self) -> str:
        return _COLLAPSED.sub(r"\1://", super().__str__())

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return self._info() is not None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return (self._info() or {}).get("type") == "file"

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return (self._info() or {}).get("type") == "directory"

    def iterdir(self) -> Generator[RemotePath, None, None]:
        files, path = self._system()
        for info in self._with_retries(lambda: files.ls(path, detail=True)):
            entry = RemotePath(files.unstrip_protocol(info["name"]))
            entry._cached_info = info
            yield entry

    def open(self, mode: str = "rb", *_: Any, **__: Any) -> IO[Any]:  # type: ignore[override]
        """The file, to be read as bytes."""
        if mode != "rb":
            raise InputError(self, "cannot-write", "a remote file is written as a whole")
        return io.BufferedReader(_Ranges(self))

    def read_bytes(self) -> bytes:
        with self.open() as raw:
            return bytes(raw.read())

    def state(self) -> tuple[Any, ...]:
        """What changes when the file does, as far as its system says."""
        self._cached_info = None
        info = self._info() or {}
        return (info.get("size"), *(info.get(name) for name in ("ETag", "etag", "mtime", "md5")))

    def size(self) -> int | None:
        """How many bytes it has; None where its system does not say."""
        size = (self._info() or {}).get("size")
        return None if size is None else int(size)

    def read_range(self, start: int, end: int | None) -> bytes:
        """The bytes from start to end."""
        files, path = self._system()
        wanted = None if end is None else end - start

        def ask() -> bytes:
            data: bytes = files.cat_file(path, start=start, end=end)
            if wanted is not None and len(data) != wanted:
                raise OSError(f"the connection was cut: {len(data)} of {wanted} bytes came")
            return data

        return self._with_retries(ask)

    def replace_content(self, data: bytes) -> None:
        """Write the file as a whole."""
        files, path = self._system()
        self._with_retries(lambda: files.pipe_file(path, data), "cannot-write")

    def _info(self) -> dict[str, Any] | None:
        if self._cached_info is None:
            files, path = self._system()
            files.invalidate_cache()
            try:
                self._cached_info = self._with_retries(lambda: files.info(path), missing=None)
            except FileNotFoundError:
                return None
        return self._cached_info

    def _system(self) -> tuple[Any, str]:
        """The file system and its name of the file."""
        try:
            from fsspec.core import url_to_fs  # late: few files lie elsewhere, and it is an extra

            files, path = url_to_fs(str(self))
        except ImportError as error:
            what = "fsspec" if (error.name or "").startswith("fsspec") else error
            protocol = str(self).partition("://")[0]
            message = f"{protocol}:// needs the extra `remote` (or the package of its file system)"
            raise InputError(self, "unreadable", f"{message}: {what}") from error
        except ValueError as error:
            raise InputError(self, "not-found", str(error)) from error
        except Exception as error:  # whatever a driver says of its own settings
            raise InputError(self, "unreadable", _one_line(error)) from error
        return files, str(path)

    def _with_retries(
        self, ask: Callable[[], Answer], code: str = "unreadable", missing: Any = ""
    ) -> Answer:
        """The answer, asked for again where none came; an `InputError` says why there is none."""
        for delay in (*_DELAYS, None):
            try:
                return ask()
            except FileNotFoundError as error:
                if missing is None:
                    raise
                raise InputError(self, "not-found", "no such file or folder") from error
            except _FINAL as error:
                raise InputError(self, code, f"refused: {_one_line(error)}") from error
            except Exception as error:  # each file system has errors of its own
                if delay is None:
                    tries = len(_DELAYS) + 1
                    message = f"tried {tries} times: {_one_line(error)}"
                    raise InputError(self, code, message) from error
                time.sleep(delay)
        raise AssertionError("the last attempt answers or raises")


def _one_line(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class _Ranges(io.RawIOBase):
    """A remote file, read in ranges of which the last is kept."""

    def __init__(self, path: RemotePath) -> None:
        self._path = path
        self._at = 0
        self._start, self._buffer = 0, b""
        self._length = path.size()
        if self._length is None:  # some servers do not say how long a file is
            self._buffer = path.read_range(0, None)
            self._length = len(self._buffer)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length or 0}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        room, whole = memoryview(buffer).cast("B"), self._length or 0
        if self._at >= whole:
            return 0
        if not self._start <= self._at < self._start + len(self._buffer):
            self._start = self._at
            self._buffer = self._path.read_range(self._at, min(self._at + _RANGE, whole))
        offset = self._at - self._start
        data = self._buffer[offset : offset + len(room)]
        room[: len(data)] = data
        self._at += len(data)
        return len(data)


# Judgements and runs of ir_datasets (`irds:NAME`), as paths; the library is an extra.


PREFIX = "irds:"


class DataSetPath(Location):
    """A data set of ir_datasets; as a run, what it calls scored documents."""

    scored = False

    def as_run(self) -> DataSetPath:
        """The same data set, of which the scored documents are read."""
        path = DataSetPath(str(self))
        path.scored = True
        return path

    def read_bytes(self) -> bytes:
        """Its judgements, or scored documents, as JSON: names there may hold blanks."""
        value, rows = ("score", "scoreddocs") if self.scored else ("relevance", "qrels")
        by_topic: dict[str, dict[str, Any]] = {}
        try:
            for item in self._rows(rows):
                cells, name = by_topic.setdefault(str(item.query_id), {}), str(item.doc_id)
                if hasattr(item, "subtopic_id"):
                    cells, name = cells.setdefault(name, {}), str(item.subtopic_id)
                new = getattr(item, value)
                if cells.setdefault(name, new) != new:
                    message = f"topic {item.query_id} document {item.doc_id} is there twice"
                    raise InputError(self, "conflicting-judgement", message)
        except InputError:
            raise
        except Exception as error:  # a download, a licence, a damaged file: it says what
            raise InputError(self, "unreadable", " ".join(str(error).split())[:200]) from error
        import json  # late: only this needs it

        return json.dumps(by_topic).encode()

    def grades(self) -> str:
        """What its grades mean."""
        meanings: dict[int, str] = self._data_set().qrels_defs()
        return "; ".join(f"{grade}: {' '.join(text.split())}" for grade, text in meanings.items())

    def _rows(self, kind: str) -> Iterator[Any]:
        data_set = self._data_set()
        if not getattr(data_set, f"has_{kind}")():
            what = "scored documents" if self.scored else "judgements"
            raise InputError(self, "not-found", f"this data set has no {what}")
        rows: Iterable[Any] = getattr(data_set, f"{kind}_iter")()
        yield from rows

    def _data_set(self) -> Any:
        try:
            import ir_datasets  # late: it is an extra, and only asked for by name
        except ImportError as error:
            message = "irds: needs the extra `datasets` (the package ir-datasets)"
            raise InputError(self, "unreadable", message) from error
        name = str(self).removeprefix(PREFIX)
        try:
            return ir_datasets.load(name)
        except KeyError as error:
            message = f"ir_datasets knows no data set {name!r}"
            raise InputError(self, "not-found", message) from error
