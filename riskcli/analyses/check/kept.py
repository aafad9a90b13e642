"""Runs kept as scores, which candidates are compared with: a baseline, and what a ratchet keeps."""

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.ratchet import Audit, AuditPlan, Build, Ratchet, audited, first_verdict
from riskcli.analyses.check.rules import Rule
from riskcli.analyses.check.verdict import Gate
from riskcli.cli.evaluating import rules as rules_of
from riskcli.cli.reading import Inputs
from riskcli.core.arrays import Rows
from riskcli.core.choices import OtherJudgements
from riskcli.core.files import sha256_of_file
from riskcli.core.inputs import note_input
from riskcli.core.messages import NOT_JUDGED, Input, InputError, Note, UsageError, joined, listed
from riskcli.output.formats import STDOUT, emit
from riskcli.scores.bookkeeping import (
    UNUSED_SCALE,
    other_judgements,
    refuse_other_judgements,
    runs_of,
    scoring_settings,
)
from riskcli.scores.evaluation import Evaluation
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
    evaluation = _told_apart(evaluation, inputs, {name}, repeats)
    if pin is not None:
        check_pin(evaluation, name, pin)
    if others == "refuse":
        refuse_other_judgements(evaluation.inputs)
    return evaluation, name


def _told_apart(
    evaluation: Evaluation, inputs: Inputs, baselines: Collection[str], repeats: bool
) -> Evaluation:
    """With the candidates made one where they are `repeats`, and the notes of a gate."""
    if repeats:
        if inputs.replicates is not None:
            raise UsageError("--repeats makes all RUNS one candidate: leave out --replicates")
        runs = [run for run in evaluation.matrices[0].runs if run not in baselines]
        shared = re.sub(r"[\W_]+$", "", os.path.commonprefix(runs))  # noqa: RUF071 - letters
        one = f"{shared} repeats" if shared in baselines else shared or "repeats"
        evaluation = evaluation.of_systems(dict.fromkeys(runs, one))
    notes = tuple(map(_of_gate, evaluation.notes))
    return replace(evaluation, provenance=replace(evaluation.provenance, notes=notes))


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
    candidates = _candidates_of(inputs, path)
    with source.mistakes_named():
        kept = _kept_scores(path, source.text(), kind, candidates, rules.scale)
    runs = runs_of([kept])
    if len(runs) != 1:
        message = f"holds {len(runs)} runs ({listed(sorted(runs))}), a baseline must be one"
        raise InputError(path, "not-one-run", message)
    (run,) = runs
    name = given or name_of_baseline(run, runs_of([replace(kept, matrices=candidates.matrices)]))
    return _with_kept(candidates, kept, (name,), source.sha256), name


def _candidates_of(inputs: Inputs, kept: Path) -> Evaluation:
    """The candidates that a file of kept scores is compared with; among RUNS it is passed over."""
    if inputs.human is not None:
        message = f"{kept} holds scores alone, which humans' judgements cannot correct"
        raise UsageError(f"{message}: with --human give the baseline as a run")
    candidates = inputs.evaluate()
    note_input(kept)
    return candidates


def _with_kept(
    candidates: Evaluation, kept: FileScores, names: tuple[str, ...], sha256: str | None
) -> Evaluation:
    """The candidates below the kept runs, which are called by these names."""
    matrices = tuple(_joined(kept, matrix, names) for matrix in candidates.matrices)
    file = Input(kept.path, _KEPT, sha256, None, kept.judgements, kept.mixed, kept.content)
    files = (*candidates.inputs, file)
    provenance = replace(
        candidates.provenance, inputs=files, notes=_notes(candidates.notes, kept, files)
    )
    return replace(candidates, matrices=matrices, provenance=provenance)


def _kept_scores(
    path: Path, text: bytes, kind: str, candidates: Evaluation, scale: float
) -> FileScores:
    """The file's scores; its settings must be today's."""
    measures = [matrix.measure for matrix in candidates.matrices]
    kept = on_scale(read_score_file(path, text, kind, measures), scale)
    if not kept.named:
        name = kept.tag or file_name(path)
        kept = replace(kept, matrices=of_one_run(name, kept.matrices))
    now = scoring_settings(candidates.provenance.settings)
    for name, value in scoring_settings(kept.settings).items():
        if value != now[name]:
            message = f"was made with {name} = {value!r}, the candidates with {now[name]!r}"
            raise InputError(path, "other-settings", message)
    return kept


def _joined(kept: FileScores, candidates: ScoreMatrix, names: tuple[str, ...]) -> ScoreMatrix:
    """The kept runs, by these names, and the candidates in one matrix, if topics are the same."""
    by_measure = {matrix.measure: matrix for matrix in kept.matrices}
    if candidates.measure not in by_measure:
        message = f"holds scores by {listed(by_measure)}, the candidates by {candidates.measure}"
        raise InputError(kept.path, "other-measure", message)
    baseline = replace(by_measure[candidates.measure], runs=names)
    for name in set(names) & set(candidates.runs):
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


