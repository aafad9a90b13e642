"""The risk table for people: a row a run, as many alphas and details side by side as fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from riskcli.analyses.block import OWN, Block
from riskcli.analyses.score_columns import (
    INTERVAL,
    KEYS,
    RANK_INTERVAL,
    RECORD,
    column_names,
    depends_on_alpha,
)
from riskcli.core.choices import Marks, population_in_words
from riskcli.core.messages import UsageError, counted, nearest
from riskcli.output import display, measure_words
from riskcli.output.display import BASELINE_MARK, UNDEFINED, Cell, Column, Display, Heading
from riskcli.output.measure_words import (
    about_logarithms,
    titled,
    usual_measures,
    weights,
    words_of,
)
from riskcli.risk.estimate import CORRECTION_TITLES, Significance, rank
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures

_TITLES = {"losses20": "L>20%", "reward": "Reward", "risk": "Risk"}
_TITLED_FIELDS = ("difference", "p", "p_adjusted", "flag", "rank")


@dataclass(frozen=True)
class Layout:
    """How a risk table is shown.

    With `columns` machine formats have these alone, and people one table for all effectiveness
    measures and alphas; without, the usual columns, a table for each measure.
    """

    columns: tuple[str, ...] = ()
    ranks: bool = True
    marks: Marks | None = None
    """None: as the format has them."""
    precision: int | None = None
    """Decimals; None: by column."""

    def __post_init__(self) -> None:
        names = [*column_names(), "above(0.5)"] if self.columns else []
        for name in self.columns:
            if name not in names and not measure_words.is_on_demand(name):
                raise UsageError(f"no column {name!r}{nearest(name, names)}")

    def decimals(self, values: Sequence[float | None], usual: int = 4) -> list[str]:
        """A column of numbers with the decimals asked for, or the usual."""
        return display.decimals(values, usual if self.precision is None else self.precision)


class View(NamedTuple):
    """What is shown of a risk table: its blocks in their order and convention."""

    blocks: tuple[Block, ...]
    ordered_by: str
    layout: Layout
    plan: Significance


USUAL = Layout()


# The columns that a table can show.


def _named_column(block: Block, name: str, layout: Layout, prefix: str = "") -> Column:
    """The column of that name; what is before its heading's last line names its group."""
    makers = {"": _measure_column, INTERVAL: _interval_column, RANK_INTERVAL: _rank_column}
    for measure in measures():
        for suffix, make in makers.items():
            if name == measure.id + suffix:
                return make(block, measure, layout, prefix)
    if name == RECORD:
        return _record_column(block, prefix)
    column = measure_words.column_of(name)
    if column.kind == "flag":
        flags = block.cells(name)
        texts = [""] * len(block.runs) if flags is None else list(map(str, flags.tolist()))
    elif column.kind == "p":
        texts = list(map(display.p_value, block.numbers(name)))
    elif column.kind == "number":
        texts = layout.decimals(block.numbers(name))
    else:
        texts = _counts(block.numbers(name))
    heading = _TITLES.get(name, name)
    if column.field in _TITLED_FIELDS:
        title = next(words_of(m).title for m in measures() if m.id == column.measure)
        heading = f"{title} {column.field.replace('_', ' ')}"
    return Column.of(prefix + heading, texts)


def names_of(block: Block) -> Column:
    """The runs, the baseline's own marked."""
    members = {*block.baseline_members}
    pairs = [(run, row in members) for row, run in enumerate(block.runs)]
    cells = [Cell(f"{run} {BASELINE_MARK}" if own else run, strong=own) for run, own in pairs]
    return Column(Heading("run", left=True, names=True), cells)


def _left_columns(table: View, block: Block) -> list[Column]:
    """The runs, and own baselines; before them their ranks by the order's column."""
    names = [names_of(block)]
    if own := block.own_names:
        names.append(Column.of(Heading("baseline", left=True, names=True), own))
    if own or not table.layout.ranks:
        return names
    name = f"rank_{table.ordered_by}"
    if name in measure_words.columns():
        ranks = block.numbers(name)
    else:
        ranks = rank(np.array(block.numbers(table.ordered_by), dtype=float)).tolist()
    return [Column.of("#", display.decimals(ranks, 0)), *names]


