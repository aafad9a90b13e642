"""How a command ends: notes to stderr, the result to stdout or a file, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import click

from riskcli.cli.options import Inputs, Output
from riskcli.cli.rendering import write
from riskcli.core.messages import InputError, Note
from riskcli.output.escape import all_visible
from riskcli.output.formats import Source


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
