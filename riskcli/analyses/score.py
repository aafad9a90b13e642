"""The risk table as an object of the library: its blocks, and all they rest on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from riskcli.analyses import base, human, judges, unjudged
from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.analyses.cautions import copy_notes
from riskcli.analyses.groups import ByGroup, display_of, in_group, tables_by_group
from riskcli.analyses.own_baselines import own_blocks
from riskcli.analyses.replicates import ReplicateSpread
from riskcli.analyses.score_columns import column_names as column_names
from riskcli.analyses.score_columns import for_machines, left_out
from riskcli.analyses.score_display import USUAL, Layout, View, displays
from riskcli.core.choices import Marks, is_virtual
from riskcli.core.messages import Note, UsageError, joined, natural_order, nearest
from riskcli.output.display import Display, in_title
from riskcli.output.measure_words import (
    asked_with,
    column_of,
    columns,
    columns_beside,
    columns_of_unjudged,
    weights,
)
from riskcli.output.result import Result, Value, tidy
from riskcli.output.verdict import Statements
from riskcli.risk.measure import MeasureColumn
from riskcli.risk.measures import measure_ids, measures
from riskcli.scores.axes import ALL_TOPICS
from riskcli.scores.comparisons import Options
from riskcli.scores.frozen import FrozenPopulation

_OF_SHARES = {"judged", "baseline_judged"}
"""The columns of unjudged documents that are always known of runs."""


@dataclass(frozen=True, repr=False)
class ComparisonTable(base.Analysis):
    """Every measure of every run for each effectiveness measure, baseline and alpha."""

    blocks: tuple[Block, ...]
    """Those of own baselines after those of the common one, by effectiveness measure."""
    options: Options
    order: str | None = None
    """The column that the runs are sorted by; None: as they came."""
    layout: Layout = USUAL
    """How it is shown, to people and in which columns."""
    by_group: tuple[ByGroup, ...] = ()
    """The same of each group of topics, by grouping, measure and baseline."""

    def sorted_by(self, column: str = "mean") -> Self:
        """The runs of each block by that column: names naturally, values highest first.

        A minus before the column (`-losses`) turns the order round.
        """
        sortable = sortable_columns()
        if column.removeprefix("-") not in sortable:
            hint = nearest(column, sortable) or f"; a table is sorted by {', '.join(sortable)}"
            raise UsageError(f"cannot sort by {column!r}{hint}")
        orders: dict[tuple[str, str], list[int]] = {}
        for block in self.blocks:
            orders.setdefault((block.measure, block.baseline), _order(self._shown(block), column))
        ordered = self._of_runs(lambda block: orders[block.measure, block.baseline])
        return replace(ordered, order=column)

    def _of_runs(self, rows_of: Callable[[Block], Sequence[int]]) -> Self:
        """The table with these runs of each block, in this order."""

        def chosen(block: Block) -> Block:
            return block.of_runs(rows_of(block))

        by_group = tuple(each.mapped(chosen) for each in self.by_group)
        return replace(self, blocks=tuple(map(chosen, self.blocks)), by_group=by_group)

    def laid_out(
        self,
        columns: Sequence[str] = (),
        *,
        ranks: bool = True,
        marks: Marks | None = None,
        precision: int | None = None,
    ) -> Self:
        """The table with these columns alone (none: the usual); for people, so many decimals."""
        ranged = [name for name in columns if name in columns_of_unjudged().keys() - _OF_SHARES]
        if ranged and not any(block.has_ranges for block in self.blocks):
            are = "is" if len(ranged) == 1 else "are"
            raise UsageError(f"{joined(ranged)} {are} known of runs, with --unjudged bounds")
        labels = {name for block in self.blocks for name in block.beside}
        unknown = [name for name in columns if name in columns_beside().keys() - labels]
        if unknown:
            raise UsageError(f"{unknown[0]} is known with {asked_with(unknown[0])}")
        return replace(self, layout=Layout(tuple(columns), ranks, marks, precision))

    def best_per_team(self) -> Self:
        """Only the first run of each team, as they are sorted; a run without a team stays."""
        if not self.options.teams:
            raise UsageError("no run has a team, so there is no best run per team")

        runs = list(dict.fromkeys(run for block in self.blocks for run in block.runs))
        teams = dict(zip(runs, self.options.teams.of(runs), strict=True))

        def rows_of(block: Block) -> list[int]:
            first: dict[tuple[bool, str], int] = {}
            for row, run in enumerate(block.runs):
                team = teams[run]
                first.setdefault((team is None, run if team is None else team), row)
            return list(first.values())

        return self._of_runs(rows_of)

    def top(self, count: int) -> Self:
        """Only the first runs of each block, as they are sorted, and the baseline's own rows."""

        def rows_of(block: Block) -> list[int]:
            first = range(min(count, len(block.runs)))
            return [*first, *sorted({*block.baseline_members} - {*first})]

        return self._of_runs(rows_of)

    @property
    def keys_left_out(self) -> list[str]:
        """The columns without which the rows asked for cannot be told apart."""
        return left_out(self.layout.columns, self._every_block)

    @property
    def shown_blocks(self) -> tuple[Block, ...]:
        """The blocks in the table's convention."""
        return tuple(map(self._shown, self.blocks))

    def _shown(self, block: Block) -> Block:
        return block.turned(self.options.convention)

    @property
    def _every_block(self) -> tuple[Block, ...]:
        """Those of all topics, then those of groups."""
        return (*self.blocks, *(block for each in self.by_group for block in each.blocks))

    @property
    def verdict(self) -> Statements:
        """Who is better than the baseline, who ruins topics, what is open, what else weighs."""
        flaky = (spread.flaky for _, spread in self._spreads)
        parts = [*(block.said for block in self.blocks), *(each.said for each in self.by_group)]
        said = (statement for part in parts for statement in part)
        return Statements((*said, *(each for each in flaky if each)))

    @property
    def _spreads(self) -> list[tuple[Block, ReplicateSpread]]:
        """How much replicates differ, once for each measure, with its first block."""
        first: dict[str, Block] = {}
        for block in self.shown_blocks:
            first.setdefault(block.measure, block)
        return [(block, block.spread) for block in first.values() if block.spread is not None]

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        table = self if self.order else self.sorted_by()
        column = (table.order or "mean").removeprefix("-")
        ordered_by, plan = "mean" if column == "run" else column, self.options.significance
        view = View(table.shown_blocks, ordered_by, self.layout, plan)
        spreads = [] if self.layout.columns else table._spreads
        by_judges = () if self.layout.columns else judges.tables(view.blocks)
        by_humans = [] if self.layout.columns else human.tables(view.blocks, plan)
        if by_humans:  # they say it first
            blocks = tuple(replace(block, said=Statements()) for block in view.blocks)
            view = view._replace(blocks=blocks)
        return [
            *by_humans,
            *displays(view, width),
            *table.displays_by_group(width),
            *(_ranges(b) for b in view.blocks if b.has_ranges),
            *(_replicates(*each, self.layout.precision) for each in spreads),
            *by_judges,
        ]

    def displays_by_group(self, width: int) -> list[Display]:
        """Those of groups of topics alone."""
        table = self if self.order else self.sorted_by()
        return [display_of(g.mapped(self._shown), self.layout, width) for g in table.by_group]

    def result(self) -> Result:
        """The tidy rows in the columns of the contract, or in those that were asked for."""
        ranged = columns_of_unjudged() if any(block.has_ranges for block in self.blocks) else ()
        labelled = {name for block in self.blocks for name in block.beside}
        beside = filter(labelled.__contains__, columns_beside())
        names = for_machines(self.layout.columns) or (*columns(), *ranged, *beside)
        rows = [row for b in self._every_block for row in _rows(self._shown(b), names)]
        parts = {b.measure: spread.parts for b, spread in self._spreads if spread.parts}
        extra = {"variance": parts} if parts else {}
        return Result(names, rows, self.provenance, extra)


