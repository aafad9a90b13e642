"""What came of judging candidates: findings by rule, verdicts, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass

from riskcli.analyses.check.policy import Outcome, Policy
from riskcli.core.basis import Based
from riskcli.core.choices import Inconclusive

BASELINE_AND_CANDIDATE = "baselines"


@dataclass(frozen=True)
class TopicLoss:
    """A topic with both scores."""

    topic: str
    candidate: float
    baseline: float


@dataclass(frozen=True)
class Finding:
    """One rule judged for one candidate by one measure."""

    rule: str
    outcome: Outcome
    value: float | None
    bound: float | None
    why: str
    p: float | None = None
    p_adjusted: float | None = None
    topics_needed: int | None = None
    """With how many topics an inconclusive test would be settled, four times in five."""

    @property
    def passed(self) -> bool:
        """Whether the rule is kept for certain."""
        return self.outcome == "pass"


@dataclass(frozen=True)
class Verdict:
    """One candidate by one measure: every rule, and the topics that lost most."""

    candidate: str
    baseline: str
    measure: str
    topics: int
    mean: float
    baseline_mean: float
    findings: tuple[Finding, ...]
    losses: tuple[TopicLoss, ...]
    seen_from: float | None
    """The smallest true loss of the mean that these topics show in four of five cases."""
    population: str = BASELINE_AND_CANDIDATE
    """Where GeoRisk and ZRisk expect scores from, as results call it."""

    @property
    def outcome(self) -> Outcome:
        """A rule that is broken decides; then one that is not decided."""
        outcomes = [finding.outcome for finding in self.findings]
        return next((o for o in ("fail", "inconclusive") if o in outcomes), "pass")

    @property
    def passed(self) -> bool:
        """Whether every rule is kept for certain."""
        return self.outcome == "pass"

    @property
    def failures(self) -> list[Finding]:
        """The rules that are broken, or not decided."""
        return [finding for finding in self.findings if not finding.passed]


@dataclass(frozen=True, repr=False)
class Verdicts(Based):
    """The verdicts on all candidates, by one policy."""

    verdicts: tuple[Verdict, ...]
    policy: Policy
    inconclusive: Inconclusive = "fail"
    """What a verdict that the data do not decide counts as."""

    @property
    def passed(self) -> bool:
        """Whether every candidate may pass."""
        allowed = {"pass", "inconclusive"} if self.inconclusive == "pass" else {"pass"}
        return all(verdict.outcome in allowed for verdict in self.verdicts)
