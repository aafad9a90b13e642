"""The one way from a result to stdout or a file, in whatever form was asked for."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from typing import Any

from riskcli.cli.options import Output
from riskcli.core.errors import UsageError
from riskcli.output.emit import emit
from riskcli.output.escape import without_orders
from riskcli.output.forms import TABLE, TERMINAL_WIDTH, Form


def write(source: Any, output: Output) -> None:
    """The result in the form asked for, to the file or to stdout."""
    form, dress = output.form, output.dress
    if output.output is None and form is TABLE:
        width = shutil.get_terminal_size((TERMINAL_WIDTH, 24)).columns
        dress = replace(dress, width=width, colour=_colour_wanted())
    content = form.render(source, dress)
    if output.output is None and sys.stdout.isatty():
        content = _for_terminal(content, form)
    emit(content, output.output)


def _for_terminal(content: str | bytes, form: Form) -> str:
    """Names reach a terminal without their control characters; a table's colours pass."""
    if isinstance(content, bytes):
        raise UsageError(f"{form.name} is not for terminals: name a file with --output")
    return content if form is TABLE else without_orders(content)


def _colour_wanted() -> bool:
    """Colour on a terminal, unless NO_COLOR or TERM=dumb asks for none."""
    coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return sys.stdout.isatty() and coloured
