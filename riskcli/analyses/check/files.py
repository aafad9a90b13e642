"""What a gate reads and writes beside runs: rules, baselines kept in files, reports, a summary."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from riskcli.analyses.check import refusal, verdict
from riskcli.analyses.check.allow import KnownLoser, read_allowed
from riskcli.analyses.check.case import column_quantities
from riskcli.analyses.check.rules import COMPARISONS, POLICIES, TOPIC_QUANTITIES, Rule, parse_rule
from riskcli.analyses.check.verdict import Gate
from riskcli.analyses.to_judge import to_judge
from riskcli.cli.evaluating import rules as rules_of
from riskcli.cli.reading import Inputs
from riskcli.core.choices import OtherJudgements
from riskcli.core.files import LIST_MARK, listed_in, sha256_of_file
from riskcli.core.inputs import identity, note_input
from riskcli.core.messages import (
    NOT_JUDGED,
    Input,
    InputError,
    Note,
    RiskevalError,
    UsageError,
    listed,
)
from riskcli.output.formats import (
    IN_FILE,
    MARKDOWN,
    MATRIX_FORMATS,
    STDOUT,
    OutputFormat,
    chosen,
    emit,
)
from riskcli.output.measure_words import meaning_of
from riskcli.scores.bookkeeping import (
    UNUSED_SCALE,
    other_judgements,
    refuse_other_judgements,
    runs_of,
    scoring_settings,
)
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.files.registry import UNNAMED, FileScores, kind_of, on_scale, read_score_file
from riskcli.scores.matrix import ScoreMatrix, join, of_one_run
from riskcli.trec import discovery
from riskcli.trec.names import file_name, name_of_baseline, named_place
from riskcli.trec.source import TextFile


def rules_of_option(text: str) -> list[Rule]:
    """The rule that `text` spells, or those of the file behind @: a rule a line."""
    if not text.startswith(LIST_MARK):
        return [parse_rule(text)]
    path = Path(text.removeprefix(LIST_MARK))
    rules = []
    for number, rule in listed_in(path, "rule"):
        try:
            rules.append(parse_rule(rule))
        except UsageError as error:
            raise InputError(path, "bad-rule", str(error), number) from error
    return rules


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
    if repeats:
        if inputs.replicates is not None:
            raise UsageError("--repeats makes all RUNS one candidate: leave out --replicates")
        runs = [run for run in evaluation.matrices[0].runs if run != name]
        shared = re.sub(r"[\W_]+$", "", os.path.commonprefix(runs))  # noqa: RUF071 - letters
        one = f"{shared} repeats" if shared == name else shared or "repeats"
        evaluation = evaluation.of_systems(dict.fromkeys(runs, one))
    notes = tuple(map(_of_gate, evaluation.notes))
    evaluation = replace(evaluation, provenance=replace(evaluation.provenance, notes=notes))
    if pin is not None:
        check_pin(evaluation, name, pin)
    if others == "refuse":
        refuse_other_judgements(evaluation.inputs)
    return evaluation, name


def allowing(scores: Evaluation, file: Path | None) -> tuple[Evaluation, list[KnownLoser]]:
    """The exceptions of a file, which is then one of the inputs."""
    if file is None:
        return scores, []
    allowed, read = read_allowed(file)
    provenance = replace(scores.provenance, inputs=(*scores.inputs, read))
    return replace(scores, provenance=provenance), allowed


def _of_gate(note: Note) -> Note:
    """A note on a folder's files: no candidate is left out in silence, and none may be empty."""
    if note.code == discovery.EMPTY:
        raise UsageError(f"{note.message}: an empty candidate cannot pass; --exclude leaves it out")
    return Note(NOT_JUDGED, note.message) if note.code == discovery.OTHER_KINDS else note


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
    if inputs.human is not None:
        message = f"{baseline} holds scores alone, which humans' judgements cannot correct"
        raise UsageError(f"{message}: with --human give the baseline as a run")
    candidates = inputs.evaluate()
    note_input(path)  # among RUNS it is passed over
    with source.mistakes_named():
        kept = _kept_scores(path, source.text(), kind, candidates, rules.scale)
    runs = {run for matrix in candidates.matrices for run in matrix.runs}
    name = given or name_of_baseline(kept.matrices[0].runs[0], runs)
    matrices = tuple(_joined(kept, matrix, name) for matrix in candidates.matrices)
    file = Input(path, _KEPT, source.sha256, None, kept.judgements, kept.mixed, kept.content)
    files = (*candidates.inputs, file)
    provenance = replace(
        candidates.provenance, inputs=files, notes=_notes(candidates.notes, kept, files)
    )
    return replace(candidates, matrices=matrices, provenance=provenance), name


