"""Any result object in any form, as text."""

from __future__ import annotations

from riskcli.errors import UsageError, nearest
from riskcli.report.display import as_markdown, as_text
from riskcli.report.formats import WRITERS
from riskcli.report.html import as_html
from riskcli.report.latex import as_latex
from riskcli.report.result import Shown

TERMINAL_WIDTH = 80
PUBLISHED_WIDTH = 120
LATEX_WIDTH = 90
FORMS = (*WRITERS, "table", "markdown", "latex", "html")


def rendered(found: Shown, form: str) -> str:
    """The result in that form."""
    if form in WRITERS:
        return WRITERS[form](found.result())
    if form == "table":
        return as_text(found.displays(TERMINAL_WIDTH), TERMINAL_WIDTH, colour=False)
    if form == "markdown":
        return as_markdown(found.displays(PUBLISHED_WIDTH))
    if form == "latex":
        return as_latex(found.displays(LATEX_WIDTH))
    if form == "html":
        return as_html(found.displays(PUBLISHED_WIDTH))
    raise UsageError(f"no form is called {form!r}{nearest(form, FORMS)}")
