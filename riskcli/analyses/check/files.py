"""What a gate reads and writes beside runs: rules, baselines kept in files, reports, a summary."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from riskcli.analyses.check import verdict
from riskcli.analyses.check.gate import column_quantities
from riskcli.analyses.check.rules import COMPARISONS, POLICIES, TOPIC_QUANTITIES, Rule, parse_rule
from riskcli.analyses.check.verdict import Gate
from riskcli.cli.evaluating import rules as rules_of
from riskcli.cli.options import Output, write
from riskcli.cli.reading import Inputs
from riskcli.core.files import LIST_MARK, listed_in, sha256_of_file
from riskcli.core.messages import Input, InputError, Note, RiskevalError, UsageError, listed
from riskcli.output.formats import IN_FILE, MARKDOWN, MATRIX_FORMATS, OutputFormat, chosen, emit
from riskcli.output.measure_words import meaning_of
from riskcli.scores.bookkeeping import SCORING, runs_of
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.files.registry import UNNAMED, FileScores, kind_of, read_score_file
from riskcli.scores.matrix import ScoreMatrix, join, of_one_run
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
    inputs: Inputs, baseline: str, *, checksums: bool = True
) -> tuple[Evaluation, str]:
    """The scores of candidates and baseline in the same matrices, and the baseline's name."""
    rules = rules_of(inputs)
    given, path = named_place(baseline)
    if path.exists() and not path.is_dir() and not path.is_file():
        message = "a pipe cannot be the baseline of a gate, which is read twice; save it to a file"
        raise InputError(path, "unreadable", message)
    source = TextFile(path, rules.max_bytes, checksums) if path.is_file() else None
    kind = kind_of(path, source.start, rules.input_format) if source and source.start else None
    if source is None or kind is None:
        both = inputs.evaluate([baseline], checksums)
        return both, both.added.get(baseline, baseline)
    candidates = inputs.evaluate(checksums=checksums)
    kept = _kept_scores(path, source.text(), kind, candidates)
    runs = {run for matrix in candidates.matrices for run in matrix.runs}
    name = given or name_of_baseline(kept.matrices[0].runs[0], runs)
    matrices = tuple(_joined(kept, matrix, name) for matrix in candidates.matrices)
    provenance = replace(
        candidates.provenance.adding(notes=_how_made(kept, candidates)),
        inputs=(*candidates.inputs, Input(path, "baseline scores", source.sha256)),
    )
    return replace(candidates, matrices=matrices, provenance=provenance), name


def _kept_scores(path: Path, text: bytes, kind: str, candidates: Evaluation) -> FileScores:
    """The file's scores, all of the one baseline run; its settings must be today's."""
    measures = [matrix.measure for matrix in candidates.matrices]
    label = measures[0] if len(measures) == 1 else UNNAMED
    kept = read_score_file(path, text, kind, label)
    if not kept.named:
        name = kept.tag or file_name(path)
        kept = replace(kept, matrices=of_one_run(name, kept.matrices))
    runs = runs_of([kept])
    if len(runs) != 1:
        message = f"holds {len(runs)} runs ({listed(sorted(runs))}), a baseline must be one"
        raise InputError(path, "not-one-run", message)
    then, now = kept.settings, candidates.provenance.settings
    for name in SCORING:
        if name in then and then[name] != now[name]:
            message = f"was made with {name} = {then[name]!r}, the candidates with {now[name]!r}"
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
    return join(candidates.measure, [baseline, candidates], candidates.topics)[0]


def _how_made(made: FileScores, candidates: Evaluation) -> list[Note]:
    """The warnings that a kept baseline does not say how it was made, or from other judgements."""
    qrels = [each for each in candidates.inputs if each.kind == "qrels" and made.judgements]
    here = {each.sha256 or sha256_of_file(each.path) for each in qrels} - {None}
    if here and here != set(made.judgements):
        message = (
            f"{made.path.name} was made from other judgements than the candidates (by the "
            "checksums of the qrels), so scores may not be comparable: make it again"
        )
        return [Note("other-judgements", message)]
    if made.settings:
        return []
    message = (
        f"{made.path.name} does not say by which measure and settings it was made; "
        "the JSON and Parquet formats do"
    )
    return [Note("unknown-settings", message)]


# The ratchet: a candidate that passes becomes the baseline of next time.


_READABLE = ("csv", "tsv", "json", "parquet")
_ITS_INPUTS = ("qrels", "scores")
"""What its scores rest on beside its run; a kept baseline is an input of another kind."""


def kept_format(file: Path) -> OutputFormat:
    """The format that the file's suffix asks for; it must be one that can be read again."""
    readable = tuple(format for format in MATRIX_FORMATS if format.name in _READABLE)
    return chosen(None, file, readable)


def only_candidate(gate: Gate) -> str:
    """The one that may become the baseline."""
    candidates = list(dict.fromkeys(each.candidate for each in gate.verdicts))
    if len(candidates) != 1:
        raise UsageError(f"one candidate can become the baseline, found {listed(candidates)}")
    return candidates[0]


def update_baseline(gate: Gate, evaluation: Evaluation, file: Path, format: OutputFormat) -> str:
    """Replace the file by the scores of the one candidate, if it passes; say what was done.

    A verdict that is inconclusive is no pass here, whatever it counts as.
    """
    run = only_candidate(gate)
    if gate.skipped or not all(each.passed for each in gate.verdicts):
        return f"{file} is left unchanged: {run} does not pass, or not with certainty"
    from riskcli.analyses.matrix import Matrices  # late: it loads Parquet, which no gate reads

    kept = tuple(m.of_runs([m.runs.index(run)]) for m in evaluation.matrices)
    inputs = tuple(
        each for each in evaluation.inputs if each.run == run or each.kind in _ITS_INPUTS
    )
    provenance = replace(evaluation.provenance, inputs=inputs)
    emit(format.render(Matrices(kept, long=len(kept) > 1, provenance=provenance), IN_FILE), file)
    return f"{file} now holds {run}, the next baseline"


# Where a verdict goes: stdout or a file, further reports, and GitHub's job summary.


def publish(gate: Gate, output: Output, reports: Iterable[tuple[OutputFormat, Path]]) -> None:
    """Write every report, the job summary under GitHub Actions, and last the result itself."""
    for format, file in reports:
        emit(format.render(gate, IN_FILE), file)
    _summarise(str(MARKDOWN.render(gate)))
    write(gate, output)


@contextmanager
def reporting(output: Output, reports: Iterable[tuple[OutputFormat, Path]]) -> Iterator[None]:
    """Let the reports for CI services say so where nothing can be judged; the error goes on."""
    try:
        yield
    except RiskevalError as error:
        problems = verdict.of_error(error)
        for format, file in (*reports, (output.output_format, output.output)):
            format = verdict.AUTOMATIC.chosen if format is verdict.AUTOMATIC else format
            if format.name in verdict.REFUSALS:
                with suppress(RiskevalError):  # the first error is the one to be told
                    emit(verdict.REFUSALS[format.name](problems), file)
        with suppress(RiskevalError):
            _summarise(verdict.refusal_as_markdown(problems))
        raise


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
        "QUANTITY, with @ALPHA where it depends on alpha:",
        *(f"  {name:18} {meaning}" for name, meaning in quantities),
        "", "Policies:",
        *(f"  {name:18} {meaning}" for name, meaning in policies),
    ])  # fmt: skip
