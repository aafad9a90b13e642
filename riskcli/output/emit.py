"""The one place where results leave the program: stdout, or a file replaced as a whole."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from riskcli.core.errors import InputError
from riskcli.core.files import GZIP, replace_file


def emit(content: str | bytes, output: Path | None) -> None:
    """Write to the file, or to stdout where there is none; a file ending in .gz is compressed."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if output is not None:
        if output.suffix.lower() == GZIP:
            data = gzip.compress(data, mtime=0)  # no time in it: the same bytes for the same result
        replace_file(output, data)
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError("stdout", "cannot-write", error.strerror or str(error)) from error
