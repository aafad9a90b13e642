"""Every format in which a result can leave, each declared once, and the way out."""

from __future__ import annotations

import gzip
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from riskcli.core.files import GZIP, replace_file
from riskcli.core.inputs import refuse_input
from riskcli.core.messages import (
    InputError,
    Note,
    UsageError,
    WithProvenance,
    nearest,
)
from riskcli.core.stopping import forget_stdout
from riskcli.output.escape import html, visible
from riskcli.output.overwriting import refuse_to_replace
from riskcli.output.verdict import Statements

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd

    from riskcli.output.display import Display
    from riskcli.output.result import Result


STDOUT = "-"
"""What stdout is called where a file is asked for."""
_STDOUT = Path("/dev/fd/1")


def emit(
    content: str | bytes, output: Path | None, *, state: bool = False, is_run: bool = False
) -> None:
    """Write to the file, or to stdout where there is none; a file ending in .gz is compressed.

    What is there is replaced if `refuse_to_replace` lets it. `-` is stdout.
    """
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if output is not None and str(output) != STDOUT:
        refuse_to_replace(output, state=state, is_run=is_run)
        if output.suffix.lower() == GZIP:
            data = gzip.compress(data, mtime=0)  # no time in it: the same bytes for the same result
        replace_file(output, data, state)
        return
    refuse_input(_STDOUT)  # `>> a.run` would spoil it
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # its reader has seen enough; the answer is the exit code's, too
        forget_stdout()
    except OSError as error:
        raise InputError("stdout", "cannot-write", error.strerror or str(error)) from error


# Every format in which a result can leave, each declared once, and the one way into any of them.
#
# A new format is a function, from rows or from tables for people to text or bytes, and its line in
# FORMATS: the command line, the library, the settings and the help read it from there. What only
# one kind of result can be (a gate's JUnit file) is declared beside that result, as an `OwnFormat`.


TERMINAL_WIDTH = 80
FILE_WIDTH = 160
PUBLISHED_WIDTH = 120
LATEX_WIDTH = 78

Content = str | bytes


class Source(Protocol):
    """What can be written: rows for programs, and tables for people that take a given width."""

    @property
    def notes(self) -> Sequence[Note]: ...
    @property
    def verdict(self) -> Statements: ...
    def result(self) -> Result: ...
    def displays(self, width: int, /) -> Sequence[Display]: ...
    def screen(self, width: int, /) -> Sequence[Display]: ...


@dataclass(frozen=True)
class RenderOptions:
    """What may be asked of a format; None leaves it to the format or the tables themselves."""

    caption: str | None = None
    label: str | None = None
    csv_safe: bool = False
    legend: bool = True
    siunitx: bool = False
    width: int | None = None
    colour: bool = False
    in_file: bool = False
    """Whether it goes to a file; a table may be wider there than on a screen."""
    full: bool = False
    """Whether a terminal, too, gets all tables and not only those that answer on one screen."""


PLAIN = RenderOptions()
IN_FILE = RenderOptions(in_file=True)


@dataclass(frozen=True)
class OutputFormat(ABC):
    """A format: its name, the suffix of its files, and what it makes of a result."""

    name: str
    suffix: str
    """That of its files, which tells the format; empty where only the name does."""
    checksums: bool = field(default=False, kw_only=True)
    """Whether it names the files that the result rests on, with their checksums."""

    @abstractmethod
    def render(self, source: Any, options: RenderOptions = PLAIN) -> Content:
        """The result in this format."""

    def _refuse(self, option: str, given: object, owners: str) -> None:
        if given is not None:
            raise UsageError(f"--{option} belongs to {owners}, {self.name} has none")


@dataclass(frozen=True)
class OwnFormat(OutputFormat):
    """A format that one kind of result alone has."""

    write: Callable[[Any], Content]

    def render(self, source: Any, options: RenderOptions = PLAIN) -> Content:
        """Whatever that kind of result makes of itself."""
        self._refuse("caption", options.caption, "tables for people")
        self._refuse("label", options.label, "latex and html")
        return self.write(source)