_KEPT = "baseline scores"
"""The kind of input that a file of kept scores is."""


# The state of a ratchet: the scores of its anchor and of the run accepted last, and what it counts.


_ROWS = ("anchor", "accepted")
"""What its two runs are called in the file."""
_MEMBER = "ratchet"
"""The member of the file that holds the rest."""
_ITS_INPUTS = ("qrels", "scores")
"""What scores rest on beside their run; a kept baseline is an input of another kind."""


@dataclass(frozen=True)
class RatchetFile:
    """A ratchet's file, the runs that it knows, and the one candidate beside them."""

    path: Path
    evaluation: Evaluation
    """Rows: the anchor, the run accepted last and the candidate; without a file this alone."""
    plan: AuditPlan
    sha256: str | None = None
    """Of the file as it was read; None where there is none yet."""
    ratchet: Ratchet | None = None

    @property
    def baseline(self) -> str:
        """What the run accepted last is called; the candidate's name where it is the first."""
        return self.evaluation.matrices[0].runs[-2 if self.ratchet else -1]

    @property
    def candidate(self) -> str:
        """What it is called."""
        return self.evaluation.matrices[0].runs[-1]

    @property
    def build(self) -> Build:
        """The candidate, as the file will know it."""
        own = [
            each for each in self.evaluation.inputs if _is_of(each, self.candidate, self.evaluation)
        ]
        return Build.here(self.candidate, own[0].sha256 if len(own) == 1 else None)

    def judged(self, new_anchor: bool, **how: Any) -> Gate:
        """The gate's verdict on its topics, and the audit's on the others."""
        matrices = self.evaluation.matrices
        begun = self.ratchet or Ratchet.begun(self.plan, self.build, matrices)
        gate_topics, set_aside = begun.split(matrices[0].topics)
        _refuse_rules_on({matrices[0].topics[place] for place in set_aside}, how["rules"])
        if self.ratchet is None:
            self._judge_against_itself(gate_topics, how)
            verdicts = tuple(first_verdict(matrix, gate_topics) for matrix in matrices)
            rule = "There is nothing to compare with yet."
            provenance = self.evaluation.provenance
            return Gate(verdicts, rule=rule, audit=Audit(begun, self.build), provenance=provenance)
        pairs = tuple(m.of_runs([1, 2]).of_topics(gate_topics.tolist()) for m in matrices)
        found = judge(replace(self.evaluation, matrices=pairs), self.baseline, **how)
        accepted = not found.skipped and all(each.passed for each in found.verdicts)
        audit, looks = audited(begun, matrices, self.build, accepted, new_anchor)
        return replace(found, audit=audit).with_looks(looks)

    def _judge_against_itself(self, topics: Rows, how: Mapping[str, Any]) -> None:
        """Refuse on the first call what would be refused on the next."""
        itself = (f"{self.candidate} (baseline)", self.candidate)
        gates = (matrix.of_topics(topics.tolist()) for matrix in self.evaluation.matrices)
        pairs = tuple(replace(matrix.of_runs([0, 0]), runs=itself) for matrix in gates)
        judge(replace(self.evaluation, matrices=pairs), itself[0], **how)

    def update(self, gate: Gate) -> Note:
        """Replace the file if the candidate is accepted; a note says what was done."""
        audit, run = gate.audit, self.candidate
        assert audit is not None
        others = other_judgements(self.evaluation.inputs)
        if others or (audit.before is not None and audit.ratchet == audit.before):
            why = "was judged by scores from other judgements" if others else "is not accepted"
            return Note("ratchet", f"{self.path} is left unchanged: {run} {why}", warning=False)
        if self.sha256 != (sha256_of_file(self.path) if self.path.exists() else None):
            message = "another call has replaced it since it was read: judge the candidate again"
            raise InputError(self.path, "changed-meanwhile", message)
        emit(self._text(audit.ratchet), self.path, state=True)
        is_anchor = audit.ratchet.anchor == self.build and not audit.ratchet.steps
        what = "its anchor" if is_anchor else f"accepted change {audit.ratchet.steps}"
        return Note("ratchet", f"{self.path} now holds {run}, {what}", warning=False)

    def _text(self, ratchet: Ratchet) -> str:
        from riskcli.analyses.matrix import Matrices  # late: it loads Parquet's library

        last = len(self.evaluation.matrices[0].runs) - 1
        rows = [0 if ratchet.steps else last, last]
        kept = tuple(replace(m.of_runs(rows), runs=_ROWS) for m in self.evaluation.matrices)
        inputs = tuple(
            each
            for each in self.evaluation.inputs
            if each.kind in _ITS_INPUTS or _is_of(each, self.candidate, self.evaluation)
        )
        provenance = replace(self.evaluation.provenance, inputs=inputs, notes=())
        extra = {_MEMBER: ratchet.record()}
        return Matrices(kept, long=True, extra=extra, provenance=provenance).as_json()


