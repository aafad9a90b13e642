"""A ratchet's file: the scores of its anchor and of the run accepted last, and what it counts."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
from riskcli.analyses.check.ratchet import (
    Audit,
    AuditPlan,
    Build,
    Ratchet,
    all_topics,
    audited,
    digest_of_weights,
    first_verdict,
)
from riskcli.analyses.check.verdict import Gate
from riskcli.cli.evaluating import rules as rules_of
from riskcli.cli.reading import Inputs
from riskcli.core.choices import OtherJudgements
from riskcli.core.files import object_in, sha256_of_file
from riskcli.core.messages import InputError, Note, UsageError, joined, listed
from riskcli.output.formats import STDOUT, emit
from riskcli.scores.bookkeeping import (
    other_judgements,
    refuse_other_judgements,
)
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.trec.names import name_of_baseline
from riskcli.trec.source import MAX_BYTES, TextFile

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
        matrices = self._gates(self.ratchet)
        return replace(
            self.evaluation, matrices=tuple(matrix.of_runs([1, 2]) for matrix in matrices)
        )

    def _gates(self, ratchet: Ratchet) -> list[ScoreMatrix]:
        """All runs on the topics of the gate."""
        matrices = self.evaluation.matrices
        known = all_topics(matrices)
        return [m.of_topics(ratchet.split(m.topics, known)[0].tolist()) for m in matrices]

    def judged(self, new_anchor: bool, **how: Any) -> Gate:
        """The gate's verdict on its topics, and the audit's on the others."""
        matrices = self.evaluation.matrices
        begun = self.ratchet or Ratchet.begun(self.plan, self.build, matrices)
        gates = self._gates(begun)
        set_aside = {*all_topics(matrices)} - {*all_topics(gates)}
        self._refuse(set_aside, how)
        notes = [
            Note("allow-unneeded", f"{each.topic} is set aside for the audit, which allows nothing")
            for each in how["allow"]
            if each.topic in set_aside
        ]
        how["allow"] = [each for each in how["allow"] if each.topic not in set_aside]
        if self.ratchet is None:
            self._judge_against_itself(gates, how)
            verdicts = tuple(map(first_verdict, gates))
            rule = "There is nothing to compare with yet."
            provenance = self.evaluation.provenance.adding(notes=notes)
            return Gate(verdicts, rule=rule, audit=Audit(begun, self.build), provenance=provenance)
        found = judge(self.pairs, self.baseline, **how)
        passed = not found.skipped and all(each.passed for each in found.verdicts)
        accepted = passed and not other_judgements(self.evaluation.inputs)
        audit, looks = audited(begun, matrices, self.build, accepted, new_anchor)
        provenance = found.provenance.adding(notes=notes)
        return replace(found, audit=audit, provenance=provenance).with_looks(looks)

    def _refuse(self, set_aside: Collection[str], how: Mapping[str, Any]) -> None:
        """Refuse what topics that are set aside, or other weights, leave without an answer."""
        for rule in how["rules"]:
            if rule.topic in set_aside:
                message = f"topic {rule.topic!r} is set aside for the audit, and no verdict uses it"
                raise rule.refused(message)
        if how["population"] is not None:
            raise UsageError(
                "a frozen population has all topics, and --ratchet judges on a part of them: leave "
                "out --population"
            )
        weights = digest_of_weights(self.evaluation.matrices)
        if self.ratchet is not None and weights != self.ratchet.weights:
            message = f"it was begun with {'other' if self.ratchet.weights else 'no'} weights"
            raise InputError(
                self.path, "other-settings", f"{message} of topics ({_anew(self.path)})"
            )

    def _judge_against_itself(self, gates: Sequence[ScoreMatrix], how: Mapping[str, Any]) -> None:
        """Refuse on the first call what would be refused on the next."""
        itself = (f"{self.candidate} (baseline)", self.candidate)
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
        with _one_at_a_time(self.path.parent):
            if self.sha256 != (sha256_of_file(self.path) if self.path.exists() else None):
                message = "another call has replaced it meanwhile: judge the candidate again"
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


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """No other call compares and replaces a file of this folder meanwhile, where systems can."""
    descriptor = None
    with suppress(ImportError, OSError):
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


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
        _refuse_other_measures(path, kept.matrices, candidates.matrices)
        evaluation = with_kept(candidates, kept, names, source.sha256)
        if others == "refuse":
            refuse_other_judgements(evaluation.inputs)
    except InputError as error:
        message = f"{error.message} ({_anew(path)})"
        raise InputError(path, error.code, message, error.line) from error
    evaluation = _only_candidate(told_apart(evaluation, inputs, names, repeats), names)
    notes = _other_plan(path, ratchet.plan, wanted)
    provenance = evaluation.provenance.adding(notes=notes)
    evaluation = replace(evaluation, provenance=provenance)
    return RatchetFile(path, evaluation, ratchet.plan, source.sha256, ratchet)


def _anew(path: Path) -> str:
    return f"to begin anew, move {path.name} away and check the run in production first"


def _refuse_other_measures(
    path: Path, kept: Sequence[ScoreMatrix], candidates: Sequence[ScoreMatrix]
) -> None:
    """Refuse to go on without a measure, which would be lost for good."""
    names, now = ([matrix.measure for matrix in matrices] for matrices in (kept, candidates))
    if {*names} != {*now}:
        message = f"it keeps scores by {listed(names)}, the candidate has them by {listed(now)}"
        raise InputError(path, "other-measure", message)


def _refuse_with_ratchet(
    inputs: Inputs, path: Path, baselines: Sequence[str], pin: str | None
) -> None:
    if str(path) == STDOUT or (path.exists() and not path.is_file()):
        raise UsageError(f"--ratchet {path}: it is read and replaced, so it must be a plain file")
    if not path.parent.is_dir():
        raise UsageError(f"--ratchet {path}: there is no folder {path.parent}: make it first")
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


def is_ratchet(path: Path) -> bool:
    """Whether a file is one that `--ratchet` made."""
    with suppress(OSError, InputError):
        return _MEMBER in object_in(TextFile(path, MAX_BYTES).text())
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
