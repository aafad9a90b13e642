"""Every figure by group of topics: the risk table of each group, and what of it is shown to differ.

A group's figures are those of its topics alone. Before a difference in any group is flagged, one
test asks whether differences depend on the group at all; then the p-values are corrected over runs
and groups.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from riskcli.analyses.blocks import Block, corrected_together, risk_blocks
from riskcli.analyses.score_display import Layout, names_of
from riskcli.analyses.verdicts import about, called
from riskcli.core.messages import UsageError, counted, listed, natural_key
from riskcli.output import display
from riskcli.output.display import (
    Cell,
    Column,
    Display,
    Heading,
    p_value,
)
from riskcli.output.escape import visible
from riskcli.output.measure_words import GROUP, weights
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.interaction import LEAST_GROUP, interaction
from riskcli.scores.comparisons import POOL_EACH, Options, comparisons
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

MOST_NAMED = 3
_NAME = 20
_FINE = 2
"""Shuffles enough for a p-value that many times below what the correction needs."""


@dataclass(frozen=True)
class ByGroup:
    """The risk tables of all groups of one grouping, for one measure and baseline."""

    grouping: str
    blocks: tuple[Block, ...]
    """Of each group those of all alphas; the group with the lowest mean difference first."""
    p: float | None
    """Of the test whether differences depend on the group: NaN where there are too few topics,
    None of averages over baselines."""
    gamma: float

    @property
    def first(self) -> tuple[Block, ...]:
        """Of each group the block of the first alpha."""
        return tuple(block for block in self.blocks if block.alpha == self.blocks[0].alpha)

    @property
    def depends(self) -> bool:
        """Whether differences are shown to depend on the group."""
        return self.p is not None and self.p < self.gamma

    def mapped(self, changed: Callable[[Block], Block]) -> Self:
        """The same with each block changed."""
        return replace(self, blocks=tuple(map(changed, self.blocks)))

    @property
    def said(self) -> Statements:
        """Whether the group matters, and for whom in which."""
        if self.p is None:
            return Statements()
        first = self.first[0]
        table = f"{about(first)}, by {self.grouping}"
        baseline = called(first.baseline, first.baseline_size)
        said = f"differences to {baseline} depend on the group"
        if np.isnan(self.p):
            said = f"nothing is tested, for fewer than two groups have {LEAST_GROUP} topics"
        elif self.depends:
            said += f" (p {p_value(self.p)})"
        else:
            said = f"it is not shown that {said} (p {p_value(self.p)}), so no group has marks"
        said = f"By {self.grouping}: {said}."
        tested = Statement("by-group", said, table, numbers={"p": self.p})
        return Statements((tested, self._marked(baseline, table)) if self.depends else (tested,))

    def _marked(self, baseline: str, table: str) -> Statement:
        """Who is better or worse in which group, the worst group first."""
        found = [
            (run, f"{run} is {flag} in {block.group} (mean {mean:+.4f})")
            for block in self.first
            if (flags := block.cells("mean_flag")) is not None
            for run, flag, mean in zip(block.runs, flags, block.numbers("mean_diff"), strict=True)
            if flag
        ]
        said = f"No run is shown to be better or worse than {baseline} in a single group."
        if found:
            said = f"Compared with {baseline}, {listed((each for _, each in found), MOST_NAMED)}."
        return Statement("in-group", said, table, tuple(run for run, _ in found))


def in_group(block: Block, group: str) -> Block:
    """The block with the name of the group in a column."""
    return replace(block, beside={**block.beside, GROUP: np.full(len(block.runs), group)})


def tables_by_group(matrix: ScoreMatrix, options: Options) -> Iterator[ByGroup]:
    """Of each grouping and baseline the tables of its groups."""
    if isinstance(options.population, FrozenPopulation):
        raise UsageError(
            "a frozen population is that of all its topics: leave out --groups, or --population"
        )
    plan, in_turn = options.significance, options.pool == POOL_EACH

    def family_of(block: Block, name: str) -> object:
        """Runs and groups of a column; all baselines, where each is one in turn."""
        return () if plan.family == "all" else (name, block.alpha, in_turn or block.baseline)

    compared = {each.baseline.name: each for each in comparisons(matrix, options)}
    for grouping, labels in matrix.axes.groups_of(matrix.topics).items():
        groups, numbers = np.unique(np.array(labels, dtype=object), return_inverse=True)
        blocks: list[Block] = []
        for number, group in enumerate(groups):
            part = matrix.of_topics(np.flatnonzero(numbers == number).tolist())
            name = f"{grouping}={group}" if len(matrix.axes.groups) > 1 else group
            blocks += _blocks_of(part, options, name, len(groups))
        blocks = corrected_together(blocks, plan, family_of)
        for baseline in dict.fromkeys(block.baseline for block in blocks):
            p = None
            if (known := compared.get(baseline)) is not None:
                p = interaction(known.paired.delta, numbers, plan.seed, known.weights)
            own = sorted((each for each in blocks if each.baseline == baseline), key=_badness)
            table = ByGroup(grouping, tuple(own), p, plan.gamma)
            yield table if table.depends else table.mapped(lambda block: without(block, "flag"))


def _blocks_of(part: ScoreMatrix, options: Options, group: str, groups: int) -> list[Block]:
    """The blocks of a group; nothing is tested if it has few topics, nor corrected as yet."""
    plan, names = options.significance, ["rank_low", "rank_high"]
    shuffles = max(plan.number_of_shuffles, int(np.ceil(_FINE * groups / plan.gamma)))
    plan = replace(plan, correction="none", family="column", shuffles=shuffles)
    if len(part.topics) < LEAST_GROUP:
        names += ["p", "p_adjusted", "flag", "difference_low", "difference_high"]
    blocks, _ = risk_blocks(part, replace(options, significance=plan))
    blocks = [replace(without(block, *names), said=Statements()) for block in blocks]
    return [in_group(block, group) for block in blocks]


def without(block: Block, *names: str) -> Block:
    """The block without these fields of its estimates."""
    none: dict[str, Any] = dict.fromkeys(names)
    return replace(block, estimates={n: replace(e, **none) for n, e in block.estimates.items()})


def _badness(block: Block) -> tuple[float, float, object]:
    """What orders groups: mean differences; where these cancel out, means; then names."""
    known = [each for each in block.numbers("mean_diff") if each is not None]
    difference = round(sum(known) / max(len(known), 1), 12)  # 0 to a virtual mean
    return difference, float(block.estimates["mean"].value.mean()), natural_key(block.group)


# For people: a row a run, a column a group, the worst group first.


def display_of(table: ByGroup, layout: Layout, width: int) -> Display:
    """Differences of the mean by group, and URisk where all groups have room for it."""
    first, pairs = table.first[0], [_columns(table, each, layout) for each in table.first]
    columns = [names_of(first), *(column for pair in pairs for column in pair)]
    if display.width_of(columns) > width:
        columns = [names_of(first), *(difference for difference, _ in pairs)]
    while display.width_of(columns) > width and len(columns) > 2:
        columns.pop()
    lines = [
        "Number of topics in brackets; the worst group, by the mean difference of all runs, first."
    ]
    if table.depends:
        tests = counted(max(each.families.get("mean", 0) for each in table.first), "test")
        how = f"corrected over runs and groups ({tests})"
        lines.append(f"▲ better, ▼ worse at γ = {table.gamma:g}, {how}.")
    if any(block.topics < LEAST_GROUP for block in table.first):
        lines.append(f"Groups of fewer than {LEAST_GROUP} topics are not tested.")
    if (more := len(pairs) - len(columns) + 1) > 0:
        lines.append(f"{counted(more, 'more group')} not shown: -f tsv, or a wider terminal.")
    alpha = weights([first.alpha], first.convention)
    against = f"baseline {display.in_title(first.baseline)}, {alpha}"
    title = f"By {table.grouping}: {first.measure}, {against}"
    return Display(title, columns, lines, marks=layout.marks, verdict=table.said.sentences)


def _columns(table: ByGroup, block: Block, layout: Layout) -> tuple[Column, Column]:
    """Of one group: the difference with its mark, and URisk."""
    group = visible(block.group.removeprefix(f"{table.grouping}="))
    name = f"{display.shortened(group, _NAME)} ({block.topics})\n"
    flags = block.cells("mean_flag")
    marks = [""] * len(block.runs) if flags is None or layout.marks == "none" else flags.tolist()
    texts = layout.decimals(block.numbers("mean_diff"))
    marked = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    urisk = Column.of(f"{name}URisk", layout.decimals(block.numbers("urisk")))
    return Column(Heading(f"{name}mean diff", marked=True), marked), urisk