def _measure_column(
    block: Block, measure: RiskMeasure, layout: Layout, prefix: str = "", ordered_by: str = ""
) -> Column:
    """Values with marks, and ranks beside them but for those that number the rows."""
    estimate = block.estimates.get(measure.id)
    flags = None if estimate is None or layout.marks == "none" else estimate.flag
    marks = [""] * len(block.runs) if flags is None else flags.tolist()
    ranked = layout.ranks and measure.id != ordered_by and not block.own_names
    ranked &= estimate is None or estimate.rank is not None
    texts = layout.decimals(block.numbers(measure.id), words_of(measure).decimals)
    ranks = block.numbers(f"rank_{measure.id}")
    cells = [
        Cell(text, mark=mark, rank=int(rank) if ranked and rank else None, best=rank == 1)
        for text, mark, rank in zip(texts, marks, ranks, strict=True)
    ]
    title = titled(measure, block.convention)
    return Column(Heading(prefix + title, ranked=ranked, marked=flags is not None), cells)


def _interval_column(
    block: Block, measure: RiskMeasure, layout: Layout, prefix: str = ""
) -> Column:
    """The value's confidence interval."""
    places = words_of(measure).decimals
    low, high = (
        layout.decimals(block.numbers(f"{measure.id}{end}"), places) for end in ("_lo", "_hi")
    )
    texts = [
        UNDEFINED if UNDEFINED in ends else f"[{', '.join(ends)}]"
        for ends in zip(low, high, strict=True)
    ]
    return Column.of(f"{prefix}{titled(measure, block.convention)} interval", texts)


def _rank_column(block: Block, measure: RiskMeasure, _layout: Layout, prefix: str = "") -> Column:
    """The ranks that the tests allow."""
    low, high = (block.cells(f"rank_{measure.id}{end}") for end in ("_lo", "_hi"))
    texts = [UNDEFINED] * len(block.runs)
    if low is not None and high is not None:
        texts = list(map(display.span, low.tolist(), high.tolist()))
    return Column.of(f"{prefix}{titled(measure, block.convention)} ranks", texts)


def _record_column(block: Block, prefix: str = "") -> Column:
    """Wins, ties and losses."""
    counts = [_counts(block.numbers(name)) for name in ("wins", "ties", "losses")]
    texts = [
        UNDEFINED if UNDEFINED in each else "/".join(each) for each in zip(*counts, strict=True)
    ]
    return Column.of(f"{prefix}W/T/L", texts)


def _counts(values: Sequence[float | None]) -> list[str]:
    """Counts or ranks, which a mean over baselines makes fractions."""
    return [UNDEFINED if value is None else f"{value:.4g}" for value in values]


# The tables that they make up.


def displays(table: View, width: int) -> list[Display]:
    """A display for each measure and baseline, more where the alphas do not fit side by side.

    Where columns are asked for by name, there is one for each baseline.
    """
    by_measure = not table.layout.columns
    groups: dict[tuple[str, ...], list[Block]] = {}
    for block in table.blocks:
        key = (block.measure if by_measure else "", block.baseline, block.population)
        groups.setdefault(key, []).append(block)
    if not by_measure:
        return [_one_table(table, blocks) for blocks in groups.values()]
    return [each for blocks in groups.values() for each in _tables(table, blocks, width)]


def _one_table(table: View, blocks: list[Block]) -> Display:
    """The columns asked for, of all effectiveness measures and alphas, in one table."""
    layout, first = table.layout, blocks[0]
    shown = _left_columns(table, first)
    for block, name, group in _asked(blocks, layout):
        prefix = f"{', '.join(group)}\n" if group else ""
        shown.append(_aligned(_named_column(block, name, layout, prefix), block, first))
    several = len({block.measure for block in blocks}) > 1
    said = [
        f"{block.measure}: {sentence}" if several else sentence
        for block in blocks
        for sentence in block.said.sentences
    ]
    whole = Display(_title(blocks), shown, marks=layout.marks, verdict=said)
    marked = [block for block in blocks if block.measure == first.measure]
    caption = _caption(table, blocks, marked, whole.headings)
    return replace(whole, caption=caption, hint=_ABOUT_MARKS)


