"""Every figure by group of topics: the risk table of each group, and what of it is shown to differ.

A group's figures are those of its topics alone. Before a difference in any group is flagged, one
test asks whether differences depend on the group at all; then the p-values are corrected over runs
and groups.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from riskcli.analyses.blocks import Block, corrected_together, risk_blocks
from riskcli.analyses.verdicts import about, called
from riskcli.core.messages import UsageError, natural_key
from riskcli.output.display import p_value
from riskcli.output.measure_words import GROUP
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.estimate import Estimate, Significance
from riskcli.risk.interaction import LEAST_GROUP, Interaction, interaction
from riskcli.scores.comparisons import POOL_EACH, FrozenPopulation, Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

ALL = "all"
"""The group of rows about all topics."""
MOST_NAMED = 3
_FINE = 2
"""Shuffles enough for a p-value that many times below what the correction needs."""


@dataclass(frozen=True)
class ByGroup:
    """The risk tables of all groups of one grouping, for one measure and baseline."""

    grouping: str
    groups: tuple[str, ...]
    """The worst first: that with the lowest mean, over runs, of their mean differences."""
    blocks: tuple[tuple[Block, ...], ...]
    """Of each group, those of all alphas."""
    test: Interaction | None
    """Whether differences depend on the group; None where that could not be tested."""
    gamma: float

    @property
    def first(self) -> tuple[Block, ...]:
        """Of each group the block of the first alpha."""
        return tuple(blocks[0] for blocks in self.blocks)

    @property
    def about(self) -> str:
        """The table that its statements are about."""
        return f"{about(self.first[0])}, by {self.grouping}"

    @property
    def depends(self) -> bool:
        """Whether differences are shown to depend on the group."""
        return self.test is not None and self.test.p < self.gamma

    def mapped(self, changed: Callable[[Block], Block]) -> Self:
        """The same with each block changed."""
        return replace(self, blocks=tuple(tuple(map(changed, each)) for each in self.blocks))

    @property
    def said(self) -> Statements:
        """Whether the group matters, and for whom in which."""
        first = self.first[0]
        if first.estimates["mean"].flag is None or len(self.groups) < 2:
            return Statements()
        baseline, numbers = called(first.baseline, first.baseline_size), {}
        text = f"nothing is tested, for fewer than two groups have {LEAST_GROUP} topics"
        if self.test is not None:
            numbers = {"p": self.test.p, "shuffles": float(self.test.shuffles)}
            text, end = f"differences to {baseline} depend on the group", ""
            if not self.depends:
                text, end = f"it is not shown that {text}", ", so no group has marks"
            text += f" (p {p_value(self.test.p)}){end}"
        tested = Statement("by-group", f"By {self.grouping}: {text}.", self.about, numbers=numbers)
        return Statements((tested, *([self._marked(baseline)] if self.depends else [])))

    def _marked(self, baseline: str) -> Statement:
        """Who is better or worse in which group, the worst group first."""
        found = [
            (group, block.runs[row], str(flag), block.numbers("mean_diff")[row] or 0.0)
            for group, block in zip(self.groups, self.first, strict=True)
            for row, flag in enumerate(np.asarray(block.estimates["mean"].flag).tolist())
            if flag
        ]
        parts = [f"{run} is {flag} in {g} (mean {d:+.4f})" for g, run, flag, d in found]
        more = [f"and {len(parts) - MOST_NAMED} more"] if len(parts) > MOST_NAMED else []
        text = f"Compared with {baseline}, {'; '.join([*parts[:MOST_NAMED], *more])}."
        if not found:
            text = f"No run is shown to be better or worse than {baseline} in a single group."
        numbers = {"difference": tuple(each[3] for each in found)} if found else {}
        runs = tuple(each[1] for each in found)
        return Statement("in-group", text, self.about, runs, (), numbers)


def of_all(block: Block) -> Block:
    """The block of all topics, where there are groups beside it."""
    return _labelled(block, ALL)


def _labelled(block: Block, group: str) -> Block:
    return replace(block, beside={**block.beside, GROUP: np.full(len(block.runs), group)})


def tables_by_group(matrix: ScoreMatrix, options: Options, whole: Sequence[Block]) -> list[ByGroup]:
    """Of each grouping and baseline the tables of its groups; `whole` are those of all topics."""
    if matrix.axes.groups and isinstance(options.population, FrozenPopulation):
        raise UsageError(
            "a frozen population is that of all its topics: leave out --groups, or --population"
        )
    return [
        each
        for grouping, labels in matrix.axes.groups_of(matrix.topics).items()
        for each in _of_grouping(matrix, options, whole, grouping, labels)
    ]


def _of_grouping(
    matrix: ScoreMatrix, options: Options, whole: Sequence[Block], grouping: str, labels: list[str]
) -> Iterator[ByGroup]:
    plan, groups = options.significance, list(dict.fromkeys(labels))
    numbers = np.array([groups.index(label) for label in labels])
    blocks: dict[tuple[str, str], list[Block]] = {}
    for number, group in enumerate(groups):
        label = f"{grouping}={group}" if len(matrix.axes.groups) > 1 else group
        found = whole
        if len(groups) > 1:
            part = matrix.of_topics(np.flatnonzero(numbers == number).tolist())
            inner = replace(options, significance=_uncorrected(plan, len(groups)))
            found = [_without_claims(block) for block in risk_blocks(part, inner)[0]]
        for block in found:
            blocks.setdefault((block.baseline, group), []).append(_labelled(block, label))
    if len(groups) > 1:
        blocks = _corrected(blocks, options)
    compared = {each.baseline.name: each for each in comparisons(matrix, options)}
    for baseline in dict.fromkeys(baseline for baseline, _ in blocks):
        worst = sorted(groups, key=lambda group: _badness(blocks[baseline, group][0], group))
        test = None
        if (known := compared.get(baseline)) is not None:  # which averages of baselines are not
            test = interaction(known.paired.delta, numbers, plan.seed, known.weights)
        of_each = tuple(tuple(blocks[baseline, group]) for group in worst)
        table = ByGroup(grouping, tuple(worst), of_each, test, plan.gamma)
        marked = table.depends or len(groups) == 1
        yield table if marked else table.mapped(lambda block: _emptied(block, "flag"))


def _uncorrected(plan: Significance, groups: int) -> Significance:
    """How runs are tested in a group, before p-values are corrected over all groups."""
    shuffles = max(plan.number_of_shuffles, int(np.ceil(_FINE * groups / plan.gamma)))
    return replace(plan, correction="none", family="column", shuffles=shuffles)


def _corrected(
    blocks: dict[tuple[str, str], list[Block]], options: Options
) -> dict[tuple[str, str], list[Block]]:
    """The blocks with the p-values of each column corrected over runs and groups."""
    plan, in_turn = options.significance, options.pool == POOL_EACH

    def family_of(block: Block, name: str) -> object:
        of_baseline = None if in_turn else block.baseline
        return () if plan.family == "all" else (name, block.alpha, of_baseline)

    flat = corrected_together([b for each in blocks.values() for b in each], plan, family_of)
    rest = iter(flat)
    return {key: [next(rest) for _ in each] for key, each in blocks.items()}


def _without_claims(block: Block) -> Block:
    """The block without sentences and intervals of ranks, and untested if it has few topics."""
    names = ["rank_low", "rank_high"]
    if block.topics < LEAST_GROUP:
        names += ["p", "p_adjusted", "difference_low", "difference_high"]
    return replace(_emptied(block, *names), said=Statements())


def _emptied(block: Block, *names: str) -> Block:
    """The block without these fields of its estimates."""

    def emptied(estimate: Estimate) -> Estimate:
        known = [name for name in names if getattr(estimate, name) is not None]
        size = len(block.runs)
        blank: dict[str, Any] = {n: np.full(size, "" if n == "flag" else np.nan) for n in known}
        return replace(estimate, **blank)

    return replace(block, estimates={n: emptied(e) for n, e in block.estimates.items()})


def _badness(block: Block, group: str) -> tuple[float, float, object]:
    """What orders groups: mean differences; where these cancel out, means; then names."""
    known = [each for each in block.numbers("mean_diff") if each is not None]
    difference = sum(known) / max(len(known), 1)
    if abs(difference) <= 1e-9 * max(map(abs, known), default=0.0):  # to a virtual mean
        difference = 0.0
    return difference, float(block.estimates["mean"].value.mean()), natural_key(group)
