"""What files of scores and runs make together: names of runs, settings in force, notes and inputs.

Scores that were made with different settings are not comparable; nor are those from different
judgements, though these may differ in a byte that no score depends on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from riskcli.core.choices import is_virtual
from riskcli.core.messages import InputError, Note, UsageError, counted, listed
from riskcli.core.provenance import Input
from riskcli.scores.matrix import ONLY_TOPICS, of_one_run
from riskcli.scores.reading import FileScores, Reader, ScoreLoader
from riskcli.trec.names import (
    each_baseline,
    name_of_baseline,
    name_runs,
    named_place,
    names_by_rule,
    refuse_virtual_names,
)


def with_baseline_files(
    reader: Reader,
    loader: ScoreLoader,
    parts: list[FileScores],
    baselines: Sequence[str],
    given: dict[Path, str],
) -> tuple[list[FileScores], dict[str, str], list[Note]]:
    """The parts, named; with a part for each baseline that is a file and not yet among them.

    `given` are names by file.
    """
    rule, count = reader.rules.run_names, len(parts)
    named, notes = _named(parts, rule, given)
    known = runs_of(named)
    files = {
        baseline: named_place(baseline)
        for baseline in each_baseline(baselines, known)
        if baseline not in known and not is_virtual(baseline) and _is_read(baseline)
    }
    if not files:
        return named, {}, notes
    places = {part.path.resolve(): index for index, part in enumerate(parts)}
    for name, path in files.values():
        if path.resolve() not in places:
            places[path.resolve()] = len(parts)
            parts = [*parts, loader.load_one(path)]
        if name is not None:
            given[parts[places[path.resolve()]].path] = name
    named, notes = _named(parts, rule, given, count)
    added = {
        baseline: only_run(named[places[path.resolve()]]) for baseline, (_, path) in files.items()
    }
    return named, added, notes


def _is_read(baseline: str) -> bool:
    """Whether a baseline names a file, a pipe or a process substitution."""
    _, path = named_place(baseline)
    return baseline != "" and path.exists() and not path.is_dir()


def without_own_scores(
    parts: Sequence[FileScores], of_folders: Collection[Path], rule: str, given: Mapping[Path, str]
) -> tuple[list[FileScores], list[Path]]:
    """The parts but files of scores that lay in a folder with the very runs; and those files.

    Such a file is the matrix of those runs, kept from before.
    """
    files = [part for part in parts if part.kind == "run"]
    kept = [part for part in parts if part.kind == "scores" and part.named]
    if not files or not any(part.path in of_folders for part in kept):
        return list(parts), []
    unnamed = [(part.path, part.tag) for part in files if part.path not in given]
    runs = {*names_by_rule(unnamed, rule)[1], *given.values()}
    own = [part.path for part in kept if part.path in of_folders and runs_of([part]) <= runs]
    return [part for part in parts if part.path not in own], own


def runs_of(parts: Iterable[FileScores]) -> set[str]:
    """The names of all runs in these parts."""
    return {run for part in parts for matrix in part.matrices for run in matrix.runs}


def only_run(part: FileScores) -> str:
    """The name of the one run in a part; an error where there are more."""
    runs = runs_of([part])
    if len(runs) != 1:
        raise UsageError(f"{part.path} holds {len(runs)} runs, a baseline file must hold one")
    return runs.pop()


def _named(
    parts: Sequence[FileScores], rule: str, given: Mapping[Path, str], count: int | None = None
) -> tuple[list[FileScores], list[Note]]:
    """The parts with names for their runs; those from `count` on are files of baselines."""
    runs = [(p.path, p.tag) for p in parts if not p.named and p.path not in given]
    names, notes = name_runs(runs, rule)
    waiting = iter(names)
    wanted = [given.get(part.path) or (None if part.named else next(waiting)) for part in parts]
    named = _renamed(parts, wanted)
    if count is not None:
        known, baselines = runs_of(named[:count]), named[count:]
        named[count:] = _renamed(baselines, [_name_as_baseline(each, known) for each in baselines])
    _refuse_shared_names(named)
    return named, notes


def _renamed(parts: Sequence[FileScores], names: Sequence[str | None]) -> list[FileScores]:
    """The parts, those that get a name with that name for their one run."""
    for part, name in zip(parts, names, strict=True):
        if name is not None and len(runs := runs_of([part])) != 1:
            message = f"{name}={part.path}: a name is for one run, the file holds {len(runs)}"
            raise UsageError(message)
    return [
        part if name is None else replace(part, matrices=of_one_run(name, part.matrices))
        for part, name in zip(parts, names, strict=True)
    ]


def _name_as_baseline(part: FileScores, known: Set[str]) -> str | None:
    """Scores kept from before, of a run that is named as one at hand, are its baseline's."""
    if not part.named or len(runs_of([part])) != 1:
        return None
    (run,) = runs_of([part])
    return name_of_baseline(run, known)


