"""Every format in which a result can leave, each declared once, and the way out."""

from __future__ import annotations

import gzip
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from riskcli.core.files import GZIP, replace_file
from riskcli.core.messages import InputError, UsageError, nearest
from riskcli.core.provenance import Based
from riskcli.output.display import Display
from riskcli.output.escape import html, visible
from riskcli.output.result import Result

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd

    from riskcli.output.display import Display
    from riskcli.output.result import Result


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


# Every form in which a result can leave, each declared once, and the one way into any of them.
#
# A new form is a function, from rows or from tables for people to text or bytes, and its line in
# FORMS: the command line, the library, the settings and the help read it from there. What only one
# kind of result can be (a gate's JUnit file) is declared beside that result, as an `OwnForm`.


TERMINAL_WIDTH = 80
FILE_WIDTH = 160
PUBLISHED_WIDTH = 120
LATEX_WIDTH = 78

Content = str | bytes


class Source(Protocol):
    """What can be written: rows for programs, and tables for people that take a given width."""

    def result(self) -> Result: ...
    def displays(self, width: int, /) -> Sequence[Display]: ...


@dataclass(frozen=True)
class View:
    """A source of which only a part is wanted."""

    result: Callable[[], Result]
    displays: Callable[[int], Sequence[Display]]


@dataclass(frozen=True)
class Dress:
    """What may be asked of a form; None leaves it to the form or the tables themselves."""

    caption: str | None = None
    label: str | None = None
    csv_safe: bool = False
    legend: bool = True
    siunitx: bool = False
    width: int | None = None
    colour: bool = False
    in_file: bool = False
    """Whether it goes to a file; a table may be wider there than on a screen."""


PLAIN = Dress()
IN_FILE = Dress(in_file=True)


@dataclass(frozen=True)
class Form(ABC):
    """A form: its name, the suffix of its files, and what it makes of a result."""

    name: str
    suffix: str
    """That of its files, which tells the form; empty where only the name does."""
    checksums: bool = field(default=False, kw_only=True)
    """Whether it names the files that the result rests on, with their checksums."""

    @abstractmethod
    def render(self, source: Any, dress: Dress = PLAIN) -> Content:
        """The result in this form."""

    def _refuse(self, option: str, given: object, owners: str) -> None:
        if given is not None:
            raise UsageError(f"--{option} belongs to {owners}, {self.name} has none")


@dataclass(frozen=True)
class RowsForm(Form):
    """A form of the rows, for programs."""

    write: Callable[[Result], Content]
    spreadsheet: bool = False
    """Whether spreadsheets open it, and take some texts for formulas."""

    def render(self, source: Source, dress: Dress = PLAIN) -> Content:
        """All rows at full precision."""
        self._refuse("caption", dress.caption, "tables for people")
        self._refuse("label", dress.label, "latex and html")
        result = source.result()
        return self.write(
            _renderers().spreadsheet_safe(result) if dress.csv_safe and self.spreadsheet else result
        )


@dataclass(frozen=True)
class TablesForm(Form):
    """A form of the tables for people, as wide as it says where no width is asked for."""

    write: Callable[[Sequence[Display], Dress], str]
    width: int
    file_width: int | None = None
    """The width in a file, where that is another."""
    labelled: bool = False

    def render(self, source: Source, dress: Dress = PLAIN) -> Content:
        """The tables, under the caption asked for."""
        if not self.labelled:
            self._refuse("label", dress.label, "latex and html")
        width = dress.width or (self.file_width if dress.in_file else None) or self.width
        shown = _captioned(source.displays(width), dress.caption)
        if not dress.legend:
            shown = [replace(display, caption=()) for display in shown]
        return self.write(shown, replace(dress, width=width))


@dataclass(frozen=True)
class OwnForm(Form):
    """A form that one kind of result alone has."""

    write: Callable[[Any], Content]

    def render(self, source: Any, dress: Dress = PLAIN) -> Content:
        """Whatever that kind of result makes of itself."""
        self._refuse("caption", dress.caption, "tables for people")
        self._refuse("label", dress.label, "latex and html")
        return self.write(source)


def _renderers() -> ModuleType:
    """Loaded late: help and errors name forms, and render none."""
    from riskcli.output import renderers

    return renderers


def _as_text(shown: Sequence[Display], dress: Dress) -> str:
    # Late: rich takes longer to import than the other forms to write.
    from riskcli.output.text import as_text

    return as_text(shown, dress.width or TERMINAL_WIDTH, dress.colour)


TABLE = TablesForm("table", ".txt", _as_text, TERMINAL_WIDTH, file_width=FILE_WIDTH)
TSV = RowsForm("tsv", ".tsv", lambda result: _renderers().as_tsv(result), spreadsheet=True)
CSV = RowsForm("csv", ".csv", lambda result: _renderers().as_csv(result), spreadsheet=True)
JSON = RowsForm("json", ".json", lambda result: _renderers().as_json(result), checksums=True)
JSONL = RowsForm("jsonl", ".jsonl", lambda result: _renderers().as_jsonl(result))


def _binary() -> ModuleType:
    """Loaded late: other forms do without the writers of Parquet and of spreadsheets."""
    from riskcli.output import binary

    return binary


PARQUET = RowsForm(
    "parquet", ".parquet", lambda result: _binary().as_parquet(result), checksums=True
)
XLSX = RowsForm("xlsx", ".xlsx", lambda result: _binary().as_xlsx(result), checksums=True)
MARKDOWN = TablesForm(
    "markdown", ".md", lambda shown, _: _renderers().as_markdown(shown), PUBLISHED_WIDTH
)
LATEX = TablesForm(
    "latex",
    ".tex",
    lambda shown, dress: _renderers().as_latex(shown, dress.label, dress.siunitx),
    LATEX_WIDTH,
    labelled=True,
)
HTML = TablesForm(
    "html", ".html", lambda shown, dress: _renderers().as_html(shown, dress.label), PUBLISHED_WIDTH,
    labelled=True,
)  # fmt: skip

Forms = tuple[Form, ...]
FORMS: Forms = (TABLE, TSV, CSV, JSON, JSONL, MARKDOWN, LATEX, HTML, PARQUET, XLSX)
"""The forms of every result that is rows and tables."""


def named(name: str, known: Forms) -> Form:
    """The form of that name."""
    for form in known:
        if form.name == name:
            return form
    names = [form.name for form in known]
    raise UsageError(f"no form {name!r} here{nearest(name, names)} ({', '.join(names)})")


def chosen(name: str | None, output: Path | None, known: Forms, for_people: bool = False) -> Form:
    """The form asked for, else that of the file's suffix, else a table or TSV for stdout.

    A result that is `for_people` is a table in a pipe, too: a verdict in a job's log.
    """
    if name is not None:
        return named(name, known)
    if output is None:
        return TABLE if TABLE in known and (for_people or sys.stdout.isatty()) else TSV
    inner = output.with_suffix("") if output.suffix.lower() == GZIP else output
    suffix = inner.suffix.lower()
    for form in known:
        if suffix and form.suffix == suffix:
            return form
    raise UsageError(
        f"{output}: the suffix does not tell the format; choose one of "
        f"{', '.join(form.name for form in known)}"
    )


def _captioned(displays: Sequence[Display], caption: str | None) -> Sequence[Display]:
    """The displays under that caption; where there are several, each says what it is too."""
    if caption is None:
        return displays
    if len(displays) == 1:
        return [replace(displays[0], title="", lead=caption)]
    return [replace(display, lead=caption) for display in displays]


# What every result of an analysis can do: rows, tables for people, and the forms of both.


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
