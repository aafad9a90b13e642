"""Candidates against a baseline: every rule judged, the topics to blame, and the power to see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from riskcli.analyses.base import Analysis, Scores, population_record, set_up
from riskcli.analyses.check.case import Case
from riskcli.analyses.check.display import FORMS, displays
from riskcli.analyses.check.grammar import Rule, parse_rule
from riskcli.analyses.check.losses import difference_of, judge_losses
from riskcli.analyses.check.policy import DEFAULT_POLICY, LossTest, Policy, checked_margins
from riskcli.analyses.check.policy import policy as named_policy
from riskcli.analyses.check.quantities import check_quantity
from riskcli.analyses.check.verdict import BASELINE_AND_CANDIDATE, Finding, Verdict, Verdicts
from riskcli.core.choices import Inconclusive, check_words, is_virtual
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.output.display import Display
from riskcli.output.forms import Forms
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.baselines import matching_runs
from riskcli.risk.members import Teams
from riskcli.risk.options import Options, Significance
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "candidate", "baseline", "measure", "rule", "passed", "value", "bound", "p", "p_adj", "why",
    "worst_topics", "outcome", "topics_needed", "population",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Gate(Verdicts, Analysis):
    """The verdicts on all candidates, and what they rest on."""

    @property
    def forms(self) -> Forms:
        """Those of every result, and what CI services read."""
        return FORMS

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self, width)

    def result(self) -> Result:
        """A row a rule, candidate and measure."""
        rows = [row for verdict in self.verdicts for row in _rows(verdict)]
        return Result(
            COLUMNS, rows, self.basis, extra={"passed": self.passed},
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
    asked = replace(setup.options, baselines=(name,), teams=Teams(), significance=_alone(plan))
    cases = [case for matrix in setup.matrices for case in _cases(matrix, asked)]
    if not cases:
        raise UsageError(f"no candidate besides the baseline {name}")
    for rule in every_rule:
        check_quantity(rule.quantity, rule.topic, cases[0].matrix.topics, rule.text)
    check_words(inconclusive=(inconclusive, Inconclusive))
    margins = checked_margins(chosen, margin)
    tested = _tested(cases, chosen.tests, margins, plan)
    level = plan.gamma / max(len(cases) * len(chosen.tests), 1)
    verdicts = [
        case.verdict([*tests, *(case.judge_rule(rule) for rule in every_rule)], worst, level)
        for case, tests in zip(cases, tested, strict=True)
    ]
    notes = [note for case in cases for note in case.notes]
    settings = _settings(chosen, every_rule, name, plan, alpha, detect)
    settings |= {"margins": margins, "inconclusive": inconclusive}
    settings["population"] = population_record(asked) if population else BASELINE_AND_CANDIDATE
    basis = setup.basis.adding(settings, [*notes, *_power_notes(verdicts, detect)])
    return Gate(tuple(verdicts), chosen, inconclusive, basis=basis)


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
    cases: Sequence[Case],
    tests: Sequence[LossTest],
    margins: Mapping[str, float],
    plan: Significance,
) -> list[list[Finding]]:
    """The tests of every case, corrected together over tests, candidates and measures."""
    rows = [
        [
            difference_of(
                case.estimate(test.of, test.alpha), len(case.matrix.topics), margins.get(test.of)
            )
            for test in tests
        ]
        for case in cases
    ]
    names = [test.text(margins.get(test.of)) for test in tests]
    bounds = [0.0 - margins.get(test.of, 0.0) for test in tests]
    return [
        [
            Finding(
                name, found.outcome, found.effect, bound, found.why, found.p, found.p_adjusted,
                found.topics_needed,
            )
            for name, bound, found in zip(names, bounds, row, strict=True)
        ]
        for row in judge_losses(rows, tests, margins, plan)
    ]  # fmt: skip


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


def _settings(
    policy: Policy,
    rules: Sequence[Rule],
    baseline: str,
    plan: Significance,
    alpha: float,
    detect: float | None,
) -> dict[str, Any]:
    return {
        "policy": policy.name,
        "rules": [rule.text for rule in rules],
        "baseline": baseline,
        "alpha": alpha,
        "gamma": plan.gamma,
        "correction": plan.correction,
        "detect": detect,
    }


def _rows(verdict: Verdict) -> Iterator[list[Value]]:
    topics = tuple(loss.topic for loss in verdict.losses)
    for finding in verdict.findings:
        numbers = (finding.value, finding.bound, finding.p, finding.p_adjusted)
        yield [
            verdict.candidate, verdict.baseline, verdict.measure, finding.rule, finding.passed,
            *tidy(numbers), finding.why, () if finding.passed else topics, finding.outcome,
            finding.topics_needed, verdict.population,
        ]  # fmt: skip
