"""A file's text as bytes: decompressed by content, without a byte order mark."""

import hashlib
import io
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from riskcli.core.locations import RemotePath
from riskcli.core.messages import InputError
from riskcli.core.parallel import Watch
from riskcli.trec.archives import LONGEST_MAGIC, Archive, DamagedError, Readable, archive_of

MAX_BYTES = 16 * 2**30
"""The most that one file may expand to; a stop for archives that expand without end."""
LONGEST_LINE = 8 * 2**20
"""The most that a line takes beyond the piece in which it begins."""
_UNPACKED = 5
"""How many times the size of a packed file its text is taken to have."""
PIECE = 8 * 2**20
"""Bytes of text that are read at once."""

_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "zstandard-compressed twice; unpack it first",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextFile:
    """A plain, gzip, bzip2 or xz file, whole or in pieces of whole lines; its name says nothing."""

    def __init__(
        self,
        path: Path,
        max_bytes: int = MAX_BYTES,
        checksum: bool = False,
        content: bytes | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Read the first piece, of `content` if given; an `InputError` says why it cannot be.

        `watch` is called with the file's name, the bytes read so far, and its size.
        """
        self.path = path
        self._watch = watch
        self.sha256: str | None = None
        """The checksum of the file's bytes, once all of it was read, if it was asked for."""
        self._max_bytes = max_bytes
        self._only_once = content
        if content is None and not path.is_file():
            self._only_once = read_raw(path)
        self._state: tuple[Any, ...] | None = None
        self._size = 0
        self._is_whole = False
        self._packed = False
        self._rest = self._read(hashlib.sha256() if checksum else None)
        self.start = next(self._rest, b"")
        self.likely_size = self._size * (_UNPACKED if self._packed else 1)
        """The bytes of the text, or a guess at them where the file is packed."""

    def close(self) -> None:
        """Close the file, where it was not read to its end."""
        self._rest.close()

    def pieces(self) -> Iterator[bytes]:
        """The text, some lines at a time; only once."""
        yield from self._whole_lines(chain([self.start], self._rest))

    def text(self) -> bytes:
        """All of the text, in place of `pieces`."""
        return b"".join(chain([self.start], self._rest))

    def pieces_again(self) -> Iterator[bytes]:
        """The same pieces, read anew; an `InputError` where the file is no longer the same."""
        return iter([self.start]) if self._is_whole else self._whole_lines(self._read(None))

    def text_again(self) -> bytes:
        """All of the text, read anew."""
        return b"".join(self.pieces_again())

    def _whole_lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces; one that does not end a line, and is not the last, is part of a long one."""
        before = b""
        for piece in pieces:
            if before and not before.endswith(b"\n"):
                message = f"a line is longer than {LONGEST_LINE:,} bytes"
                raise InputError(self.path, "line-too-long", message)
            yield piece
            before = piece[-1:]

    def _read(self, digest: "hashlib._Hash | None") -> Generator[bytes, None, None]:
        with _reported(self.path), self._open() as raw:
            archive = archive_of(raw.read(LONGEST_MAGIC))
            self._packed = archive is not None
            self._size = size = raw.seek(0, io.SEEK_END)
            raw.seek(0)
            if archive is None:
                pieces = self._plain(raw, digest)
            else:
                pieces = self._expanded(_Hashed(raw, digest), archive)
            yield _text_of(self.path, next(pieces, b""))
            for piece in pieces:
                if self._watch is not None:
                    self._watch(self.path.name, raw.tell(), size)
                yield piece
            if digest is not None:
                self.sha256 = digest.hexdigest()

    def _open(self) -> IO[bytes]:
        if self._only_once is not None:
            return io.BytesIO(self._only_once)
        raw: IO[bytes] = self.path.open("rb")
        try:
            state = self.path.state() if isinstance(self.path, RemotePath) else _state(raw)
            if self._state not in (None, state):
                raise self._changed()
        except BaseException:
            raw.close()
            raise
        self._state = state
        return raw

    def _changed(self) -> InputError:
        return InputError(self.path, "changed", "the file was changed while it was read")

    def _plain(self, raw: IO[bytes], digest: "hashlib._Hash | None") -> Iterator[bytes]:
        size = raw.seek(0, io.SEEK_END)
        start = 0
        while start < size:
            raw.seek(start + PIECE)
            raw.readline(LONGEST_LINE)
            end = min(raw.tell(), size)
            raw.seek(start)
            self._is_whole = end - start == size
            piece = raw.read(end - start)
            if len(piece) != end - start:
                raise self._changed()
            if digest is not None:
                digest.update(piece)
            yield piece
            start = end

    def _expanded(self, raw: Readable, archive: Archive) -> Iterator[bytes]:
        total, ended = 0, False
        with archive.open(raw) as stream:
            while not ended:
                piece = self._expand(archive.name, stream)
                ended = len(piece) < PIECE
                self._is_whole = total == 0 and ended
                total += len(piece)
                if total > self._max_bytes:
                    message = f"expands to more than {self._max_bytes:,} bytes"
                    raise InputError(self.path, "too-large", message)
                if piece:
                    yield piece

    def _expand(self, name: str, stream: io.BufferedReader) -> bytes:
        """Some whole lines; less than a piece only at the end."""
        try:
            piece = stream.read(PIECE)
            return piece + stream.readline(LONGEST_LINE) if len(piece) == PIECE else piece
        except DamagedError as error:
            message = f"damaged {name} data: {error}"
            raise InputError(self.path, "damaged-archive", message) from error


def _state(raw: IO[bytes]) -> tuple[Any, ...]:
    """What changes when a file does."""
    about = os.fstat(raw.fileno())
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


class _Hashed(io.RawIOBase):
    """A file whose bytes enter a checksum, if there is one, as they are read."""

    def __init__(self, raw: IO[bytes], digest: "hashlib._Hash | None") -> None:
        self._raw, self._digest = raw, digest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._raw.read(size)
        if self._digest is not None:
            self._digest.update(data)
        return data


def read_raw(path: Path) -> bytes:
    """The file's bytes as they lie on the disk."""
    with _reported(path):
        return path.read_bytes()


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(path, "unreadable", error.strerror or str(error)) from error


def _text_of(path: Path, piece: bytes) -> bytes:
    """The first piece of a text, without what is no part of it."""
    for magic, kind in _FOREIGN.items():
        if piece.startswith(magic):
            raise InputError(path, "not-text", f"this is {kind}")
    return piece.removeprefix(_BYTE_ORDER_MARK)
