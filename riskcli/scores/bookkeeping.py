"""What files of scores and runs make together: names of runs, settings in force, notes and inputs.

Scores that were made with different settings are not comparable; nor are those from different
judgements, though these may differ in a byte that no score depends on.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from riskcli.core.choices import is_virtual
from riskcli.core.messages import (
    OTHER_JUDGEMENTS,
    Input,
    InputError,
    Note,
    UsageError,
    counted,
    listed,
)
from riskcli.effectiveness.plausibility import notes_on
from riskcli.scores.files.registry import JUDGEMENTS, SCALE, FileScores
from riskcli.scores.matrix import ONLY_TOPICS, of_one_run
from riskcli.scores.reading import UNJUDGED, Reader
from riskcli.trec import names as naming
from riskcli.trec.qrels import text_sha256


def with_baseline_files(
    reader: Reader,
    load: Callable[[Path], FileScores],
    loaded: list[FileScores],
    baselines: Sequence[str],
    given: dict[Path, str],
) -> tuple[list[FileScores], dict[str, str], list[Note]]:
    """The parts, named; with a part for each baseline that is a file and not yet among them.

    `given` are names by file.
    """
    rule, count = reader.rules.run_names, len(loaded)
    named, notes = _named(loaded, rule, given, count)
    known = runs_of(named)
    files = {
        baseline: naming.named_place(baseline)
        for baseline in naming.each_baseline(baselines, known)
        if baseline not in known and not is_virtual(baseline) and _is_read(baseline)
    }
    if not files:
        return named, {}, notes
    places = {file.path.resolve(): index for index, file in enumerate(loaded)}
    for name, path in files.values():
        if path.resolve() not in places:
            places[path.resolve()] = len(loaded)
            loaded = [*loaded, load(path)]
        if name is not None:
            given[loaded[places[path.resolve()]].path] = name
    named, notes = _named(loaded, rule, given, count)
    added = {
        baseline: only_run(named[places[path.resolve()]]) for baseline, (_, path) in files.items()
    }
    return named, added, notes


def _is_read(baseline: str) -> bool:
    """Whether a baseline names a file, a pipe or a process substitution."""
    _, path = naming.named_place(baseline)
    return baseline != "" and path.exists() and not path.is_dir()


def without_own_scores(
    loaded: Sequence[FileScores], of_folders: Collection[Path], rule: str, given: Mapping[Path, str]
) -> tuple[list[FileScores], list[Path]]:
    """The files but those of scores that lay in a folder with the very runs; and their paths.

    Such a file is the matrix of those runs, kept from before.
    """
    runs_here = [file for file in loaded if file.kind == "run"]
    if not runs_here:
        return list(loaded), []
    unnamed = [(file.path, file.tag) for file in runs_here if file.path not in given]
    names = {*naming.names_by_rule(unnamed, rule)[1], *given.values()}
    own_files = [
        file.path
        for file in loaded
        if file.kind == "scores" and file.named and file.path in of_folders
        if runs_of([file]) <= names
    ]
    return [file for file in loaded if file.path not in own_files], own_files


def runs_of(loaded: Iterable[FileScores]) -> set[str]:
    """The names of all runs in these parts."""
    return {run for file in loaded for matrix in file.matrices for run in matrix.runs}


def only_run(file: FileScores) -> str:
    """The name of the one run in a part; an error where there are more."""
    runs = runs_of([file])
    if len(runs) != 1:
        raise UsageError(f"{file.path} holds {len(runs)} runs, a baseline file must hold one")
    return runs.pop()


def _named(
    loaded: Sequence[FileScores], rule: str, given: Mapping[Path, str], count: int
) -> tuple[list[FileScores], list[Note]]:
    """The parts with names for their runs; those from `count` on are files of baselines."""
    runs = [(p.path, p.tag) for p in loaded if not p.named and p.path not in given]
    names, notes = naming.name_runs(runs, rule)
    waiting = iter(names)
    wanted = [given.get(file.path) or (None if file.named else next(waiting)) for file in loaded]
    named = list(map(_renamed, loaded, wanted))
    known, baselines = runs_of(named[:count]), named[count:]
    named[count:] = [_renamed(each, _name_as_baseline(each, known)) for each in baselines]
    _refuse_shared_names(named)
    return named, notes


def _renamed(file: FileScores, name: str | None) -> FileScores:
    """The part with that name, if it gets one, for its one run."""
    if name is None:
        return file
    count = len(runs_of([file]))
    if count != 1:
        raise UsageError(f"{name}={file.path}: a name is for one run, the file holds {count}")
    return replace(file, matrices=of_one_run(name, file.matrices))


def _name_as_baseline(file: FileScores, known: Set[str]) -> str | None:
    """Scores kept from before, of a run that is named as one at hand, are its baseline's."""
    runs = runs_of([file])
    return naming.name_of_baseline(runs.pop(), known) if file.named and len(runs) == 1 else None


