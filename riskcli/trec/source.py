"""A file's text as bytes: decompressed by content, without a byte order mark."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from riskcli.errors import InputError

MAX_BYTES = 16 * 2**30
"""The most that one file may expand to; a stop for archives that expand without end."""

_Opener = Callable[[IO[bytes]], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]
_OPENERS: dict[bytes, tuple[str, _Opener]] = {
    b"\x1f\x8b": ("gzip", lambda raw: gzip.GzipFile(fileobj=raw)),
    b"BZh": ("bzip2", lambda raw: bz2.BZ2File(raw)),
    b"\xfd7zXZ\x00": ("xz", lambda raw: lzma.LZMAFile(raw)),  # noqa: SIM115
}
_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "zstandard-compressed; unpack it first",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def load(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a plain, gzip, bzip2 or xz file whole; its name does not matter."""
    raw = read_raw(path)
    for magic, (name, opener) in _OPENERS.items():
        if raw.startswith(magic):
            raw = _expand(path, raw, name, opener, max_bytes)
    for magic, found in _FOREIGN.items():
        if raw.startswith(magic):
            raise InputError(path, "not-text", f"this is {found}")
    return raw.removeprefix(_BYTE_ORDER_MARK)


def read_raw(path: Path) -> bytes:
    """The file's bytes as they lie on the disk."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, "unreadable", error.strerror or str(error)) from error


def sha256(path: Path) -> str | None:
    """The checksum of the file as it lies on the disk; None for a pipe, which is read only once."""
    if not path.is_file():
        return None
    return hashlib.sha256(read_raw(path)).hexdigest()


def _expand(
    path: Path,
    raw: bytes,
    name: str,
    opener: _Opener,
    max_bytes: int,
) -> bytes:
    try:
        with opener(io.BytesIO(raw)) as stream:
            text = stream.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise InputError(path, "damaged-archive", f"damaged {name} data: {error}") from error
    if len(text) > max_bytes:
        raise InputError(path, "too-large", f"expands to more than {max_bytes:,} bytes")
    return text
