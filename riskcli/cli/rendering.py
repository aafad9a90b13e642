"""The one way from a result to stdout or a file, in whatever form was asked for."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from riskcli.report.display import Display, as_markdown, as_text
from riskcli.report.formats import WRITERS
from riskcli.report.output import emit
from riskcli.report.result import Result

FILE_WIDTH = 160
MARKDOWN_WIDTH = 120
Displays = Callable[[int], Sequence[Display]]
"""The tables for people, given the width that they may take."""


def write(result: Result, displays: Displays, form: str, output: Path | None) -> None:
    """The result in the form asked for, to the file or to stdout."""
    if form == "table":
        width = FILE_WIDTH if output else shutil.get_terminal_size((80, 24)).columns
        emit(as_text(displays(width), width, _colour_wanted(output)), output)
    elif form == "markdown":
        emit(as_markdown(displays(MARKDOWN_WIDTH)), output)
    else:
        emit(WRITERS[form](result), output)


def _colour_wanted(output: Path | None) -> bool:
    """Colour on a terminal, unless NO_COLOR or TERM=dumb asks for none."""
    on_terminal = output is None and sys.stdout.isatty()
    return on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
