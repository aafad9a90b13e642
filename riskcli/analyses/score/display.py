"""The risk table for people: a row a run, as many alphas and details side by side as fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from riskcli.analyses.score.analysis import RiskTable
from riskcli.core.arrays import Floats
from riskcli.core.notes import counted
from riskcli.output.convention import MINUS, titled, weights
from riskcli.output.display import UNDEFINED, Cell, Display, Heading, Mark
from riskcli.output.numbers import decimal
from riskcli.risk.correction import CORRECTION_TITLES
from riskcli.risk.measure import Claim, RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.table import Block

BASELINE_MARK = "◆"


@dataclass(frozen=True)
class _Column:
    heading: Heading
    cells: list[Cell]


def displays(table: RiskTable, width: int) -> list[Display]:
    """A display for each measure and baseline, more where the alphas do not fit side by side."""
    table = table if table.order else table.sorted_by()
    precision = table.decimals
    groups = _groups(table.shown_blocks)
    claims = [_flag_claims(table, blocks) for blocks in groups]
    made = []
    for blocks, mine, following in zip(groups, claims, [*claims[1:], None], strict=True):
        chunks = _chunks(blocks, width, precision)
        tables = [_display(chunk, precision, width if len(chunks) == 1 else 0) for chunk in chunks]
        caption = [*_about(table, blocks, tables[-1]), *(mine if mine != following else [])]
        made += [*tables[:-1], replace(tables[-1], caption=caption)]
    return made


def _groups(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks that differ in alpha only."""
    groups: dict[tuple[str, str, str], list[Block]] = {}
    for block in blocks:
        groups.setdefault((block.measure, block.baseline, block.population), []).append(block)
    return list(groups.values())


def _chunks(blocks: list[Block], width: int, precision: int | None) -> list[list[Block]]:
    """The blocks in as few tables as fit the width."""
    for size in range(len(blocks), 1, -1):
        chunks = [blocks[start : start + size] for start in range(0, len(blocks), size)]
        if all(_display(chunk, precision, 0).width() <= width for chunk in chunks):
            return chunks
    return [[block] for block in blocks]


def _display(blocks: Sequence[Block], precision: int | None, width: int) -> Display:
    """One table; `width` beyond what its columns need is filled with details."""
    columns = _run_columns(blocks[0], precision)
    for block in blocks:
        columns += _alpha_columns(block, precision, named=len(blocks) > 1)
    display = _as_display(blocks, columns)
    for extra in _extras(blocks, precision):
        wider = _as_display(blocks, [*columns, extra])
        if wider.width() <= width:
            columns, display = [*columns, extra], wider
    return display


def _as_display(blocks: Sequence[Block], columns: Sequence[_Column]) -> Display:
    rows = list(zip(*(column.cells for column in columns), strict=True))
    counting = weights([block.alpha for block in blocks], blocks[0].convention)
    title = f"{blocks[0].measure}, baseline {shortened(blocks[0].baseline)}, {counting}"
    return Display(title, [column.heading for column in columns], rows)


