"""Groups of topics for people: a row a run, a column a group, the worst group first."""

from riskcli.analyses.blocks import Block
from riskcli.analyses.groups import ByGroup
from riskcli.analyses.score_display import Layout, names_of
from riskcli.core.messages import counted
from riskcli.output.display import Cell, Column, Display, Heading, in_title, shortened, width_of
from riskcli.output.escape import visible
from riskcli.output.measure_words import weights
from riskcli.risk.interaction import LEAST_GROUP

_NAME = 20


def of_groups(table: ByGroup, layout: Layout, width: int) -> Display:
    """Differences of the mean by group, and URisk where all groups have room for it."""
    first, pairs = table.first[0], [_columns(table, each, layout) for each in table.first]
    columns = [names_of(first), *(column for pair in pairs for column in pair)]
    if width_of(columns) > width:
        columns = [names_of(first), *(difference for difference, _ in pairs)]
    while width_of(columns) > width and len(columns) > 2:
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
    title = f"By {table.grouping}: {first.measure}, baseline {in_title(first.baseline)}, {alpha}"
    return Display(title, columns, lines, marks=layout.marks, verdict=table.said.sentences)


def _columns(table: ByGroup, block: Block, layout: Layout) -> tuple[Column, Column]:
    """Of one group: the difference with its mark, and URisk."""
    group = visible(block.group.removeprefix(f"{table.grouping}="))
    name = f"{shortened(group, _NAME)} ({block.topics})\n"
    flags = block.cells("mean_flag")
    marks = [""] * len(block.runs) if flags is None or layout.marks == "none" else flags.tolist()
    texts = layout.decimals(block.numbers("mean_diff"))
    marked = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    urisk = Column.of(f"{name}URisk", layout.decimals(block.numbers("urisk")))
    return Column(Heading(f"{name}mean diff", marked=True), marked), urisk
