"""Candidates against a baseline: every rule judged, the topics to blame, and the power to see.

The tests ask: is the candidate lower, and is a loss above a margin excluded? Without a margin a
test fails where the loss is significant. With a margin m it passes where the one-sided test against
a loss of m is significant, so that a loss above m is excluded; else it fails where the loss is
significant; else nothing is known for certain: inconclusive.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from riskcli.analyses.base import Scores, Setup, population_record, set_up
from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.analyses.check import rules as language
from riskcli.analyses.check.rules import LossTest, Policy, Rule, topic_quantity
from riskcli.analyses.check.verdict import POPULATION_OF_TWO, Gate, RuleOutcome, TopicLoss, Verdict
from riskcli.core.arrays import in_units
from riskcli.core.choices import Inconclusive, check_words, is_virtual
from riskcli.core.messages import Note, UsageError, counted, nearest
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output.measure_words import about_logarithms, columns
from riskcli.risk.estimate import CORRECTION_TITLES, Estimate, Significance, adjust
from riskcli.risk.measure import MeasureColumn
from riskcli.risk.paired import smallest_loss, topics_needed
from riskcli.scores.comparisons import FrozenPopulation, Options, matching_runs
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import Teams

_NO_RULES = ("run", "measure", "baseline", "population", "alpha")
_NAN = float("nan")


def column_quantities() -> list[MeasureColumn]:
    """The columns that rules can speak of: numbers, counts, p-values, ranks and flags."""
    return [column for column in columns().values() if column.name not in _NO_RULES]


def _check_quantity(rule: Rule, topics: Sequence[str]) -> None:
    """Refuse a name that nothing answers to, and a topic where none belongs or none is known."""
    name, topic, wrong = rule.quantity, rule.topic, f"rule {rule.text!r}"
    names = [column.name for column in column_quantities()]
    names += [quantity.name for quantity in language.TOPIC_QUANTITIES]
    if name not in names:
        hint = nearest(name, names) or "; `riskeval help rules` lists all quantities"
        raise UsageError(f"{wrong}: nothing is called {name!r}{hint}")
    quantity = topic_quantity(name)
    wants_topic = quantity is not None and quantity.of_topic
    if wants_topic and topic is None:
        raise UsageError(f"{wrong}: {name} needs a topic, as in {name}({topics[0]})")
    if topic is not None and not wants_topic:
        raise UsageError(f"{wrong}: {name} takes no topic")
    if topic is not None and topic not in topics:
        raise UsageError(f"{wrong}: no topic {topic!r}{nearest(topic, topics)}")


@dataclass(frozen=True)
class Difference:
    """What a test is about: the candidate less the baseline, its error, and one-sided p-values."""

    topics: int
    effect: float = _NAN
    error: float = _NAN
    p_lower: float = _NAN
    """Against no loss at all: small where the candidate is lower."""
    p_margin: float = _NAN
    """Against a loss of the margin: small where a loss above it is excluded; NaN without one."""


def difference_of(estimate: Estimate | None, topics: int, margin: float | None) -> Difference:
    """The candidate's difference by one risk measure (of TRisk: its value, which is tested)."""
    if estimate is None:
        return Difference(topics)
    cells = (estimate.effect, estimate.difference_error, estimate.p)
    effect, error, p = (_NAN if each is None else float(each[1]) for each in cells)
    if np.isnan(p):
        return Difference(topics, effect, error)
    lower = 1.0 if effect == 0 else p / 2 if effect < 0 else 1 - p / 2
    beyond = _NAN if margin is None else _p_above(effect + margin, error, topics)
    return Difference(topics, effect, error, lower, beyond)