def with_ratchet(
    inputs: Inputs,
    path: Path,
    wanted: Mapping[str, Any],
    baselines: Sequence[str],
    pin: str | None,
    others: OtherJudgements,
    repeats: bool,
) -> RatchetFile:
    """The candidate, with the ratchet of a file or, where there is none yet, a new one.

    What is `wanted` of its plan holds for a new one; notes say what differs from an old one's.
    """
    _refuse_with_ratchet(inputs, path, baselines, pin)
    if not path.exists():
        evaluation = _told_apart(inputs.evaluate(), inputs, (), repeats)
        return RatchetFile(path, _only_candidate(evaluation, ()), AuditPlan(**wanted))
    rules = rules_of(inputs)
    source = TextFile(path, rules.max_bytes, checksum=True)
    candidates = _candidates_of(inputs, path)
    text = source.text()
    ratchet = _ratchet_in(path, text)
    names = _names(ratchet, {run for matrix in candidates.matrices for run in matrix.runs})
    try:
        kept = _kept_scores(path, text, "json", candidates, rules.scale)
        rows = [m.of_runs([m.runs.index(row) for row in _ROWS]) for m in kept.matrices]
        kept = replace(kept, matrices=tuple(rows))
        evaluation = _with_kept(candidates, kept, names, source.sha256)
        if others == "refuse":
            refuse_other_judgements(evaluation.inputs)
    except InputError as error:
        cure = f"to begin anew, move {path.name} away and check the run in production first"
        raise InputError(path, error.code, f"{error.message} ({cure})", error.line) from error
    evaluation = _only_candidate(_told_apart(evaluation, inputs, names, repeats), names)
    notes = _other_plan(path, ratchet.plan, wanted)
    provenance = evaluation.provenance.adding(notes=notes)
    evaluation = replace(evaluation, provenance=provenance)
    return RatchetFile(path, evaluation, ratchet.plan, source.sha256, ratchet)


def _refuse_with_ratchet(
    inputs: Inputs, path: Path, baselines: Sequence[str], pin: str | None
) -> None:
    if str(path) == STDOUT or (path.exists() and not path.is_file()):
        raise UsageError(f"--ratchet {path}: it is read and replaced, so it must be a plain file")
    if baselines or pin is not None:
        what = "--baseline" if baselines else "--baseline-sha256"
        raise UsageError(f"--ratchet compares with the run accepted last: leave out {what}")
    if inputs.unjudged == "bounds":
        message = "--ratchet keeps scores alone, of which no judgement is open"
        raise UsageError(f"{message}: leave out --unjudged bounds (and --to-judge)")


def _other_plan(path: Path, plan: AuditPlan, wanted: Mapping[str, float]) -> list[Note]:
    differing = [
        f"--{name.replace('_', '-')} {getattr(plan, name):g} and not {value:g}"
        for name, value in wanted.items()
        if value != getattr(plan, name)
    ]
    if not differing:
        return []
    return [Note("ratchet-plan", f"{path} was begun with {joined(differing)}, which stays")]


def _refuse_rules_on(set_aside: Collection[str], rules: Sequence[Rule]) -> None:
    for rule in rules:
        if rule.topic in set_aside:
            message = f"topic {rule.topic!r} is set aside for the audit, and no verdict uses it"
            raise UsageError(f"rule {rule.text!r}: {message}")


def _ratchet_in(path: Path, text: bytes) -> Ratchet:
    try:
        return Ratchet.of(json.loads(text)[_MEMBER])
    except (ValueError, KeyError, TypeError, UsageError) as error:
        message = "holds no ratchet: --ratchet names a new file, or one that it made"
        raise InputError(path, "no-ratchet", message) from error


def _names(ratchet: Ratchet, candidates: Collection[str]) -> tuple[str, str]:
    """What its anchor and the run accepted last are called beside the candidate."""
    accepted = name_of_baseline(ratchet.accepted.name, candidates)
    return f"{ratchet.anchor.name} (anchor)", accepted


def _only_candidate(evaluation: Evaluation, kept: tuple[str, ...]) -> Evaluation:
    """The kept runs in this order, and below them the one candidate."""
    candidates = [run for run in evaluation.matrices[0].runs if run not in kept]
    if len(candidates) != 1:
        raise UsageError(f"--ratchet judges one candidate a call, found {listed(candidates)}")
    rows = (*kept, candidates[0])
    matrices = (m.of_runs([m.runs.index(row) for row in rows]) for m in evaluation.matrices)
    return replace(evaluation, matrices=tuple(matrices))
