"""Every figure by group of topics: the risk table of each group, and what of it is shown to differ.

A group's figures are those of its topics alone. Before a difference in any group is flagged, one
test asks whether differences depend on the group at all; then the p-values are corrected over runs
and groups.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from riskcli.analyses.blocks import Block, corrected_together, risk_blocks
from riskcli.analyses.verdicts import about, called
from riskcli.core.arrays import Rows
from riskcli.core.messages import UsageError, natural_key
from riskcli.output.display import p_value
from riskcli.output.measure_words import GROUP
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.estimate import Estimate, Significance
from riskcli.risk.interaction import LEAST_GROUP, Interaction, interaction
from riskcli.risk.rounding import equal_digits
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
        if self.first[0].estimates["mean"].flag is None or len(self.groups) < 2:
            return Statements()
        baseline = called(self.first[0].baseline, self.first[0].baseline_size)
        return Statements((self._tested(baseline), *self._flagged(baseline)))

    def _tested(self, baseline: str) -> Statement:
        by, numbers = f"By {self.grouping}", {}
        if self.test is None:
            few = f"fewer than two groups have {LEAST_GROUP} topics"
            text = f"{by}: nothing is tested, for {few}."
        else:
            numbers = {"p": self.test.p, "shuffles": float(self.test.shuffles)}
            p = f"(p {p_value(self.test.p)})"
            text = f"{by}: differences to {baseline} depend on the group {p}."
            if not self.depends:
                text = (
                    f"{by}: it is not shown that differences to {baseline} depend on the group "
                    f"{p}, so no group has marks."
                )
        return Statement("by-group", text, self.about, numbers=numbers)

    def _flagged(self, baseline: str) -> list[Statement]:
        """Who is better or worse in which group, the worst group first."""
        if not self.depends:
            return []
        found = [
            (group, block.runs[row], str(flag), float(mean.difference[row]))
            for group, block in zip(self.groups, self.first, strict=True)
            for mean in [block.estimates["mean"]]
            if mean.flag is not None and mean.difference is not None
            for row, flag in enumerate(mean.flag.tolist())
            if flag
        ]
        parts = [
            f"{run} is {flag} in {group} (mean {difference:+.4f})"
            for group, run, flag, difference in found[:MOST_NAMED]
        ]
        more = f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        text = f"Compared with {baseline}, {'; '.join(parts)}{more}."
        if not found:
            text = f"No run is shown to be better or worse than {baseline} in a single group."
        runs = tuple(run for _, run, _, _ in found)
        numbers = {"difference": tuple(difference for *_, difference in found)} if found else {}
        return [Statement("in-group", text, self.about, runs, (), numbers)]


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
    matrix: ScoreMatrix,
    options: Options,
    whole: Sequence[Block],
    grouping: str,
    labels: Sequence[str],
) -> list[ByGroup]:
    names, numbers = np.unique(labels, return_inverse=True)
    groups = list(map(str, names))
    several = len(matrix.axes.groups) > 1
    plan = options.significance
    tested = _tests(matrix, options, numbers.reshape(-1))
    blocks: dict[tuple[str, str], list[Block]] = {}
    for number, group in enumerate(groups):
        topics = np.flatnonzero(numbers == number).tolist()
        label = f"{grouping}={group}" if several else group
        found = whole
        if len(groups) > 1:
            inner = replace(options, significance=_uncorrected(plan, len(groups)))
            found, _ = risk_blocks(matrix.of_topics(topics), inner)
            found = [_without_claims(block) for block in found]
        for block in found:
            blocks.setdefault((block.baseline, group), []).append(_labelled(block, label))
    if len(groups) > 1:
        blocks = _corrected(blocks, options)
    tables = []
    for baseline in dict.fromkeys(baseline for baseline, _ in blocks):
        worst = sorted(groups, key=lambda group: _badness(blocks[baseline, group][0], group))
        of_each = tuple(tuple(blocks[baseline, group]) for group in worst)
        table = ByGroup(grouping, tuple(worst), of_each, tested.get(baseline), plan.gamma)
        tables.append(table if table.depends or len(groups) == 1 else table.mapped(_unmarked))
    return tables


def _uncorrected(plan: Significance, groups: int) -> Significance:
    """How runs are tested in a group, before p-values are corrected over all groups."""
    least = int(np.ceil(_FINE * groups / plan.gamma))
    shuffles = max(plan.number_of_shuffles, least)
    return replace(plan, correction="none", family="column", shuffles=shuffles)


def _tests(matrix: ScoreMatrix, options: Options, groups: Rows) -> dict[str, Interaction | None]:
    """By baseline, whether differences depend on the group."""
    return {
        compared.baseline.name: interaction(
            compared.paired.delta, groups, options.significance.seed, compared.weights
        )
        for compared in comparisons(matrix, options)
    }


def _corrected(
    blocks: dict[tuple[str, str], list[Block]], options: Options
) -> dict[tuple[str, str], list[Block]]:
    """The blocks with the p-values of each column corrected over runs and groups."""
    plan, in_turn = options.significance, options.pool == POOL_EACH

    def family_of(block: Block, name: str) -> object:
        if plan.family == "all":
            return ()
        return (name, block.alpha, None if in_turn else block.baseline)

    flat = corrected_together([b for each in blocks.values() for b in each], plan, family_of)
    rest = iter(flat)
    return {key: [next(rest) for _ in each] for key, each in blocks.items()}


def _without_claims(block: Block) -> Block:
    """The block without sentences and intervals of ranks, and untested if it has few topics."""

    def bare(estimate: Estimate) -> Estimate:
        nothing = np.full(len(block.runs), np.nan)
        names = ["rank_low", "rank_high"]
        if block.topics < LEAST_GROUP:
            names += ["p", "p_adjusted", "difference_low", "difference_high"]
        empty: dict[str, Any] = {
            name: nothing for name in names if getattr(estimate, name) is not None
        }
        return replace(estimate, p_stepped=None, **empty)

    bared = {name: bare(estimate) for name, estimate in block.estimates.items()}
    return replace(block, estimates=bared, said=Statements())


def _unmarked(block: Block) -> Block:
    """The block without flags."""

    def unmarked(estimate: Estimate) -> Estimate:
        flag = estimate.flag
        return estimate if flag is None else replace(estimate, flag=np.full_like(flag, ""))

    return replace(block, estimates={n: unmarked(e) for n, e in block.estimates.items()})


def _badness(block: Block, group: str) -> tuple[float, float, object]:
    """What orders groups: mean differences; where these cancel out, means; then names."""
    mean = block.estimates["mean"]
    others = np.arange(len(block.runs)) != (
        -1 if block.baseline_row is None else block.baseline_row
    )
    if mean.difference is None or not others.any():
        return 0.0, float(mean.value.mean()), natural_key(group)
    difference = float(mean.difference[others].mean())
    size = float(np.abs(mean.difference[others]).max(initial=0.0))
    if abs(difference) <= 1e-9 * size:  # of a virtual mean they are rounding
        difference = 0.0
    values = equal_digits(np.array([difference, float(mean.value.mean())]))
    return float(values[0]), float(values[1]), natural_key(group)
