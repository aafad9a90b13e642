"""The risk table for people: a row a run, as many alphas and details side by side as fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from riskcli.analyses.score.analysis import RiskTable
from riskcli.core.arrays import Flags, Floats
from riskcli.core.notes import counted
from riskcli.output.convention import MINUS, titled, weights
from riskcli.output.display import (
    UNDEFINED,
    Cell,
    Column,
    Display,
    Heading,
    decimals,
    in_title,
    width_of,
)
from riskcli.risk.correction import CORRECTION_TITLES
from riskcli.risk.measure import Claim, RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.table import Block

BASELINE_MARK = "◆"


def displays(table: RiskTable, width: int) -> list[Display]:
    """A display for each measure and baseline, more where the alphas do not fit side by side."""
    table = table if table.order else table.sorted_by()
    precision = table.decimals
    groups = _groups(table.shown_blocks)
    claims = [_flag_claims(table, blocks) for blocks in groups]
    made = []
    for blocks, mine, following in zip(groups, claims, [*claims[1:], None], strict=True):
        tables = _tables(blocks, width, precision)
        caption = [*_about(table, blocks, tables[-1]), *(mine if mine != following else [])]
        made += [*tables[:-1], replace(tables[-1], caption=caption)]
    return made


def _groups(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks that differ in alpha only."""
    groups: dict[tuple[str, str, str], list[Block]] = {}
    for block in blocks:
        groups.setdefault((block.measure, block.baseline, block.population), []).append(block)
    return list(groups.values())


def _tables(blocks: list[Block], width: int, precision: int | None) -> list[Display]:
    """The blocks in as few tables as fit the width; one alone is filled up with details."""
    left = _run_columns(blocks[0], precision)

    @cache
    def of_alpha(i: int, named: bool) -> list[Column]:
        return _alpha_columns(blocks[i], precision, named)

    for size in range(len(blocks), 0, -1):
        parts = [range(len(blocks))[start : start + size] for start in range(0, len(blocks), size)]
        chunks = [
            [*left, *(column for i in part for column in of_alpha(i, len(part) > 1))]
            for part in parts
        ]
        if all(width_of(chunk) <= width for chunk in chunks):
            break
    if len(chunks) == 1:
        chunks = [_filled(chunks[0], _extras(blocks, precision), width)]
    return [
        Display(_title([blocks[i] for i in part]), chunk)
        for part, chunk in zip(parts, chunks, strict=True)
    ]


def _filled(columns: list[Column], extras: Sequence[Column], width: int) -> list[Column]:
    """The columns, and each of the extras that still fits."""
    for extra in extras:
        if width_of([*columns, extra]) <= width:
            columns = [*columns, extra]
    return columns


def _title(blocks: Sequence[Block]) -> str:
    first = blocks[0]
    counting = weights([block.alpha for block in blocks], first.convention)
    return f"{first.measure}, baseline {in_title(first.baseline)}, {counting}"


def _run_columns(block: Block, precision: int | None) -> list[Column]:
    """Place, name, mean and win/tie/loss: what does not depend on alpha."""
    members = set(block.baseline_members)
    names = [
        Cell(f"{run} {BASELINE_MARK}" if row in members else run, strong=row in members)
        for row, run in enumerate(block.runs)
    ]
    columns = [
        Column(Heading("#"), _plain(_whole(block, "rank_mean"))),
        Column(Heading("run", left=True), names),
    ]
    fixed = [measure for measure in measures() if not measure.depends_on_alpha]
    columns += [_measure_column(block, m, precision, ranked=not m.plain_mean) for m in fixed]
    columns.append(Column(Heading("W/T/L"), _plain(_records(block))))
    return columns


def _plain(texts: Sequence[str]) -> list[Cell]:
    return [Cell(text) for text in texts]


def _records(block: Block) -> list[str]:
    counts = zip(*(_whole(block, name) for name in ("wins", "ties", "losses")), strict=True)
    return [UNDEFINED if UNDEFINED in parts else "/".join(parts) for parts in counts]


def _alpha_columns(block: Block, precision: int | None, named: bool) -> list[Column]:
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
) -> Column:
    known = block.estimates.get(measure.id)
    heading = Heading(
        prefix + titled(measure, block.convention),
        ranked=ranked,
        marked=known is not None and known.flag is not None,
    )
    if known is None:
        return Column(heading, _plain([UNDEFINED] * len(block.runs)))
    texts = decimals(known.value.tolist(), _places(measure, precision))
    marks = [""] * len(texts) if known.flag is None else known.flag.tolist()
    ranks = [None if r is None else int(r) for r in _known(known.rank, len(texts))]
    cells = [
        Cell(text, mark=mark, rank=rank if ranked else None, best=rank == 1)
        for text, mark, rank in zip(texts, marks, ranks, strict=True)
    ]
    return Column(heading, cells)


def _places(measure: RiskMeasure, precision: int | None) -> int:
    return measure.decimals if precision is None else precision


def _extras(blocks: Sequence[Block], precision: int | None) -> list[Column]:
    """Details for wide terminals, most wanted first."""
    first = blocks[0]
    extras = [Column(Heading("L>20%"), _plain(_whole(first, "losses20")))]
    for title, name in (("Reward", "reward"), ("Risk", "risk")):
        texts = decimals(_numbers(first, name), 4)
        extras.append(Column(Heading(title), _plain(texts)))
    if len(blocks) == 1:
        extras += [
            _interval_column(first, measure, precision)
            for measure in sorted(measures(), key=lambda m: not m.headline)
            if measure.id in first.estimates and first.estimates[measure.id].low is not None
        ]
    return extras


def _interval_column(block: Block, measure: RiskMeasure, precision: int | None) -> Column:
    places = _places(measure, precision)
    known = block.estimates[measure.id]
    low, high = (decimals(_known(e, len(block.runs)), places) for e in (known.low, known.high))
    texts = [
        UNDEFINED if UNDEFINED in ends else f"[{ends[0]}, {ends[1]}]"
        for ends in zip(low, high, strict=True)
    ]
    return Column(Heading(f"{titled(measure, block.convention)} interval"), _plain(texts))


def _numbers(block: Block, name: str) -> list[float | None]:
    """A column's values; None where they are undefined."""
    return _known(block.cells(name), len(block.runs))


def _known(cells: Floats | Flags | None, size: int) -> list[float | None]:
    if cells is None:
        return [None] * size
    return [None if value != value else value for value in cells.tolist()]


def _whole(block: Block, name: str) -> list[str]:
    return [UNDEFINED if v is None else f"{v:.4g}" for v in _numbers(block, name)]


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
    if shuffled(block) and significance.correction == "holm" and significance.family == "column":
        correction = "max-t over runs, step-down; TRisk: Holm"
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
        in_title(block.baseline)
        if block.baseline_size == 1
        else "the mean over the baselines"
        if block.baseline_size
        else "the mean over the population"
    )
    plan = table.options.significance
    test, mean_test = "the delete-one-topic jackknife", "paired t"
    if shuffled(block):
        test = f"more than equal runs would; {plan.number_of_shuffles:,} shuffles within topics"
        mean_test = test
    elif plan.test == "swap":
        test = "the label-swap test"
    alphas = tuple(b.alpha for b in blocks if b.alpha is not None)
    return Claim(in_title(block.baseline), reference, test, mean_test, alphas)


def shuffled(block: Block) -> bool:
    """Whether runs were shuffled within topics to compare them with a virtual baseline."""
    return any(estimate.p_stepped is not None for estimate in block.estimates.values())
