"""What came of judging candidates: findings by rule, verdicts, and all of them together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.analyses.check.rules import BASELINE_AND_CANDIDATE, Outcome, Policy, Rule
from riskcli.core.arrays import Floats
from riskcli.core.choices import Inconclusive
from riskcli.core.messages import Note, UsageError, WithProvenance, nearest
from riskcli.output.measure_words import columns
from riskcli.risk.estimate import Estimate
from riskcli.risk.measure import MeasureColumn
from riskcli.risk.paired import smallest_loss
from riskcli.scores.comparisons import Options
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix


@dataclass(frozen=True)
class TopicLoss:
    """A topic with both scores."""

    topic: str
    candidate: float
    baseline: float


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

    @property
    def passed(self) -> bool:
        """Whether the rule holds; inconclusive is not a pass."""
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
    findings: tuple[RuleOutcome, ...]
    losses: tuple[TopicLoss, ...]
    seen_from: float | None
    """The smallest true loss of the mean that these topics show in four of five cases."""
    population: str = BASELINE_AND_CANDIDATE
    """Where GeoRisk and ZRisk expect scores from, as results call it."""

    @property
    def outcome(self) -> Outcome:
        """fail if any rule fails, else inconclusive if any is, else pass."""
        outcomes = [finding.outcome for finding in self.findings]
        return next((o for o in ("fail", "inconclusive") if o in outcomes), "pass")

    @property
    def passed(self) -> bool:
        """Whether every rule passed; inconclusive is not a pass."""
        return self.outcome == "pass"

    @property
    def failures(self) -> list[RuleOutcome]:
        """The rules that failed or are inconclusive."""
        return [finding for finding in self.findings if not finding.passed]


@dataclass(frozen=True, repr=False)
class Verdicts(WithProvenance):
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


# What a rule can speak of: the columns of the risk table, and losses topic by topic.


_NO_RULES = ("run", "measure", "baseline", "population", "alpha")


@dataclass(frozen=True)
class TopicQuantity:
    """A quantity that comes from the scores on topics; `of_topic` ones name a topic."""

    name: str
    meaning: str
    of_topic: bool
    value: Callable[[Floats, Floats], float]
    """From the candidate's and the baseline's scores (on the topic named, or on all)."""


TOPIC_QUANTITIES = (
    TopicQuantity(
        "max_loss", "the largest loss on any topic, 0 where there is none", False,
        lambda run, base: float(max(0.0, (base - run).max())),
    ),
    TopicQuantity(
        "max_gain", "the largest gain on any topic, 0 where there is none", False,
        lambda run, base: float(max(0.0, (run - base).max())),
    ),
    TopicQuantity(
        "loss", "how far the candidate falls below the baseline on a topic (a gain is below 0)",
        True, lambda run, base: float((base - run)[0]),
    ),
    TopicQuantity(
        "score", "the candidate's score on a topic", True, lambda run, _base: float(run[0])
    ),
)  # fmt: skip


def column_quantities() -> list[MeasureColumn]:
    """The columns that rules can speak of: numbers, counts, p-values, ranks and flags."""
    return [column for column in columns().values() if column.name not in _NO_RULES]


def topic_quantity(name: str) -> TopicQuantity | None:
    """The quantity of that name that comes from single topics, if there is one."""
    return next((quantity for quantity in TOPIC_QUANTITIES if quantity.name == name), None)


def check_quantity(name: str, topic: str | None, topics: Sequence[str], text: str) -> None:
    """Refuse a name that nothing answers to, and a topic where none belongs or none is known."""
    known = [column.name for column in column_quantities()]
    known += [quantity.name for quantity in TOPIC_QUANTITIES]
    if name not in known:
        hint = nearest(name, known) or "; `riskeval help rules` lists all quantities"
        raise UsageError(f"rule {text!r}: nothing is called {name!r}{hint}")
    quantity = topic_quantity(name)
    wants_topic = quantity is not None and quantity.of_topic
    if wants_topic and topic is None:
        raise UsageError(f"rule {text!r}: {name} needs a topic, as in {name}({topics[0]})")
    if topic is not None and not wants_topic:
        raise UsageError(f"rule {text!r}: {name} takes no topic")
    if topic is not None and topic not in topics:
        raise UsageError(f"rule {text!r}: no topic {topic!r}{nearest(topic, topics)}")


def column_value(block: Block, name: str, row: int) -> float | str | None:
    """The cell of a column: a number, a flag (`none` where it is empty), None for undefined."""
    if name == "topics":
        return float(block.topics)
    column = columns()[name]
    if column.kind != "flag":
        return block.number(column, row)
    cells = block.cells(column)
    return None if cells is None else str(cells[row]) or "none"


def baseline_value(block: Block, name: str, row: int) -> float | None:
    """The same quantity of the baseline, measured in the same matrix as the candidate's."""
    column = columns()[name]
    estimate = block.estimates.get(column.measure or "")
    if column.field != "value" or estimate is None or estimate.difference is None:
        return None
    value, difference = float(estimate.value[row]), float(estimate.difference[row])
    return None if np.isnan(value) or np.isnan(difference) else value - difference