def _p_above(distance: float, error: float, topics: int) -> float:
    """The one-sided p-value that the true distance is above 0."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(stdtr(topics - 1, -distance / error))


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

    def difference(self, test: LossTest, margin: float | None) -> Difference:
        """What is tested of the candidate."""
        estimate = self.block(test.alpha).estimates.get(test.of)
        return difference_of(estimate, len(self.matrix.topics), margin)

    def defined(
        self, policy: Policy, outcomes: Sequence[RuleOutcome], margins: Mapping[str, float]
    ) -> list[RuleOutcome]:
        """The outcomes of the policy's tests but those that scores below 0 leave undefined.

        These stay where a margin asks for them, or where nothing else is tested.
        """
        names = [
            test.of
            for test in policy.tests
            if test.of not in self.block(test.alpha).estimates and test.of not in margins
        ]
        of_tests = zip(policy.tests, outcomes, strict=True)
        kept = [outcome for test, outcome in of_tests if test.of not in names]
        if not names or not kept:
            return list(outcomes)
        message = f"{', '.join(names)} is not checked, for it needs scores of at least 0"
        self.notes.append(Note("not-tested", f"{self.matrix.measure}: {message}"))
        return kept

    def judged(self, rules: Iterable[Rule]) -> list[RuleOutcome]:
        """The outcome of each rule."""
        return [self.judge_rule(rule) for rule in rules]

    def judge_rule(self, rule: Rule) -> RuleOutcome:
        """The rule's two sides, and what would have passed."""
        value, baseline = self._sides(rule)
        if rule.bound.word is not None:
            if not isinstance(value, str):
                raise UsageError(f"rule {rule.text!r}: {rule.quantity} is a number, not a word")
            passed = (value == rule.bound.word) == (rule.comparison == "==")
            return _outcome(rule, passed, None, None, f"it is {value}")
        if isinstance(value, str):
            raise UsageError(
                f"rule {rule.text!r}: {rule.quantity} is better, worse or none; "
                "compare it with == or !="
            )
        if rule.bound.slope and baseline is None:
            raise UsageError(
                f"rule {rule.text!r}: the baseline has no {rule.quantity} to compare with"
            )
        bound = rule.bound.value(baseline or 0.0)
        if value is None:
            return _outcome(rule, False, None, bound, f"{rule.quantity} is undefined")
        off = f"{abs(value - bound):.4g} off; {rule.comparison} {bound:.4g} passes"
        passed = rule.holds(value, baseline or 0.0)
        return _outcome(rule, passed, value, bound, f"it is {value:.4g}, {off}")

    def _sides(self, rule: Rule) -> tuple[float | str | None, float | None]:
        """The candidate's value or flag and, where there is one, the baseline's value."""
        quantity = topic_quantity(rule.quantity)
        if quantity is None:
            return _cells(self.block(rule.alpha), rule.quantity)
        base, run = self.matrix.values
        if rule.topic is not None:
            index = [self.matrix.topics.index(rule.topic)]
            base, run = base[index], run[index]
        reference = float(base[0]) if quantity.name == "score" else None
        return quantity.value(run, base), reference

    def verdict(self, findings: Sequence[RuleOutcome], worst: int, level: float) -> Verdict:
        """All findings, with the topics that lost most."""
        base, run = self.matrix.values
        order = np.argsort(run - base, kind="stable")[:worst].tolist()
        losses = [
            TopicLoss(self.matrix.topics[index], float(run[index]), float(base[index]))
            for index in order
            if run[index] < base[index]
        ]
        # The smallest loss of the mean that the paired t test sees, at the corrected level.
        delta, unit = in_units(run - base)
        spread = float(np.std(delta, ddof=1) * unit) if len(base) > 1 else _NAN
        seen = smallest_loss(spread, len(base), level)
        frozen = self.options.population
        population = frozen.name if isinstance(frozen, FrozenPopulation) else POPULATION_OF_TWO
        base_mean, run_mean = self.matrix.shown_means().tolist()
        return Verdict(
            self.matrix.runs[1], self.matrix.runs[0], self.matrix.measure, len(base),
            run_mean, base_mean, tuple(findings), tuple(losses), seen, population,
            about_logarithms([self.matrix.measure]),
        )  # fmt: skip


def _outcome(
    rule: Rule, passed: bool, value: float | None, bound: float | None, why: str
) -> RuleOutcome:
    """`why` is for a rule that is not kept."""
    if passed:
        return RuleOutcome(rule.text, "pass", value, bound, "")
    return RuleOutcome(rule.text, "fail", value, bound, why)


