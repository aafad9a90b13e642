"""Groups of topics for people: a row a run, a column a group, the worst group first."""

from riskcli.analyses.blocks import Block
from riskcli.analyses.groups import ByGroup
from riskcli.analyses.score_display import Layout
from riskcli.core.messages import counted
from riskcli.output.display import (
    BASELINE_MARK,
    Cell,
    Column,
    Display,
    Heading,
    in_title,
    shortened,
    width_of,
)
from riskcli.output.measure_words import weights
from riskcli.risk.interaction import LEAST_GROUP

_NAME = 20
_SHOWN = {"mean_diff": "mean diff", "urisk": "URisk"}
"""What is shown of each group, and its heading; where there is no room, the first alone."""


def of_groups(table: ByGroup, layout: Layout, width: int) -> Display:
    """Differences of the mean by group, and URisk where all groups have room for it."""
    first = table.first[0]
    members = set(first.baseline_members)
    cells = [
        Cell(f"{run} {BASELINE_MARK}" if row in members else run, strong=row in members)
        for row, run in enumerate(first.runs)
    ]
    names = Column(Heading("run", left=True, names=True), cells)
    columns = [names, *(c for i in range(len(table.groups)) for c in _columns(table, i, layout))]
    hidden = 0
    if width_of(columns) > width:
        columns = [names]
        for i in range(len(table.groups)):
            column = _columns(table, i, layout)[0]
            if i and width_of([*columns, column]) > width:
                hidden = len(table.groups) - i
                break
            columns.append(column)
    alpha = weights([first.alpha], first.convention)
    title = f"By {table.grouping}: {first.measure}, baseline {in_title(first.baseline)}, {alpha}"
    caption = _caption(table, hidden)
    return Display(title, columns, caption, marks=layout.marks, verdict=table.said.sentences)


def _columns(table: ByGroup, number: int, layout: Layout) -> list[Column]:
    """Of one group: the difference with its mark, and URisk."""
    block: Block = table.first[number]
    name = f"{shortened(table.groups[number], _NAME)} ({block.topics})"
    flags = block.cells("mean_flag")
    marks = [""] * len(block.runs) if flags is None or layout.marks == "none" else flags.tolist()
    texts = {each: layout.decimals(block.numbers(each)) for each in _SHOWN}
    marked = [Cell(t, mark=m) for t, m in zip(texts["mean_diff"], marks, strict=True)]
    heading = Heading(f"{name}\n{_SHOWN['mean_diff']}", marked=True)
    return [Column(heading, marked), Column.of(f"{name}\n{_SHOWN['urisk']}", texts["urisk"])]


def _caption(table: ByGroup, hidden: int) -> list[str]:
    """How groups are ordered and tested, and what is not shown."""
    lines = [
        f"Number of topics in brackets; the worst group first: least mean difference of all "
        f"{counted(len(table.first[0].runs), 'run')}."
    ]
    tested = [block for block in table.first if block.topics >= LEAST_GROUP]
    if table.depends:
        size = table.first[0].families.get("mean", 0)
        lines.append(
            f"▲ better, ▼ worse at γ = {table.gamma:g}, corrected over runs and groups "
            f"({counted(size, 'test')})."
        )
    if len(tested) < len(table.groups):
        lines.append(f"Groups of fewer than {LEAST_GROUP} topics are not tested.")
    if hidden:
        lines.append(f"{counted(hidden, 'more group')} not shown: -f tsv, or a wider terminal.")
    return lines
