"""The tests of a gate: is the candidate lower, and is a loss above a margin excluded?

Without a margin a test fails where the loss is significant. With a margin m it passes where the
one-sided test against a loss of m is significant, so that a loss above m is excluded; else it fails
where the loss is significant; else nothing is known for certain: inconclusive.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from riskcli.analyses.base import Analysis, Scores, population_record, set_up
from riskcli.analyses.check.case import Case, RuleOutcome, Verdict, Verdicts, check_quantity
from riskcli.analyses.check.display import FORMATS, displays
from riskcli.analyses.check.rules import (
    BASELINE_AND_CANDIDATE,
    DEFAULT_POLICY,
    LossTest,
    Policy,
    Rule,
    checked_margins,
    parse_rule,
)
from riskcli.analyses.check.rules import policy as named_policy
from riskcli.core.arrays import Floats
from riskcli.core.choices import Inconclusive, check_words, is_virtual
from riskcli.core.messages import Note, UsageError, counted
from riskcli.output.display import Display
from riskcli.output.formats import Formats
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.estimate import CORRECTION_TITLES, Estimate, Significance, adjust
from riskcli.risk.paired import topics_needed
from riskcli.scores.comparisons import Options, matching_runs
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import Teams

CANDIDATE = 1
"""Its row, beside the baseline's."""
_NAN = float("nan")


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
    effect, error, p = map(_cell, (estimate.effect, estimate.difference_error, estimate.p))
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


def _cell(cells: Floats | None) -> float:
    """The candidate's cell, NaN where there is none."""
    return _NAN if cells is None else float(cells[CANDIDATE])


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
    lower, family = _adjusted([[d.p_lower for d in row] for row in rows], plan)
    beyond, margin_family = _adjusted([[d.p_margin for d in row] for row in rows], plan)
    return [
        [
            _judged(
                difference, test, margins.get(test.of), float(lower[i, j]), float(beyond[i, j]),
                plan, margin_family if test.of in margins else family,
            )
            for j, (difference, test) in enumerate(zip(row, tests, strict=True))
        ]
        for i, row in enumerate(rows)
    ]  # fmt: skip


def _adjusted(p: Sequence[Sequence[float]], plan: Significance) -> tuple[Floats, int]:
    table = np.array(p, dtype=np.float64)
    adjusted, family = adjust(table.ravel(), plan.correction)
    return adjusted.reshape(table.shape), family


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


# Candidates against a baseline: every rule judged, the topics to blame, and the power to see.


COLUMNS = (
    "candidate", "baseline", "measure", "rule", "passed", "value", "bound", "p", "p_adj", "why",
    "worst_topics", "outcome", "topics_needed", "population",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Gate(Verdicts, Analysis):
    """The verdicts on all candidates, and what they rest on."""

    @property
    def formats(self) -> Formats:
        """Those of every result, and what CI services read."""
        return FORMATS

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self, width)

    def result(self) -> Result:
        """A row a rule, candidate and measure."""
        rows = [row for verdict in self.verdicts for row in _rows(verdict)]
        return Result(
            COLUMNS, rows, self.provenance, extra={"passed": self.passed},
        )  # fmt: skip


def judge(
    scores: Scores,
    baseline: str,
    policy: Policy | str = DEFAULT_POLICY,
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
    name = _only_run(setup.matrices, setup.options.baselines[0])
    of_pair = replace(setup.options, baselines=(name,), teams=Teams(), significance=_alone(plan))
    cases = [case for matrix in setup.matrices for case in _cases(matrix, of_pair)]
    if not cases:
        raise UsageError(f"no candidate besides the baseline {name}")
    for rule in every_rule:
        check_quantity(rule.quantity, rule.topic, cases[0].matrix.topics, rule.text)
    check_words(inconclusive=(inconclusive, Inconclusive))
    margins = checked_margins(chosen, margin)
    tested = _tested(cases, chosen, margins, plan)
    level = plan.gamma / max(len(cases) * len(chosen.tests), 1)
    verdicts = [
        case.verdict([*tests, *(case.judge_rule(rule) for rule in every_rule)], worst, level)
        for case, tests in zip(cases, tested, strict=True)
    ]
    notes = [note for case in cases for note in case.notes]
    settings = {
        "policy": chosen.name, "rules": [rule.text for rule in every_rule], "baseline": name,
        "alpha": alpha, "gamma": plan.gamma, "correction": plan.correction, "detect": detect,
        "margins": margins, "inconclusive": inconclusive,
        "population": population_record(of_pair) if population else BASELINE_AND_CANDIDATE,
    }  # fmt: skip
    provenance = setup.provenance.adding(settings, [*notes, *_power_notes(verdicts, detect)])
    return Gate(tuple(verdicts), chosen, inconclusive, provenance=provenance)


def _what_is_checked(
    policy: Policy | str, rules: Sequence[Rule | str]
) -> tuple[Policy, list[Rule]]:
    """The policy, and its rules with those that were given beside it."""
    chosen = named_policy(policy) if isinstance(policy, str) else policy
    parsed = [parse_rule(rule) if isinstance(rule, str) else rule for rule in rules]
    every_rule = [*chosen.rules, *parsed]
    if not every_rule and not chosen.tests:
        raise UsageError("nothing to check: the policy is none, and there is no --require")
    return chosen, every_rule


def _alone(plan: Significance) -> Significance:
    """The tests of one candidate; they are corrected over all of them later."""
    return replace(plan, correction="none", family="column")


def _cases(matrix: ScoreMatrix, options: Options) -> list[Case]:
    """Every candidate of a matrix."""
    (baseline,) = options.baselines
    return [Case(_pair(matrix, run, baseline), options) for run in matrix.runs if run != baseline]


def _only_run(matrices: Sequence[ScoreMatrix], baseline: str) -> str:
    """The run that the baseline names; a gate compares with one."""
    rows = [] if is_virtual(baseline) else matching_runs(matrices[0].runs, baseline)
    if len(rows) != 1:
        raise UsageError(f"a gate compares with one run or file, found {baseline!r}")
    return matrices[0].runs[rows[0]]


def _pair(matrix: ScoreMatrix, run: str, baseline: str) -> ScoreMatrix:
    rows = [matrix.runs.index(baseline), matrix.runs.index(run)]
    return ScoreMatrix(matrix.measure, (baseline, run), matrix.topics, matrix.values[rows])


def _tested(
    cases: Sequence[Case], policy: Policy, margins: Mapping[str, float], plan: Significance
) -> list[list[RuleOutcome]]:
    """The tests of every case, corrected together over tests, candidates and measures."""
    rows = [
        [
            difference_of(
                case.estimate(test.of, test.alpha), len(case.matrix.topics), margins.get(test.of)
            )
            for test in policy.tests
        ]
        for case in cases
    ]
    return judge_losses(rows, policy.tests, margins, plan)


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


def _rows(verdict: Verdict) -> Iterator[list[Value]]:
    topics = tuple(loss.topic for loss in verdict.losses)
    for finding in verdict.findings:
        numbers = (finding.value, finding.bound, finding.p, finding.p_adjusted)
        yield [
            verdict.candidate, verdict.baseline, verdict.measure, finding.rule, finding.passed,
            *tidy(numbers), finding.why, () if finding.passed else topics, finding.outcome,
            finding.topics_needed, verdict.population,
        ]  # fmt: skip