def _kept_scores(
    path: Path, text: bytes, kind: str, candidates: Evaluation, scale: float
) -> FileScores:
    """The file's scores, all of the one baseline run; its settings must be today's."""
    measures = [matrix.measure for matrix in candidates.matrices]
    label = measures[0] if len(measures) == 1 else UNNAMED
    kept = on_scale(read_score_file(path, text, kind, label), scale)
    if not kept.named:
        name = kept.tag or file_name(path)
        kept = replace(kept, matrices=of_one_run(name, kept.matrices))
    runs = runs_of([kept])
    if len(runs) != 1:
        message = f"holds {len(runs)} runs ({listed(sorted(runs))}), a baseline must be one"
        raise InputError(path, "not-one-run", message)
    now = scoring_settings(candidates.provenance.settings)
    for name, value in scoring_settings(kept.settings).items():
        if value != now[name]:
            message = f"was made with {name} = {value!r}, the candidates with {now[name]!r}"
            raise InputError(path, "other-settings", message)
    return kept


def _joined(kept: FileScores, candidates: ScoreMatrix, name: str) -> ScoreMatrix:
    """Candidates and baseline in one matrix; their topics must be the same."""
    by_measure = {matrix.measure: matrix for matrix in kept.matrices}
    if candidates.measure not in by_measure:
        message = f"holds scores by {listed(by_measure)}, the candidates by {candidates.measure}"
        raise InputError(kept.path, "other-measure", message)
    baseline = replace(by_measure[candidates.measure], runs=(name,))
    if name in candidates.runs:
        message = f"the run is named {name!r}, as one of the candidates"
        raise InputError(kept.path, "same-name", message)
    ours, theirs = set(candidates.topics), set(baseline.topics)
    for what, topics in (("lacks", ours - theirs), ("has besides", theirs - ours)):
        if topics:
            message = f"its topics are others: it {what} {listed(sorted(topics))}"
            raise InputError(kept.path, "other-topics", message)
    baseline.check_finite()
    joined = join(candidates.measure, [baseline, candidates], candidates.topics)[0]
    return replace(joined, judging=candidates.judging, axes=candidates.axes)


def _notes(before: Sequence[Note], kept: FileScores, files: Sequence[Input]) -> tuple[Note, ...]:
    """With the warnings that a kept baseline needs: made from other judgements, or nobody knows."""
    others = other_judgements(files)
    untrue = {UNUSED_SCALE, *(note.code for note in others)}
    notes = [note for note in before if note.code not in untrue]
    if not kept.settings:
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
    own = kept or [each for each in evaluation.inputs if _is_of(each, baseline, evaluation)]
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


def _is_of(file: Input, run: str, evaluation: Evaluation) -> bool:
    """Whether a file holds the run, or one that the system of that name is made of."""
    return file.run is not None and evaluation.systems.get(file.run, file.run) == run


# The ratchet: a candidate that passes becomes the baseline of next time.


_KEPT = "baseline scores"
"""The kind of input that a baseline's file of scores is."""
_STATING = ("json", "parquet")
_READABLE = ("csv", "tsv", *_STATING)
_ITS_INPUTS = ("qrels", "scores")
"""What its scores rest on beside its run; a kept baseline is an input of another kind."""


def kept_format(file: Path, scale: float) -> OutputFormat:
    """The format that the file's suffix asks for; it must be one that can be read again.

    Of scaled scores it must state the scale: else they would be scaled again.
    """
    readable = tuple(format for format in MATRIX_FORMATS if format.name in _READABLE)
    format = chosen(None, file, readable)
    if scale != 1 and format.name not in _STATING:
        message = f"{format.name.upper()} does not say that --scale was applied"
        raise UsageError(f"{file}: {message}: choose {' or '.join(_STATING)}")
    return format


def only_candidate(gate: Gate) -> str:
    """The one that may become the baseline."""
    candidates = list(dict.fromkeys(each.candidate for each in gate.verdicts))
    if len(candidates) != 1:
        raise UsageError(f"one candidate can become the baseline, found {listed(candidates)}")
    return candidates[0]


