"""How a command ends: notes to stderr, the result to stdout or a file, and the exit code."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

import click

from riskcli.cli.options import Output
from riskcli.cli.reading import Inputs
from riskcli.core.choices import Colour
from riskcli.core.messages import InputError, Note, UsageError
from riskcli.output.escape import all_visible, without_controls
from riskcli.output.formats import TABLE, TERMINAL_WIDTH, OutputFormat, Source, emit


class Concludable(Source, Protocol):
    """What a command needs of an analysis."""

    @property
    def notes(self) -> tuple[Note, ...]: ...
    @property
    def skipped(self) -> tuple[InputError, ...]: ...


def conclude(analysis: Concludable, inputs: Inputs, output: Output) -> int:
    """Tell the notes, write the result, and give the exit code."""
    tell(analysis.notes, inputs.quiet)
    write(analysis, output)
    return inputs.exit_code(analysis.skipped)


def tell(notes: Iterable[Note], quiet: bool) -> None:
    """Print each note once; `quiet` leaves the warnings."""
    lines = [
        f"{'warning' if note.warning else 'note'}: {note.message}"
        for note in dict.fromkeys(notes)
        if note.warning or not quiet
    ]
    for line in all_visible(lines):
        click.echo(line, err=True)


def write(source: Any, output: Output) -> None:
    """The result in the format asked for, to the file or to stdout."""
    format, options = output.output_format, output.render_options
    if output.output is None and format is TABLE:
        width = _terminal_width()
        options = replace(options, width=width, colour=_colour_wanted(output.color))
    content = format.render(source, options)
    if output.output is None and sys.stdout.isatty():
        content = _for_terminal(content, format)
    emit(content, output.output)


def _terminal_width() -> int:
    """That of COLUMNS, else of the terminal that stdout is; 80 where neither tells one."""
    with suppress(ValueError):
        if (asked := int(os.environ.get("COLUMNS", ""))) > 0:
            return asked
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or TERMINAL_WIDTH
    return TERMINAL_WIDTH


def _for_terminal(content: str | bytes, format: OutputFormat) -> str:
    """Names reach a terminal without their control characters; a table's colours pass."""
    if isinstance(content, bytes):
        raise UsageError(f"{format.name} is not for terminals: name a file with --output")
    return content if format is TABLE else without_controls(content)


def _colour_wanted(asked: Colour) -> bool:
    """As asked; else as the environment has it; else on a terminal that is not dumb."""
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(
        os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")
    ):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
