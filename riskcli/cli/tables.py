"""From options to a risk table, and from a risk table to its form."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from riskcli.cli.options import Comparing, Inputs
from riskcli.notes import Note
from riskcli.report.display import as_markdown, as_text
from riskcli.report.formats import WRITERS
from riskcli.report.output import emit
from riskcli.report.risk_display import displays
from riskcli.results import RiskTable, risk_table

FILE_WIDTH = 160
MARKDOWN_WIDTH = 120


def risk_table_of(inputs: Inputs, comparing: Comparing) -> RiskTable:
    """Read and score the runs, and compare them as asked."""
    evaluation = inputs.evaluate(comparing.wanted)
    options = comparing.options(evaluation.added)
    notes = list(evaluation.notes)
    if not comparing.baselines:
        message = "no --baseline given: runs are compared with @mean, the mean of all runs"
        notes.append(Note("default-baseline", message, warning=False))
    table = risk_table(
        evaluation.matrices,
        options.baselines,
        options=options,
        settings=evaluation.settings,
        inputs=evaluation.inputs,
        notes=notes,
    )
    return replace(table, skipped=evaluation.skipped)


def write_risk_table(
    table: RiskTable, form: str, output: Path | None, precision: int | None
) -> None:
    """The table in the form asked for, to the file or to stdout."""
    if form == "table":
        on_terminal = output is None and sys.stdout.isatty()
        width = FILE_WIDTH if output else shutil.get_terminal_size((80, 24)).columns
        emit(as_text(displays(table, width, precision), width, colour_wanted(on_terminal)), output)
    elif form == "markdown":
        emit(as_markdown(displays(table, MARKDOWN_WIDTH, precision)), output)
    else:
        emit(WRITERS[form](table.result()), output)


def colour_wanted(on_terminal: bool) -> bool:
    """Colour on a terminal, unless NO_COLOR or TERM=dumb asks for none."""
    import os

    return on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