def update_baseline(
    gate: Gate, evaluation: Evaluation, file: Path, format: OutputFormat, baseline: str
) -> Note:
    """Replace the file by the scores of the one candidate, if it passes; a note says what was done.

    A verdict that is inconclusive is no pass here, whatever it counts as. The one input that may be
    replaced is the baseline of this call.
    """
    run = only_candidate(gate)
    if other_judgements(evaluation.inputs):
        return _told(f"{file} is left unchanged: {run} was judged by scores from other judgements")
    if gate.skipped or not all(each.passed for each in gate.verdicts):
        return _told(f"{file} is left unchanged: {run} does not pass, or not with certainty")
    from riskcli.analyses.matrix import Matrices  # late: it loads Parquet's library

    kept = tuple(m.of_runs([m.runs.index(run)]) for m in evaluation.matrices)
    inputs = tuple(
        each
        for each in evaluation.inputs
        if each.kind in _ITS_INPUTS or _is_of(each, run, evaluation)
    )
    provenance = replace(evaluation.provenance, inputs=inputs)
    content = format.render(Matrices(kept, long=len(kept) > 1, provenance=provenance), IN_FILE)
    emit(content, file, state=identity(file) == identity(named_place(baseline)[1]))
    pin = f" (--baseline-sha256 {sha256_of_file(file)})" if file.is_file() else ""
    return _told(f"{file} now holds {run}, the next baseline{pin}")


def write_pool(gate: Gate, evaluation: Evaluation, baseline: str, file: Path) -> Note:
    """Write the documents whose judging would settle what is open; a note says how many."""
    wanted = to_judge(evaluation, baseline, gate=gate)
    wanted.write(file)
    return wanted.note(file)


def _told(message: str) -> Note:
    return Note("baseline", message, warning=False)


# Where a verdict goes: stdout or a file, further reports, and GitHub's job summary.


def publish(gate: Gate, reports: Iterable[tuple[OutputFormat, Path]]) -> None:
    """Write every report, and the job summary under GitHub Actions."""
    for format, file in reports:
        emit(format.render(gate, IN_FILE), file)
    _summarise(str(MARKDOWN.render(gate)))


def tell_refusal(error: RiskevalError, given: Mapping[str, Any]) -> None:
    """Let every report asked for, and the job summary, say that nothing was judged, and why.

    Nothing that the options name as an input is replaced, even if it was not read yet. On stdout
    only CI services are told: others see the exit code, and no result.
    """
    for name in ("runs", "judged", "baselines", "population", "rules", "only_topics"):
        texts = (str(text).removeprefix(LIST_MARK) for text in given.get(name, ()))
        note_input(*(named_place(text)[1] for text in texts))
    names = ("queries", "replicates", "groups", "weights", "human", "allow")
    files = map(given.get, names)
    note_input(*(named_place(str(file))[1] for file in files if file is not None))
    reports, told = list(given["reports"]), refusal.Refusal.of(error)
    with suppress(RiskevalError):
        output = None if str(given["output"]) == STDOUT else given["output"]
        format = chosen(given["format"], output, verdict.FORMATS, for_people=True)
        reports.append((format, output))
    for format, file in reports:
        with suppress(RiskevalError):  # the first error is the one to be told
            content = told.in_format(format, to_file=file is not None)
            if content is not None:
                emit(content, file)
    with suppress(RiskevalError):
        _summarise(refusal.as_markdown(told.problems))


def _summarise(text: str) -> None:
    """Add to the job's summary under GitHub Actions, on a line of its own."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary or os.environ.get("GITHUB_ACTIONS") != "true":
        return
    try:  # other steps of the job write to the summary as well: it is added to, not replaced
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write("\n" + text)
    except OSError as error:
        raise InputError(summary, "cannot-write", error.strerror or str(error)) from error


def rules_help() -> str:
    """What a rule can be made of."""
    quantities = [(column.name, meaning_of(column)) for column in column_quantities()]
    quantities += [(quantity.spelled, quantity.meaning) for quantity in TOPIC_QUANTITIES]
    policies = [(policy.name, policy.meaning) for policy in POLICIES.values()]
    return "\n".join([
        "RULE = QUANTITY COMPARISON BOUND, as in: urisk@5 > -0.01", "",
        f"COMPARISON: {' '.join(COMPARISONS)}",
        "BOUND: a number, 5%, baseline, baseline - 0.005, 0.98 * baseline; for flags:",
        "       better, worse, none. `baseline` is the same quantity of the baseline.",
        "GROUPS of topics (--groups): urisk@5[tail] > 0, mean_diff[type=tail] > 0; every group:",
        "       worst_group(mean_diff) >= -0.03",
        "QUANTITY, with @ALPHA where it depends on alpha:",
        *(f"  {name:18} {meaning}" for name, meaning in quantities),
        "", "Policies:",
        *(f"  {name:18} {meaning}" for name, meaning in policies),
    ])  # fmt: skip
