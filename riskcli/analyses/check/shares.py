"""Rules on a share of topics, which are tested: of all topics like these, not only of these.

`loss_share(0.1) <= 0.2` and `delta_q20 >= -0.1` ask the same: at most a fifth of topics lose more
than 0.1. The number of topics that do so is binomial, whatever the scores are, so that the error is
exact. Such a rule is kept where that is shown, broken where the opposite is, else inconclusive.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.analyses.check.rules import LOSS_SHARE, Rule, percent_of
from riskcli.core.arrays import Floats, Mask
from riskcli.core.messages import UsageError, counted
from riskcli.risk.estimate import CORRECTION_TITLES, Significance
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.shares import p_at_most, topics_to_settle
from riskcli.scores.matrix import ScoreMatrix


def check_share(rule: Rule, matrix: ScoreMatrix) -> None:
    """Refuse what such a rule cannot mean."""
    bound, is_loss, signs = rule.bound, True, ["<=", ">="]
    if rule.quantity == LOSS_SHARE:
        signs, is_loss = signs[:1], bool(re.fullmatch(r"\d+\.?\d*|\.\d+", rule.topic or ""))
        is_loss &= 0 < bound.offset < 1
    if not is_loss or bound.word is not None or bound.slope or rule.comparison not in signs:
        form = "loss_share(LOSS) <= SHARE (10% or 0.1); delta_q10 >= NUMBER (or <=)"
        raise rule.refused(f"a rule that is tested has the form {form}")
    if rule.group == "":
        raise UsageError(f"rule {rule.text!r} is tested: give each group a rule of its own")
    if matrix.human is not None or matrix.weights is not None:
        given = "--weights" if matrix.human is None else "--human"
        raise UsageError(f"rule {rule.text!r} counts topics as they are: leave out {given}")


@dataclass(frozen=True)
class Share:
    """How many topics do what at most a share of all topics may do."""

    rule: Rule
    value: float
    """Of the rule's quantity."""
    count: int
    topics: int
    most: float
    does: str
    """What they do, in words."""
    excepted: bool = False
    """Whether topics that are allowed to lose are left out."""

    @classmethod
    def of(cls, rule: Rule, scores: Floats, lost: Mask) -> "Share":
        """From the baseline's scores and the candidate's; `lost` are losses beyond noise.

        A difference that equals the limit but for rounding is neither below nor above it.
        """
        delta, percent = scores[1] - scores[0], percent_of(rule.quantity)
        rounding = NO_DIFFERENCE * np.abs(scores).max(axis=0, initial=0.0)
        if not percent:
            loss = float(rule.topic or 0)
            losing = lost & (delta < -loss - rounding)
            count, number, does = int(losing.sum()), len(delta), f"lose more than {loss:g}"
            return cls(rule, count / max(number, 1), count, number, rule.bound.offset, does)
        limit, place = rule.bound.offset, -(-percent * len(delta) // 100) - 1
        value = float(np.sort(delta)[place]) if len(delta) else float("nan")
        if rule.comparison == ">=":
            beyond, most, does = delta < limit - rounding, percent / 100, "below"
        else:
            beyond, most, does = delta > limit + rounding, 1 - percent / 100, "above"
        does = f"have a difference {does} {limit:g}"
        return cls(rule, value, int(beyond.sum()), len(delta), most, does)

    @property
    def p_lower(self) -> float:
        """Small where the rule is shown to be broken."""
        return p_at_most(self.topics - self.count, self.topics, 1 - self.most)

    @property
    def p_margin(self) -> float:
        """Small where the rule is shown to be kept."""
        return p_at_most(self.count, self.topics, self.most)

    def judged(
        self, broken: float, kept: float, plan: Significance, families: Sequence[int]
    ) -> RuleOutcome:
        """The outcome by the two corrected p-values, each in a family of so many tests."""
        rule, bound = self.rule.text, self.rule.bound.offset
        found = RuleOutcome(
            rule, "pass", self.value, bound, "", self.p_margin, kept, excepted=self.excepted
        )
        if kept < plan.gamma:
            return found
        if not self.topics:
            why = "all topics are allowed to lose, which leaves none to test"
            return replace(found, outcome="inconclusive", why=why)
        title, of = CORRECTION_TITLES[plan.correction], f"at most {self.most:.3g} of all"
        why = f"{self.count} of {counted(self.topics, 'topic')} {self.does}"
        if broken < plan.gamma:
            tests = counted(families[0], "test")
            why += f", {of} may; corrected p = {broken:.2g} ({title}, {tests})"
            return replace(found, outcome="fail", why=why, p=self.p_lower, p_adjusted=broken)
        level = plan.level_among(families[1])
        needed = topics_to_settle(self.count, self.topics, self.most, level)
        why += f", which shows neither that {of} do nor that more do"
        if needed is not None:
            why += f"; if it stays so, {needed} topics settle it in four of five cases"
        return replace(found, outcome="inconclusive", why=why, topics_needed=needed)
