"""What a gate may say where documents are not judged: only what no judgement could turn.

A rule that fails stays failed where it is proved to fail for every completion of the judgements.
One that passes stays passed unless a completion is found that breaks it. Else it is not decidable.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from riskcli.analyses.base import refuse_weights
from riskcli.analyses.check.case import Case
from riskcli.analyses.check.outcomes import RuleOutcome
from riskcli.analyses.check.rules import MOVES, UNANSWERED, LossTest, Rule, is_on_share
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.effectiveness.unjudged import any_unjudged, difference_bounds
from riskcli.output.measure_words import columns_of_unjudged
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.ranges import may_be_below, surely_below

NOT_DECIDABLE = "not decidable from these judgements"
_TURNED = "unjudged documents could turn it"
_NO_BOUND = "it is broken as judged, and nothing bounds what unjudged documents do to it"
_RISE = ("mean_diff", "urisk", "reward", "wins", "max_gain")
"""What rises with every difference: at the high ends of all of them it is highest."""
_FALL = ("risk", "losses", "max_loss", "loss")
_OF_SCORES = ("mean", "mean_lo", "mean_hi", "baseline_mean", "losses20", "score")
"""What is not the same where run and baseline gain alike; nor are ZRisk and GeoRisk."""
_OF_JUDGEMENTS = ("topics", UNANSWERED, *MOVES, *columns_of_unjudged())
"""What no grade of an unjudged document changes."""


@dataclass(frozen=True)
class Completions:
    """A candidate's differences at both ends of what completions of the judgements allow."""

    case: Case
    low: Case
    """The scores where each topic's difference is smallest."""
    high: Case

    @classmethod
    def of(cls, case: Case) -> "Completions | None":
        """None where documents were not asked for, or no unjudged one matters."""
        judging = case.candidates.matrix.judging
        if judging is None or judging.documents is None:
            return None
        matrix = case.matrix
        refuse_weights([matrix], "what --unjudged bounds proves")
        name, run = matrix.runs
        pair = judging.documents.pair(judging.measure, run, name, matrix.topics)
        bounds = difference_bounds(judging.measure, replace(pair, scores=matrix.values))
        if bounds is None:
            what = f"nothing bounds what unjudged documents do to {matrix.measure}"
            raise UsageError(f"{what}: take another --measure, or leave out --unjudged bounds")
        if not any_unjudged(judging.measure, pair):
            return None
        ends = (bounds.scores_low, bounds.scores_high)
        low, high = (case.with_scores(replace(matrix, values=end, judging=None)) for end in ends)
        return cls(case, low, high)

    @cached_property
    def deltas(self) -> tuple[Floats, Floats, Floats]:
        """Each topic's smallest difference, that as judged, and its largest."""
        cases = (self.low, self.case, self.high)
        low, judged, high = (np.diff(case.matrix.values, axis=0)[0] for case in cases)
        return low, judged, high

    @cached_property
    def _is_settled(self) -> bool:
        """Whether differences are known, though scores may move together."""
        low, _, high = self.deltas
        return bool((low == high).all())

    def of_rule(self, rule: Rule, judged: RuleOutcome, level: float) -> RuleOutcome:
        """What may be said of a rule; one on a share is tested at a level."""
        if is_on_share(rule):
            return self._of_share(rule, judged, level)
        if rule.quantity in _OF_JUDGEMENTS or (self._is_settled and _is_of_differences(rule)):
            return judged
        ends = [case.judge_rule(rule) for case in (self.low, self.high)]
        if any(end.passed != judged.passed for end in ends):
            return _undecided(judged, _TURNED)
        proved = judged.passed or _is_monotone(rule)
        return judged if proved else _undecided(judged, _NO_BOUND)

    def _of_share(self, rule: Rule, judged: RuleOutcome, level: float) -> RuleOutcome:
        """What may be said of a rule on a share: topics counted lie between those at both ends."""
        low, high = ends = [self.low.share(rule), self.high.share(rule)]
        if judged.outcome == "inconclusive" or low.count == high.count:
            return judged
        p = max(end.p_margin if judged.passed else end.p_lower for end in ends)
        return judged if p < level else _undecided(judged, _TURNED)

    def of_test(self, judged: RuleOutcome, level: float) -> RuleOutcome:
        """What may be said of a test: what is significant at the level is so in its family."""
        test = judged.test
        if test is None or judged.outcome == "inconclusive":
            return judged
        failed = judged.outcome == "fail"
        if not (_measure(test.of).plain_mean or _measure(test.of).value_is_t):
            if failed or self._is_turned(
                judged, test, level
            ):  # no t test of what differences count for
                return _undecided(judged, _NO_BOUND if failed else _TURNED)
            return judged
        if self._is_settled:
            return judged
        low, now, high = (self._counted(delta, test) for delta in self.deltas)
        critical = float(stdtrit(len(low) - 1, 1 - level)) if len(low) > 1 else float("inf")
        if failed:
            holds = surely_below(low, high, critical)
        elif not judged.bound:
            holds = not may_be_below(low, high, critical, now)
        else:  # that no larger loss is possible is a claim of its own, and is proved as such
            holds = surely_below(judged.bound - high, judged.bound - low, critical)
        lowest, _, highest = (float(delta.mean()) for delta in self.deltas)
        lies = f"the mean difference lies in [{lowest:+.4f}, {highest:+.4f}]"
        return judged if holds else _undecided(judged, lies)

    def _is_turned(self, judged: RuleOutcome, test: LossTest, level: float) -> bool:
        """Whether one of the ends shows a loss, or no longer excludes one above the margin."""
        margin = -judged.bound if judged.bound else None
        ends = [case.difference(test, margin) for case in (self.low, self.high)]
        if margin is not None:
            return not all(end.p_margin <= max(level, judged.p or 0.0) for end in ends)
        return any(end.effect < 0 and end.p_lower < level for end in ends)

    def _counted(self, delta: Floats, test: LossTest) -> Floats:
        """Differences as the test counts them, with which they rise."""
        if _measure(test.of).plain_mean:
            return delta
        alpha = self.case.options.alphas[0] if test.alpha is None else test.alpha
        return np.where(delta < 0, (1 + alpha) * delta, delta)


