"""What every result of an analysis can do: rows, tables for people, and the forms of both."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from riskcli.core.basis import Based
from riskcli.core.errors import UsageError
from riskcli.output.display import Display
from riskcli.output.emit import emit
from riskcli.output.escape import html, visible
from riskcli.output.forms import FORMS, IN_FILE, TERMINAL_WIDTH, Dress, Forms, chosen, named
from riskcli.output.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Analysis(Based, ABC):
    """A result: tidy rows for programs, tables for people, and the forms of both."""

    @abstractmethod
    def result(self) -> Result:
        """The tidy rows, and what they rest on."""

    @abstractmethod
    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""

    @property
    def forms(self) -> Forms:
        """The forms in which it can be written."""
        return FORMS

    def to_frame(self) -> pd.DataFrame:
        """The tidy rows as a DataFrame."""
        return self.result().to_frame()

    def to_text(self, form: str = "tsv", *, width: int | None = None) -> str:
        """The result as tsv, csv, json or jsonl, or as a table for people in another form.

        `width` is what tables may take; None leaves it to the form.
        """
        content = named(form, self.forms).render(self, Dress(width=width))
        if isinstance(content, bytes):
            raise UsageError(f"{form} is not text: write it to a file")
        return content

    def write(self, path: Path | str, form: str | None = None) -> None:
        """Write it to a file, replaced as a whole; the form is the suffix's where none is given."""
        target = Path(path)
        emit(chosen(form, target, self.forms).render(self, IN_FILE), target)

    def __repr__(self) -> str:
        """The table, as at a terminal of 80 columns, and the warnings below it."""
        table = self.to_text("table").rstrip("\n")
        warnings = [
            textwrap.fill(f"warning: {visible(note.message)}", TERMINAL_WIDTH)
            for note in self.notes
            if note.warning
        ]
        return "\n".join([table, *warnings])

    def _repr_html_(self) -> str:
        """The table and the warnings, as a notebook shows them."""
        warnings = "".join(f"<li>{html(note.message)}</li>" for note in self.notes if note.warning)
        return self.to_text("html") + (f"<ul>{warnings}</ul>\n" if warnings else "")
