"""The ratchet: a candidate that passes becomes the baseline of next time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from riskcli.analyses.check.gate import Gate
from riskcli.analyses.matrix import FORMS
from riskcli.analyses.matrix.analysis import Matrices
from riskcli.core.errors import UsageError
from riskcli.core.notes import listed
from riskcli.output.emit import emit
from riskcli.output.forms import IN_FILE, Form, chosen
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.matrix import ScoreMatrix

_READABLE = ("csv", "tsv", "json", "parquet")
_ITS_INPUTS = ("qrels", "scores")
"""What its scores rest on beside its run; a kept baseline is an input of another kind."""


def kept_form(file: Path) -> Form:
    """The form that the file's suffix asks for; it must be one that can be read again."""
    return chosen(None, file, tuple(form for form in FORMS if form.name in _READABLE))


def only_candidate(gate: Gate) -> str:
    """The one that may become the baseline."""
    candidates = list(dict.fromkeys(verdict.candidate for verdict in gate.verdicts))
    if len(candidates) != 1:
        raise UsageError(f"one candidate can become the baseline, found {listed(candidates)}")
    return candidates[0]


def update_baseline(gate: Gate, evaluation: Evaluation, file: Path, form: Form) -> str:
    """Replace the file by the scores of the one candidate, if it passes; say what was done.

    A verdict that is inconclusive is no pass here, whatever it counts as.
    """
    run = only_candidate(gate)
    if gate.skipped or not all(verdict.outcome == "pass" for verdict in gate.verdicts):
        return f"{file} is left unchanged: {run} does not pass, or not with certainty"
    kept = tuple(_only(matrix, run) for matrix in evaluation.matrices)
    inputs = tuple(
        each for each in evaluation.inputs if each.run == run or each.kind in _ITS_INPUTS
    )
    basis = replace(evaluation.basis, inputs=inputs)
    emit(form.render(Matrices(kept, long=len(kept) > 1, basis=basis), IN_FILE), file)
    return f"{file} now holds {run}, the next baseline"


def _only(matrix: ScoreMatrix, run: str) -> ScoreMatrix:
    row = matrix.runs.index(run)
    return replace(matrix, runs=(run,), values=np.asarray(matrix.values[row : row + 1]))
