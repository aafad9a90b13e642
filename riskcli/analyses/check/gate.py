"""The tests of a gate: is the candidate lower, and is a loss above a margin excluded?

Without a margin a test fails where the loss is significant. With a margin m it passes where the
one-sided test against a loss of m is significant, so that a loss above m is excluded; else it fails
where the loss is significant; else nothing is known for certain: inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from riskcli.analyses.base import Analysis, Scores, population_record, set_up
from riskcli.analyses.check.case import Case, Finding, Verdict, Verdicts, check_quantity
from riskcli.analyses.check.display import FORMATS, displays
from riskcli.analyses.check.rules import (
    BASELINE_AND_CANDIDATE,
    DEFAULT_POLICY,
    LossTest,
    Outcome,
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
from riskcli.risk.estimate import Estimate
from riskcli.risk.power import topics_needed
from riskcli.risk.significance import CORRECTION_TITLES, Significance, adjust
from riskcli.scores.comparisons import Options, matching_runs
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import Teams

CANDIDATE = 1
"""Its row, beside the baseline's."""


@dataclass(frozen=True)
class Difference:
    """What a test is about: the candidate less the baseline, its error, and one-sided p-values."""

    effect: float
    error: float
    p_lower: float
    """Against no loss at all: small where the candidate is lower."""
    p_margin: float
    """Against a loss of the margin: small where a loss above it is excluded; NaN without one."""
    topics: int


def difference_of(estimate: Estimate | None, topics: int, margin: float | None) -> Difference:
    """The candidate's difference by one risk measure (of TRisk: its value, which is tested)."""
    if estimate is None:
        return Difference(float("nan"), float("nan"), float("nan"), float("nan"), topics)
    effect = cell(estimate.effect)
    error = cell(estimate.difference_error)
    p = cell(estimate.p)
    lower = 1.0 if effect == 0 else p / 2 if effect < 0 else 1 - p / 2
    beyond = float("nan")
    if margin is not None and not np.isnan(p):
        beyond = _p_above(effect + margin, error, topics)
    return Difference(effect, error, float("nan") if np.isnan(p) else lower, beyond, topics)


def _p_above(distance: float, error: float, topics: int) -> float:
    """The one-sided p-value that the true distance is above 0."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(stdtr(topics - 1, -distance / error))


def cell(cells: Floats | None) -> float:
    """The candidate's cell, NaN where there is none."""
    return float("nan") if cells is None else float(cells[CANDIDATE])


@dataclass(frozen=True)
class Tested:
    """What came of one test of one candidate."""

    outcome: Outcome
    effect: float
    why: str
    p: float
    p_adjusted: float
    topics_needed: int | None = None


def judge_losses(
    rows: Sequence[Sequence[Difference]],
    tests: Sequence[LossTest],
    margins: Mapping[str, float],
    plan: Significance,
) -> list[list[Tested]]:
    """The tests of every candidate (a row each), corrected together over candidates and tests.

    False alarms and false passes are families of their own: the p-values against no loss are
    corrected together, and so are those against losses of the margins.
    """
    lower, family = _adjusted([[d.p_lower for d in row] for row in rows], plan)
    beyond, margin_family = _adjusted([[d.p_margin for d in row] for row in rows], plan)
    return [
        [
            _judged(difference, margins.get(test.of), lower[i][j], beyond[i][j], _Level(
                plan, margin_family if test.of in margins else family
            ))
            for j, (difference, test) in enumerate(zip(row, tests, strict=True))
        ]
        for i, row in enumerate(rows)
    ]  # fmt: skip


def _adjusted(p: Sequence[Sequence[float]], plan: Significance) -> tuple[list[list[float]], int]:
    table = np.array(p, dtype=np.float64)
    if not table.size:
        return [list(row) for row in p], 0
    adjusted, family = adjust(table.ravel(), plan.correction)
    return [list(map(float, row)) for row in adjusted.reshape(table.shape)], family


@dataclass(frozen=True)
class _Level:
    plan: Significance
    family: int

    @property
    def strictest(self) -> float:
        """The level of the first step of the correction, at which a number of topics is safe."""
        corrected = self.plan.correction != "none"
        return self.plan.gamma / max(self.family, 1) if corrected else self.plan.gamma

    @property
    def words(self) -> str:
        correction = CORRECTION_TITLES[self.plan.correction]
        return f"({correction}, {counted(self.family, 'test')})"


def _judged(
    difference: Difference, margin: float | None, lower: float, beyond: float, level: _Level
) -> Tested:
    effect = difference.effect
    if np.isnan(difference.p_lower):
        why = "it cannot be tested on these scores"
        return Tested("inconclusive", effect, why, difference.p_lower, lower)
    gamma = level.plan.gamma
    if margin is not None and beyond < gamma:
        return Tested("pass", effect, "", difference.p_margin, beyond)
    if lower < gamma and effect < 0:
        why = f"the difference is {effect:.4g}, corrected one-sided p = {lower:.2g} {level.words}"
        return Tested("fail", effect, why, difference.p_lower, lower)
    if margin is None:
        return Tested("pass", effect, "", difference.p_lower, lower)
    return _inconclusive(difference, margin, beyond, level)


def _inconclusive(difference: Difference, margin: float, beyond: float, level: _Level) -> Tested:
    """The data neither exclude a loss above the margin nor show a loss."""
    effect, topics = difference.effect, difference.topics
    reach = stdtrit(topics - 1, 1 - level.strictest) * difference.error
    spread = difference.error * np.sqrt(topics)
    distance = effect + margin if effect > -margin else -effect
    needed = topics_needed(float(distance), float(spread), level.strictest)
    why = (
        f"the difference is {effect:.4g}; a loss of up to {max(reach - effect, 0):.2g} is not "
        f"excluded, at most {margin:g} is accepted"
    )
    if needed is not None and needed > topics:
        why += f"; if it stays so, {needed} topics settle it in four of five cases"
    return Tested("inconclusive", effect, why, difference.p_margin, beyond, needed)


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
