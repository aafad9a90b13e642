"""One candidate against the baseline by one measure: what a gate asks of the pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses.check.grammar import Rule
from riskcli.analyses.check.policy import Outcome
from riskcli.analyses.check.quantities import baseline_value, column_value, topic_quantity
from riskcli.analyses.check.verdict import BASELINE_AND_CANDIDATE, Finding, TopicLoss, Verdict
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.risk.block import Block
from riskcli.risk.estimate import Estimate
from riskcli.risk.options import Options
from riskcli.risk.power import smallest_loss
from riskcli.risk.table import risk_blocks
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix


class Case:
    """One candidate (row 1) against the baseline (row 0) by one measure."""

    def __init__(self, matrix: ScoreMatrix, options: Options) -> None:
        self.matrix = matrix
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
            index = [self.matrix.topics.index(rule.topic)]
            base, run = base[index], run[index]
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
            TopicLoss(self.matrix.topics[index], float(run[index]), float(base[index]))
            for index in order
            if run[index] < base[index]
        ]
        return Verdict(
            self.matrix.runs[1], self.matrix.runs[0], self.matrix.measure, len(base),
            float(run.mean()), float(base.mean()), tuple(findings), tuple(losses),
            self._seen_from(level), self._population,
        )  # fmt: skip

    @property
    def _population(self) -> str:
        frozen = self.options.population
        return frozen.name if isinstance(frozen, FrozenPopulation) else BASELINE_AND_CANDIDATE

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
