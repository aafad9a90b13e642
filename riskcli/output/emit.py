"""The one place where results leave the program: stdout, or a file replaced as a whole."""

from __future__ import annotations

import sys
from pathlib import Path

from riskcli.core.errors import InputError, UsageError
from riskcli.core.files import replace_file
from riskcli.output.escape import without_orders

SUFFIXES = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".txt": "table",
    ".tex": "latex",
    ".html": "html",
    ".parquet": "parquet",
}

RESULT_FORMATS = ("table", "tsv", "csv", "json", "jsonl", "markdown", "latex", "html")
"""The forms of a result that is shown as tables."""


def format_for(given: str | None, output: Path | None, known: tuple[str, ...]) -> str:
    """The format asked for, else the one of the file's suffix, else a table or TSV."""
    if given is not None:
        return given
    if output is None:
        return "table" if sys.stdout.isatty() and "table" in known else "tsv"
    wanted = SUFFIXES.get(output.suffix.lower())
    if wanted not in known:
        raise UsageError(
            f"{output}: the suffix does not tell the format; name one with -f: {', '.join(known)}"
        )
    return wanted


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


def emit_rows(content: str | bytes, output: Path | None) -> None:
    """Write what programs read; names reach a terminal without their control characters."""
    if output is None and sys.stdout.isatty():
        text = content if isinstance(content, str) else content.decode(errors="replace")
        content = without_orders(text)
    emit(content, output)
