"""One candidate against the baseline by one measure: what rules and tests are asked of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from riskcli.analyses.block import Block
from riskcli.analyses.cautions import NamingNote
from riskcli.analyses.check import rules as language
from riskcli.analyses.check.allow import KnownLoser
from riskcli.analyses.check.candidates import Candidates
from riskcli.analyses.check.losses import Difference
from riskcli.analyses.check.outcomes import POPULATION_OF_TWO, RuleOutcome, TopicLoss, Verdict
from riskcli.analyses.check.rules import LossTest, Rule, limits_losses, topic_quantity
from riskcli.analyses.check.shares import Share, check_share
from riskcli.analyses.human import MEAN, differences, in_words
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.arrays import Mask, in_units
from riskcli.core.choices import population_in_words
from riskcli.core.messages import Note, joined, listed, nearest
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output.measure_words import (
    WILCOXON,
    about_logarithms,
    asked_with,
    columns_beside,
    columns_of_unjudged,
    every_column,
)
from riskcli.risk.estimate import Estimate
from riskcli.risk.measure import MeasureColumn
from riskcli.risk.paired import smallest_loss
from riskcli.risk.weights import degrees, effective_topics, mean, spread
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

_NO_RULES = ("run", "measure", "baseline", "population", "alpha", "group", WILCOXON)
_NAN = float("nan")


def column_quantities() -> list[MeasureColumn]:
    """The columns that rules can speak of: numbers, counts, p-values, ranks and flags."""
    return [
        column
        for name, column in every_column().items()
        if name not in _NO_RULES and "judges" not in name  # each judge's verdict is by itself
    ]


def check_quantity(rule: Rule, matrix: ScoreMatrix) -> None:
    """Refuse a name that nothing answers to, a topic where none belongs, and what is not known."""
    name, topic, topics = rule.quantity, rule.topic, matrix.topics
    quantity = topic_quantity(name)
    names = [column.name for column in column_quantities()]
    if quantity is None and name not in names:
        names += [each.name for each in language.TOPIC_QUANTITIES]
        hint = nearest(name, names) or "; `riskeval help rules` lists all quantities"
        raise rule.refused(f"nothing is called {name!r}{hint}")
    wants_topic = quantity is not None and quantity.argument == "TOPIC"
    if wants_topic and topic is None:
        raise rule.refused(f"{name} needs a topic, as in {name}({topics[0]})")
    if topic is not None and not (quantity and quantity.argument):
        message = f"{name} takes no topic: loss({topic}) and score({topic}) do"
        raise rule.refused(f"{message}, and alpha stands after @, as in urisk@5")
    if language.is_on_share(rule):
        check_share(rule, matrix)
    elif topic is not None and topic not in topics:
        raise rule.refused(f"no topic {topic!r}{nearest(topic, topics)}")
    if rule.group is None:
        return
    column = every_column().get(name)
    if wants_topic or (column is not None and column.kind in ("p", "flag")):
        raise rule.refused(f"{name} is not known by group")
    _parts(rule, matrix)


def _parts(rule: Rule, matrix: ScoreMatrix) -> dict[str, list[int]]:
    """By GROUPING=GROUP the topics of the rule's group, or of each; its name alone will do."""
    parts, group = matrix.axes.parts_of(matrix.topics), rule.group
    if not parts:
        raise rule.refused("no topic has a group; say which with --groups FILE")
    own = {name: name.partition("=")[2] for name in parts}
    found = [name for name in parts if group in ("", name, own[name])]
    if group and len(found) > 1:
        several = f"{group!r} is a group of several groupings"
        raise rule.refused(f"{several}: name {joined(found, 'or')}")
    if not found:
        hint = nearest(str(group), own.values())
        there = f"{hint} (the groups are {listed(parts, 8)})"
        raise rule.refused(f"no group is called {group!r}{there}")
    return {name: parts[name] for name in found}