def _undecided(judged: RuleOutcome, because: str) -> RuleOutcome:
    """Neither kept nor broken, whatever it is as judged."""
    why = f"{NOT_DECIDABLE}: {because}"
    return replace(judged, outcome="inconclusive", why=why, open_to_judgements=True)


def _measure(name: str) -> RiskMeasure:
    return next(measure for measure in measures() if measure.id == name)


def _is_of_differences(rule: Rule) -> bool:
    """Whether a rule asks for differences to the baseline alone, whatever the scores are."""
    if rule.quantity in _OF_SCORES:
        return rule.bound.slope == 1
    return "zrisk" not in rule.quantity and "georisk" not in rule.quantity


def _is_monotone(rule: Rule) -> bool:
    """Whether a rule that fails at both ends fails wherever differences lie between them."""
    if rule.comparison in ("==", "!=") or rule.bound.word is not None:
        return False
    if rule.quantity in {measure.id for measure in measures() if measure.plain_mean}:
        return rule.bound.slope == 1  # the baseline's moves, too: their difference is bounded
    return rule.quantity in (*_RISE, *_FALL) and not rule.bound.slope


def decided(
    case: Case, outcomes: list[RuleOutcome], rules: Sequence[Rule], level: float
) -> list[RuleOutcome]:
    """The outcomes of a case that hold whatever the judgements still say.

    What is significant at the level is so in the family of all tests, those too that cannot be
    tested on scores as judged: other judgements may change that.
    """
    held, by_text = Completions.of(case), {rule.text: rule for rule in rules}
    if held is None:
        return outcomes
    return [
        held.of_test(each, level) if each.test else held.of_rule(by_text[each.rule], each, level)
        for each in outcomes
    ]
