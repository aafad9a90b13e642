"""A file's text as bytes: decompressed by content, without a byte order mark.

A compressed file is one or more streams, one after the other (`cat a.gz b.gz`). Python's own file
objects take an error at the start of a later stream for trailing garbage and leave the rest out
silently, so the streams are followed here. What may follow a stream:

    gzip   zero bytes up to the end of the file, or another stream
    bzip2  another stream
    xz     zero bytes, a multiple of four of them, then the end of the file or another stream
"""

import bz2
import hashlib
import io
import lzma
import os
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Protocol

from riskcli.core.inputs import note_input
from riskcli.core.locations import RemotePath
from riskcli.core.messages import InputError
from riskcli.core.parallel import Watch

_READ_AT_ONCE = 2**17
_XZ_MEMORY = 2**30
"""The most that an xz stream may ask for; `xz -9` needs 65 MiB."""


class DamagedError(Exception):
    """The data are cut off, spoilt, or followed by something that is no part of them."""


class Readable(Protocol):
    """A file as it lies on the disk."""

    def read(self, size: int, /) -> bytes: ...


class _Gzip:
    """A gzip stream; zlib checks its header, its checksum and its length."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


_Decoder = _Gzip | bz2.BZ2Decompressor | lzma.LZMADecompressor


@dataclass(frozen=True)
class Archive:
    """A compressed format: how its streams begin, and what may follow one."""

    name: str
    magic: bytes
    decoder: Callable[[], _Decoder] | None
    """What reads one stream; None where Arrow reads them all."""
    padding: int = 0
    """Zero bytes may follow a stream, in multiples of this many; 0 where none may."""
    goes_on: bool = True
    """Whether another stream may follow such zero bytes."""

    def open(self, raw: Readable) -> io.BufferedReader:
        """The text of all streams in `raw`; reading raises `DamagedError` where one is spoilt."""
        if self.decoder is None:
            return io.BufferedReader(_ArrowStreams(raw, self.name.lower()), _READ_AT_ONCE)
        return io.BufferedReader(_Streams(raw, self, self.decoder), _READ_AT_ONCE)


_new_xz = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
ARCHIVES = (
    Archive("gzip", b"\x1f\x8b", _Gzip, padding=1, goes_on=False),
    Archive("bzip2", b"BZh", bz2.BZ2Decompressor),
    Archive("xz", b"\xfd7zXZ\x00", _new_xz, padding=4),
    Archive("zstd", b"\x28\xb5\x2f\xfd", None),
    Archive("LZ4", b"\x04\x22\x4d\x18", None),
)
LONGEST_MAGIC = max(len(archive.magic) for archive in ARCHIVES)


def archive_of(start: bytes) -> Archive | None:
    """The format that a file with these first bytes is in; None where it is not compressed."""
    return next((archive for archive in ARCHIVES if start.startswith(archive.magic)), None)


class _Streams(io.RawIOBase):
    """The text of one stream after the other."""

    def __init__(self, raw: Readable, archive: Archive, decoder: Callable[[], _Decoder]) -> None:
        self._raw = raw
        self._archive = archive
        self._new_decoder = decoder
        self._decoder = decoder()
        self._number = 1
        self._stream = "stream 1"
        self._pending = b""
        """Bytes of the file that no decoder has taken yet."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        room = memoryview(buffer).cast("B")
        while True:
            if self._decoder.eof and not self._next_stream():
                return 0
            text = self._decode(len(room))
            if text:
                room[: len(text)] = text
                return len(text)

    def _decode(self, most: int) -> bytes:
        data = b""
        if self._decoder.needs_input:
            data, self._pending = self._pending or self._raw.read(_READ_AT_ONCE), b""
            if not data:
                raise DamagedError(f"the file ends within {self._stream}")
        try:
            return self._decoder.decompress(data, most)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise DamagedError(f"{self._stream}: {error}") from error

    def _next_stream(self) -> bool:
        """Whether there is one behind the stream that has ended; anything else is damage."""
        self._pending = self._decoder.unused_data or self._raw.read(_READ_AT_ONCE)
        zeros = self._skip_zeros() if self._archive.padding else 0
        few = len(self._archive.magic)
        while 0 < len(self._pending) < few and (more := self._raw.read(_READ_AT_ONCE)):
            self._pending += more
        if zeros % (self._archive.padding or 1):
            trouble = f"{zeros} bytes of padding, expected a multiple of {self._archive.padding}"
            raise DamagedError(f"{self._stream} is followed by {trouble}")
        if not self._pending:
            return False
        may_go_on = self._archive.goes_on or not zeros
        if not (may_go_on and self._pending.startswith(self._archive.magic)):
            raise DamagedError(f"{self._stream} is followed by what is not another stream")
        self._decoder = self._new_decoder()
        self._number += 1
        self._stream = f"stream {self._number}"
        return True

    def _skip_zeros(self) -> int:
        count, rest = 0, b""
        while self._pending and not rest:
            rest = self._pending.lstrip(b"\0")
            count += len(self._pending) - len(rest)
            self._pending = rest or self._raw.read(_READ_AT_ONCE)
        return count


class _ArrowStreams(io.RawIOBase):
    """The text of all streams that Arrow reads, which takes nothing for a stream that is none."""

    def __init__(self, raw: Readable, codec: str) -> None:
        import pyarrow as pa  # here, since commands load this module to show their help

        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec)
        self._errors = (OSError, pa.ArrowException)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Arrow's own `read` would never give back what it took for a piece that is damaged."""
        try:
            return int(self._stream.readinto(memoryview(buffer)))
        except self._errors as error:
            raise DamagedError(str(error)) from error


MAX_BYTES = 16 * 2**30
"""The most that one file may expand to; a stop for archives that expand without end."""
LONGEST_LINE = 8 * 2**20
"""The most that a line takes beyond the piece in which it begins."""
_UNPACKED = 5
"""How many times the size of a packed file its text is taken to have."""
PIECE = 8 * 2**20
"""Bytes of text that are read at once."""

_FOREIGN = (b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")  # zip, zstandard, UTF-16


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

    @contextmanager
    def mistakes_named(self, judgements: bool = False) -> Iterator[None]:
        """Errors say what the file holds in place of a run or scores, or of judgements."""
        try:
            yield
        except InputError as error:
            from riskcli.trec.mistaken import explained  # late: few files need it

            mistake = explained(error, self.path, self.start, judgements)
            raise mistake from (error.__cause__ if mistake is error else error)

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
            packed = None if archive is None else self._expanded(_Hashed(raw, digest), archive)
            pieces = packed or self._plain(raw, digest)
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
    note_input(path)
    try:
        yield
    except OSError as error:
        raise InputError(path, "unreadable", error.strerror or str(error)) from error


def _text_of(path: Path, piece: bytes) -> bytes:
    """The first piece of a text, without what is no part of it."""
    if piece.startswith(_FOREIGN):
        from riskcli.trec.mistaken import explained  # late: few files need it

        raise explained(InputError(path, "not-text", "no text"), path, piece)
    return piece.removeprefix(b"\xef\xbb\xbf")