@dataclass(frozen=True)
class RowsFormat(OwnFormat):
    """A format of the rows, for programs."""

    spreadsheet: bool = False
    """Whether spreadsheets open it, and take some texts for formulas."""

    def render(self, source: Source, options: RenderOptions = PLAIN) -> Content:
        """All rows at full precision."""
        rows = source.result()
        if said := source.verdict.all:
            rows = replace(rows, verdicts=said)
        if options.csv_safe and self.spreadsheet:
            rows = _renderers().spreadsheet_safe(rows)
        return super().render(rows, options)


@dataclass(frozen=True)
class TablesFormat(OutputFormat):
    """A format of the tables for people, as wide as it says where no width is asked for."""

    write: Callable[[Sequence[Display], RenderOptions], str]
    width: int
    file_width: int | None = None
    """The width in a file, where that is another."""
    labelled: bool = False
    one_screen: bool = False
    """Whether it answers on one screen, where it is no file and not all is asked for."""

    def render(self, source: Source, options: RenderOptions = PLAIN) -> Content:
        """The tables, under the caption asked for."""
        if not self.labelled:
            self._refuse("label", options.label, "latex and html")
        width = options.width or (self.file_width if options.in_file else None) or self.width
        short = self.one_screen and not (options.in_file or options.full)
        shown = source.screen(width) if short else source.displays(width)
        if options.caption is not None:  # where there are several, each says what it is too
            alone, lead = len(shown) == 1, options.caption
            shown = [replace(one, lead=lead, title="" if alone else one.title) for one in shown]
        if not options.legend:
            shown = [replace(display, caption=(), hint="") for display in shown]
        if told := [each.message for each in source.notes if each.in_every_report]:
            shown = [replace(display, caption=[*display.caption, *told]) for display in shown]
        return self.write(shown, replace(options, width=width))


# What writes is imported when it does: help and errors only name formats, rich takes longer to
# import than the other formats to write, and most calls do without Parquet and spreadsheets.


def _renderers() -> ModuleType:
    from riskcli.output import renderers

    return renderers


def _binary() -> ModuleType:
    from riskcli.output import binary

    return binary


def _as_text(shown: Sequence[Display], options: RenderOptions) -> str:
    from riskcli.output.text import as_text

    return as_text(shown, options.width or TERMINAL_WIDTH, options.colour)


def _as_latex(shown: Sequence[Display], options: RenderOptions) -> str:
    from riskcli.output.latex import as_latex

    return as_latex(shown, options.label, options.siunitx)


def _as_html(shown: Sequence[Display], options: RenderOptions) -> str:
    return str(_renderers().as_html(shown, options.label))


TABLE = TablesFormat(
    "table", ".txt", _as_text, TERMINAL_WIDTH, file_width=FILE_WIDTH, one_screen=True
)
TSV = RowsFormat("tsv", ".tsv", lambda rows: _renderers().as_tsv(rows), spreadsheet=True)
CSV = RowsFormat("csv", ".csv", lambda rows: _renderers().as_csv(rows), spreadsheet=True)
JSON = RowsFormat("json", ".json", lambda rows: _renderers().as_json(rows), checksums=True)
JSONL = RowsFormat("jsonl", ".jsonl", lambda rows: _renderers().as_jsonl(rows))
PARQUET = RowsFormat("parquet", ".parquet", lambda r: _binary().as_parquet(r), checksums=True)
XLSX = RowsFormat("xlsx", ".xlsx", lambda rows: _binary().as_xlsx(rows), checksums=True)
MARKDOWN = TablesFormat(
    "markdown", ".md", lambda shown, _: _renderers().as_markdown(shown), PUBLISHED_WIDTH
)
LATEX = TablesFormat("latex", ".tex", _as_latex, LATEX_WIDTH, labelled=True)
HTML = TablesFormat("html", ".html", _as_html, PUBLISHED_WIDTH, labelled=True)

