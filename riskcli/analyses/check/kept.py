"""Runs kept as scores, which candidates are compared with."""

import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from riskcli.cli.evaluating import rules as rules_of
from riskcli.cli.reading import Inputs
from riskcli.core.choices import OtherJudgements
from riskcli.core.inputs import note_input
from riskcli.core.locations import RemotePath
from riskcli.core.messages import NOT_JUDGED, Input, InputError, Note, UsageError, listed
from riskcli.scores.bookkeeping import (
    UNUSED_SCALE,
    other_judgements,
    refuse_other_judgements,
    runs_of,
    scoring_settings,
)
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.files import rows
from riskcli.scores.files.registry import FileScores, kind_of, on_scale, read_score_file
from riskcli.scores.matrix import ScoreMatrix, join, of_one_run
from riskcli.trec import discovery
from riskcli.trec.names import file_name, name_of_baseline, named_place
from riskcli.trec.source import TextFile


def with_baseline(
    inputs: Inputs,
    baselines: Sequence[str],
    pin: str | None,
    others: OtherJudgements,
    repeats: bool = False,
) -> tuple[Evaluation, str]:
    """The scores of candidates and of the one baseline in the same matrices, and its name.

    It must be the one that is pinned, and `others` says whether its judgements may be others. If
    they are `repeats` of one, the candidates are one, called by what their names begin with.
    """
    if len(baselines) != 1:
        raise UsageError(f"a gate compares with one baseline, found {', '.join(baselines)}")
    evaluation, name = _beside(inputs, baselines[0])
    evaluation = told_apart(evaluation, inputs, {name}, repeats)
    if pin is not None:
        check_pin(evaluation, name, pin)
    if others == "refuse":
        refuse_other_judgements(evaluation.inputs)
    return evaluation, name


def told_apart(
    evaluation: Evaluation, inputs: Inputs, baselines: Collection[str], repeats: bool
) -> Evaluation:
    """With the candidates made one where they are `repeats`, and the notes of a gate."""
    if repeats:
        if inputs.replicates is not None:
            raise UsageError("--repeats makes all RUNS one candidate: leave out --replicates")
        runs = [run for run in evaluation.matrices[0].runs if run not in baselines]
        shared = re.sub(r"[\W_]+$", "", os.path.commonprefix(runs))  # noqa: RUF071 - letters
        one = shared or "repeats"
        one = f"{shared or 'new'} repeats" if one in baselines else one
        evaluation = evaluation.of_systems(dict.fromkeys(runs, one))
    notes = (*map(_of_gate, evaluation.notes), *_left_out(inputs, evaluation.inputs))
    return replace(evaluation, provenance=replace(evaluation.provenance, notes=notes))


def _left_out(inputs: Inputs, used: Sequence[Input]) -> list[Note]:
    """News of files that folders leave out for their names, but that begin as scores do."""
    known, folders = {file.path.resolve() for file in used}, inputs.folders
    found = []
    for place in [path for path in inputs.runs if path.is_dir()]:
        if isinstance(place, RemotePath):
            continue
        for name in discovery.list_folder(place, folders).ignored:
            path = place / name
            may_be = folders.wants(name) and path.suffix == ".json" and path.resolve() not in known
            with suppress(OSError):  # discovery tells of every file that it skips
                if may_be and path.stat().st_size <= inputs.max_bytes:
                    found += [name] if rows.fits(path.read_bytes()) else []
    message = f"skipped for their names, but begin as scores by topic: {listed(sorted(found))}"
    cure = "--include '*' takes every file, --exclude leaves one out"
    return [Note(NOT_JUDGED, f"{message} ({cure})")] if found else []


def _of_gate(note: Note) -> Note:
    """A note on a folder's files: no candidate is left out in silence, and none may be empty."""
    if note.code == discovery.EMPTY:
        raise UsageError(f"{note.message}: an empty candidate cannot pass; --exclude leaves it out")
    is_told = note.code in (discovery.OTHER_KINDS, discovery.BEGIN_AS_RUNS)
    return Note(NOT_JUDGED, note.message) if is_told else note


def _beside(inputs: Inputs, baseline: str) -> tuple[Evaluation, str]:
    rules = rules_of(inputs)
    given, path = named_place(baseline)
    if path.exists() and not path.is_dir() and not path.is_file():
        message = "a pipe cannot be the baseline of a gate, which is read twice; save it to a file"
        raise InputError(path, "unreadable", message)
    source = TextFile(path, rules.max_bytes, checksum=True) if path.is_file() else None
    kind = kind_of(path, source.start, rules.input_format) if source and source.start else None
    if source is None or kind is None:
        both = inputs.evaluate([baseline])
        return both, both.added.get(baseline, baseline)
    candidates = candidates_of(inputs, path)
    with source.mistakes_named():
        text = source.text()
        kept = kept_scores(path, text, kind, candidates, rules.scale)
        lost = [] if rules.measures else _lost(kept, text, kind, candidates)
    runs = runs_of([kept])
    if len(runs) != 1:
        message = (
            f"holds {len(runs)} runs ({listed(sorted(runs))}), a baseline must be one: `riskeval "
            "matrix` writes it, and what --ratchet wrote is given with --ratchet"
        )
        raise InputError(path, "not-one-run", message)
    (run,) = runs
    name = given or name_of_baseline(run, runs_of([replace(kept, matrices=candidates.matrices)]))
    both = with_kept(candidates, kept, (name,), source.sha256)
    return replace(both, provenance=both.provenance.adding(notes=lost)), name


