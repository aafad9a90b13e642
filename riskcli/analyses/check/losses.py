"""The tests of a gate: is the candidate lower, and is a loss above a margin excluded?

Without a margin a test fails where the loss is significant. With a margin m it passes where the
one-sided test against a loss of m is significant, so that a loss above m is excluded; else it fails
where the loss is significant; else nothing is known for certain: inconclusive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.analyses.check.rules import LossTest
from riskcli.analyses.check.shares import Share
from riskcli.core.arrays import Floats
from riskcli.core.messages import counted
from riskcli.risk.estimate import CORRECTION_TITLES, Estimate, Significance, adjust
from riskcli.risk.paired import topics_needed

_NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """What a test is about: the candidate less the baseline, its error, and one-sided p-values."""

    test: LossTest
    margin: float | None
    """The loss that is accepted; None: no significant one is."""
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

    def measured(self, estimate: Estimate | None, row: int) -> "Difference":
        """The candidate's difference by one risk measure (of TRisk: its value, which is tested)."""
        if estimate is None:
            return self
        cells = (estimate.effect, estimate.difference_error, estimate.p)
        effect, error, p = (_NAN if each is None else float(each[row]) for each in cells)
        lower = p if np.isnan(p) else 1.0 if effect == 0 else p / 2 if effect < 0 else 1 - p / 2
        beyond = _NAN
        if self.margin is not None and not np.isnan(p):
            beyond = _p_above(effect + self.margin, error, self.degrees)
        return replace(self, effect=effect, error=error, p_lower=lower, p_margin=beyond)

    def judged(
        self, lower: float, beyond: float, plan: Significance, families: Sequence[int]
    ) -> RuleOutcome:
        """The outcome by the two corrected p-values, each in a family of so many tests."""
        test, margin, effect = self.test, self.margin, self.effect
        rule, bound = test.text(margin), 0.0 - (margin or 0.0)
        found = RuleOutcome(rule, "pass", effect, bound, "", self.p_lower, lower, test=test)
        within = replace(found, p=self.p_margin, p_adjusted=beyond)
        if np.isnan(self.p_lower):
            why = "it cannot be tested on these scores"
            return replace(found, outcome="inconclusive", why=why)
        if margin is not None and beyond < plan.gamma:
            return within
        if lower < plan.gamma and effect < 0:
            correction = f"({CORRECTION_TITLES[plan.correction]}, {counted(families[0], 'test')})"
            why = f"the difference is {effect:.4g}, corrected one-sided p = {lower:.2g} "
            return replace(found, outcome="fail", why=why + correction)
        if margin is None:
            return found
        why, needed = self._undecided(margin, plan.level_among(families[1]))
        return replace(within, outcome="inconclusive", why=why, topics_needed=needed)

    def _undecided(self, margin: float, level: float) -> tuple[str, int | None]:
        """Why neither a loss above the margin is excluded nor a loss shown; the topics needed."""
        effect, topics = self.effect, self.topics
        reach = stdtrit(self.degrees, 1 - level) * self.error
        why = (
            f"the difference is {effect:.4g}; a loss of up to {max(reach - effect, 0):.2g} is not "
            f"excluded, at most {margin:g} is accepted"
        )
        if topics is None:
            return why, None
        distance = effect + margin if effect > -margin else -effect
        needed = topics_needed(float(distance), float(self.error * np.sqrt(topics)), level)
        if needed is not None and needed > topics:
            why += f"; if it stays so, {needed} topics settle it in four of five cases"
        return why, needed


def _p_above(distance: float, error: float, degrees: float) -> float:
    """The one-sided p-value that the true distance is above 0."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(stdtr(degrees, -distance / error))


def judge_losses(
    rows: Sequence[Sequence[Difference | Share]], plan: Significance
) -> list[list[RuleOutcome]]:
    """The tests of every candidate (a row each), corrected together over candidates and tests.

    False alarms and false passes are families of their own: the p-values against no loss are
    corrected together, and so are those against losses of the margins. What shows that a rule on a
    share is broken is among the former, what shows that it is kept among the latter.
    """
    (lower, family), (beyond, margin_family) = (adjust(p, plan.correction) for p in _p_values(rows))
    adjusted = iter(zip(lower.tolist(), beyond.tolist(), strict=True))
    sizes = family, margin_family
    return [[tested.judged(*next(adjusted), plan, sizes) for tested in row] for row in rows]


def families(rows: Sequence[Sequence[Difference | Share]]) -> tuple[int, int]:
    """How many tests are corrected together: those against no loss, those against margins."""
    lower, beyond = _p_values(rows)
    return int(np.isfinite(lower).sum()), int(np.isfinite(beyond).sum())


def _p_values(rows: Sequence[Sequence[Difference | Share]]) -> tuple[Floats, Floats]:
    """Of all tests: against no loss, and against margins."""
    tests = [tested for row in rows for tested in row]
    return np.array([t.p_lower for t in tests]), np.array([t.p_margin for t in tests])
