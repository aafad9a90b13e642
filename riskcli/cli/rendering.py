"""The one way from a result to stdout or a file, in whatever form was asked for."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from riskcli.core.errors import UsageError
from riskcli.output.emit import emit, emit_rows
from riskcli.output.formats import WRITERS
from riskcli.output.result import Result
from riskcli.output.spreadsheet import FORMATS as SPREADSHEET_FORMATS
from riskcli.output.spreadsheet import spreadsheet_safe

if TYPE_CHECKING:
    from riskcli.output.display import Display

FILE_WIDTH = 160
PUBLISHED_WIDTH = 120
LATEX_WIDTH = 78
Displays = Callable[[int], Sequence["Display"]]
"""The tables for people, given the width that they may take."""


def write(
    result: Result,
    displays: Displays,
    form: str,
    output: Path | None,
    caption: str | None = None,
    label: str | None = None,
    csv_safe: bool = False,
) -> None:
    """The result in the form asked for, to the file or to stdout.

    `caption` stands in place of the tables' own titles, `label` is what others refer to them by;
    `csv_safe` guards those who open CSV in a spreadsheet.
    """
    if form in WRITERS:
        _refuse_words(form, caption, label)
        result = spreadsheet_safe(result) if csv_safe and form in SPREADSHEET_FORMATS else result
        emit_rows(WRITERS[form](result), output)
        return
    emit(_for_people(displays, form, output, caption, label), output)


def _for_people(
    displays: Displays, form: str, output: Path | None, caption: str | None, label: str | None
) -> str:
    from riskcli.output.display import as_markdown, as_text
    from riskcli.output.html import as_html
    from riskcli.output.latex import as_latex

    width = _width(form, output)
    shown = _captioned(displays(width), caption)
    if form == "latex":
        return as_latex(shown, label)
    if form == "html":
        return as_html(shown, label)
    _refuse_words(form, None, label)
    return as_text(shown, width, _colour_wanted(output)) if form == "table" else as_markdown(shown)


def _width(form: str, output: Path | None) -> int:
    if form == "table":
        return FILE_WIDTH if output else shutil.get_terminal_size((80, 24)).columns
    return LATEX_WIDTH if form == "latex" else PUBLISHED_WIDTH


def _captioned(displays: Sequence[Display], caption: str | None) -> Sequence[Display]:
    """The displays under that caption; where there are several, each says what it is too."""
    if caption is None:
        return displays
    if len(displays) == 1:
        return [replace(displays[0], title=caption)]
    return [
        replace(display, title=f"{caption}: {display.title}" if display.title else caption)
        for display in displays
    ]


def _refuse_words(form: str, caption: str | None, label: str | None) -> None:
    if caption is not None:
        raise UsageError(f"--caption belongs to tables for people, {form} has none")
    if label is not None:
        raise UsageError(f"--label belongs to latex and html, {form} has none")


def _colour_wanted(output: Path | None) -> bool:
    """Colour on a terminal, unless NO_COLOR or TERM=dumb asks for none."""
    on_terminal = output is None and sys.stdout.isatty()
    return on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
