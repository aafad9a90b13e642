"""What a gate finds of a candidate: the outcome of every rule, the topics that it loses on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Literal

from riskcli.analyses.check.rules import MEAN_TEST, LossTest

if TYPE_CHECKING:
    from riskcli.analyses.check.allow import KnownLoser
    from riskcli.scores.judging import Judging

POPULATION_OF_TWO = "baselines"
"""The population of a gate, as results call it, where none is frozen."""

AUDIT = "no loss since the anchor"
"""How reports name the rule of a ratchet's audit, which is about other topics than all others."""

Outcome = Literal["pass", "fail", "inconclusive"]


OUTCOMES: tuple[Outcome, ...] = ("pass", "inconclusive", "fail")
"""From best to worst."""
WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "FAIL", "inconclusive": "inconclusive"}


@dataclass(frozen=True)
class TopicLoss:
    """A topic with both scores."""

    topic: str
    candidate: float
    baseline: float
    name: str = ""
    """The topic with what it asks, as sentences name it."""

    def __str__(self) -> str:
        return f"{self.name or self.topic} ({self.baseline:.3f} to {self.candidate:.3f})"


@dataclass(frozen=True)
class RuleOutcome:
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
    test: LossTest | None = None
    """What is tested; None: a plain comparison."""
    open_to_judgements: bool = False
    """Whether it is inconclusive as documents are not judged."""
    excepted: bool = False
    """Whether it is what it is as losses are allowed."""

    @property
    def passed(self) -> bool:
        """Whether the rule holds; inconclusive is not a pass."""
        return self.outcome == "pass"

    @property
    def reason(self) -> str:
        """Why the rule is not kept for certain; what is not decided is told apart."""
        return self.why if self.outcome == "fail" else f"{self.outcome}: {self.why}"


@dataclass(frozen=True)
class Verdict:
    """One candidate by one measure: every rule, and the topics that lost most."""

    candidate: str
    baseline: str
    measure: str
    topics: int
    mean: float
    baseline_mean: float
    findings: tuple[RuleOutcome, ...]
    losses: tuple[TopicLoss, ...]
    seen_from: float | None
    """The smallest true loss of the mean that these topics show in four of five cases."""
    population: str = POPULATION_OF_TWO
    """Where GeoRisk and ZRisk expect scores from, as results call it."""
    legend: Sequence[str] = ()
    """What else a reader has to know of the figures."""
    ruined: tuple[TopicLoss, ...] | None = ()
    """The topics that lose more than a fifth of the baseline's score, the largest loss first; None
    where scores have no fifths, as logarithms."""
    unjudged: Mapping[str, float] = field(default_factory=dict)
    """What is known of unjudged documents, by column of the risk table."""
    judging: "Judging | None" = None
    """How far documents are judged."""
    judge: str = ""
    """Whose judgements decide, where there are several judges."""
    allowed: "Sequence[KnownLoser]" = ()
    """The exceptions for topics on which it loses."""

    @cached_property
    def outcome(self) -> Outcome:
        """fail if any rule fails, else inconclusive if any is, else pass."""
        return max((f.outcome for f in self.findings), key=OUTCOMES.index, default="pass")

    @property
    def passed(self) -> bool:
        """Whether every rule passed; inconclusive is not a pass."""
        return self.outcome == "pass"

    @property
    def failures(self) -> list[RuleOutcome]:
        """The rules that failed or are inconclusive."""
        return [finding for finding in self.findings if not finding.passed]

    @property
    def is_first(self) -> bool:
        """Whether there was nothing to compare the candidate with."""
        return not self.baseline

    @property
    def about(self) -> str:
        """Who is compared with whom, and by which measure."""
        against = "" if self.is_first else f" against {self.baseline}"
        return f"{self.candidate}{against}, {self.measure}"

    @property
    def blame(self) -> str:
        """The topics that lost most, with both scores."""
        words = "topics to blame" if self.failures else "lost most"
        return f"{words}: {', '.join(map(str, self.losses))}"

    @property
    def could_see(self) -> bool:
        """Whether its mean is tested, and a loss that this shows is one that scores can have."""
        beyond_0 = self.ruined is not None and 0 <= self.baseline_mean < (self.seen_from or 0)
        means = (f.p for f in self.findings if f.test == MEAN_TEST)
        return not beyond_0 and any(p is not None and not isnan(p) for p in means)

    @staticmethod
    def power_of(verdicts: "Sequence[Verdict]") -> str:
        """Which loss these would have seen; empty where the mean is not tested, or all is equal."""
        tested = [v for v in verdicts if v.could_see]
        sizes = sorted(verdict.seen_from for verdict in tested if verdict.seen_from)
        ends = " to ".join(dict.fromkeys(f"{size:.2g}" for size in (*sizes[:1], *sizes[-1:])))
        return ends and f"a mean lower by {ends} is seen with probability 0.8"

    def explained(self, finding: RuleOutcome) -> str:
        """Why the rule is not kept, and the topics to blame."""
        blamed = self.losses and finding.rule != AUDIT
        return f"{finding.reason}; {self.blame}" if blamed else finding.reason


@dataclass(frozen=True)
class Candidate:
    """A candidate by every measure."""

    name: str
    verdicts: tuple[Verdict, ...]

    @cached_property
    def outcome(self) -> Outcome:
        """The worst of its outcomes."""
        return max((v.outcome for v in self.verdicts), key=OUTCOMES.index)


def in_order(verdicts: Sequence[Verdict]) -> list[Candidate]:
    """The candidates: those that pass first, then what is not decided, the best mean first."""
    by_name: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_name.setdefault(verdict.candidate, []).append(verdict)
    candidates = [Candidate(name, tuple(own)) for name, own in by_name.items()]
    return sorted(candidates, key=lambda c: (OUTCOMES.index(c.outcome), -c.verdicts[0].mean))
