"""A gate that holds for years: what candidates lose together, on topics that no verdict uses.

Each candidate may lose less than a gate can see, and the topics on which it was accepted show less
than it lost. So a part of the topics is set aside. On these, every so many accepted candidates, the
last one is compared with the anchor: the first that was accepted, or a release since.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from riskcli.analyses.check.candidates import Candidates
from riskcli.analyses.check.case import Case
from riskcli.analyses.check.outcomes import AUDIT, RuleOutcome, Verdict
from riskcli.analyses.check.rules import LossTest
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.arrays import Rows
from riskcli.core.messages import UsageError, counted
from riskcli.output.verdict import Statement
from riskcli.risk.estimate import Significance
from riskcli.scores.comparisons import Options
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import Teams

_LEAST = 3
"""So many topics must be left on either side."""
COMMITS = (
    "GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "GIT_COMMIT", "BITBUCKET_COMMIT",
    "CIRCLE_SHA1",
)  # fmt: skip
"""Where services tell the commit that they build."""
_SHOWN = 10
"""So many digits of a checksum tell builds apart."""


@dataclass(frozen=True)
class AuditPlan:
    """How often drift is looked for, on which share of the topics, and with which error in all."""

    audit: float = 0.5
    looks: int = 10
    look_every: int = 10
    gamma: float = 0.05

    def __post_init__(self) -> None:
        if not (0 < self.audit < 1 and self.looks >= 1 and self.look_every >= 1):
            raise UsageError(
                f"an audit of {self.audit:g} of the topics, {self.looks} looks, one every "
                f"{self.look_every}: expected a share between 0 and 1, and counts from 1"
            )


@dataclass(frozen=True)
class Build:
    """A run that was accepted: its name, its file's SHA-256, and the commit that a service told."""

    name: str
    sha256: str | None = None
    commit: str | None = None

    def __str__(self) -> str:
        if self.commit:
            return f"{self.name} (commit {self.commit[:_SHOWN]})"
        return f"{self.name} (SHA-256 {self.sha256[:_SHOWN]})" if self.sha256 else self.name

    @classmethod
    def here(cls, name: str, sha256: str | None) -> "Build":
        """The one that is being built."""
        commit = next(filter(None, map(os.environ.get, COMMITS)), None)
        return cls(name, sha256, commit)