@dataclass(eq=False)
class Case:
    """One candidate against the baseline by one measure: a row of a table of candidates."""

    candidates: Candidates
    queries: QueryTexts
    row: int = 1
    notes: list[Note] = field(default_factory=list)
    allowed: tuple[KnownLoser, ...] = ()
    """The exceptions that hold for it."""
    moves: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How rankings moved, by figure and topic; empty where no rule asks."""

    @property
    def options(self) -> Options:
        """How candidates are compared."""
        return self.candidates.options

    @property
    def matrix(self) -> ScoreMatrix:
        """The scores of the baseline (row 0) and the candidate (row 1)."""
        return self.candidates.matrix.of_runs([0, self.row])

    def with_scores(self, matrix: ScoreMatrix) -> "Case":
        """The same with other scores, or on some of the topics."""
        return replace(self, candidates=Candidates(matrix, self.options), row=1, notes=[])

    def block(self, alpha: float | None) -> Block:
        """The risk table that has the candidate's figures in its row."""
        at = self.options.alphas[0] if alpha is None else alpha
        block, notes = self.candidates.table(at)
        pair = block.runs[0], block.runs[self.row]
        for note in notes:
            self.notes += note.only(pair) if isinstance(note, NamingNote) else [note]
        return block

    def difference(self, test: LossTest, margin: float | None) -> Difference:
        """What is tested of the candidate."""
        matrix = self.candidates.matrix
        if matrix.human is not None and test.of == MEAN:
            (comparison,) = comparisons(self.matrix, self.options)
            tested = differences(self.matrix, matrix.human, comparison, self.options).corrected
            estimate = Estimate(tested.mean, difference_error=tested.error, p=tested.p)
            return Difference(test, margin, None, float(tested.degrees[1])).measured(estimate, 1)
        topics = len(matrix.topics)
        found = Difference(test, margin, topics, degrees(topics, matrix.weights))
        return found.measured(self.block(test.alpha).estimates.get(test.of), self.row)

    def tested(
        self, tests: Iterable[LossTest | Rule], margins: Mapping[str, float]
    ) -> list[Difference | Share]:
        """What tests are about: risk measures and, by rules, shares of topics."""
        return [
            self.share(t) if isinstance(t, Rule) else self.difference(t, margins.get(t.of))
            for t in tests
        ]

    def outcomes(
        self, rules: Iterable[Rule], tested: Sequence[RuleOutcome], margins: Mapping[str, float]
    ) -> list[RuleOutcome]:
        """Those of tests and rules, but of tests that scores below 0 leave undefined.

        These stay where a margin asks for them, or where nothing else is tested.
        """
        known = {each.rule: each for each in tested}
        losses = [(each.test, each) for each in tested if each.test]
        undefined = [t for t, _ in losses if t.of not in self.block(t.alpha).estimates]
        names = [test.of for test in undefined if test.of not in margins]
        kept = [each for test, each in losses if test.of not in names]
        if names and kept:
            message = f"{', '.join(names)} is not checked, for it needs scores of at least 0"
            self.notes.append(Note("not-tested", f"{self.matrix.measure}: {message}"))
        else:
            kept = [each for _, each in losses]
        return [*kept, *(known.get(rule.text) or self.judge_rule(rule) for rule in rules)]

    @property
    def lost(self) -> Mask:
        """The topics that are lost, beyond the noise of repeats."""
        return np.asarray(self.candidates.lost[0][self.row])

    def loses_on(self, topic: str) -> bool:
        """Whether the topic is one of these, which judges may differ in, and lost."""
        topics = self.candidates.matrix.topics
        return topic in topics and bool(self.lost[topics.index(topic)])

    def share(self, rule: Rule) -> Share:
        """What a rule on a share of topics counts, but for those that are allowed to lose."""
        ((_, part),) = self._by_group(rule)
        asked, scores = ~part._excepted(rule), part.matrix.values
        found = Share.of(rule, scores[:, asked], part.lost[asked])
        value = Share.of(rule, scores, part.lost).value
        return replace(found, value=value, excepted=bool((part.lost & ~asked).any()))

    def judge_rule(self, rule: Rule) -> RuleOutcome:
        """The outcome of a rule, on the topics that it is about; of every group the worst."""
        found = [(name, part._but_excepted(rule)) for name, part in self._by_group(rule)]
        name, worst = min(found, key=lambda each: _leeway(rule, each[1]))
        return worst if worst.passed or not name else replace(worst, why=f"in {name} {worst.why}")

    def _by_group(self, rule: Rule) -> "Iterator[tuple[str, Case]]":
        """The groups that a rule is about, with their topics alone; else the whole, unnamed."""
        if rule.group is None:
            yield "", self
            return
        for name, topics in _parts(rule, self.matrix).items():
            yield name, self.with_scores(self.matrix.of_topics(topics))

    def _excepted(self, rule: Rule) -> Mask:
        """The topics that a rule is not asked of, as they are allowed to lose."""
        allowed = [each.topic for each in self.allowed if limits_losses(rule, each.topic)]
        return np.array([topic in allowed for topic in self.matrix.topics], dtype=np.bool_)

    def _but_excepted(self, rule: Rule) -> RuleOutcome:
        """The outcome as if topics that are allowed to lose did not; the figure is as they do."""
        found, excepted = self._judged(rule), self._excepted(rule)
        if found.passed or not excepted.any():
            return found
        base, run = self.matrix.values
        scores = np.array([base, np.where(excepted, np.maximum(run, base), run)])
        asked = self.with_scores(replace(self.matrix, values=scores))._judged(rule)
        topics = listed(compress(self.matrix.topics, excepted))
        why = f"{asked.why or f'it is {asked.value:.4g}'} without the losses allowed ({topics})"
        return replace(asked, value=found.value, why=why, excepted=True)

    def _judged(self, rule: Rule) -> RuleOutcome:
        """The rule's two sides, and what would have passed."""
        value, baseline = self._sides(rule)
        if rule.bound.word is not None:
            if not isinstance(value, str):
                raise rule.refused(f"{rule.quantity} is a number, not a word")
            passed = (value == rule.bound.word) == (rule.comparison == "==")
            return _outcome(rule, passed, None, None, f"it is {value}")
        if isinstance(value, str):
            what = f"{rule.quantity} is better, worse or none; compare it with == or !="
            raise rule.refused(what)
        if rule.bound.slope and baseline is None:
            raise rule.refused(f"the baseline has no {rule.quantity} to compare with")
        bound = rule.bound.value(baseline or 0.0)
        if value is None:
            return _outcome(rule, False, None, bound, f"{rule.quantity} is undefined")
        off = f"{abs(value - bound):.4g} off; {rule.comparison} {bound:.4g} passes"
        passed = rule.holds(value, baseline or 0.0)
        return _outcome(rule, passed, value, bound, f"it is {value:.4g}, {off}")

    def _sides(self, rule: Rule) -> tuple[float | str | None, float | None]:
        """The candidate's value or flag and, where there is one, the baseline's value."""
        quantity = topic_quantity(rule.quantity)
        if quantity is None:
            block = self.block(rule.alpha)
            if rule.quantity in columns_of_unjudged().keys() - block.beside.keys():
                raise rule.refused(_not_known(rule.quantity))
            if rule.quantity in columns_beside().keys() - block.beside.keys():
                raise rule.refused(f"{rule.quantity} is known with {asked_with(rule.quantity)}")
            return _cells(block, rule.quantity, self.row)
        base, run = self.matrix.values
        if quantity.value is None:
            return self._beside_scores(rule), None
        if rule.topic is not None:
            index = [self.matrix.topics.index(rule.topic)]
            base, run = base[index], run[index]
        reference = float(base[0]) if quantity.name == "score" else None
        return quantity.value(run, base), reference

    def _beside_scores(self, rule: Rule) -> float:
        """What is known of the candidate's rankings: topics without one, how far others moved."""
        topics, judging = self.matrix.topics, self.matrix.judging
        if rule.quantity in self.moves:
            by_topic = self.moves[rule.quantity]
            if not by_topic.keys() >= {*topics}:
                raise rule.refused("judges have other topics: name one --qrels")
            figures = np.array([[by_topic[topic] for topic in topics]])
            return float(mean(figures, self.matrix.weights)[0])
        if judging is None or self.matrix.runs[1] not in judging.by_run:
            raise rule.refused(_not_known(rule.quantity))
        return float(judging.unanswered(self.matrix.runs[1], topics).sum())

    def verdict(self, findings: Sequence[RuleOutcome], worst: int, level: float) -> Verdict:
        """All findings, with the topics that lost most."""
        matrix = self.matrix
        base, run = matrix.values
        lost, ruined = (mask[self.row] for mask in self.candidates.lost)
        order = np.argsort(run - base, kind="stable")
        losses, fifths = (
            tuple(
                TopicLoss(topic, float(run[i]), float(base[i]), self.queries.named(topic))
                for i, topic in ((i, matrix.topics[i]) for i in topics.tolist())
            )
            for topics in (order[lost[order]][:worst], order[ruined[order]])
        )
        # The smallest loss of the mean that the paired t test sees, at the corrected level.
        (delta, unit), weights = in_units(run - base), matrix.weights
        varies = float(spread(delta, weights) * unit) if len(base) > 1 else _NAN
        effective = effective_topics(len(base), weights)
        seen = None if matrix.human is not None else smallest_loss(varies, effective, level)
        frozen = self.options.population
        population = frozen.name if isinstance(frozen, FrozenPopulation) else POPULATION_OF_TWO
        legend = [*about_logarithms([matrix.measure]), *in_words(matrix)]
        if population != POPULATION_OF_TWO:
            legend.append(f"population of GeoRisk and ZRisk: {population_in_words(population)}")
        base_mean, run_mean = matrix.shown_means().tolist()
        beside = self.block(None).beside
        unjudged = [name for name in columns_of_unjudged() if name in beside]
        return Verdict(
            matrix.runs[1], matrix.runs[0], matrix.measure, len(base),
            run_mean, base_mean, tuple(findings), losses, seen, population,
            legend,
            None if is_logarithm(matrix.measure) else fifths,
            {name: float(beside[name][self.row]) for name in unjudged},
            matrix.judging, matrix.axes.judge,
            tuple(a for a in self.allowed if self.loses_on(a.topic)),
        )  # fmt: skip


