"""Files that are replaced as a whole, so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from riskcli.core.errors import InputError

PART = ".part"
"""The ending of a file that is still being written; its name begins with a dot."""


def replace_file(path: Path, data: bytes) -> None:
    """Write beside the target and rename: whoever looks sees the old file whole or the new one.

    A device or a pipe is written to; it is nothing that could be replaced.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        _write_into(path, data)
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=PART, dir=target.parent)
    except OSError as error:
        raise InputError(path, "cannot-write", error.strerror or str(error)) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_mode_of(target))
        Path(name).replace(target)
    except BaseException as error:
        with suppress(OSError):
            Path(name).unlink()
        if isinstance(error, OSError):
            raise InputError(path, "cannot-write", error.strerror or str(error)) from error
        raise


def _write_into(path: Path, data: bytes) -> None:
    try:
        with path.open("wb") as stream:
            stream.write(data)
    except OSError as error:
        raise InputError(path, "cannot-write", error.strerror or str(error)) from error


def _mode_of(target: Path) -> int:
    """The mode of the file that is replaced, or what a new file gets here."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