def _asked(blocks: Sequence[Block], layout: Layout) -> Iterator[tuple[Block, str, list[str]]]:
    """The columns asked for, by measure and alpha: block, name, and what the group is called."""
    by_alpha = [name for name in layout.columns if depends_on_alpha(name)]
    # Keys stand in the title, before the rows or below them.
    shared = [name for name in layout.columns if name not in (*by_alpha, *KEYS)]
    several_alphas = len({block.alpha for block in blocks}) > 1
    measures_shown = list(dict.fromkeys(block.measure for block in blocks))
    for measure in measures_shown:
        of_measure = [block for block in blocks if block.measure == measure]
        group = [measure] if len(measures_shown) > 1 else []
        yield from ((of_measure[0], name, group) for name in shared)
        for block in of_measure:
            own = [*group, _counting([block]).replace(" ", "")] if several_alphas else group
            yield from ((block, name, own) for name in by_alpha)


def _aligned(column: Column, block: Block, first: Block) -> Column:
    """The cells in the order of the first block's runs."""
    if block.runs == first.runs:
        return column
    cells = dict(zip(block.runs, column.cells, strict=True))
    return Column(column.heading, [cells.get(run, Cell(UNDEFINED)) for run in first.runs])


def _tables(table: View, blocks: list[Block], width: int) -> list[Display]:
    """The blocks in as few tables as fit the width; one alone is filled up with details."""
    layout, first = table.layout, blocks[0]
    by_alpha = [measure for measure in usual_measures() if measure.depends_on_alpha]
    left = _left_columns(table, first)
    shared = [measure for measure in usual_measures() if measure not in by_alpha]
    left += [_measure_column(first, m, layout, ordered_by=table.ordered_by) for m in shared]
    left.append(_record_column(first))

    @cache
    def of_alpha(i: int, named: bool) -> list[Column]:
        prefix = _counting(blocks[i : i + 1]).replace(" ", "") + "\n" if named else ""
        return [_measure_column(blocks[i], measure, layout, prefix) for measure in by_alpha]

    for size in range(len(blocks), 0, -1):
        groups = [range(len(blocks))[start : start + size] for start in range(0, len(blocks), size)]
        chunks = [
            [*left, *(column for i in group for column in of_alpha(i, len(group) > 1))]
            for group in groups
        ]
        if all(display.width_of(chunk) <= width for chunk in chunks):
            break
    if len(chunks) == 1:
        for extra in _extras(blocks, layout):
            if display.width_of([*chunks[0], extra]) <= width:
                chunks[0].append(extra)
    tables = []
    said: list[str] = [sentence for block in blocks for sentence in block.said.sentences]
    for group, chunk in zip(groups, chunks, strict=True):
        own = [blocks[i] for i in group]  # each table is read alone: of its own alphas only
        shown = Display(_title(own), chunk, marks=layout.marks, verdict=said)
        caption = _caption(table, own, own, shown.headings)
        tables.append(replace(shown, caption=caption, hint=_ABOUT_MARKS))
        said = []
    return tables


def _extras(blocks: Sequence[Block], layout: Layout) -> Iterator[Column]:
    """Details for wide terminals, most wanted first; of several alphas those that they share."""
    first = blocks[0]
    estimates = first.estimates if len(blocks) == 1 else {}
    by_weight = sorted(usual_measures(), key=lambda m: not words_of(m).headline)
    measured = [(m, estimates[m.id]) for m in by_weight if m.id in estimates]
    ranked = [m for m, e in measured if e.rank_low is not None and not np.isnan(e.rank_low).all()]
    if layout.ranks:
        yield from (_rank_column(first, measure, layout) for measure in ranked[:2])
    own = ["mean_diff"] if first.own_names else []  # what runs have in common
    yield from (_named_column(first, name, USUAL) for name in [*own, *_TITLES])
    for measure, estimate in measured:
        if estimate.low is not None:
            yield _interval_column(first, measure, layout)


def _title(blocks: Sequence[Block]) -> str:
    name = blocks[0].baseline
    against = f"{'each run against' if name == OWN else 'baseline'} {display.in_title(name)}"
    return f"{_measures(blocks)}, {against}, {_counting(blocks)}"


def _measures(blocks: Sequence[Block]) -> str:
    return ", ".join(dict.fromkeys(block.measure for block in blocks))


def _counting(blocks: Sequence[Block]) -> str:
    """How losses count in these blocks."""
    return weights(list(dict.fromkeys(block.alpha for block in blocks)), blocks[0].convention)


_ABOUT_MARKS = "All that marks and intervals claim: riskeval help marks."


