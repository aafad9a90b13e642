"""The same runs under several judgements: a model's beside people's, or two assessors'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from riskcli.core.basis import Basis
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.names import file_names


def under_each(judgements: Sequence[Path], evaluations: Sequence[Evaluation]) -> Evaluation:
    """All matrices in one evaluation; their measures say under which judgements: `AP [model]`."""
    names = file_names(judgements)
    if len(set(names)) < len(names):
        raise UsageError("the same judgements are given twice")
    for evaluation in evaluations:
        if all(item.kind != "qrels" for item in evaluation.inputs):
            raise UsageError("files of scores do not depend on judgements; several need runs")
    matrices = [
        replace(matrix, measure=f"{matrix.measure} [{name}]")
        for name, evaluation in zip(names, evaluations, strict=True)
        for matrix in evaluation.matrices
    ]
    first = evaluations[0]
    notes = dict.fromkeys(
        _told(note, name, evaluations)
        for name, evaluation in zip(names, evaluations, strict=True)
        for note in evaluation.notes
    )
    inputs = dict.fromkeys(item for evaluation in evaluations for item in evaluation.inputs)
    skipped = dict.fromkeys(str(error) for each in evaluations for error in each.skipped)
    errors = {str(error): error for each in evaluations for error in each.skipped}
    settings = {**first.settings, "measures": [matrix.measure for matrix in matrices]}
    basis = Basis(settings, tuple(inputs), tuple(notes), tuple(errors[text] for text in skipped))
    return replace(first, matrices=tuple(matrices), basis=basis)


def _told(note: Note, name: str, evaluations: Sequence[Evaluation]) -> Note:
    """The note, with the judgements that it is about where not all have it."""
    if all(note in evaluation.notes for evaluation in evaluations):
        return note
    return replace(note, message=f"{name}: {note.message}")
