"""The risk table for people: a row a run, as many alphas and details side by side as fit."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np

from riskcli.analyses import score_columns
from riskcli.analyses.blocks import Block
from riskcli.analyses.score_columns import Layout, View
from riskcli.core.choices import population_in_words
from riskcli.core.messages import counted
from riskcli.output import display
from riskcli.output.display import Cell, Column, Display, Heading
from riskcli.output.measure_words import MINUS, Claim, titled, usual_measures, weights, words_of
from riskcli.risk.estimate import Estimate, correction_title
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures

LARGE_LOSSES = "L>20%"
"""The heading of the narrowest of the details."""


def displays(table: View, width: int) -> list[Display]:
    """A display for each measure and baseline, more where the alphas do not fit side by side.

    Where columns are asked for by name, there is one for each baseline.
    """
    if table.layout.columns:
        together = _groups(table.blocks, by_measure=False)
        return [_one_table(table, blocks) for blocks in together]
    made: list[Display] = []
    for blocks in _groups(table.blocks, by_measure=True):
        tables = _tables(table, blocks, width)
        caption = _caption(table, blocks, blocks, tables[-1].headings)
        made += [replace(each, caption=caption, marks=table.layout.marks) for each in tables]
    return made


def _groups(blocks: Sequence[Block], by_measure: bool) -> list[list[Block]]:
    """The blocks that differ in alpha only, or in the effectiveness measure as well."""
    groups: dict[tuple[str, str, str], list[Block]] = {}
    for block in blocks:
        measure = block.measure if by_measure else ""
        groups.setdefault((measure, block.baseline, block.population), []).append(block)
    return list(groups.values())


def _one_table(table: View, blocks: list[Block]) -> Display:
    """The columns asked for, of all effectiveness measures and alphas, in one table."""
    layout, first = table.layout, blocks[0]
    left = [score_columns.name_column(first)]
    if layout.ranks:
        left.insert(0, score_columns.rank_number_column(first, table.ordered_by))
    asked = [_aligned(column, block, first) for column, block in _asked(blocks, layout)]
    whole = Display(_title(blocks), [*left, *asked], marks=layout.marks)
    shown = [block for block in blocks if block.measure == first.measure]
    return replace(whole, caption=_caption(table, blocks, shown, whole.headings))


def _asked(blocks: Sequence[Block], layout: Layout) -> list[tuple[Column, Block]]:
    """The columns by measure and alpha, each with the block that it is of."""
    by_measure: dict[str, list[Block]] = {}
    for block in blocks:
        by_measure.setdefault(block.measure, []).append(block)
    alphas = {block.alpha for block in blocks}
    found: list[tuple[Column, Block]] = []
    for measure, of_measure in by_measure.items():
        group = [measure] if len(by_measure) > 1 else []
        for number, block in enumerate(of_measure):
            counting = weights([block.alpha], block.convention).replace(" ", "")
            own = [*group, counting] if len(alphas) > 1 else group
            for name in layout.columns:
                if number == 0 and not score_columns.depends_on_alpha(name):
                    shared = score_columns.named_column(block, name, layout, _prefix(group))
                    found.append((shared, block))
            for name in layout.columns:
                if score_columns.depends_on_alpha(name):
                    at_alpha = score_columns.named_column(block, name, layout, _prefix(own))
                    found.append((at_alpha, block))
    return found


def _prefix(group: Sequence[str]) -> str:
    return f"{', '.join(group)}\n" if group else ""


def _aligned(column: Column, block: Block, first: Block) -> Column:
    """The cells in the order of the first block's runs."""
    if block.runs == first.runs:
        return column
    cells = dict(zip(block.runs, column.cells, strict=True))
    return Column(column.heading, [cells.get(run, Cell(display.UNDEFINED)) for run in first.runs])


def _tables(table: View, blocks: list[Block], width: int) -> list[Display]:
    """The blocks in as few tables as fit the width; one alone is filled up with details."""
    left = _run_columns(table, blocks[0])

    @cache
    def of_alpha(i: int, named: bool) -> list[Column]:
        return _alpha_columns(blocks[i], table.layout, named)

    for size in range(len(blocks), 0, -1):
        parts = [range(len(blocks))[start : start + size] for start in range(0, len(blocks), size)]
        chunks = [
            [*left, *(column for i in part for column in of_alpha(i, len(part) > 1))]
            for part in parts
        ]
        if all(display.width_of(chunk) <= width for chunk in chunks):
            break
    if len(chunks) == 1:
        chunks = [_filled(chunks[0], _extras(blocks, table.layout), width)]
    return [
        Display(_title([blocks[i] for i in part]), chunk)
        for part, chunk in zip(parts, chunks, strict=True)
    ]


def _filled(columns: list[Column], extras: Iterator[Column], width: int) -> list[Column]:
    """The columns, and each of the extras that still fits; none is made where none can."""
    narrowest = Column(Heading(LARGE_LOSSES), ())
    while display.width_of([*columns, narrowest]) <= width:
        extra = next(extras, None)
        if extra is None:
            break
        if display.width_of([*columns, extra]) <= width:
            columns = [*columns, extra]
    return columns


def _title(blocks: Sequence[Block]) -> str:
    first = blocks[0]
    counting = weights(list(dict.fromkeys(block.alpha for block in blocks)), first.convention)
    return f"{_measures(blocks)}, baseline {display.in_title(first.baseline)}, {counting}"


def _measures(blocks: Sequence[Block]) -> str:
    return ", ".join(dict.fromkeys(block.measure for block in blocks))


