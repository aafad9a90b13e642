"""The one place where results leave the program: stdout, or a file replaced as a whole."""

from __future__ import annotations

import sys
from pathlib import Path

from riskcli.core.errors import InputError
from riskcli.core.files import replace_file


def emit(content: str | bytes, output: Path | None) -> None:
    """Write to the file, or to stdout where there is none."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if output is not None:
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
