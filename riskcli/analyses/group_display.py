"""Groups of topics for people: a row a run, a column a group, the worst group first."""

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
    first, several = table.first[0], [_columns(table, i, layout) for i in range(len(table.groups))]
    columns = [names_of(first), *(column for pair in several for column in pair)]
    if width_of(columns) > width:
        columns = columns[:2]
        for difference, _ in several[1:]:
            if width_of([*columns, difference]) > width:
                break
            columns.append(difference)
        several = several[len(columns) - 1 :]
    else:
        several = []
    lines = [
        "Number of topics in brackets; the worst group, by the mean difference of all runs, first."
    ]
    if table.depends:
        tests = counted(first.families.get("mean", 0), "test")
        how = f"corrected over runs and groups ({tests})"
        lines.append(f"▲ better, ▼ worse at γ = {table.gamma:g}, {how}.")
    if any(block.topics < LEAST_GROUP for block in table.first):
        lines.append(f"Groups of fewer than {LEAST_GROUP} topics are not tested.")
    if several:
        more = counted(len(several), "more group")
        lines.append(f"{more} not shown: -f tsv, or a wider terminal.")
    alpha = weights([first.alpha], first.convention)
    title = f"By {table.grouping}: {first.measure}, baseline {in_title(first.baseline)}, {alpha}"
    return Display(title, columns, lines, marks=layout.marks, verdict=table.said.sentences)


def _columns(table: ByGroup, number: int, layout: Layout) -> tuple[Column, Column]:
    """Of one group: the difference with its mark, and URisk."""
    block = table.first[number]
    name = f"{shortened(visible(table.groups[number]), _NAME)} ({block.topics})\n"
    flags = block.cells("mean_flag")
    marks = [""] * len(block.runs) if flags is None or layout.marks == "none" else flags.tolist()
    texts = layout.decimals(block.numbers("mean_diff"))
    marked = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    urisk = Column.of(f"{name}URisk", layout.decimals(block.numbers("urisk")))
    return Column(Heading(f"{name}mean diff", marked=True), marked), urisk