def _run_columns(table: View, block: Block) -> list[Column]:
    """Rank, name, mean and win/tie/loss: what does not depend on alpha."""
    columns = [score_columns.name_column(block)]
    if table.layout.ranks:
        columns.insert(0, score_columns.rank_number_column(block, table.ordered_by))
    columns += [
        score_columns.measure_column(block, measure, table.layout, table.ordered_by)
        for measure in usual_measures()
        if not measure.depends_on_alpha
    ]
    return [*columns, score_columns.record_column(block, optional=True)]


def _alpha_columns(block: Block, layout: Layout, named: bool) -> list[Column]:
    counting = weights([block.alpha], block.convention).replace(" ", "")
    prefix = f"{counting}\n" if named else ""
    return [
        score_columns.measure_column(block, measure, layout, prefix=prefix)
        for measure in usual_measures()
        if measure.depends_on_alpha
    ]


def _extras(blocks: Sequence[Block], layout: Layout) -> Iterator[Column]:
    """Details for wide terminals, most wanted first."""
    first = blocks[0]
    known = {name: each for name, each in first.estimates.items() if len(blocks) == 1}
    by_weight = sorted(usual_measures(), key=lambda m: not words_of(m).headline)
    ranked = (m for m in by_weight if m.id in known and _has_ranks(known[m.id]))
    if layout.ranks:
        yield from (score_columns.rank_column(first, measure) for measure in islice(ranked, 2))
    yield Column(Heading(LARGE_LOSSES), score_columns.plain(score_columns.whole(first, "losses20")))
    for title, name in (("Reward", "reward"), ("Risk", "risk")):
        yield Column(Heading(title), score_columns.plain(display.decimals(first.numbers(name), 4)))
    for measure in by_weight:
        if measure.id in known and known[measure.id].low is not None:
            yield score_columns.interval_column(first, measure, layout)


def _has_ranks(estimate: Estimate) -> bool:
    """Whether any run has an interval of its rank."""
    return estimate.rank_low is not None and not np.isnan(estimate.rank_low).all()


def _caption(
    table: View, blocks: Sequence[Block], marked: Sequence[Block], shown: Sequence[Heading]
) -> list[str]:
    """What the display is about, and what the marks of these blocks claim."""
    headings = [replace(heading, text=heading.text.rpartition("\n")[2]) for heading in shown]
    return [_about(table, blocks, headings), *_flag_claims(table, marked, headings)]


def _about(table: View, blocks: Sequence[Block], shown: Sequence[Heading]) -> str:
    """What was measured on what, and what the headings mean."""
    first = blocks[0]
    headings = [heading.text for heading in shown]
    parts = [
        f"{_measures(blocks)} on {counted(first.topics, 'topic')}, "
        f"{counted(len(first.runs), 'run')} shown"
    ]
    if any(text.startswith(("ZRisk", "GeoRisk")) for text in headings):
        parts.append(f"population of ZRisk and GeoRisk: {population_in_words(first.population)}")
    if any(heading.ranked or heading.text == "#" for heading in shown):
        parts.append("# rank, 1 is best")
    if first.convention == MINUS:
        parts.append("⁻ sign turned, higher is riskier")
    if first.baseline_members:
        parts.append(f"{score_columns.BASELINE_MARK} baseline")
    if LARGE_LOSSES in headings:
        parts.append(f"{LARGE_LOSSES} topics that lose more than 20 %")
    percent = f"{100 * (1 - table.options.significance.gamma):g} %"
    if any(text.endswith(" ranks") for text in headings):
        parts.append(f"ranks: {percent} confidence interval of each run's rank")
    if any(text.endswith("interval") for text in headings):
        parts.append(f"{percent} confidence intervals")
    return "; ".join(parts) + "."


def _flag_claims(table: View, blocks: Sequence[Block], shown: Sequence[Heading]) -> list[str]:
    """What the marks claim, where there are any."""
    marked = {heading.text for heading in shown if heading.marked}
    tested = [m for m in measures() if titled(m, blocks[0].convention) in marked]
    if not any(measure.id in blocks[0].families for measure in tested):
        return []
    if not any(blocks[0].families.values()):
        return ["Neither ▲ nor ▼: nothing could be tested."]
    return [_flag_line(table, blocks[0]), *_claims(table, blocks, tested)]


def _flag_line(table: View, block: Block) -> str:
    significance = table.options.significance
    sizes = sorted({size for size in block.families.values() if size})
    size = " or ".join(map(str, sizes)) + (" test" if sizes == [1] else " tests")
    scope = "the whole table" if significance.family == "all" else "each column"
    correction = correction_title(significance.correction, significance.family, shuffled(block))
    return (
        f"▲ better, ▼ worse at the significance level γ = {significance.gamma:g} "
        f"({correction}; {size} in {scope}), taking the runs as given:"
    )


def _claims(table: View, blocks: Sequence[Block], tested: Sequence[RiskMeasure]) -> list[str]:
    """For each tested measure, the statement that a mark makes, in the words of the contract."""
    about = _claim_of(table, blocks)
    titles: dict[str, list[str]] = {}
    for measure in tested:
        words = words_of(measure)
        if words.claim is not None and measure.id in blocks[0].families:
            titles.setdefault(words.claim(about), []).append(words.title)
    return [f"{', '.join(names)}: {claim}" for claim, names in titles.items()]


def _claim_of(table: View, blocks: Sequence[Block]) -> Claim:
    """What the words of the marks depend on."""
    block = blocks[0]
    reference = (
        display.in_title(block.baseline)
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
    return Claim(display.in_title(block.baseline), reference, test, mean_test, alphas)


def shuffled(block: Block) -> bool:
    """Whether runs were shuffled within topics to compare them with a virtual baseline."""
    return any(estimate.p_stepped is not None for estimate in block.estimates.values())