def _leeway(rule: Rule, outcome: RuleOutcome) -> tuple[bool, float]:
    """What orders outcomes: broken ones first, then how far they are from being broken."""
    if outcome.value is None or outcome.bound is None:
        return outcome.passed, float("-inf")
    off = outcome.value - outcome.bound
    return outcome.passed, off if rule.comparison in (">", ">=") else -off


def _not_known(quantity: str) -> str:
    if quantity in ("judged", "baseline_judged", language.UNANSWERED):
        return "what is judged or answered is known of runs, not of files of scores"
    return f"{quantity} is known with --unjudged bounds"


def _outcome(
    rule: Rule, passed: bool, value: float | None, bound: float | None, why: str
) -> RuleOutcome:
    """`why` is for a rule that is not kept."""
    found = RuleOutcome(rule.text, "pass", value, bound, "")
    return found if passed else replace(found, outcome="fail", why=why)


def _cells(block: Block, name: str, row: int) -> tuple[float | str | None, float | None]:
    """The candidate's cell of a column, and the baseline's value in the same population, if any.

    A flag is a word, `none` where it is empty.
    """
    if name == "topics":
        return float(block.topics), None
    column, cells = every_column()[name], block.cells(name)
    if column.kind == "flag":
        return None if cells is None else str(cells[row]) or "none", None
    value = None if cells is None or np.isnan(cells[row]) else float(cells[row])
    estimate = block.estimates.get(column.measure or "")
    if column.field != "value" or estimate is None or estimate.difference is None:
        return value, None
    baseline = float(estimate.value[row]) - float(estimate.difference[row])
    if is_logarithm(block.measure) and "baseline_mean" in estimate.extra:
        baseline = float(estimate.extra["baseline_mean"][row])  # the difference is of logarithms
    return value, None if np.isnan(baseline) else baseline