def risk_table(
    scores: base.Scores,
    baseline: base.Names = None,
    *,
    alpha: float | Sequence[float] | None = None,
    options: Options | None = None,
) -> ComparisonTable:
    """URisk, TRisk, ZRisk and GeoRisk of every run of one or several score matrices.

    `scores` is an evaluation, a matrix or several, or a DataFrame of runs (index) by topics
    (columns). `baseline` is a run's name, a glob, several of them, or one of @mean, @median, @max,
    @min (none: @mean); `options` holds the rest, and the baseline where it is not given here.
    """
    setup = base.set_up(scores, options, baseline, alpha, of_table=True)
    options = replace(setup.options, own_baselines={})
    shuffled = any(is_virtual(name) for name in options.wanted)
    work = "score against a virtual baseline" if shuffled else "score"
    base.refuse_much(work, setup.matrices, options)
    blocks: list[Block] = []
    by_group: list[ByGroup] = []
    notes: list[Note] = []
    for matrix in setup.matrices:
        of_matrix, cautions = risk_blocks(matrix, options)
        if matrix.axes.groups:
            of_matrix = [in_group(block, ALL_TOPICS) for block in of_matrix]
            by_group += tables_by_group(matrix, options)
        if setup.options.own_baselines:
            against_own, warned = own_blocks(matrix, setup.options)
            of_matrix += against_own
            cautions += warned
        blocks += of_matrix
        notes += cautions
        if not isinstance(options.population, FrozenPopulation):
            notes += copy_notes(matrix, options.teams.of(matrix.runs))
    blocks = judges.with_judges(blocks)
    fits = ((block.measure, block.baseline, block.smooth) for block in blocks)
    provenance = setup.recorded(fits, notes)
    options, groups = setup.options, tuple(by_group)
    return ComparisonTable(tuple(blocks), options, by_group=groups, provenance=provenance)