def _cells(block: Block, name: str) -> tuple[float | str | None, float | None]:
    """The candidate's cell of a column, and the baseline's value in the same matrix, if any.

    A flag is a word, `none` where it is empty.
    """
    if name == "topics":
        return float(block.topics), None
    column = columns()[name]
    if column.kind == "flag":
        flags = block.cells(name)
        return None if flags is None else str(flags[1]) or "none", None
    value, estimate = block.numbers(name)[1], block.estimates.get(column.measure or "")
    if column.field != "value" or estimate is None or estimate.difference is None:
        return value, None
    baseline = float(estimate.value[1]) - float(estimate.difference[1])
    if is_logarithm(block.measure) and "baseline_mean" in estimate.extra:
        baseline = float(estimate.extra["baseline_mean"][1])  # the difference is of logarithms
    return value, None if np.isnan(baseline) else baseline


# The tests, corrected together.


def judge_losses(
    rows: Sequence[Sequence[Difference]],
    tests: Sequence[LossTest],
    margins: Mapping[str, float],
    plan: Significance,
) -> list[list[RuleOutcome]]:
    """The tests of every candidate (a row each), corrected together over candidates and tests.

    False alarms and false passes are families of their own: the p-values against no loss are
    corrected together, and so are those against losses of the margins.
    """
    differences = [difference for row in rows for difference in row]
    lower, family = adjust(np.array([d.p_lower for d in differences]), plan.correction)
    beyond, margin_family = adjust(np.array([d.p_margin for d in differences]), plan.correction)
    adjusted = iter(zip(lower.tolist(), beyond.tolist(), strict=True))
    return [
        [
            _judged(
                difference, test, margins.get(test.of), *next(adjusted), plan,
                margin_family if test.of in margins else family,
            )
            for difference, test in zip(row, tests, strict=True)
        ]
        for row in rows
    ]  # fmt: skip


def _judged(
    difference: Difference,
    test: LossTest,
    margin: float | None,
    lower: float,
    beyond: float,
    plan: Significance,
    family: int,
) -> RuleOutcome:
    """One test; `lower` and `beyond` are the corrected p-values against no loss and the margin."""
    effect, p_lower, p_margin = difference.effect, difference.p_lower, difference.p_margin
    rule, bound = test.text(margin), 0.0 - (margin or 0.0)
    if np.isnan(p_lower):
        why = "it cannot be tested on these scores"
        return RuleOutcome(rule, "inconclusive", effect, bound, why, p_lower, lower)
    if margin is not None and beyond < plan.gamma:
        return RuleOutcome(rule, "pass", effect, bound, "", p_margin, beyond)
    if lower < plan.gamma and effect < 0:
        correction = f"({CORRECTION_TITLES[plan.correction]}, {counted(family, 'test')})"
        why = f"the difference is {effect:.4g}, corrected one-sided p = {lower:.2g} {correction}"
        return RuleOutcome(rule, "fail", effect, bound, why, p_lower, lower)
    if margin is None:
        return RuleOutcome(rule, "pass", effect, bound, "", p_lower, lower)
    # The level of the first step of the correction, at which a number of topics is safe.
    level = plan.gamma if plan.correction == "none" else plan.gamma / max(family, 1)
    why, needed = _undecided(difference, margin, level)
    return RuleOutcome(rule, "inconclusive", effect, bound, why, p_margin, beyond, needed)


def _undecided(difference: Difference, margin: float, level: float) -> tuple[str, int | None]:
    """Why the data neither exclude a loss above the margin nor show a loss; the topics needed."""
    effect, topics = difference.effect, difference.topics
    reach = stdtrit(topics - 1, 1 - level) * difference.error
    spread = difference.error * np.sqrt(topics)
    distance = effect + margin if effect > -margin else -effect
    needed = topics_needed(float(distance), float(spread), level)
    why = (
        f"the difference is {effect:.4g}; a loss of up to {max(reach - effect, 0):.2g} is not "
        f"excluded, at most {margin:g} is accepted"
    )
    if needed is not None and needed > topics:
        why += f"; if it stays so, {needed} topics settle it in four of five cases"
    return why, needed


# The gate itself.