def _refuse_shared_names(loaded: Sequence[FileScores]) -> None:
    owners: dict[tuple[str, str], Path] = {}
    matrices = [(file.path, matrix) for file in loaded for matrix in file.matrices]
    for path, matrix in matrices:
        for run in matrix.runs:
            first = owners.setdefault((matrix.measure, run), path)
            if first is not path:
                way_out = _way_out(loaded, (first, path))
                raise UsageError(f"two runs are named {run!r}: in {first} and {path}{way_out}")
    naming.refuse_virtual_names({run: path for (_, run), path in owners.items()})


def _way_out(loaded: Sequence[FileScores], paths: Sequence[Path]) -> str:
    """What helps, if one of the files holds a single run."""
    single = [file.path for file in loaded if file.path in paths and len(runs_of([file])) == 1]
    return f"; NAME={single[0]} gives one of them another name" if single else ""


# How the scores of an evaluation were made: here, or before, as files of scores say of themselves.
#
# Scores that were made with different settings are not comparable; nor are those from different
# judgements, though these may differ in a byte that no score depends on.


UNUSED_SCALE = "unused-scale"
"""The code of a scale where no file of scores was read."""
SCORING = ("topics", "max_grade", "score_precision")
"""The settings that a score depends on."""
_HERE = "the runs scored here"
_SHOWN = 12
"""Digits of a checksum."""


def scoring_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those that a score depends on, as far as they are stated."""
    stated = {name: settings[name] for name in SCORING if name in settings}
    if stated:  # it is stated where it is not the usual
        is_condensed = settings.get(UNJUDGED) == "condensed"
        stated[UNJUDGED] = "condensed" if is_condensed else "zero"
    return stated


def settings_in_force(
    loaded: Sequence[FileScores], here: Mapping[str, Any], scored: bool, judged: Set[str]
) -> dict[str, Any]:
    """The settings that all scores were made with: those in force here where any was `scored`.

    Where files alone say how their scores were made, theirs, and the checksums of the judgements
    behind them, or of all where they are not those that runs are `judged` by; files whose settings
    contradict each other, or those here, are an error.
    """
    in_force = {n: (value, _HERE) for n, value in scoring_settings(here).items() if scored}
    for file in loaded:
        for name, value in scoring_settings(file.about.settings).items():
            other, owner = in_force.setdefault(name, (value, file.path.name))
            if value != other:
                message = f"was made with {name} = {value!r}, {owner} with {other!r}"
                raise InputError(file.path, "other-settings", message)
    only_topics = _some_topics(loaded, here.get(ONLY_TOPICS), scored)
    stated = {each for file in loaded for each in file.about.judgements}
    scales = sorted({scale for file in loaded for scale in file.scales})
    if scales:
        here = {**here, SCALE: scales if len(scales) > 1 else scales[0]}
    if scored:
        mixed = {JUDGEMENTS: sorted(stated | judged)} if judged and stated - judged else {}
        return {**here, **mixed}
    judgements = sorted(stated)
    theirs = {name: value for name, (value, _) in in_force.items() if value != "zero"}
    theirs |= {ONLY_TOPICS: only_topics} if only_topics else {}
    return {**here, **theirs, **({JUDGEMENTS: judgements} if judgements else {})}


def _some_topics(loaded: Sequence[FileScores], here: Any, scored: bool) -> Any:
    """The topics asked for here, or when the files of scores were made: of all runs the same."""
    if here:
        return here
    stated = [(_HERE, None)] if scored else []
    for file in loaded:
        if SCORING[0] in file.about.settings:
            topics = file.about.settings.get(ONLY_TOPICS)
            stated.append((file.path.name, topics))
            if topics != stated[0][1]:
                message = (
                    f"was made with {_topics(topics)}, {stated[0][0]} with {_topics(stated[0][1])}"
                )
                raise InputError(file.path, "other-settings", message)
    return stated[0][1] if stated else None


def _topics(topics: Any) -> str:
    return f"{ONLY_TOPICS} = {topics!r}" if topics else "all topics"


def judgements_here(inputs: Sequence[Input]) -> set[str]:
    """The checksums of the judgements that runs were scored by, if a file of scores names any."""
    if not any(each.judgements for each in inputs):
        return set()
    qrels = [each for each in inputs if each.kind == "qrels"]
    unread = {
        each.path: text_sha256(each.path)
        for each in qrels
        if each.sha256 is None and each.path.is_file()
    }
    sums = (each.content or each.sha256 or unread.get(each.path) for each in qrels)
    return {checksum for checksum in sums if checksum}


def _made_otherwise(inputs: Sequence[Input]) -> tuple[list[Input], set[str], str]:
    """The files of scores from other judgements than the rest; the rest's, and whose they are."""
    here = judgements_here(inputs)
    stated = [each for each in inputs if each.judgements]
    right = here or {checksum for each in stated[:1] for checksum in each.judgements}
    differing = [each for each in stated if each.mixed or set(each.judgements) != right]
    return differing, right, _HERE if here else "the first"