def _ranges(block: Block) -> Display:
    """What unjudged documents could change."""
    alpha = weights([block.alpha], block.convention)
    title = f"{block.measure} against {in_title(block.baseline)}, {alpha}, for all grades of "
    title += "unjudged documents"
    return unjudged.table(block.runs, block.beside, title, block.ranges_exact)


def _replicates(block: Block, spread: ReplicateSpread, precision: int | None) -> Display:
    """How much the replicates of each system differ."""
    counting = weights([block.alpha], block.convention)
    title = f"{block.measure}: replicates, {counting}, floor against {in_title(block.baseline)}"
    return spread.display(title, block.runs, block.beside, precision)


def sortable_columns() -> list[str]:
    """The columns that a table can be sorted by."""
    return ["run", *measure_ids(), "wins", "losses", "losses20", "reward", "risk", "mean_diff"]


def _order(block: Block, column: str) -> list[int]:
    down = column.startswith("-")
    column = column.removeprefix("-")
    rows = natural_order(block.runs)
    if column == "run":
        return rows[::-1] if down else rows
    turned = block.convention != "plain" and any(m.signed and m.id == column for m in measures())
    sign = 1.0 if down != turned else -1.0
    values = block.numbers(column)
    return sorted(rows, key=lambda row: (values[row] is None, sign * (values[row] or 0.0)))


def _rows(block: Block, names: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """The cells of these columns: what tells rows apart, and what the measures declare."""
    return zip(*(_tidy_column(block, column_of(name)) for name in names), strict=True)


def _tidy_column(block: Block, column: MeasureColumn) -> list[Value]:
    if column.name == "run":
        return [*block.runs]
    if column.measure is None and column.name in columns():
        own = block.beside.get(column.name)
        return [getattr(block, column.name)] * len(block.runs) if own is None else own.tolist()
    cells = block.cells(column.name)
    if cells is None:
        return ["" if column.kind == "flag" else None] * len(block.runs)
    return tidy(cells, whole=column.kind in ("count", "rank"))
