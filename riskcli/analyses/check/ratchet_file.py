"""A ratchet's file: the scores of its anchor and of the run accepted last, and what it counts."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.kept import (
    candidates_of,
    is_of,
    kept_scores,
    told_apart,
    with_kept,
)
from riskcli.analyses.check.ratchet import Audit, AuditPlan, Build, Ratchet, audited, first_verdict
from riskcli.analyses.check.rules import Rule
from riskcli.analyses.check.verdict import Gate
from riskcli.cli.evaluating import rules as rules_of
from riskcli.cli.reading import Inputs
from riskcli.core.arrays import Rows
from riskcli.core.choices import OtherJudgements
from riskcli.core.files import object_in, sha256_of_file
from riskcli.core.messages import InputError, Note, UsageError, joined, listed
from riskcli.output.formats import STDOUT, emit
from riskcli.scores.bookkeeping import (
    other_judgements,
    refuse_other_judgements,
)
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.names import name_of_baseline
from riskcli.trec.source import TextFile

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
            each for each in self.evaluation.inputs if is_of(each, self.candidate, self.evaluation)
        ]
        return Build.here(self.candidate, own[0].sha256 if len(own) == 1 else None)

    @property
    def pairs(self) -> Evaluation:
        """The run accepted last and the candidate, on the gate's topics; there must be a file."""
        assert self.ratchet is not None
        matrices = self.evaluation.matrices
        places = self.ratchet.split(matrices[0].topics)[0].tolist()
        pairs = tuple(matrix.of_runs([1, 2]).of_topics(places) for matrix in matrices)
        return replace(self.evaluation, matrices=pairs)

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
        found = judge(self.pairs, self.baseline, **how)
        passed = not found.skipped and all(each.passed for each in found.verdicts)
        accepted = passed and not other_judgements(self.evaluation.inputs)
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
        if stays := audit.stays or (gate.skipped and "is not all that was given"):
            why = "was judged by scores from other judgements" if others else stays
            return Note("ratchet", f"{self.path} is left unchanged: {run} {why}", warning=False)
        if self.sha256 != (sha256_of_file(self.path) if self.path.exists() else None):
            message = "another call has replaced it since it was read: judge the candidate again"
            raise InputError(self.path, "changed", message)
        emit(self._text(audit.ratchet), self.path, state=True)
        steps = audit.ratchet.steps
        what = f"accepted change {steps}" if steps else "its anchor"
        return Note("ratchet", f"{self.path} now holds {run}, {what}", warning=False)

    def _text(self, ratchet: Ratchet) -> str:
        from riskcli.analyses.matrix import Matrices  # late: it loads Parquet's library

        last = len(self.evaluation.matrices[0].runs) - 1
        rows = [0 if ratchet.steps else last, last]
        kept = tuple(replace(m.of_runs(rows), runs=_ROWS) for m in self.evaluation.matrices)
        inputs = tuple(
            each
            for each in self.evaluation.inputs
            if each.kind in _ITS_INPUTS or is_of(each, self.candidate, self.evaluation)
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
        evaluation = told_apart(candidates_of(inputs, path), inputs, (), repeats)
        return RatchetFile(path, _only_candidate(evaluation, ()), AuditPlan(**wanted))
    rules = rules_of(inputs)
    source = TextFile(path, rules.max_bytes, checksum=True)
    candidates = candidates_of(inputs, path)
    text = source.text()
    ratchet = _ratchet_in(path, text)
    names = _names(ratchet, {run for matrix in candidates.matrices for run in matrix.runs})
    try:
        kept = kept_scores(path, text, "json", candidates, rules.scale)
        rows = [m.of_runs([m.runs.index(row) for row in _ROWS]) for m in kept.matrices]
        kept = replace(kept, matrices=tuple(rows))
        evaluation = with_kept(candidates, kept, names, source.sha256)
        if others == "refuse":
            refuse_other_judgements(evaluation.inputs)
    except InputError as error:
        cure = f"to begin anew, move {path.name} away and check the run in production first"
        raise InputError(path, error.code, f"{error.message} ({cure})", error.line) from error
    evaluation = _only_candidate(told_apart(evaluation, inputs, names, repeats), names)
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
        f"--{name.replace('_', '-')} {getattr(plan, name):g}, not {value:g}"
        for name, value in wanted.items()
        if value != getattr(plan, name)
    ]
    if not differing:
        return []
    message = f"{path} keeps for its audit what it was begun with: {joined(differing)}"
    return [Note("ratchet-plan", message)]


def _refuse_rules_on(set_aside: Collection[str], rules: Sequence[Rule]) -> None:
    for rule in rules:
        if rule.topic in set_aside:
            message = f"topic {rule.topic!r} is set aside for the audit, and no verdict uses it"
            raise UsageError(f"rule {rule.text!r}: {message}")


def is_ratchet(path: Path) -> bool:
    """Whether a file is one that `--ratchet` made."""
    try:
        return _MEMBER in object_in(path.read_bytes())
    except OSError:
        return False


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
