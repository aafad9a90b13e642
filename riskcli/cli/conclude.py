"""How a command ends: notes to stderr, the result to stdout or a file, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import click

from riskcli.cli.options import Inputs, Output
from riskcli.core.errors import InputError
from riskcli.core.notes import Note
from riskcli.output.escape import visible

if TYPE_CHECKING:
    from riskcli.output.display import Display
    from riskcli.output.result import Result


class Concludable(Protocol):
    """What a command needs of an analysis."""

    @property
    def notes(self) -> tuple[Note, ...]: ...
    @property
    def skipped(self) -> tuple[InputError, ...]: ...
    def result(self) -> Result: ...
    def displays(self, width: int) -> Sequence[Display]: ...


def conclude(analysis: Concludable, form: str, inputs: Inputs, output: Output) -> int:
    """Tell the notes, write the result, and give the exit code."""
    # Late: a command whose input is wrong does without the renderers.
    from riskcli.cli.rendering import write

    tell(analysis.notes, inputs.quiet)
    write(analysis.result(), analysis.displays, form, output.output, **output.words)
    return inputs.exit_code(analysis.skipped)


def tell(notes: Iterable[Note], quiet: bool) -> None:
    """Print each note once; `quiet` leaves the warnings."""
    for note in dict.fromkeys(notes):
        if note.warning or not quiet:
            kind = "warning" if note.warning else "note"
            click.echo(f"{kind}: {visible(note.message)}", err=True)
