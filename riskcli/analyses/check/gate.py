"""Candidates against a baseline: every rule judged, the topics to blame, and the power to see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from riskcli.analyses.base import Analysis, Scores, set_up
from riskcli.analyses.check.grammar import Rule, parse_rule
from riskcli.analyses.check.policy import DEFAULT_POLICY, LossTest, Policy
from riskcli.analyses.check.policy import policy as named_policy
from riskcli.analyses.check.quantities import (
    baseline_value,
    check_quantity,
    column_value,
    topic_quantity,
)
from riskcli.core.arrays import Floats
from riskcli.core.choices import is_virtual
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.output.display import Display
from riskcli.output.forms import Forms
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.baselines import matching_runs
from riskcli.risk.correction import CORRECTION_TITLES, adjust
from riskcli.risk.estimate import Estimate
from riskcli.risk.options import Options, Significance
from riskcli.risk.table import Block, risk_blocks
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "candidate", "baseline", "measure", "rule", "passed", "value", "bound", "p", "p_adj", "why",
    "worst_topics",
)  # fmt: skip
POWER = 0.8


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
    passed: bool
    value: float | None
    bound: float | None
    why: str
    p: float | None = None
    p_adjusted: float | None = None


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
    unseen_below: float | None
    """A loss of the mean smaller than this would go unseen more often than once in five times."""

    @property
    def passed(self) -> bool:
        """Whether every rule is kept."""
        return all(finding.passed for finding in self.findings)

    @property
    def failures(self) -> list[Finding]:
        """The rules that are not kept."""
        return [finding for finding in self.findings if not finding.passed]


@dataclass(frozen=True, repr=False)
class Gate(Analysis):
    """The verdicts on all candidates, and what they rest on."""

    verdicts: tuple[Verdict, ...]
    policy: Policy

    @property
    def passed(self) -> bool:
        """Whether every candidate may pass."""
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def forms(self) -> Forms:
        """Those of every result, and what CI services read."""
        # Late: it imports this module.
        from riskcli.analyses.check.display import FORMS

        return FORMS

    def displays(self, width: int) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        # Late: only tables for people need it, and it imports this module.
        from riskcli.analyses.check.display import displays

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
    detect: float | None = None,
    worst: int = 3,
) -> Gate:
    """Judge every run but the baseline by the policy's tests and by all rules.

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
    tested = _tested(cases, chosen.tests, plan)
    verdicts = [
        case.verdict([*tests, *(case.judge_rule(rule) for rule in every_rule)], worst)
        for case, tests in zip(cases, tested, strict=True)
    ]
    notes = [note for case in cases for note in case.notes]
    settings = _settings(chosen, every_rule, name, plan, alpha, detect)
    basis = setup.basis.adding(settings, [*notes, *_power_notes(verdicts, detect)])
    return Gate(tuple(verdicts), chosen, basis=basis)


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

    def effect(self, test: LossTest) -> float | None:
        """What the test is about: the difference to the baseline, or TRisk itself."""
        known = self.estimate(test.of, test.alpha)
        return None if known is None else _candidates(known.effect)

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
            return Finding(rule.text, False, None, bound, f"{rule.quantity} is undefined")
        passed = rule.holds(value, baseline or 0.0)
        why = "" if passed else _missed(rule, value, bound)
        return Finding(rule.text, passed, value, bound, why)

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
        return Finding(rule.text, passed, None, None, "" if passed else f"it is {found}")

    def verdict(self, findings: Sequence[Finding], worst: int) -> Verdict:
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
            self._unseen_below(),
        )  # fmt: skip

    def _unseen_below(self) -> float | None:
        """The smallest loss of the mean that the paired t test would see four times in five."""
        means, degrees = self.estimate("mean"), len(self.matrix.topics) - 1
        error = None if means is None else _candidates(means.difference_error)
        if error is None or degrees < 1:
            return None
        tail = stdtrit(degrees, 1 - self.plan.gamma) + stdtrit(degrees, POWER)
        return float(tail * error)


def _candidates(cells: Floats | None) -> float | None:
    """The candidate's cell (row 1), None where it is undefined."""
    return None if cells is None or np.isnan(cells[1]) else float(cells[1])


def _missed(rule: Rule, value: float, bound: float) -> str:
    return f"it is {value:.4g}, {abs(value - bound):.4g} off; {rule.comparison} {bound:.4g} passes"


def _tested(
    cases: Sequence[_Case], tests: Sequence[LossTest], plan: Significance
) -> list[list[Finding]]:
    """The tests of every case, corrected together over tests, candidates and measures."""
    p = np.array([[_p_value(case, test) for test in tests] for case in cases], dtype=np.float64)
    adjusted, family = adjust(p.ravel(), plan.correction) if p.size else (p.ravel(), 0)
    table = adjusted.reshape(p.shape)
    return [
        [
            _judge_test(case, test, float(p[row, place]), float(table[row, place]), plan, family)
            for place, test in enumerate(tests)
        ]
        for row, case in enumerate(cases)
    ]


def _p_value(case: _Case, test: LossTest) -> float:
    """One-sided: a gate asks only whether the candidate is lower, never whether it is higher."""
    known, effect = case.estimate(test.of, test.alpha), case.effect(test)
    p = None if known is None else _candidates(known.p)
    if p is None or effect is None:
        return float("nan")
    if effect == 0:
        return 1.0
    return p / 2 if effect < 0 else 1 - p / 2


def _judge_test(
    case: _Case, test: LossTest, p: float, adjusted: float, plan: Significance, family: int
) -> Finding:
    effect = case.effect(test)
    if np.isnan(p):
        why = "it cannot be tested on these scores"
        return Finding(test.text, False, effect, 0.0, why)
    failed = bool(adjusted < plan.gamma) and effect is not None and effect < 0
    why = ""
    if failed:
        correction = CORRECTION_TITLES[plan.correction]
        why = (
            f"the difference is {effect:.4g}, corrected one-sided p = {adjusted:.2g} "
            f"({correction}, {family} tests)"
        )
    return Finding(test.text, not failed, effect, 0.0, why, p, adjusted)


def _power_notes(verdicts: Sequence[Verdict], detect: float | None) -> Iterator[Note]:
    """Say where a loss of the size asked for would go unseen."""
    for verdict in verdicts:
        unseen = verdict.unseen_below
        if detect is not None and unseen is not None and unseen > detect:
            message = (
                f"{verdict.measure}, {verdict.candidate}: with {verdict.topics} topics a loss "
                f"below {unseen:.2g} would go unseen; {detect:g} was asked for"
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
    topics = ";".join(loss.topic for loss in verdict.losses)
    for finding in verdict.findings:
        numbers = (finding.value, finding.bound, finding.p, finding.p_adjusted)
        yield [
            verdict.candidate, verdict.baseline, verdict.measure, finding.rule, finding.passed,
            *tidy(numbers), finding.why, "" if finding.passed else topics,
        ]  # fmt: skip
