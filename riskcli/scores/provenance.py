"""How the scores of an evaluation were made: here, or before, as files of scores say of themselves.

Scores that were made with different settings are not comparable; nor are those from different
judgements, though these may differ in a byte that no score depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from riskcli.core.messages import InputError, Note, counted, listed
from riskcli.core.provenance import Input
from riskcli.scores.matrix import ONLY_TOPICS
from riskcli.scores.naming import only_run
from riskcli.scores.reading import Part, Reader

SCORING = ("topics", "max_grade", "score_precision")
"""The settings that a score depends on."""
JUDGEMENTS = "judgements"
_HERE = "the runs scored here"


def settings_in_force(
    parts: Sequence[Part], here: Mapping[str, Any], scored: bool
) -> dict[str, Any]:
    """The settings that all scores were made with: those in force here where any was `scored`.

    Where files alone say how their scores were made, theirs, and the checksums of the judgements
    behind them; files whose settings contradict each other, or those here, are an error.
    """
    known = {name: (here[name], _HERE) for name in SCORING if scored}
    for part in parts:
        said = {} if part.recorded is None else part.recorded.settings
        for name in (name for name in SCORING if name in said):
            other, owner = known.setdefault(name, (said[name], part.path.name))
            if said[name] != other:
                message = f"was made with {name} = {said[name]!r}, {owner} with {other!r}"
                raise InputError(part.path, "other-settings", message)
    some = _some_topics(parts, here.get(ONLY_TOPICS), scored)
    if scored:
        return dict(here)
    judgements = sorted({each for part in parts for each in judgements_of(part)})
    theirs = {name: value for name, (value, _) in known.items()}
    theirs |= {ONLY_TOPICS: some} if some else {}
    return {**here, **theirs, **({JUDGEMENTS: judgements} if judgements else {})}


def _some_topics(parts: Sequence[Part], here: Any, scored: bool) -> Any:
    """The topics asked for here, or when the files of scores were made: of all runs the same."""
    if here:
        return here
    told = [(_HERE, None)] if scored else []
    for part in parts:
        if part.recorded is not None and SCORING[0] in part.recorded.settings:
            said = part.recorded.settings.get(ONLY_TOPICS)
            told.append((part.path.name, said))
            if said != told[0][1]:
                message = f"was made with {_topics(said)}, {told[0][0]} with {_topics(told[0][1])}"
                raise InputError(part.path, "other-settings", message)
    return told[0][1] if told else None


def _topics(said: Any) -> str:
    return f"{ONLY_TOPICS} = {said!r}" if said else "all topics"


def judgements_of(part: Part) -> tuple[str, ...]:
    """The checksums of the judgements that a file of scores was made from, if it says so."""
    return () if part.recorded is None else part.recorded.judgements


def other_judgements(parts: Sequence[Part], here: str | None) -> list[Note]:
    """The warning that files of scores were made from other judgements than the rest."""
    first = (here,) if here else next((own for part in parts if (own := judgements_of(part))), ())
    strange = [part.path.name for part in parts if (own := judgements_of(part)) and own != first]
    if not strange:
        return []
    message = (
        f"made from other judgements than {_HERE if here else 'the first'} (by the checksums of "
        f"the qrels), so scores may not be comparable: {listed(strange)}"
    )
    return [Note("other-judgements", message)]


# What a reader of an evaluation should know of its files.


def any_run(parts: Iterable[Part]) -> bool:
    """Whether there is a run that was scored here."""
    return any(part.kind == "run" for part in parts)


def part_notes(parts: Sequence[Part], reader: Reader) -> list[Note]:
    """What is to be said of the files that were taken."""
    scored = parts if any_run(parts) else []
    unknown = [(_shown(part), _unknown_topics(part, reader)) for part in scored]
    ignored = [f"{name} ({count})" for name, count in unknown if count]
    mixed = [f"{part.path.name} ({listed(part.tags)})" for part in parts if len(part.tags) > 1]
    notes = [
        Note(
            "taken-as",
            f"scores of {part.path.name} read as {part.taken_as}: the file does not name its "
            "measure",
        )
        for part in parts
        if part.taken_as
    ]
    notes += _rounding(parts)
    if ignored:
        message = f"topics that are not in the qrels are ignored: {listed(ignored)}"
        notes.append(Note("unknown-topics", message))
    if mixed:
        message = f"lines carry different tags, are these several runs in one file: {listed(mixed)}"
        notes.append(Note("mixed-tags", message))
    return notes


def _rounding(parts: Sequence[Part]) -> list[Note]:
    """ir_measures has ERR from gdeval.pl, which prints five decimals: more topics tie."""
    rounded = [part.path.name for part in parts if part.rounded_err]
    if not rounded:
        return []
    return [rounded_err(rounded)]


def rounded_err(names: Sequence[str]) -> Note:
    """The caution for ERR of ir_measures, which has it from gdeval.pl."""
    message = f"ERR has no more than five decimals, as gdeval.pl prints it: {listed(names)}"
    return Note("rounded-scores", f"{message}; wins, ties and small differences suffer")


def _unknown_topics(part: Part, reader: Reader) -> int:
    """How many of a part's topics the qrels do not have."""
    scored = {topic for matrix in part.matrices for topic in matrix.topics}
    return part.unknown_topics + len(scored - reader.qrels.judgements.keys())


def _shown(part: Part) -> str:
    return part.matrices[0].runs[0] if part.kind == "run" else part.path.name


def qrels_notes(reader: Reader) -> list[Note]:
    """What is to be said of the judgements."""
    qrels = reader.qrels
    notes = list(qrels.notes)
    if reader.found_qrels != "given":
        notes.append(Note("qrels", f"judgements: {qrels.path} ({reader.found_qrels})", False))
    barren = len(qrels.topics) - len(qrels.relevant_topics)
    if barren and reader.rules.topics != "judged":
        message = f"{counted(barren, 'topic')} of the qrels without a relevant document left out"
        notes.append(Note("barren-topics", message + " (--topics judged keeps them)", False))
    return notes


def inputs(parts: Sequence[Part], reader: Reader) -> tuple[Input, ...]:
    """Each file that numbers rest on."""
    files = [
        Input(part.path, part.kind, part.sha256, only_run(part) if part.kind == "run" else None)
        for part in parts
    ]
    if any_run(parts) and reader.qrels.path is not None:
        files.append(Input(reader.qrels.path, "qrels", reader.qrels.sha256))
    return tuple(files)


def skip_notes(skipped: Sequence[InputError]) -> list[Note]:
    """What was left out, and why."""
    return [Note("skipped-file", f"LEFT OUT: {error}") for error in skipped]