# One candidate against the baseline by one measure: what a gate asks of the pair.


class Case:
    """One candidate (row 1) against the baseline (row 0) by one measure."""

    def __init__(self, matrix: ScoreMatrix, options: Options) -> None:
        self.matrix = matrix
        self.options = options
        self.notes: list[Note] = []
        self._blocks: dict[float, Block] = {}

    def block(self, alpha: float | None) -> Block:
        """The risk table of the pair."""
        at = self.options.alphas[0] if alpha is None else alpha
        if at not in self._blocks:
            options = replace(self.options, alphas=(at,))
            (self._blocks[at],), notes = risk_blocks(self.matrix, options)
            self.notes += notes
        return self._blocks[at]

    def estimate(self, measure: str, alpha: float | None = None) -> Estimate | None:
        """The candidate and its baseline by a risk measure, if the scores allow it."""
        return self.block(alpha).estimates.get(measure)

    def judge_rule(self, rule: Rule) -> RuleOutcome:
        """The rule's two sides, and what would have passed."""
        if rule.bound.word is not None:
            return self._judge_flag(rule)
        value, baseline = self._sides(rule)
        if rule.bound.slope and baseline is None:
            raise UsageError(
                f"rule {rule.text!r}: the baseline has no {rule.quantity} to compare with"
            )
        bound = rule.bound.value(baseline or 0.0)
        if value is None:
            return RuleOutcome(rule.text, "fail", None, bound, f"{rule.quantity} is undefined")
        passed = rule.holds(value, baseline or 0.0)
        why = "" if passed else _missed(rule, value, bound)
        return RuleOutcome(rule.text, _outcome(passed), value, bound, why)

    def _sides(self, rule: Rule) -> tuple[float | None, float | None]:
        """The candidate's value and, where there is one, the baseline's."""
        quantity = topic_quantity(rule.quantity)
        if quantity is None:
            block = self.block(rule.alpha)
            value = column_value(block, rule.quantity, 1)
            if isinstance(value, str):
                raise UsageError(
                    f"rule {rule.text!r}: {rule.quantity} is better, worse or none; "
                    "compare it with == or !="
                )
            return value, baseline_value(block, rule.quantity, 1)
        base, run = self.matrix.values
        if rule.topic is not None:
            index = [self.matrix.topics.index(rule.topic)]
            base, run = base[index], run[index]
        reference = float(base[0]) if quantity.name == "score" else None
        return quantity.value(run, base), reference

    def _judge_flag(self, rule: Rule) -> RuleOutcome:
        found = column_value(self.block(rule.alpha), rule.quantity, 1)
        if not isinstance(found, str):
            raise UsageError(f"rule {rule.text!r}: {rule.quantity} is a number, not a word")
        passed = (found == rule.bound.word) == (rule.comparison == "==")
        why = "" if passed else f"it is {found}"
        return RuleOutcome(rule.text, _outcome(passed), None, None, why)

    def verdict(self, findings: Sequence[RuleOutcome], worst: int, level: float) -> Verdict:
        """All findings, with the topics that lost most."""
        base, run = self.matrix.values
        order = np.argsort(run - base, kind="stable")[:worst].tolist()
        losses = [
            TopicLoss(self.matrix.topics[index], float(run[index]), float(base[index]))
            for index in order
            if run[index] < base[index]
        ]
        return Verdict(
            self.matrix.runs[1], self.matrix.runs[0], self.matrix.measure, len(base),
            float(run.mean()), float(base.mean()), tuple(findings), tuple(losses),
            self._seen_from(level), self._population,
        )  # fmt: skip

    @property
    def _population(self) -> str:
        frozen = self.options.population
        return frozen.name if isinstance(frozen, FrozenPopulation) else BASELINE_AND_CANDIDATE

    def _seen_from(self, level: float) -> float | None:
        """The smallest loss of the mean that the paired t test sees, at the corrected level."""
        base, run = self.matrix.values
        if len(base) < 2:
            return None
        return smallest_loss(float(np.std(run - base, ddof=1)), len(base), level)


def _outcome(passed: bool) -> Outcome:
    return "pass" if passed else "fail"


def _missed(rule: Rule, value: float, bound: float) -> str:
    return f"it is {value:.4g}, {abs(value - bound):.4g} off; {rule.comparison} {bound:.4g} passes"