def _refuse_shared_names(parts: Sequence[FileScores]) -> None:
    owners: dict[tuple[str, str], Path] = {}
    for part in parts:
        for matrix in part.matrices:
            for run in matrix.runs:
                first = owners.setdefault((matrix.measure, run), part.path)
                if first is not part.path:
                    raise UsageError(
                        f"two runs are named {run!r}: in {first} and {part.path}"
                        f"{_way_out(parts, (first, part.path))}"
                    )
    refuse_virtual_names({run: path for (_, run), path in owners.items()})


def _way_out(parts: Sequence[FileScores], paths: Sequence[Path]) -> str:
    """What helps, if one of the files holds a single run."""
    one = [part.path for part in parts if part.path in paths and len(runs_of([part])) == 1]
    return f"; NAME={one[0]} gives one of them another name" if one else ""


# How the scores of an evaluation were made: here, or before, as files of scores say of themselves.
#
# Scores that were made with different settings are not comparable; nor are those from different
# judgements, though these may differ in a byte that no score depends on.


SCORING = ("topics", "max_grade", "score_precision")
"""The settings that a score depends on."""
JUDGEMENTS = "judgements"
_HERE = "the runs scored here"


def settings_in_force(
    parts: Sequence[FileScores], here: Mapping[str, Any], scored: bool
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


def _some_topics(parts: Sequence[FileScores], here: Any, scored: bool) -> Any:
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


def judgements_of(part: FileScores) -> tuple[str, ...]:
    """The checksums of the judgements that a file of scores was made from, if it says so."""
    return () if part.recorded is None else part.recorded.judgements


def other_judgements(parts: Sequence[FileScores], here: str | None) -> list[Note]:
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


def any_run(parts: Iterable[FileScores]) -> bool:
    """Whether there is a run that was scored here."""
    return any(part.kind == "run" for part in parts)


def part_notes(parts: Sequence[FileScores], reader: Reader) -> list[Note]:
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


def _rounding(parts: Sequence[FileScores]) -> list[Note]:
    """ir_measures has ERR from gdeval.pl, which prints five decimals: more topics tie."""
    rounded = [part.path.name for part in parts if part.rounded_err]
    if not rounded:
        return []
    return [rounded_err(rounded)]


def rounded_err(names: Sequence[str]) -> Note:
    """The caution for ERR of ir_measures, which has it from gdeval.pl."""
    message = f"ERR has no more than five decimals, as gdeval.pl prints it: {listed(names)}"
    return Note("rounded-scores", f"{message}; wins, ties and small differences suffer")


def _unknown_topics(part: FileScores, reader: Reader) -> int:
    """How many of a part's topics the qrels do not have."""
    scored = {topic for matrix in part.matrices for topic in matrix.topics}
    return part.unknown_topics + len(scored - reader.qrels.judgements.keys())


def _shown(part: FileScores) -> str:
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


def inputs(parts: Sequence[FileScores], reader: Reader) -> tuple[Input, ...]:
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
