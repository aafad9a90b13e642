"""From options to a risk table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riskcli.cli.options import Against, Comparing, Inputs
from riskcli.core.notes import Note
from riskcli.core.parallel import importing

if TYPE_CHECKING:
    from riskcli.analyses.score.analysis import RiskTable


def risk_table_of(inputs: Inputs, comparing: Comparing) -> RiskTable:
    """Read and score the runs, and compare them as asked."""
    with importing("riskcli.analyses.score.analysis"):
        evaluation = inputs.evaluate(comparing.wanted)
    from riskcli.analyses.score.analysis import risk_table
    from riskcli.scores.evaluation import based_on

    options = comparing.options(evaluation.added)
    table = risk_table(evaluation.matrices, options.baselines, options=options)
    return based_on(table, evaluation, default_baseline_note(comparing))


def default_baseline_note(against: Against) -> list[Note]:
    """The note that nobody named a baseline."""
    if against.baselines:
        return []
    message = "no --baseline given: runs are compared with @mean, the mean of all runs"
    return [Note("default-baseline", message, warning=False)]
