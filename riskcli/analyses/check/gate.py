"""Candidates against a baseline: every rule judged, the topics to blame, and the power to see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses.base import Scores, Setup, population_record, set_up
from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.analyses.check import rules as language
from riskcli.analyses.check.losses import Difference, difference_of, families, judge_losses
from riskcli.analyses.check.outcomes import POPULATION_OF_TWO, RuleOutcome, TopicLoss, Verdict
from riskcli.analyses.check.rules import LossTest, Policy, Rule, topic_quantity
from riskcli.analyses.check.sentences import rule_in_words
from riskcli.analyses.check.verdict import Gate
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.arrays import in_units
from riskcli.core.choices import Inconclusive, check_words, is_virtual
from riskcli.core.messages import Note, UsageError, nearest
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output.measure_words import about_logarithms, columns
from riskcli.risk.estimate import Significance
from riskcli.risk.measure import MeasureColumn
from riskcli.risk.paired import loses_a_fifth, smallest_loss
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


class Case:
    """One candidate (row 1) against the baseline (row 0) by one measure."""

    def __init__(self, matrix: ScoreMatrix, options: Options, queries: QueryTexts) -> None:
        self.matrix = matrix
        self.queries = queries
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
        much = loses_a_fifth(run - base, base)
        losses = {
            index: TopicLoss(
                topic, float(run[index]), float(base[index]), self.queries.named(topic)
            )
            for index in np.argsort(run - base, kind="stable").tolist()
            if run[index] < base[index]
            for topic in [self.matrix.topics[index]]
        }
        lost = list(losses.values())
        fifths = None
        if not is_logarithm(self.matrix.measure):
            fifths = tuple(loss for index, loss in losses.items() if much[index])
        # The smallest loss of the mean that the paired t test sees, at the corrected level.
        delta, unit = in_units(run - base)
        spread = float(np.std(delta, ddof=1) * unit) if len(base) > 1 else _NAN
        seen = smallest_loss(spread, len(base), level)
        frozen = self.options.population
        population = frozen.name if isinstance(frozen, FrozenPopulation) else POPULATION_OF_TWO
        base_mean, run_mean = self.matrix.shown_means().tolist()
        return Verdict(
            self.matrix.runs[1], self.matrix.runs[0], self.matrix.measure, len(base),
            run_mean, base_mean, tuple(findings), tuple(lost[:worst]), seen, population,
            about_logarithms([self.matrix.measure]), fifths,
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
    queries: Mapping[str, str] | None = None,
) -> Gate:
    """Judge every run but the baseline by the policy's tests and by all rules.

    With a `margin` (for the mean, or one by risk measure) a test passes only where a loss above it
    is excluded, and what the data do not decide counts as `inconclusive` says.

    Each candidate is measured in the matrix of the baseline and itself, or in a frozen population,
    so that its verdict does not depend on other candidates; only the correction of the tests counts
    them. `queries` are the texts of topics.
    """
    setup = set_up(scores, Options(alphas=(alpha,), population=population), baseline)
    plan = significance or Significance()
    chosen, every_rule = _what_is_checked(policy, rules)
    texts = QueryTexts.of(queries, {t for matrix in setup.matrices for t in matrix.topics})
    cases = _cases(setup, plan, texts)
    for rule in every_rule:
        _check_quantity(rule, cases[0].matrix.topics)
    check_words(inconclusive=(inconclusive, Inconclusive))
    margins = language.checked_margins(chosen, margin)
    differences = _differences(cases, chosen, margins)
    tested = judge_losses(differences, chosen.tests, margins, plan)
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
    notes = [note for case in cases for note in case.notes]
    notes += texts.notes(cases[0].matrix.topics)
    provenance = setup.provenance.adding(settings, [*notes, *_power_notes(verdicts, detect)])
    asked = rule_in_words(chosen.tests, every_rule, margins, plan, families(differences))
    return Gate(tuple(verdicts), inconclusive, asked, provenance=provenance)


def _differences(
    cases: Sequence[Case], chosen: Policy, margins: Mapping[str, float]
) -> list[list[Difference]]:
    """What each case's tests are about."""
    return [
        [case.difference(test, margins.get(test.of)) for test in chosen.tests] for case in cases
    ]


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


def _cases(setup: Setup, plan: Significance, queries: QueryTexts) -> list[Case]:
    """Every candidate of every matrix, tested alone: all are corrected together later."""
    baseline, runs = setup.options.baselines[0], setup.matrices[0].runs
    rows = [] if is_virtual(baseline) else matching_runs(runs, baseline)
    if len(rows) != 1:
        raise UsageError(f"a gate compares with one run or file, found {baseline!r}")
    name, alone = runs[rows[0]], replace(plan, correction="none", family="column")
    options = replace(setup.options, baselines=(name,), teams=Teams(), significance=alone)
    cases = [
        Case(matrix.of_runs([matrix.runs.index(name), row]), options, queries)
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