def _caption(
    table: View, blocks: Sequence[Block], marked: Sequence[Block], shown: Sequence[Heading]
) -> list[str]:
    """What the display is about, and what the marks of these blocks claim."""
    headings = [replace(heading, text=heading.text.rpartition("\n")[2]) for heading in shown]
    lines = about_logarithms(block.measure for block in blocks)
    if any("corrected_diff" in block.beside for block in blocks):
        lines.append("Means, risk and marks here are the model's alone, not corrected by humans.")
    return [_about(table, blocks, headings), *lines, *_flag_claims(table, marked, headings)]


def _about(table: View, blocks: Sequence[Block], shown: Sequence[Heading]) -> str:
    """What was measured on what, and what the headings mean."""
    first, texts = blocks[0], [heading.text for heading in shown]
    percent, large_losses = f"{100 * (1 - table.plan.gamma):g} %", _TITLES["losses20"]
    populated = any(text.startswith(("ZRisk", "GeoRisk")) for text in texts)
    populated |= "population" in table.layout.columns
    explained = {
        "# rank": any(heading.ranked or heading.text == "#" for heading in shown),
        measure_words.turned_in_words(first.convention): first.convention != "plain",
        f"{BASELINE_MARK} baseline": bool(first.baseline_members),
        f"population: {population_in_words(first.population)}": populated,
        f"{large_losses}: topics that lose over a fifth": large_losses in texts,
        f"ranks: {percent} intervals, which hold together{_of_ranks(table)}": any(
            text.endswith(" ranks") for text in texts
        ),
        "no ranks: risk against different baselines cannot be compared (ECIR'14)": first.own_names,
        f"{measure_words.WILCOXON}: not corrected": measure_words.WILCOXON in texts,
        f"{percent} confidence intervals": any(text.endswith("interval") for text in texts),
    }
    counts = f"{first.topics_in_words}, {counted(len(first.runs), 'run')} shown"
    sentences = [sentence for sentence, is_needed in explained.items() if is_needed]
    return "; ".join([counts, *sentences]) + "."


def _of_ranks(table: View) -> str:
    """Where marks are corrected otherwise, ranks go by tests of their own."""
    usual = (table.plan.correction, table.plan.family) == ("holm", "column")
    return "" if usual and not _in_turn(table) else " (Holm, whatever the marks' correction)"


def _in_turn(table: View) -> bool:
    """Whether several runs are the baseline, one after the other: one family of tests."""
    return len({each.baseline for each in table.blocks if each.baseline_size == 1}) > 1


def _flag_claims(table: View, blocks: Sequence[Block], shown: Sequence[Heading]) -> list[str]:
    """What the marks claim, where there are any; `riskeval help marks` has the whole of it."""
    block, plan = blocks[0], table.plan
    marked = {heading.text for heading in shown if heading.marked}
    tested = [
        m for m in measures() if titled(m, block.convention) in marked and m.id in block.families
    ]
    sizes = sorted({*block.families.values()} - {0})
    if not tested or not sizes:
        return ["Neither ▲ nor ▼: nothing could be tested."] if tested else []
    how = _tests(block, plan, sizes)
    if _in_turn(table) and not block.own_names:
        how += ", all baselines together" if plan.family != "all" else ""
    lines = [f"▲ better, ▼ worse at γ = {plan.gamma:g} ({how})."]
    alphas = [each.alpha for each in blocks if each.alpha]
    if alphas and any(measure.value_is_t for measure in tested):
        times = " or ".join(f"×{1 + alpha:g}" for alpha in alphas)
        lines.append(
            f"TRisk's ▼: losses weighted {times} outweigh gains; most equal systems get it, too."
        )
    return lines


def _tests(block: Block, plan: Significance, sizes: Sequence[int]) -> str:
    """How runs are compared with the baseline, and what takes care of the number of tests."""
    many = " or ".join(map(str, sizes))
    tests = f"{many} test" if many == "1" else f"{many} tests"
    if plan.family == "all":
        tests += " in the whole table"
    shuffled = any(estimate.p_stepped is not None for estimate in block.estimates.values())
    if shuffled and plan.correction == "holm" and plan.family == "column":
        return f"{plan.number_of_shuffles:,} shuffles, max-t over {many} runs; TRisk: t, Holm"
    each = f"t, {'label swaps' if plan.test == 'swap' else 'jackknife'}"
    how = f"{plan.number_of_shuffles:,} shuffles; TRisk: t" if shuffled else each
    correction = CORRECTION_TITLES[plan.correction]
    return f"{how}; {correction}" + ("" if plan.correction == "none" else f" over {tests}")