Formats = tuple[OutputFormat, ...]
FORMATS: Formats = (TABLE, TSV, CSV, JSON, JSONL, MARKDOWN, LATEX, HTML, PARQUET, XLSX)
"""The formats of every result that is rows and tables."""
_OF_MATRICES: dict[OutputFormat, OutputFormat] = {
    JSON: OwnFormat("json", ".json", lambda matrices: matrices.as_json(), checksums=True),
    PARQUET: OwnFormat(
        "parquet", ".parquet", lambda matrices: matrices.as_parquet(), checksums=True
    ),
}
MATRIX_FORMATS: Formats = tuple(_OF_MATRICES.get(format, format) for format in FORMATS)
"""Those of every result, JSON in the shape of the matrix, and Parquet."""
FINDING_FORMATS: Formats = (
    *FORMATS,
    OwnFormat("github", "", lambda validation: validation.as_github()),
    OwnFormat("sarif", ".sarif", lambda validation: validation.as_sarif()),
    OwnFormat("codequality", "", lambda validation: validation.as_code_quality()),
)
"""The formats of what was found in files: those of every result, and what CI services read."""


def named(name: str, known: Formats) -> OutputFormat:
    """The format of that name."""
    by_name = {format.name: format for format in known}
    if name not in by_name:
        raise UsageError(f"no format {name!r} here{nearest(name, by_name)} ({', '.join(by_name)})")
    return by_name[name]


def chosen(
    name: str | None, output: Path | None, known: Formats, for_people: bool = False
) -> OutputFormat:
    """The format asked for, else that of the file's suffix, else a table or TSV for stdout.

    A result that is `for_people` is a table in a pipe, too: a verdict in a job's log.
    """
    if name is not None:
        return named(name, known)
    if output is None:
        return TABLE if TABLE in known and (for_people or sys.stdout.isatty()) else TSV
    inner = output.with_suffix("") if output.suffix.lower() == GZIP else output
    suffix = inner.suffix.lower()
    for format in known:
        if suffix and format.suffix == suffix:
            return format
    names = ", ".join(format.name for format in known)
    raise UsageError(f"{output}: the suffix does not tell the format; choose one of {names}")


# What every result of an analysis can do: rows, tables for people, and the formats of both.


@dataclass(frozen=True, repr=False)
class Analysis(WithProvenance, ABC):
    """A result: tidy rows for programs, tables for people, and the formats of both."""

    @abstractmethod
    def result(self) -> Result:
        """The tidy rows, and what they rest on."""

    @property
    def verdict(self) -> Statements:
        """What it says, in sentences: `str(verdict)` is the text, each statement has its facts."""
        return Statements()

    @abstractmethod
    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take: all of them."""

    def screen(self, width: int, /) -> Sequence[Display]:
        """Those that answer on one screen of a terminal; one that has more says how to get it."""
        return self.displays(width)

    def _answering(self, tables: Iterable[tuple[str, Sequence[Display]]]) -> list[Display]:
        """All tables; above the first of those about the same what the verdict says of it."""
        verdict = self.verdict
        shown: list[Display] = []
        for about, (first, *others) in tables:
            shown += [replace(first, verdict=verdict.of(about).sentences), *others]
        return shown

    @property
    def formats(self) -> Formats:
        """The formats in which it can be written."""
        return FORMATS

    def to_frame(self) -> pd.DataFrame:
        """The tidy rows as a DataFrame."""
        return self.result().to_frame()

    def to_text(self, format: str = "tsv", *, width: int | None = None, full: bool = False) -> str:
        """The result as tsv, csv, json or jsonl, or as a table for people in another format.

        `width` is what tables may take; None leaves it to the format. `full` is all of `table`,
        which else answers on one screen.
        """
        options = RenderOptions(width=width, full=full)
        content = named(format, self.formats).render(self, options)
        if isinstance(content, bytes):
            raise UsageError(f"{format} is not text: write it to a file")
        return content

    def write(self, path: Path | str, format: str | None = None) -> None:
        """Write it to a file, replaced as a whole; no format: that of the suffix.

        A file that the result rests on is refused, as is one that holds a run or judgements.
        """
        target = Path(path)
        refuse_to_replace(target, self.inputs)
        emit(chosen(format, target, self.formats).render(self, IN_FILE), target)

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
