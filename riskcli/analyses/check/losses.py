"""The tests of a gate: is the candidate lower, and is a loss above a margin excluded?

Without a margin a test fails where the loss is significant. With a margin m it passes where the
one-sided test against a loss of m is significant, so that a loss above m is excluded; else it fails
where the loss is significant; else nothing is known for certain: inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.analyses.check.policy import LossTest, Outcome
from riskcli.core.arrays import Floats
from riskcli.core.notes import counted
from riskcli.core.special import stdtr, stdtrit
from riskcli.risk.correction import CORRECTION_TITLES, adjust
from riskcli.risk.estimate import Estimate
from riskcli.risk.options import Significance
from riskcli.risk.power import topics_needed

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
