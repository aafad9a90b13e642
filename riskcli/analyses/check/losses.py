"""The tests of a gate: is the candidate lower, and is a loss above a margin excluded?

Without a margin a test fails where the loss is significant. With a margin m it passes where the
one-sided test against a loss of m is significant, so that a loss above m is excluded; else it fails
where the loss is significant; else nothing is known for certain: inconclusive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.analyses.check.rules import LossTest, Rule
from riskcli.analyses.check.shares import Share
from riskcli.core.messages import counted
from riskcli.risk.estimate import CORRECTION_TITLES, Estimate, Significance, adjust
from riskcli.risk.human import TestedMean
from riskcli.risk.paired import topics_needed

_NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """What a test is about: the candidate less the baseline, its error, and one-sided p-values."""

    topics: int | None
    """None where humans correct it: no number of topics alone would settle it."""
    degrees: float
    """Of freedom, of the test."""
    effect: float = _NAN
    error: float = _NAN
    p_lower: float = _NAN
    """Against no loss at all: small where the candidate is lower."""
    p_margin: float = _NAN
    """Against a loss of the margin: small where a loss above it is excluded; NaN without one."""


def difference_of(
    estimate: Estimate | None, row: int, topics: int | None, degrees: float, margin: float | None
) -> Difference:
    """The candidate's difference by one risk measure (of TRisk: its value, which is tested)."""
    if estimate is None:
        return Difference(topics, degrees)
    cells = (estimate.effect, estimate.difference_error, estimate.p)
    effect, error, p = (_NAN if each is None else float(each[row]) for each in cells)
    if np.isnan(p):
        return Difference(topics, degrees, effect, error)
    lower = 1.0 if effect == 0 else p / 2 if effect < 0 else 1 - p / 2
    beyond = _NAN if margin is None else _p_above(effect + margin, error, degrees)
    return Difference(topics, degrees, effect, error, lower, beyond)


def corrected_difference(tested: TestedMean, margin: float | None) -> Difference:
    """The candidate's difference of the means, corrected by humans."""
    estimate = Estimate(tested.mean, difference_error=tested.error, p=tested.p)
    return difference_of(estimate, 1, None, float(tested.degrees[1]), margin)


def _p_above(distance: float, error: float, degrees: float) -> float:
    """The one-sided p-value that the true distance is above 0."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(stdtr(degrees, -distance / error))


def judge_losses(
    rows: Sequence[Sequence[Difference | Share]],
    tests: Sequence[LossTest | Rule],
    margins: Mapping[str, float],
    plan: Significance,
) -> list[list[RuleOutcome]]:
    """The tests of every candidate (a row each), corrected together over candidates and tests.

    False alarms and false passes are families of their own: the p-values against no loss are
    corrected together, and so are those against losses of the margins. What shows that a rule on a
    share is broken is among the former, what shows that it is kept among the latter.
    """
    differences = [difference for row in rows for difference in row]
    lower, family = adjust(np.array([d.p_lower for d in differences]), plan.correction)
    beyond, margin_family = adjust(np.array([d.p_margin for d in differences]), plan.correction)
    adjusted = iter(zip(lower.tolist(), beyond.tolist(), strict=True))

    def outcome(tested: Difference | Share, test: LossTest | Rule) -> RuleOutcome:
        if isinstance(tested, Share) or isinstance(test, Rule):
            assert isinstance(tested, Share)
            return tested.judged(*next(adjusted), plan, (family, margin_family))
        margin = margins.get(test.of)
        size = family if margin is None else margin_family
        found = _judged(tested, test, margin, *next(adjusted), plan, size)
        return replace(found, test=test)

    return [[outcome(*each) for each in zip(row, tests, strict=True)] for row in rows]


def families(rows: Sequence[Sequence[Difference | Share]]) -> tuple[int, int]:
    """How many tests are corrected together: those against no loss, those against margins."""
    differences = [difference for row in rows for difference in row]
    lower, beyond = ([getattr(d, p) for d in differences] for p in ("p_lower", "p_margin"))
    return int(np.isfinite(lower).sum()), int(np.isfinite(beyond).sum())


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
    why, needed = _undecided(difference, margin, plan.level_among(family))
    return RuleOutcome(rule, "inconclusive", effect, bound, why, p_margin, beyond, needed)


def _undecided(difference: Difference, margin: float, level: float) -> tuple[str, int | None]:
    """Why the data neither exclude a loss above the margin nor show a loss; the topics needed."""
    effect, topics = difference.effect, difference.topics
    reach = stdtrit(difference.degrees, 1 - level) * difference.error
    why = (
        f"the difference is {effect:.4g}; a loss of up to {max(reach - effect, 0):.2g} is not "
        f"excluded, at most {margin:g} is accepted"
    )
    if topics is None:
        return why, None
    spread = difference.error * np.sqrt(topics)
    distance = effect + margin if effect > -margin else -effect
    needed = topics_needed(float(distance), float(spread), level)
    if needed is not None and needed > topics:
        why += f"; if it stays so, {needed} topics settle it in four of five cases"
    return why, needed
