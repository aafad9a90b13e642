"""A model's judgements with a human part: whose grades count, and the humans' scores beside."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from riskcli.core.inputs import note_input
from riskcli.core.locations import place_of
from riskcli.core.messages import Input, Note, Provenance, UsageError, counted, listed, naturally
from riskcli.risk.human import LEAST_JUDGED
from riskcli.scores.axes import HumanScores
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Reader, Rules
from riskcli.trec.qrels import Qrels, read_qrels

HUMAN = "human_topics"
"""The setting that says how many topics humans judged."""
ASSUMED = "assumed: the topics that humans judged are a random part of all"


class HumanPart(NamedTuple):
    """What the runs are scored by once more, and what there is to tell of it."""

    judgements: Qrels
    """Of the topics that humans judged; the model's grades stand for what they left out of one."""
    rules: Rules
    read: Input
    notes: list[Note]


def human_part(
    place: Path | str, reader: Reader, matrices: Sequence[ScoreMatrix], scored: Collection[str]
) -> HumanPart:
    """The humans' judgements at a place, as far as they are of topics of runs `scored` before."""
    unread = sorted({run for matrix in matrices for run in matrix.runs}.difference(scored))
    if unread:
        only = f"of {listed(unread)} only scores are known"
        raise UsageError(f"humans' judgements correct runs, and {only}")
    note_input(place_of(place))
    model, rules = reader.qrels, reader.rules
    human, topics = read_qrels(place, reader.checksums), matrices[0].topics
    if human.judgements == model.judgements:
        raise UsageError(f"{place} holds the judgements of the model: nothing would be corrected")
    own = {topic: of for topic, of in human.judgements.items() if topic in topics}
    _refuse_few(own, topics)
    notes, strangers = [*human.notes], naturally(human.judgements.keys() - own.keys())
    if strangers:
        message = "humans judged topics that are not evaluated, and do not count: "
        notes.append(Note("human-topics", message + listed(strangers)))
    others = {topic: model.judgements.get(topic, {}) for topic in own}
    left = [len(others[topic].keys() - of.keys()) for topic, of in own.items()]
    merged = {topic: {**others[topic], **of} for topic, of in own.items()}
    if any(left):
        of_all, share = counted(len(own), "topic"), sum(left) / sum(map(len, merged.values()))
        message = f"on {np.count_nonzero(left)} of {of_all} humans judged only some of the "
        message += f"documents: {share:.0%} of the grades there are the model's"
        notes.append(Note("partly-human", message))
    sums = f"{model.sha256} {human.sha256}".encode()
    sha256 = None if human.sha256 is None else hashlib.sha256(sums).hexdigest()
    unjudged = rules.unjudged if rules.unjudged == "condensed" else "zero"
    text = human.text_sha256 if human.text_sha256 != human.sha256 else None
    return HumanPart(
        Qrels(merged, model.path, sha256=sha256),
        replace(rules, topics="judged", only_topics=(), unjudged=unjudged),
        Input(place_of(place), "human qrels", human.sha256, content=text),
        notes,
    )


def corrected(
    matrices: Sequence[ScoreMatrix],
    human: Sequence[ScoreMatrix],
    provenance: Provenance,
    part: HumanPart | None,
) -> tuple[tuple[ScoreMatrix, ...], Provenance]:
    """The matrices with the humans' scores beside, by measure; and what they rest on then."""
    by_measure = {matrix.measure: matrix for matrix in human}
    found = []
    for matrix in matrices:
        if matrix.measure not in by_measure:
            raise UsageError(f"the humans' judgements gave no scores by {matrix.measure}")
        own = _beside(matrix, by_measure[matrix.measure])
        found.append(replace(matrix, axes=replace(matrix.axes, human=own)))
    number, topics = len(own.topics), counted(len(matrix.topics), "topic")
    note = Note("human-part", f"corrected by humans on {number} of {topics}; {ASSUMED}", False)
    provenance = provenance.adding({HUMAN: number}, [note, *(part.notes if part else ())])
    inputs = (*provenance.inputs, *([part.read] if part else ()))
    return tuple(found), replace(provenance, inputs=inputs)


def _beside(matrix: ScoreMatrix, human: ScoreMatrix) -> HumanScores:
    """The humans' scores of the same runs, on the topics in common; NaN of other runs."""
    topics = tuple(topic for topic in matrix.topics if topic in human.topics)
    _refuse_few(topics, matrix.topics)
    columns = [human.topics.index(topic) for topic in topics]
    values = np.full((len(matrix.runs), len(topics)), np.nan)
    for row, run in enumerate(matrix.runs):
        if run in human.runs:
            values[row] = human.values[human.runs.index(run), columns]
    return HumanScores(matrix.runs, topics, values)


def _refuse_few(judged: Collection[str], topics: Collection[str]) -> None:
    if len(judged) < LEAST_JUDGED:
        of = f"{len(judged)} of the {counted(len(topics), 'topic')} evaluated"
        raise UsageError(f"humans judged {of}, expected {LEAST_JUDGED} or more; are ids the same?")