def shortened(name: str, most: int = 48) -> str:
    """A baseline's name, cut where a set of many runs makes it too long for a heading."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _run_columns(block: Block, precision: int | None) -> list[_Column]:
    """Place, name, mean and win/tie/loss: what does not depend on alpha."""
    members = set(block.baseline_members)
    names = [
        Cell(f"{run} {BASELINE_MARK}" if row in members else run, strong=row in members)
        for row, run in enumerate(block.runs)
    ]
    columns = [
        _Column(Heading("#"), [_rank_cell(block, row) for row in range(len(block.runs))]),
        _Column(Heading("run", left=True), names),
    ]
    fixed = [measure for measure in measures() if not measure.depends_on_alpha]
    columns += [_measure_column(block, m, precision, ranked=not m.plain_mean) for m in fixed]
    columns.append(_Column(Heading("W/T/L"), _record_cells(block)))
    return columns


def _rank_cell(block: Block, row: int) -> Cell:
    return Cell(_whole(block, "rank_mean", row))


def _record_cells(block: Block) -> list[Cell]:
    cells = []
    for row in range(len(block.runs)):
        parts = [_whole(block, name, row) for name in ("wins", "ties", "losses")]
        cells.append(Cell(UNDEFINED if UNDEFINED in parts else "/".join(parts)))
    return cells


def _alpha_columns(block: Block, precision: int | None, named: bool) -> list[_Column]:
    counting = weights([block.alpha], block.convention).replace(" ", "")
    prefix = f"{counting}\n" if named else ""
    return [
        _measure_column(block, measure, precision, ranked=True, prefix=prefix)
        for measure in measures()
        if measure.depends_on_alpha
    ]


def _measure_column(
    block: Block,
    measure: RiskMeasure,
    precision: int | None,
    ranked: bool,
    prefix: str = "",
) -> _Column:
    decimals = measure.decimals if precision is None else precision
    known = block.estimates.get(measure.id)
    heading = Heading(
        prefix + titled(measure, block.convention),
        ranked=ranked,
        marked=known is not None and known.flag is not None,
    )
    if known is None:
        return _Column(heading, [Cell(UNDEFINED, best=False) for _ in block.runs])
    cells = []
    for row in range(len(block.runs)):
        rank = _known(known.rank, row)
        cells.append(
            Cell(
                decimal(_known(known.value, row), decimals),
                mark=cast(Mark, str(known.flag[row])) if known.flag is not None else "",
                rank=int(rank) if ranked and rank is not None else None,
                best=rank == 1,
            )
        )
    return _Column(heading, cells)


def _extras(blocks: Sequence[Block], precision: int | None) -> list[_Column]:
    """Details for wide terminals, most wanted first."""
    first = blocks[0]
    rows = range(len(first.runs))
    extras = [_Column(Heading("L>20%"), [Cell(_whole(first, "losses20", row)) for row in rows])]
    for title, name in (("Reward", "reward"), ("Risk", "risk")):
        cells = [Cell(decimal(first.number(name, row), 4)) for row in rows]
        extras.append(_Column(Heading(title), cells))
    if len(blocks) == 1:
        extras += [
            _interval_column(first, measure, precision)
            for measure in sorted(measures(), key=lambda m: not m.headline)
            if measure.id in first.estimates and first.estimates[measure.id].low is not None
        ]
    return extras


def _interval_column(block: Block, measure: RiskMeasure, precision: int | None) -> _Column:
    decimals = measure.decimals if precision is None else precision
    known = block.estimates[measure.id]
    cells = []
    for row in range(len(block.runs)):
        ends = [_known(known.low, row), _known(known.high, row)]
        low, high = (decimal(end, decimals) for end in ends)
        cells.append(Cell(UNDEFINED if None in ends else f"[{low}, {high}]"))
    return _Column(Heading(f"{titled(measure, block.convention)} interval"), cells)


def _known(cells: Floats | None, row: int) -> float | None:
    """A cell; None where it is undefined."""
    return None if cells is None or np.isnan(cells[row]) else float(cells[row])


def _whole(block: Block, name: str, row: int) -> str:
    value = block.number(name, row)
    return UNDEFINED if value is None else f"{value:.4g}"


def _about(table: RiskTable, blocks: Sequence[Block], display: Display) -> list[str]:
    """What was measured on what, and what the headings mean."""
    first = blocks[0]
    if first.population == "all":
        population = "all runs"
    else:
        population = "the baselines and the run itself, where the two are compared as well"
    parts = [
        f"{first.measure} on {counted(first.topics, 'topic')}, "
        f"{counted(len(first.runs), 'run')} shown",
        f"population of ZRisk and GeoRisk: {population}",
        "# rank, 1 is best",
    ]
    if first.convention == MINUS:
        parts.append("⁻ sign turned, higher is riskier")
    if first.baseline_members:
        parts.append(f"{BASELINE_MARK} baseline")
    headings = [heading.text for heading in display.headings]
    if "L>20%" in headings:
        parts.append("L>20% topics that lose more than 20 %")
    if any(text.endswith("interval") for text in headings):
        parts.append(f"intervals of {1 - table.options.significance.gamma:.4g}")
    return ["; ".join(parts) + "."]


def _flag_claims(table: RiskTable, blocks: Sequence[Block]) -> list[str]:
    """What the marks claim, where there are any."""
    if not blocks[0].families:
        return []
    return [_flag_line(table, blocks[0]), *_claims(table, blocks)]


def _flag_line(table: RiskTable, block: Block) -> str:
    significance = table.options.significance
    sizes = sorted(set(block.families.values()))
    size = " or ".join(map(str, sizes))
    scope = "the whole table" if significance.family == "all" else "each column"
    correction = CORRECTION_TITLES[significance.correction]
    return (
        f"▲ better, ▼ worse at γ = {significance.gamma:g} ({correction}; {size} tests in {scope}), "
        "conditional on these runs:"
    )


def _claims(table: RiskTable, blocks: Sequence[Block]) -> list[str]:
    """For each tested measure, the statement that a mark makes, in the words of the contract."""
    about = _claim_of(table, blocks)
    titles: dict[str, list[str]] = {}
    for measure in measures():
        if measure.claim is not None and measure.id in blocks[0].families:
            titles.setdefault(measure.claim(about), []).append(measure.title)
    return [f"{', '.join(names)}: {claim}" for claim, names in titles.items()]


def _claim_of(table: RiskTable, blocks: Sequence[Block]) -> Claim:
    """What the words of the marks depend on."""
    block = blocks[0]
    reference = (
        shortened(block.baseline)
        if block.baseline_size == 1
        else "the mean over the baselines"
        if block.baseline_size
        else "the mean over the population"
    )
    test = (
        "the label-swap test"
        if table.options.significance.test == "swap"
        else "the delete-one-topic jackknife"
    )
    alphas = tuple(b.alpha for b in blocks if b.alpha is not None)
    return Claim(shortened(block.baseline), reference, test, alphas)
