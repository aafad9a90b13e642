"""Notes and warnings go to stderr, so that stdout carries the result only."""

from __future__ import annotations

from collections.abc import Iterable

import click

from riskcli.core.notes import Note
from riskcli.output.escape import visible


def tell(notes: Iterable[Note], quiet: bool) -> None:
    """Print each note once; `quiet` leaves the warnings."""
    for note in dict.fromkeys(notes):
        if note.warning or not quiet:
            kind = "warning" if note.warning else "note"
            click.echo(f"{kind}: {visible(note.message)}", err=True)
