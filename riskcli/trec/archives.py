"""Compressed files: every stream is read to its end and checked, and nothing is skipped.

A compressed file is one or more streams, one after the other (`cat a.gz b.gz`). Python's own file
objects take an error at the start of a later stream for trailing garbage and leave the rest out
silently, so the streams are followed here. What may follow a stream:

    gzip   zero bytes up to the end of the file, or another stream
    bzip2  another stream
    xz     zero bytes, a multiple of four of them, then the end of the file or another stream

zstd and LZ4 files are followed by Arrow, which takes nothing for a stream that is none.
"""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

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
    padding: int | None = None
    """Zero bytes may follow a stream, in multiples of this many; None where none may."""
    goes_on: bool = True
    """Whether another stream may follow such zero bytes."""

    def open(self, raw: Readable) -> io.BufferedReader:
        """The text of all streams in `raw`; reading raises `DamagedError` where one is spoilt."""
        if self.decoder is None:
            return io.BufferedReader(_ArrowStreams(raw, self.name.lower()), _READ_AT_ONCE)
        return io.BufferedReader(_Streams(raw, self, self.decoder), _READ_AT_ONCE)


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


ARCHIVES = (
    Archive("gzip", b"\x1f\x8b", _Gzip, padding=1, goes_on=False),
    Archive("bzip2", b"BZh", bz2.BZ2Decompressor),
    Archive("xz", b"\xfd7zXZ\x00", _xz, padding=4),
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
        while 0 < len(self._pending) < len(self._archive.magic):
            more = self._raw.read(_READ_AT_ONCE)
            if not more:
                break
            self._pending += more
        if zeros % (self._archive.padding or 1):
            trouble = f"{zeros} bytes of padding, expected a multiple of {self._archive.padding}"
            raise DamagedError(f"{self._stream} is followed by {trouble}")
        if not self._pending:
            return False
        may_go_on = self._archive.goes_on or not zeros
        if not (may_go_on and self._pending.startswith(self._archive.magic)):
            raise DamagedError(
                f"{self._stream} is followed by something that is not another stream"
            )
        self._decoder = self._new_decoder()
        self._number += 1
        self._stream = f"stream {self._number}"
        return True

    def _skip_zeros(self) -> int:
        count = 0
        while self._pending:
            rest = self._pending.lstrip(b"\0")
            count += len(self._pending) - len(rest)
            self._pending = rest or self._raw.read(_READ_AT_ONCE)
            if rest:
                break
        return count


class _ArrowStreams(io.RawIOBase):
    """The text of all streams of a format that Arrow reads."""

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
