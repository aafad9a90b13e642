"""The same runs under several judgements: a model's beside people's, or two assessors'.

A track may have judgements by subtopic, too: each measure goes with those that it can be had from.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from riskcli.core.messages import Note, Provenance, UsageError
from riskcli.effectiveness.measures import parse_measures
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.reading import Rules, misfit
from riskcli.trec.names import file_names
from riskcli.trec.qrels import Qrels


def rules_of_each(rules: Rules, judgements: Sequence[Qrels]) -> list[Rules]:
    """The rules with those of the measures that can be had from each, if any are asked for."""
    if not rules.measures or len(judgements) == 1:
        return [rules] * len(judgements)
    measures = parse_measures(rules.measures)
    reasons = [[misfit(qrels, measure) for qrels in judgements] for measure in measures]
    for of_measure in filter(all, reasons):
        raise UsageError(str(of_measure[0]))
    for qrels, *why in zip(judgements, *reasons, strict=True):
        if all(why):
            raise UsageError(f"no measure asked for uses {qrels.path}: leave it out ({why[0]})")
    return [
        replace(rules, measures=[str(m) for m in measures if misfit(qrels, m) is None])
        for qrels in judgements
    ]


def under_each(
    judgements: Sequence[Path], evaluations: Sequence[Evaluation], asked: Sequence[str] = ()
) -> Evaluation:
    """All matrices in one evaluation; a measure of several judges says whose: `AP [model]`.

    Where judgements differ in kind, measures are in the order in which they were `asked` for.
    """
    names = file_names(judgements)
    if len(set(names)) < len(names):
        raise UsageError("the same judgements are given twice")
    for evaluation in evaluations:
        if all(item.kind != "qrels" for item in evaluation.inputs):
            raise UsageError("files of scores do not depend on judgements; several need runs")
    named = dict(zip(names, evaluations, strict=True))
    times = Counter(matrix.measure for each in evaluations for matrix in each.matrices)
    matrices = [
        replace(matrix, measure=f"{matrix.measure} [{name}]", axes=replace(matrix.axes, judge=name))
        if times[matrix.measure] > 1
        else matrix
        for name, evaluation in named.items()
        for matrix in evaluation.matrices
    ]
    if asked and min(times.values()) == 1:
        order = [str(measure) for measure in parse_measures(asked)]
        matrices.sort(key=lambda matrix: order.index(matrix.plain_measure))
    first = evaluations[0]
    topics = [{*evaluation.matrices[0].topics} for evaluation in evaluations]
    common = len(set.intersection(*topics))
    each = ", ".join(f"{name} {len(own)}" for name, own in zip(names, topics, strict=True))
    message = f"the judges' figures are of different topics: {each}, {common} in common"
    differ = (
        [Note("other-topics", message)]
        if common < max(map(len, topics)) and max(times.values()) > 1
        else []
    )
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