def _lost(kept: FileScores, text: bytes, kind: str, candidates: Evaluation) -> list[Note]:
    """Measures of the file that candidates lack, where none was chosen: a gate must not drop one.

    Runs that are scored here have the defaults, so it is said; files of scores should hold it.
    """
    scored_here = any(file.kind == "run" for file in candidates.inputs)
    everything = kind == "rows" and not scored_here  # of rows, only what is asked for was read
    found = read_score_file(kept.path, text, kind, None) if everything else kept
    ours = {matrix.measure for matrix in candidates.matrices}
    lost = [matrix.measure for matrix in found.matrices if matrix.measure not in ours]
    if not lost or ours.isdisjoint(matrix.measure for matrix in kept.matrices):
        return []
    message = f"scores by {listed(lost)} too, which the candidates lack"
    cure = "--measure names those to compare by"
    if not scored_here:
        raise InputError(kept.path, "other-measure", f"holds {message}: {cure}")
    return [Note(NOT_JUDGED, f"{kept.path.name} holds {message} and no rule tests: {cure}")]


def candidates_of(inputs: Inputs, kept: Path) -> Evaluation:
    """The candidates that a file of kept scores is compared with; among RUNS it is passed over."""
    if inputs.human is not None:
        message = f"{kept} holds scores alone, which humans' judgements cannot correct"
        raise UsageError(f"{message}: with --human give the baseline as a run")
    candidates = inputs.evaluate()
    note_input(kept)
    return candidates


def with_kept(
    candidates: Evaluation, kept: FileScores, names: tuple[str, ...], sha256: str | None
) -> Evaluation:
    """The candidates below the kept runs, which are called by these names."""
    matrices = tuple(_joined(kept, matrix, names) for matrix in candidates.matrices)
    about = kept.about
    file = Input(kept.path, _KEPT, sha256, None, about.judgements, about.mixed, about.content)
    files = (*candidates.inputs, file)
    provenance = replace(
        candidates.provenance, inputs=files, notes=_notes(candidates.notes, kept, files)
    )
    return replace(candidates, matrices=matrices, provenance=provenance)


def kept_scores(
    path: Path, text: bytes, kind: str, candidates: Evaluation, scale: float
) -> FileScores:
    """The file's scores; its settings must be today's."""
    measures = [matrix.measure for matrix in candidates.matrices]
    kept = on_scale(read_score_file(path, text, kind, measures), scale)
    if not kept.named:
        name = kept.tag or file_name(path)
        kept = replace(kept, matrices=of_one_run(name, kept.matrices))
    now = scoring_settings(candidates.provenance.settings)
    for name, value in scoring_settings(kept.about.settings).items():
        if value != now[name]:
            message = f"was made with {name} = {value!r}, the candidates with {now[name]!r}"
            raise InputError(path, "other-settings", message)
    return kept


def _joined(kept: FileScores, candidates: ScoreMatrix, names: tuple[str, ...]) -> ScoreMatrix:
    """The kept runs, by these names, and the candidates in one matrix, if topics are the same."""
    by_measure = {matrix.measure: matrix for matrix in kept.matrices}
    if candidates.measure not in by_measure:
        message = (
            f"holds scores by {listed(by_measure)}, the candidates by {candidates.measure}: "
            "--measure names one of the file's"
        )
        raise InputError(kept.path, "other-measure", message)
    baseline = replace(by_measure[candidates.measure], runs=names)
    for name in set(names) & set(candidates.runs):
        message = f"the run is named {name!r}, as one of the candidates"
        raise InputError(kept.path, "same-name", message)
    ours, theirs = set(candidates.topics), set(baseline.topics)
    for what, topics in (("lacks", ours - theirs), ("has besides", theirs - ours)):
        if topics:
            message = (
                f"its topics are others than the candidates': it {what} {listed(sorted(topics))}; "
                "make it again with the same judgements and settings"
            )
            raise InputError(kept.path, "other-topics", message)
    baseline.check_finite()
    joined = join(candidates.measure, [baseline, candidates], candidates.topics)[0]
    return replace(joined, judging=candidates.judging, axes=candidates.axes)


def _notes(before: Sequence[Note], kept: FileScores, files: Sequence[Input]) -> tuple[Note, ...]:
    """With the warnings that a kept baseline needs: made from other judgements, or nobody knows."""
    others = other_judgements(files)
    untrue = {UNUSED_SCALE, *(note.code for note in others)}
    notes = [note for note in before if note.code not in untrue]
    if not kept.about.settings:
        message = (
            f"{kept.path.name} does not say by which measure and settings it was made; "
            "the JSON and Parquet formats do"
        )
        others.append(Note("unknown-settings", message))
    return (*notes, *others)


def check_pin(evaluation: Evaluation, baseline: str, sha256: str) -> None:
    """Refuse a baseline whose file, by its bytes or the hash of its content, is another one."""
    last = evaluation.inputs[-1]
    kept = [last] if last.kind == _KEPT else []
    own = kept or [each for each in evaluation.inputs if is_of(each, baseline, evaluation)]
    if len(own) != 1:
        has = "is in several files" if own else "has none of its own"
        raise UsageError(f"--baseline-sha256 is of a file, and {baseline} {has}")
    file = own[0]
    if sha256 not in (file.sha256, file.content):
        content = f", that of its content {file.content}" if file.content else ""
        message = (
            f"the file's SHA-256 is {file.sha256}{content}, --baseline-sha256 asks for {sha256}: "
            "restore that baseline, or give the new hash if the change is meant"
        )
        raise InputError(file.path, "other-baseline", message)


def is_of(file: Input, run: str, evaluation: Evaluation) -> bool:
    """Whether a file holds the run, or one that the system of that name is made of."""
    return file.run is not None and evaluation.systems.get(file.run, file.run) == run


_KEPT = "baseline scores"
"""The kind of input that a file of kept scores is."""
