"""The same runs under several judgements: a model's beside people's, or two assessors'."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from riskcli.core.messages import Note, Provenance, UsageError
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
    named = dict(zip(names, evaluations, strict=True))
    matrices = [
        replace(matrix, measure=f"{matrix.measure} [{name}]", axes=replace(matrix.axes, judge=name))
        for name, evaluation in named.items()
        for matrix in evaluation.matrices
    ]
    first = evaluations[0]
    topics = [{*evaluation.matrices[0].topics} for evaluation in evaluations]
    common = len(set.intersection(*topics))
    each = ", ".join(f"{name} {len(own)}" for name, own in zip(names, topics, strict=True))
    message = f"the judges' figures are of different topics: {each}, {common} in common"
    differ = [Note("other-topics", message)] if common < max(map(len, topics)) else []
    shared = set(first.notes).intersection(*(each.notes for each in evaluations))
    notes = dict.fromkeys(
        note
        if note in shared
        else replace(
            note, message=f"{name}: {note.message}", full=note.full and f"{name}: {note.full}"
        )
        for name, evaluation in named.items()
        for note in evaluation.notes
    )
    inputs = dict.fromkeys(item for evaluation in evaluations for item in evaluation.inputs)
    errors = {str(error): error for each in evaluations for error in each.skipped}
    settings = {**first.settings, "measures": [matrix.measure for matrix in matrices]}
    provenance = Provenance(settings, tuple(inputs), (*notes, *differ), tuple(errors.values()))
    return replace(first, matrices=tuple(matrices), provenance=provenance)