def judge(
    scores: Scores,
    baseline: str,
    policy: Policy | str = language.DEFAULT_POLICY,
    *,
    rules: Sequence[Rule | str] = (),
    significance: Significance | None = None,
    alpha: float = 1.0,
    population: FrozenPopulation | None = None,
    margin: float | Mapping[str, float] | None = None,
    inconclusive: Inconclusive = "fail",
    detect: float | None = None,
    worst: int = 3,
) -> Gate:
    """Judge every run but the baseline by the policy's tests and by all rules.

    With a `margin` (for the mean, or one by risk measure) a test passes only where a loss above it
    is excluded, and what the data do not decide counts as `inconclusive` says.

    Each candidate is measured in the matrix of the baseline and itself, or in a frozen population,
    so that its verdict does not depend on other candidates; only the correction of the tests counts
    them.
    """
    setup = set_up(scores, Options(alphas=(alpha,), population=population), baseline)
    plan = significance or Significance()
    chosen, every_rule = _what_is_checked(policy, rules)
    cases = _cases(setup, plan)
    for rule in every_rule:
        _check_quantity(rule, cases[0].matrix.topics)
    check_words(inconclusive=(inconclusive, Inconclusive))
    margins = language.checked_margins(chosen, margin)
    tested = judge_losses(
        [[case.difference(test, margins.get(test.of)) for test in chosen.tests] for case in cases],
        chosen.tests, margins, plan,
    )  # fmt: skip
    level = plan.gamma / max(len(cases) * len(chosen.tests), 1)
    verdicts = [
        case.verdict([*case.defined(chosen, own, margins), *case.judged(every_rule)], worst, level)
        for case, own in zip(cases, tested, strict=True)
    ]
    settings = {
        "policy": chosen.name, "rules": [rule.text for rule in every_rule],
        "baseline": cases[0].options.baselines[0], "alpha": alpha, "gamma": plan.gamma,
        "correction": plan.correction, "detect": detect, "margins": margins,
        "inconclusive": inconclusive,
        "population": population_record(setup.options) if population else POPULATION_OF_TWO,
    }  # fmt: skip
    notes = [*(note for case in cases for note in case.notes), *_power_notes(verdicts, detect)]
    provenance = setup.provenance.adding(settings, notes)
    return Gate(tuple(verdicts), inconclusive, provenance=provenance)


def _what_is_checked(
    policy: Policy | str, rules: Sequence[Rule | str]
) -> tuple[Policy, list[Rule]]:
    """The policy, and its rules with those that were given beside it."""
    chosen = language.policy(policy) if isinstance(policy, str) else policy
    parsed = [language.parse_rule(rule) if isinstance(rule, str) else rule for rule in rules]
    every_rule = [*chosen.rules, *parsed]
    if not every_rule and not chosen.tests:
        raise UsageError("nothing to check: the policy is none, and there is no --require")
    return chosen, every_rule


def _cases(setup: Setup, plan: Significance) -> list[Case]:
    """Every candidate of every matrix, tested alone: all are corrected together later."""
    baseline, runs = setup.options.baselines[0], setup.matrices[0].runs
    rows = [] if is_virtual(baseline) else matching_runs(runs, baseline)
    if len(rows) != 1:
        raise UsageError(f"a gate compares with one run or file, found {baseline!r}")
    name, alone = runs[rows[0]], replace(plan, correction="none", family="column")
    options = replace(setup.options, baselines=(name,), teams=Teams(), significance=alone)
    cases = [
        Case(matrix.of_runs([matrix.runs.index(name), row]), options)
        for matrix in setup.matrices
        for row, run in enumerate(matrix.runs)
        if run != name
    ]
    if not cases:
        raise UsageError(f"no candidate besides the baseline {name}")
    return cases


def _power_notes(verdicts: Sequence[Verdict], detect: float | None) -> Iterator[Note]:
    """Say where a loss of the size asked for would go unseen."""
    for verdict in verdicts:
        seen = verdict.seen_from
        if detect is not None and seen is not None and seen > detect:
            message = (
                f"{verdict.measure}, {verdict.candidate}: with {verdict.topics} topics "
                f"losses are detected in four of five cases from {seen:.2g}; {detect:g} was "
                "asked for"
            )
            yield Note("low-power", message)
