"""Any result object in any form, as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riskcli.core.errors import UsageError, nearest
from riskcli.output.display import Display, as_markdown, as_text
from riskcli.output.formats import WRITERS
from riskcli.output.html import as_html
from riskcli.output.latex import as_latex
from riskcli.output.result import Result

TERMINAL_WIDTH = 80
PUBLISHED_WIDTH = 120
LATEX_WIDTH = 90
FORMS = (*WRITERS, "table", "markdown", "latex", "html")


def rendered(
    result: Callable[[], Result], displays: Callable[[int], Sequence[Display]], form: str
) -> str:
    """The result in that form: its rows, or its tables given a width."""
    if form in WRITERS:
        return WRITERS[form](result())
    if form == "table":
        return as_text(displays(TERMINAL_WIDTH), TERMINAL_WIDTH, colour=False)
    if form == "markdown":
        return as_markdown(displays(PUBLISHED_WIDTH))
    if form == "latex":
        return as_latex(displays(LATEX_WIDTH))
    if form == "html":
        return as_html(displays(PUBLISHED_WIDTH))
    raise UsageError(f"no form is called {form!r}{nearest(form, FORMS)}")
