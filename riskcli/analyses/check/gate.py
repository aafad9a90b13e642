"""Candidates against a baseline: every rule judged, the topics to blame, and the power to see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskcli.analyses.base import Analysis, Scores, set_up
from riskcli.analyses.check.display import FORMS, displays
from riskcli.analyses.check.grammar import Rule, parse_rule
from riskcli.analyses.check.losses import difference_of, judge_losses
from riskcli.analyses.check.policy import (
    DEFAULT_POLICY,
    LossTest,
    Outcome,
    Policy,
    checked_margins,
)
from riskcli.analyses.check.policy import policy as named_policy
from riskcli.analyses.check.quantities import (
    baseline_value,
    check_quantity,
    column_value,
    topic_quantity,
)
from riskcli.analyses.check.verdict import Finding, TopicLoss, Verdict, Verdicts
from riskcli.core.choices import Inconclusive, check_words, is_virtual
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.output.display import Display
from riskcli.output.forms import Forms
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.baselines import matching_runs
from riskcli.risk.estimate import Estimate
from riskcli.risk.options import Options, Significance
from riskcli.risk.power import smallest_loss
from riskcli.risk.table import Block, risk_blocks
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "candidate", "baseline", "measure", "rule", "passed", "value", "bound", "p", "p_adj", "why",
    "worst_topics", "outcome", "topics_needed",
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
    *,
    policy: Policy | str = DEFAULT_POLICY,
    rules: Sequence[Rule | str] = (),
    significance: Significance | None = None,
    alpha: float = 1.0,
    margin: float | Mapping[str, float] | None = None,
    inconclusive: Inconclusive = "fail",
    detect: float | None = None,
    worst: int = 3,
) -> Gate:
    """Judge every run but the baseline by the policy's tests and by all rules.

    With a `margin` (for the mean, or one by risk measure) a test passes only where a loss above it
    is excluded, and what the data do not decide counts as `inconclusive` says.

    Each candidate is measured in the matrix of the baseline and itself, so that its verdict does
    not depend on other candidates; only the correction of the tests counts them.
    """
    setup = set_up(scores, Options(alphas=(alpha,)), baseline)
    plan = significance or Significance()
    chosen = named_policy(policy) if isinstance(policy, str) else policy
    parsed = [parse_rule(rule) if isinstance(rule, str) else rule for rule in rules]
    every_rule = [*chosen.rules, *parsed]
    if not every_rule and not chosen.tests:
        raise UsageError("nothing to check: the policy is none, and there is no --require")
    name = _only_run(setup.matrices, setup.options.baselines[0])
    cases = [case for matrix in setup.matrices for case in _cases(matrix, name, plan, alpha)]
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
    basis = setup.basis.adding(settings, [*notes, *_power_notes(verdicts, detect)])
    return Gate(tuple(verdicts), chosen, inconclusive, basis=basis)


def _cases(matrix: ScoreMatrix, baseline: str, plan: Significance, alpha: float) -> list[_Case]:
    """Every candidate of a matrix."""
    return [
        _Case(_pair(matrix, run, baseline), plan, alpha) for run in matrix.runs if run != baseline
    ]


def _only_run(matrices: Sequence[ScoreMatrix], baseline: str) -> str:
    """The run that the baseline names; a gate compares with one."""
    rows = [] if is_virtual(baseline) else matching_runs(matrices[0].runs, baseline)
    if len(rows) != 1:
        raise UsageError(f"a gate compares with one run or file, found {baseline!r}")
    return matrices[0].runs[rows[0]]


def _pair(matrix: ScoreMatrix, run: str, baseline: str) -> ScoreMatrix:
    rows = [matrix.runs.index(baseline), matrix.runs.index(run)]
    return ScoreMatrix(matrix.measure, (baseline, run), matrix.topics, matrix.values[rows])


class _Case:
    """One candidate (row 1) against the baseline (row 0) by one measure."""

    def __init__(self, matrix: ScoreMatrix, plan: Significance, alpha: float) -> None:
        self.matrix = matrix
        self.plan = replace(plan, correction="none", family="column")
        self.alpha = alpha
        self.notes: list[Note] = []
        self._blocks: dict[float, Block] = {}

    def block(self, alpha: float | None) -> Block:
        """The risk table of the pair."""
        at = self.alpha if alpha is None else alpha
        if at not in self._blocks:
            options = Options(
                baselines=(self.matrix.runs[0],), alphas=(at,), significance=self.plan
            )
            (self._blocks[at],), notes = risk_blocks(self.matrix, options)
            self.notes += notes
        return self._blocks[at]

    def estimate(self, measure: str, alpha: float | None = None) -> Estimate | None:
        """The candidate and its baseline by a risk measure, if the scores allow it."""
        return self.block(alpha).estimates.get(measure)

    def judge_rule(self, rule: Rule) -> Finding:
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
            return Finding(rule.text, "fail", None, bound, f"{rule.quantity} is undefined")
        passed = rule.holds(value, baseline or 0.0)
        why = "" if passed else _missed(rule, value, bound)
        return Finding(rule.text, _outcome(passed), value, bound, why)

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
            place = [self.matrix.topics.index(rule.topic)]
            base, run = base[place], run[place]
        reference = float(base[0]) if quantity.name == "score" else None
        return quantity.value(run, base), reference

    def _judge_flag(self, rule: Rule) -> Finding:
        found = column_value(self.block(rule.alpha), rule.quantity, 1)
        if not isinstance(found, str):
            raise UsageError(f"rule {rule.text!r}: {rule.quantity} is a number, not a word")
        passed = (found == rule.bound.word) == (rule.comparison == "==")
        why = "" if passed else f"it is {found}"
        return Finding(rule.text, _outcome(passed), None, None, why)

    def verdict(self, findings: Sequence[Finding], worst: int, level: float) -> Verdict:
        """All findings, with the topics that lost most."""
        base, run = self.matrix.values
        order = np.argsort(run - base, kind="stable")[:worst].tolist()
        losses = [
            TopicLoss(self.matrix.topics[place], float(run[place]), float(base[place]))
            for place in order
            if run[place] < base[place]
        ]
        return Verdict(
            self.matrix.runs[1], self.matrix.runs[0], self.matrix.measure, len(base),
            float(run.mean()), float(base.mean()), tuple(findings), tuple(losses),
            self._seen_from(level),
        )  # fmt: skip

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


def _tested(
    cases: Sequence[_Case],
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
                f"{verdict.measure}, {verdict.candidate}: with {verdict.topics} topics a loss is "
                f"seen in four of five cases from {seen:.2g}; {detect:g} was asked for"
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
            finding.topics_needed,
        ]  # fmt: skip
