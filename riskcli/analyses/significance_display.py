"""Pairs of runs for people: groups by letters, then the matrix of differences where it fits."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses.pairwise import TUKEY, PairTable
from riskcli.core.messages import counted
from riskcli.output.display import UNDEFINED, Cell, Display, Heading, Mark, folded, span
from riskcli.output.measure_words import words_of
from riskcli.risk.estimate import CORRECTION_TITLES, Significance, rank

MOST_IN_MATRIX = 15
"""More runs have neither the matrix of their differences nor letters: nobody could take them in."""
_ALL = "All differences: matrix = true in riskeval.toml; with intervals and p-values: -f tsv."
_MARKS: dict[str, Mark] = {"": "", "better": "better", "worse": "worse"}


def displays(
    tables: Sequence[PairTable], plan: Significance, width: int, in_full: bool = False
) -> list[Display]:
    """For each table its groups and matrix, or its list of differences to the baseline.

    `in_full`: the matrix too where it is larger than is shown unasked, in parts that fit.
    """
    made: list[Display] = []
    for table in tables:
        if not table.of_all_pairs:
            made.append(_differences(table, plan))
            continue
        groups, caption = _groups(table), _caption(table, plan)
        if len(table.runs) > MOST_IN_MATRIX and table.rank_low is not None:
            made.append(_not_told_from_the_best(table))
        if in_full:
            made += [groups, *folded(replace(_matrix(table), caption=caption), width)]
        elif len(table.runs) > MOST_IN_MATRIX:
            made.append(replace(groups, caption=[*caption, _ALL]))
        elif (matrix := _matrix(table)).width() <= width:
            made += [groups, replace(matrix, caption=caption)]
        else:
            made.append(replace(groups, caption=[*caption, _ALL]))
    return made


def _title(table: PairTable) -> str:
    alpha = f", α = {table.alpha:g}" if table.of.depends_on_alpha else ""
    return f"{words_of(table.of).title} of {table.measure}{alpha}"


def _best_first(table: PairTable) -> list[int]:
    return [int(row) for row in np.argsort(rank(table.values), kind="stable")]


def _groups(table: PairTable) -> Display:
    """The runs from best to worst; runs that share a letter are not significantly different."""
    ranks = rank(table.values)
    rows = [
        [
            Cell(f"{ranks[row]:.0f}"),
            Cell(table.runs[row]),
            Cell(f"{table.values[row]:.{words_of(table.of).decimals}f}"),
            Cell(_ranks(table, row)),
            *([Cell(table.groups[row])] if _has_groups(table) else []),
        ]
        for row in _best_first(table)
    ]
    headings = [
        Heading("#"), Heading("run", left=True, names=True), Heading(words_of(table.of).title),
        Heading("ranks"),
    ]  # fmt: skip
    if _has_groups(table):
        headings.append(Heading("groups", left=True))
    return Display.of_rows(_title(table), headings, rows)


def _has_groups(table: PairTable) -> bool:
    """Letters mean something where runs were tested, and where they are few."""
    return _is_tested(table) and len(table.runs) <= MOST_IN_MATRIX


def _is_tested(table: PairTable) -> bool:
    """Whether any pair is."""
    return bool(np.isfinite(table.pairs.p_adjusted).any())


def _ranks(table: PairTable, row: int) -> str:
    """The ranks that the tests leave open."""
    if table.rank_low is None or table.rank_high is None:
        return UNDEFINED
    return span(float(table.rank_low[row]), float(table.rank_high[row]))


def _may_be_best(table: PairTable) -> list[int]:
    if table.rank_low is None:
        return []
    return [row for row in _best_first(table) if table.rank_low[row] == 1]


def _not_told_from_the_best(table: PairTable) -> Display:
    """The runs that may be the best, before all others."""
    best = _may_be_best(table)
    rows = [[Cell(table.runs[row]), Cell(_ranks(table, row))] for row in best]
    counts = f"{len(best)} of {len(table.runs)} runs"
    title = f"{_title(table)}: not significantly different from the best: {counts}"
    return Display.of_rows(title, [Heading("run", left=True), Heading("ranks")], rows)


def _matrix(table: PairTable) -> Display:
    """Row less column, each pair once, with the mark of the row."""
    order = _best_first(table)
    place = {row: position for position, row in enumerate(order)}
    cells = [[Cell("") for _ in order[1:]] for _ in order[:-1]]
    pairs = table.pairs
    for number, (first, second) in enumerate(
        zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    ):
        difference, mark = float(pairs.difference[number]), _MARKS[str(pairs.flag[number])]
        above, below = place[first], place[second]
        if above > below:
            above, below, difference = below, above, -difference
            mark = {"better": "worse", "worse": "better", "": ""}[mark]  # type: ignore[assignment]
        text = (
            UNDEFINED
            if np.isnan(difference)
            else f"{difference:.{words_of(table.of).decimals - 1}f}"
        )
        cells[above][below - 1] = Cell(text, mark=mark)
    headings = [Heading("row - column", left=True)]
    headings += [Heading(f"{place[row] + 1}", marked=True) for row in order[1:]]
    rows = [
        [Cell(f"{position + 1} {table.runs[row]}"), *cells[position]]
        for position, row in enumerate(order[:-1])
    ]
    return Display.of_rows("", headings, rows)


def _differences(table: PairTable, plan: Significance) -> Display:
    """Each run against the baseline, with the interval of the difference."""
    pairs, decimals = table.pairs, words_of(table.of).decimals
    order = sorted(range(len(pairs.first)), key=lambda i: -table.values[pairs.first[i]])
    rows = []
    for i in order:
        run, tested = int(pairs.first[i]), bool(np.isfinite(pairs.p[i]))
        difference, low, high = (
            f"{cells[i]:.{decimals}f}" for cells in (pairs.difference, pairs.low, pairs.high)
        )
        texts = [f"[{low}, {high}]", f"{pairs.p[i]:.2g}", f"{pairs.p_adjusted[i]:.2g}"]
        known = tested or not (_is_tested(table) or np.isnan(pairs.difference[i]))
        rows.append(
            [
                Cell(table.runs[run]),
                Cell(f"{table.values[run]:.{decimals}f}"),
                Cell(difference if known else UNDEFINED, mark=_MARKS[str(pairs.flag[i])]),
                *(Cell(text if tested else UNDEFINED) for text in texts),
            ]
        )
    headings = [
        Heading("run", left=True, names=True), Heading(words_of(table.of).title),
        Heading("difference", marked=True), Heading("interval"), Heading("p"), Heading("adjusted"),
    ]  # fmt: skip
    title = f"{_title(table)}, less that of {table.others[0]}"
    return Display.of_rows(title, headings, rows, _caption(table, plan))


def _test_of(table: PairTable, plan: Significance) -> str:
    """The test of the differences; label swaps compare runs with a baseline only."""
    if table.of.plain_mean:
        return "paired t"
    if plan.test == "swap" and not table.of_all_pairs:
        return f"label swaps, {plan.swaps} replicates, seed {plan.seed}"
    return "delete-one-topic jackknife, t"


def _caption(table: PairTable, plan: Significance) -> list[str]:
    """What was tested, how, and in which family."""
    on = f"{counted(table.topics, 'topic')}, {counted(len(table.runs), 'run')}"
    if not _is_tested(table):
        return [f"{on}; neither ▲ nor ▼: nothing could be tested."]
    if table.correction == TUKEY:
        how = f"randomised Tukey HSD by t, {plan.swaps} replicates, seed {plan.seed}"
    else:
        test = _test_of(table, plan)
        tests = counted(table.pairs.family, "test")
        how = f"{test}; {CORRECTION_TITLES[table.correction]} over {tests}"
    lines = [
        f"{on}; ▲ ▼ differ at the significance level γ = {plan.gamma:g} ({how}), taking the runs "
        "as given."
    ]
    if table.of_all_pairs:
        percent = f"{100 * (1 - plan.gamma):g} %"
        lines.append(
            f"ranks: {percent} confidence interval of each run's rank (Holm over its "
            f"{counted(len(table.runs) - 1, 'comparison')})."
        )
        best = [table.runs[row] for row in _may_be_best(table)]
        if best and _has_groups(table):
            lines.append(f"May be the best: {', '.join(best)}.")
            lines.append("Runs that share a letter are not significantly different.")
    else:
        lines.append(f"{100 * (1 - plan.gamma):g} % confidence intervals, one per difference.")
    return lines
