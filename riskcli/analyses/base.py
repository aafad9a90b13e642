"""What every result object can do: show itself, become a frame, and be written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from riskcli.output.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from riskcli.output.display import Display


class Shown(ABC):
    """A result object; its tables for people are drawn by `displays` of the module it names."""

    displayed_by: ClassVar[str] = ""

    @abstractmethod
    def result(self) -> Result:
        """The tidy rows, and what they rest on."""

    def displays(self, width: int) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        if self.displayed_by:
            drawn: Sequence[Display] = import_module(self.displayed_by).displays(self, width)
            return drawn
        from riskcli.output.display import rows_as_display

        return [rows_as_display(self.result())]

    def to_frame(self) -> pd.DataFrame:
        """The tidy rows as a DataFrame."""
        return self.result().to_frame()

    def to_text(self, form: str = "tsv") -> str:
        """The result as tsv, csv, json or jsonl, or as a table for people in another form."""
        from riskcli.output.render import rendered

        return rendered(self.result, self.displays, form)

    def write(self, path: Path | str, form: str | None = None) -> None:
        """Write it to a file, replaced as a whole; the form is the suffix's where none is given."""
        from riskcli.output.emit import emit, format_for
        from riskcli.output.render import FORMS

        target = Path(path)
        emit(self.to_text(format_for(form, target, FORMS)), target)

    def __repr__(self) -> str:
        """The table, as at a terminal of 80 columns."""
        return self.to_text("table").rstrip("\n")

    def _repr_html_(self) -> str:
        """The table, as a notebook shows it."""
        return self.to_text("html")
