"""What a reader of an evaluation should know of its files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from riskcli.core.basis import Input
from riskcli.core.errors import InputError
from riskcli.core.notes import Note, counted, listed
from riskcli.scores.naming import only_run
from riskcli.scores.reading import Part, Reader


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