def other_judgements(inputs: Sequence[Input]) -> list[Note]:
    """The warning that files of scores were made from other judgements than the rest."""
    differing, _, whose = _made_otherwise(inputs)
    if not differing:
        return []
    whose = "each other" if any(each.mixed for each in differing) else whose
    message = (
        f"made from other judgements than {whose} (by the checksums of the qrels), so scores may "
        f"not be comparable: {listed(each.path.name for each in differing)}"
    )
    return [Note(OTHER_JUDGEMENTS, message)]


def refuse_other_judgements(inputs: Sequence[Input]) -> None:
    """Refuse a file of scores that was made from other judgements than the rest."""
    differing, right, whose = _made_otherwise(inputs)
    for file in differing:
        theirs, ours = (listed(each[:_SHOWN] for each in some) for some in (file.judgements, right))
        than = "each other" if file.mixed else f"{whose} ({ours})"
        message = (
            f"made from other judgements (SHA-256 {theirs}) than {than}, so scores are not "
            "comparable: make it again, or insist with --other-judgements allow"
        )
        raise InputError(file.path, OTHER_JUDGEMENTS, message)


# What a reader of an evaluation should know of its files.


def any_run(loaded: Iterable[FileScores]) -> bool:
    """Whether there is a run that was scored here."""
    return any(file.kind == "run" for file in loaded)


def part_notes(loaded: Sequence[FileScores], reader: Reader) -> list[Note]:
    """Notes on the files that were read."""
    scored = loaded if any_run(loaded) else []
    unknown = [(file, _unknown_topics(file, reader)) for file in scored]
    ignored = [f"{_shown(file)} ({count})" for file, count in unknown if count]
    mixed = [f"{file.path.name} ({listed(file.tags)})" for file in loaded if len(file.tags) > 1]
    notes = [
        Note(
            "taken-as",
            f"scores of {file.path.name} read as {file.taken_as}: the file does not name its "
            "measure",
        )
        for file in loaded
        if file.taken_as
    ]
    told = [file.about.told for file in loaded if file.about.told]
    notes += [Note("columns-taken", each, warning=False) for each in told]
    if reader.rules.scale != 1 and all(file.kind == "run" for file in loaded):
        message = "--scale is for files of scores, and there is none: what is scored here keeps its"
        notes.append(Note(UNUSED_SCALE, f"{message} scale"))
    notes += rounded_err([file.path.name for file in loaded if file.rounded_err])
    if ignored:
        message = f"topics that are not in the qrels are ignored: {listed(ignored)}"
        notes.append(Note("unknown-topics", message))
    if mixed:
        message = f"lines carry different tags, are these several runs in one file: {listed(mixed)}"
        notes.append(Note("mixed-tags", message))
    return [*notes, *notes_on((_shown(file), file.doubts) for file in loaded)]


def _shown(file: FileScores) -> str:
    return only_run(file) if file.kind == "run" else file.path.name


def rounded_err(names: Sequence[str]) -> list[Note]:
    """The caution for ERR of ir_measures, which has it from gdeval.pl: more topics tie."""
    if not names:
        return []
    message = f"ERR has no more than five decimals, as gdeval.pl prints it: {listed(names)}"
    return [Note("rounded-scores", f"{message}; wins, ties and small differences suffer")]


def _unknown_topics(file: FileScores, reader: Reader) -> int:
    """How many of a part's topics the qrels do not have."""
    scored = {topic for matrix in file.matrices for topic in matrix.topics}
    return file.unknown_topics + len(scored - reader.qrels.judgements.keys())


def qrels_notes(reader: Reader) -> list[Note]:
    """Notes on the judgements."""
    qrels = reader.qrels
    notes = list(qrels.notes)
    if reader.found_qrels not in ("given", ""):
        notes.append(Note("qrels", f"judgements: {qrels.path} ({reader.found_qrels})", False))
    if any(measure.family.of_subtopics for measure in reader.measures):
        by_topic = (qrels.subtopics or {}).values()
        most = max((len({s for of in each.values() for s in of}) for each in by_topic), default=0)
        message = f"{qrels.path}: judgements by subtopic, up to {most} relevant ones a topic"
        notes.append(Note("subtopics", message, warning=False))
    barren = len(qrels.topics) - len(qrels.relevant_topics)
    if barren and reader.rules.topics != "judged":
        message = f"{counted(barren, 'topic')} of the qrels without a relevant document left out"
        notes.append(Note("barren-topics", message + " (--topics judged keeps them)", False))
    return notes


def inputs(loaded: Sequence[FileScores], reader: Reader) -> tuple[Input, ...]:
    """Each file that numbers rest on."""
    records = [
        Input(file.path, file.kind, file.sha256, None if len(runs) > 1 else min(runs),
              file.about.judgements, file.about.mixed, file.about.content)
        for file in loaded
        for runs in [runs_of([file])]
    ]  # fmt: skip
    if any_run(loaded) and reader.qrels.path is not None:
        qrels = reader.qrels
        text = qrels.text_sha256 if qrels.text_sha256 != qrels.sha256 else None
        records.append(Input(reader.qrels.path, "qrels", qrels.sha256, content=text))
    return tuple(records)
