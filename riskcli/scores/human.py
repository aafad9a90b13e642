"""A model's judgements with a human part: whose grades count, and the humans' scores beside."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from riskcli.core.inputs import note_input
from riskcli.core.locations import place_of
from riskcli.core.messages import Input, Note, UsageError, counted, listed, naturally
from riskcli.risk.human import LEAST_JUDGED
from riskcli.scores.axes import not_evaluated
from riskcli.scores.evaluation import Evaluation, Places, evaluate
from riskcli.scores.reading import Rules
from riskcli.trec.discovery import find_qrels
from riskcli.trec.names import named_place
from riskcli.trec.qrels import Qrels, read_qrels

HUMAN = "human_topics"
"""The setting that says how many topics humans judged."""
ASSUMED = "assumed: the topics that humans judged are a random part of all"


def evaluate_corrected(
    places: Places,
    *,
    human: Path | str,
    qrels: Path | str | None = None,
    rules: Rules | None = None,
    **how: Any,
) -> Evaluation:
    """`evaluate` by a model's judgements (`qrels`), corrected by `human` ones of some topics.

    The grades of humans replace the model's, which stand for documents that they left out of a
    topic. `how` is what else `evaluate` takes.
    """
    rules = rules or Rules()
    if rules.unjudged == "bounds":
        ranges = "unjudged bounds are by one file of judgements, which those of humans correct"
        raise UsageError(f"{ranges}: leave out either")
    given = [places] if isinstance(places, str | Path) else list(places)
    hashed = bool(how.get("checksums", True) or how.get("store"))
    # Judgements that are named may come through a pipe, which is read once.
    read = None if qrels is None else read_qrels(find_qrels(qrels, ())[0], hashed)
    found = evaluate(given, qrels=read, rules=rules, **how)
    unread = {run for matrix in found.matrices for run in matrix.runs}.difference(found.files)
    if unread:
        only = f"of {listed(naturally(unread))} only scores are known"
        raise UsageError(f"humans' judgements correct runs, and {only}")
    note_input(place_of(human))
    own = read_qrels(human, hashed)
    (path,) = (each.path for each in found.inputs if each.kind == "qrels")
    merged, notes = _merged(own, read or read_qrels(path, hashed), found.matrices[0].topics)
    runs = [place for place in given if named_place(place)[1] != path]  # it may come first
    rules = replace(rules, topics="judged", only_topics=())
    found = corrected(found, evaluate(runs, qrels=merged, rules=rules, **how))
    provenance = found.provenance.adding(notes=[*own.notes, *notes])
    text = own.text_sha256 if own.text_sha256 != own.sha256 else None
    file = Input(place_of(human), "human qrels", own.sha256, content=text)
    return replace(found, provenance=replace(provenance, inputs=(*found.inputs, file)))


def corrected(model: Evaluation, human: Evaluation) -> Evaluation:
    """The scores by a model, those by humans on some of the topics beside them."""
    matrices = []
    for matrix in model.matrices:
        by_humans = human[matrix.measure]
        lacking = {*matrix.runs}.difference(by_humans.runs)
        if lacking:
            raise UsageError(f"{listed(naturally(lacking))}: no topic answered that humans judged")
        matrices.append(replace(matrix, human=by_humans))
    number, topics = len(by_humans.topics), counted(len(matrix.topics), "topic")
    note = Note("human-part", f"corrected by humans on {number} of {topics}; {ASSUMED}", False)
    provenance = model.provenance.adding({HUMAN: number}, [note])
    return replace(model, matrices=tuple(matrices), provenance=provenance)


def _merged(human: Qrels, model: Qrels, topics: Sequence[str]) -> tuple[Qrels, list[Note]]:
    """The judgements of the topics that humans judged, and notes on what is not theirs."""
    if bool(human.shared) != bool(model.shared):
        raise UsageError(f"of {human.path} and {model.path} only one is judged by subtopic")
    if (human.judgements, human.subtopics) == (model.judgements, model.subtopics):
        message = f"{human.path} holds the judgements of the model: nothing would be corrected"
        raise UsageError(message)
    own = {topic: grades for topic, grades in human.judgements.items() if topic in topics}
    if len(own) < LEAST_JUDGED:
        of = f"{len(own)} of the {counted(len(topics), 'topic')} evaluated"
        raise UsageError(f"humans judged {of}, expected {LEAST_JUDGED} or more; are ids the same?")
    merged = {topic: {**model.judgements.get(topic, {}), **own[topic]} for topic in own}
    left_out = [len(merged[topic]) - len(own[topic]) for topic in own]
    notes = not_evaluated(topics, "judged by humans", human.judgements)
    if any(left_out):
        some = sum(map(bool, left_out))
        share = sum(left_out) / sum(map(len, merged.values()))
        message = f"on {some} of {counted(len(own), 'topic')} humans judged only some of the "
        message += f"documents: {share:.0%} of the grades there are the model's"
        notes.append(Note("partly-human", message))
    both = f"{model.sha256} {human.sha256}"  # what the scores are stored under
    sha256 = human.sha256 and hashlib.sha256(both.encode()).hexdigest()
    by_subtopic = {
        topic: {
            docno: grades
            for judged in (model, human)
            for docno, grades in (judged.subtopics or {}).get(topic, {}).items()
            if judged is human or docno not in own[topic]
        }
        for topic in own
    }
    several = by_subtopic if model.shared else None
    return Qrels(merged, model.path, sha256=sha256, subtopics=several, shared=model.shared), notes