@dataclass(frozen=True)
class Ratchet:
    """What is kept from one build to the next, beside the scores of both builds."""

    plan: AuditPlan
    salt: str
    anchor: Build
    accepted: Build
    steps: int = 0
    """Accepted candidates since the anchor."""
    looks: int = 0
    """Looks at the audit's topics since then."""
    weights: str = ""
    """What tells the weights of topics from others; empty: none."""

    @property
    def is_due(self) -> bool:
        """Whether one more accepted candidate is looked at."""
        return (self.steps + 1) % self.plan.look_every == 0

    def record(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return asdict(self)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Ratchet":
        """What JSON kept; KeyError, TypeError or ValueError where it is something else."""
        plan = record["plan"]
        return cls(
            AuditPlan(
                float(plan["audit"]), int(plan["looks"]), int(plan["look_every"]),
                float(plan["gamma"]),
            ),
            str(record["salt"]), Build(**record["anchor"]), Build(**record["accepted"]),
            int(record["steps"]), int(record["looks"]), str(record["weights"]),
        )  # fmt: skip

    @classmethod
    def begun(cls, plan: AuditPlan, build: Build, matrices: Sequence[ScoreMatrix]) -> "Ratchet":
        """The first one: the build is its anchor, and its scores salt the choice of topics."""
        scores = {m.measure: [m.topics, m.values.tolist()] for m in matrices}
        salt = hashlib.sha256(json.dumps(scores).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(plan, salt, build, build, weights=digest_of_weights(matrices))

    def went_on(self, build: Build, looked: bool) -> "Ratchet":
        """The next one, after one more accepted build."""
        return replace(self, accepted=build, steps=self.steps + 1, looks=self.looks + looked)

    def anchored(self, build: Build) -> "Ratchet":
        """The same with another anchor, from which all is counted anew.

        The topics stay: those of the gate, on which the anchor was chosen, would show it too good.
        """
        return replace(self, anchor=build, accepted=build, steps=0, looks=0)

    def split(self, topics: Sequence[str], known: Sequence[str] | None = None) -> tuple[Rows, Rows]:
        """The places of the gate's topics and of the audit's, by hashes of their names.

        The audit has its share of all topics that are `known`, where others judge other topics.
        """
        names = known or topics
        salted = {name: f"{self.salt}\0{name}".encode(errors="replace") for name in names}
        by_hash = sorted(names, key=lambda name: hashlib.sha256(salted[name]).digest())
        aside = {*by_hash[: round(self.plan.audit * len(names))]}
        is_aside = np.array([topic in aside for topic in topics])
        sides = np.flatnonzero(~is_aside), np.flatnonzero(is_aside)
        if min(map(len, sides)) < _LEAST:
            raise UsageError(
                f"an audit of {self.plan.audit:g} leaves {counted(len(sides[0]), 'topic')} "
                f"to the gate and {len(sides[1])} to the audit: each needs {_LEAST}"
            )
        return sides


def all_topics(matrices: Sequence[ScoreMatrix]) -> list[str]:
    """Those of any matrix: judges may judge different ones."""
    return list(dict.fromkeys(topic for matrix in matrices for topic in matrix.topics))


def digest_of_weights(matrices: Sequence[ScoreMatrix]) -> str:
    """Tells weights of topics from others; empty where all weigh the same."""
    weights = [(m.topics, m.weights.tolist()) for m in matrices if m.weights is not None]
    return hashlib.sha256(json.dumps(weights).encode()).hexdigest() if weights else ""


@dataclass(frozen=True)
class Drift:
    """The difference of the mean to the anchor on the audit's topics, by one measure."""

    measure: str
    topics: int
    mean_diff: float
    lo: float
    hi: float
    p: float
    """One-sided: small where the mean is lower than the anchor's."""

    def __str__(self) -> str:
        mean, low, high = (f"{each:+.3f}" for each in (self.mean_diff, self.lo, self.hi))
        return (
            f"mean {mean} [{low}, {high}] on {counted(self.topics, 'topic')} that no verdict used"
        )


def drift(matrix: ScoreMatrix, topics: Rows, gamma: float) -> Drift:
    """That of row 1 against row 0, the anchor, tested as a gate tests the mean."""
    part = matrix.of_topics(topics.tolist())
    alone = Significance(correction="none", family="column")
    options = Options(baselines=(matrix.runs[0],), teams=Teams(), significance=alone)
    case = Case(Candidates(part, options), QueryTexts())
    tested = case.difference(LossTest("mean", None), None)
    reach = float(stdtrit(tested.degrees, 1 - gamma / 2)) * tested.error
    effect = tested.effect
    return Drift(
        matrix.measure, len(topics), effect, effect - reach, effect + reach, tested.p_lower
    )


@dataclass(frozen=True)
class Audit:
    """What is known of the builds since the anchor, with this one where it is accepted."""

    ratchet: Ratchet
    """As this call leaves it."""
    build: Build
    """The candidate."""
    drifts: tuple[Drift, ...] = ()
    """By measure, of what was accepted, against the anchor before this call, if there was one."""
    alarms: tuple[Drift, ...] = ()
    """The candidate's, by the measures by which it has fallen too far below the anchor."""
    before: Ratchet | None = None
    """As this call found it; None where this is the first."""
    stays: str = ""
    """Why the file is left as it is; empty where the candidate is the run accepted last now."""

    @property
    def alarm(self) -> bool:
        """Whether there is one by any measure."""
        return bool(self.alarms)

    def record(self) -> dict[str, Any]:
        """As JSON of a gate has it: of several measures the first, and each in `measures`."""
        now, found = self.ratchet, {each.measure: each for each in (*self.drifts, *self.alarms)}
        anew = self.before is not None and self.before.anchor != now.anchor
        cells = {name: _figures(each) for name, each in found.items() if not anew}
        first = next(iter(cells.values()), dict.fromkeys(_FIGURES))
        return {
            "steps": now.steps, "looks": now.looks, **first, "alarm": self.alarm,
            "anchor": asdict(now.anchor), "accepted": asdict(now.accepted),
            **({"measures": cells} if len(cells) > 1 else {}),
        }  # fmt: skip

    @property
    def statements(self) -> Iterator[Statement]:
        """What has been lost since the anchor, a sentence a measure."""
        was, now = self.before, self.ratchet
        if was is None:
            yield self._first
            return
        steps = was.steps + (not self.stays)
        fallen = {each.measure: each for each in self.alarms}
        for drift in self.drifts:
            each, text = fallen.get(drift.measure, drift), self._since(was, steps, drift)
            if drift.measure in fallen:
                text = (
                    f"ALARM: {counted(steps + 1, 'change')} from the anchor, {was.anchor}, to "
                    f"{self.build}: {each}. Undo what lost it, or take the loss with --new-anchor."
                )
            elif now.anchor != was.anchor:
                text += f" The anchor is {now.anchor} from now on."
            elif was.looks < was.plan.looks:
                every = was.plan.look_every
                text += f" Change {every * (steps // every + 1)} is the next at which it is tested."
            numbers = {"steps": steps, "looks": now.looks, **_figures(each), "p": each.p}
            runs = (self.build.name, was.anchor.name)
            yield Statement("anchor", text, each.measure, runs, numbers=numbers)

    def _since(self, was: Ratchet, steps: int, found: Drift) -> str:
        """What the accepted changes have lost, this one included if it is one."""
        if not steps:
            return f"Since the anchor, {was.anchor}, no change was accepted."
        without = ", without this run" if self.ratchet == was else ""
        changes = counted(steps, "accepted change")
        return f"Since the anchor, {was.anchor}{without}: {changes}, {found}."

    @property
    def _first(self) -> Statement:
        text = (
            f"pass: nothing was compared, for there was no ratchet yet: {self.build.name} is its "
            f"anchor. {100 * self.ratchet.plan.audit:.0f} % of the topics are set aside: no "
            "verdict uses them."
        )
        return Statement("anchor", text, runs=(self.build.name,))


_FIGURES = ("topics", "mean_diff", "lo", "hi")


def _figures(found: Drift) -> dict[str, float]:
    return {name: getattr(found, name) for name in _FIGURES}


def audited(
    ratchet: Ratchet,
    matrices: Sequence[ScoreMatrix],
    build: Build,
    accepted: bool,
    new_anchor: bool = False,
) -> tuple[Audit, list[RuleOutcome]]:
    """The audit, and where a look is due what it finds by each measure.

    The rows of `matrices` are the anchor, the run accepted last and the candidate; `accepted` says
    whether the gate accepts this. It is the last accepted one then, unless a look raises an alarm;
    one that scores as the last is no change.
    """
    known, gamma = all_topics(matrices), ratchet.plan.gamma
    sides = [(matrix, ratchet.split(matrix.topics, known)[1]) for matrix in matrices]
    before, now = (
        tuple(drift(matrix.of_runs([0, row]), topics, gamma) for matrix, topics in sides)
        for row in (1, 2)
    )
    if not accepted:
        return Audit(ratchet, build, before, before=ratchet, stays="is not accepted"), []
    if new_anchor:
        return Audit(ratchet.anchored(build), build, now, before=ratchet), []
    if all((m.values[1] == m.values[2]).all() for m in matrices):  # which spends no look
        stays = "scores as the run accepted last"
        return Audit(ratchet, build, before, before=ratchet, stays=stays), []
    found = [_looked(each, ratchet, len(now)) for each in now] if ratchet.is_due else []
    if all(each.passed for each in found):
        return Audit(ratchet.went_on(build, bool(found)), build, now, before=ratchet), found
    alarms = tuple(d for d, look in zip(now, found, strict=True) if look.outcome == "fail")
    return Audit(ratchet, build, before, alarms, ratchet, "is not accepted"), found


def _looked(found: Drift, ratchet: Ratchet, measures: int) -> RuleOutcome:
    """The rule of a look: the error of all looks and measures together is at most gamma."""
    plan, tests = ratchet.plan, ratchet.plan.looks * measures
    value, p = found.mean_diff, found.p
    corrected = min(1.0, p * tests)
    if ratchet.looks >= plan.looks:
        why = f"its looks ({plan.looks}) are spent: take a new anchor with --new-anchor"
        return RuleOutcome(AUDIT, "inconclusive", value, 0.0, why, p)
    if value < 0 and np.isnan(p):
        why = "it cannot be tested on these scores"
        return RuleOutcome(AUDIT, "inconclusive", value, 0.0, why, p, p)
    if value < 0 and corrected < plan.gamma:
        why = (
            f"ALARM at look {ratchet.looks + 1} of {plan.looks}: {found}, "
            f"corrected one-sided p = {corrected:.2g} ({counted(tests, 'test')}), against the "
            f"anchor {ratchet.anchor}"
        )
        return RuleOutcome(AUDIT, "fail", value, 0.0, why, p, corrected)
    return RuleOutcome(AUDIT, "pass", value, 0.0, "", p, corrected)


def first_verdict(part: ScoreMatrix) -> Verdict:
    """That of the first build, which there is nothing to compare with, on the gate's topics."""
    rule = RuleOutcome("first build", "pass", None, None, "")
    (mean,) = part.shown_means().tolist()
    return Verdict(
        part.runs[0], "", part.measure, len(part.topics), mean, float("nan"), (rule,), (), None,
        ruined=None, judging=part.judging, judge=part.axes.judge,
    )  # fmt: skip
