"""Which runs differ: every pair of them, or each against the baseline, by one measure or more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from riskcli.analyses import base, choosing, pairwise
from riskcli.analyses.pair_sentences import (
    best_first,
    is_tested,
    may_be_best,
    statement,
    title_of,
)
from riskcli.analyses.pairwise import PairTable
from riskcli.core.arrays import row_blocks
from riskcli.core.choices import Between, check_words
from riskcli.core.limits import MOST_LISTED_PAIRS, refuse_many_pairs
from riskcli.core.messages import Note, UsageError, counted
from riskcli.output.display import UNDEFINED, Cell, Column, Display, Heading, Mark, folded, span
from riskcli.output.measure_words import about_logarithms, words_of
from riskcli.output.result import Result, Value, part_of, rows_of, tidy
from riskcli.output.verdict import Statements
from riskcli.risk.estimate import CORRECTION_TITLES, Significance, rank
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import Options

COLUMNS = (
    "run", "other", "measure", "of", "population", "alpha", "topics", "value", "other_value",
    "diff", "diff_lo", "diff_hi", "diff_se", "p", "p_adj", "flag", "dz", "letters", "other_letters",
)  # fmt: skip
_ROWS_AT_ONCE = 10_000
MOST_IN_MATRIX = 15
"""More runs have neither the matrix of their differences nor letters: nobody could take them in."""
MOST_ON_SCREEN = 12
"""Runs that are shown where there are more than a screen has lines for."""
_OF_PAIRS = "Every difference: --full, or -f tsv with intervals and p-values."
_BESIDE_BEST = "Every pair: --full, or without --best."
_ALL = "All differences: --full; with intervals and p-values: -f tsv."


@dataclass(frozen=True, repr=False)
class SignificanceTables(base.Analysis):
    """All tables of a call, and what they rest on."""

    tables: tuple[PairTable, ...]
    plan: Significance
    in_full: bool = False
    """Whether people see the matrix of all differences, however many runs there are."""
    best: tuple[choosing.ChoiceTable, ...] = ()
    """How probably each run is the best, where that is asked for: before all else."""

    @property
    def verdict(self) -> Statements:
        """Which run is the best, if asked; who may be, or who differs from the baseline."""
        best = [said for each in self.best for said in each.statements()]
        return Statements((*best, *filter(None, map(statement, self.tables))))

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        tables = [each for table in self.tables for each in self._displays(table, width)]
        return [*(each.display() for each in self.best), *tables]

    def screen(self, width: int, /) -> Sequence[Display]:
        """All measures of a matrix side by side, and the runs that may be best first.

        Where the best run is asked for, that alone.
        """
        first = self.tables[0]
        if self.best and not self.in_full:
            return [replace(each.display(), hint=_BESIDE_BEST) for each in self.best]
        few = len(self.tables) == 1 and len(first.runs) <= MOST_IN_MATRIX
        if not first.of_all_pairs or few or self.in_full:
            return self.displays(width)
        by_matrix: dict[str, list[PairTable]] = {}
        for table in self.tables:
            by_matrix.setdefault(table.measure, []).append(table)
        return [self._side_by_side(tables) for tables in by_matrix.values()]

    def _displays(self, table: PairTable, width: int) -> list[Display]:
        """The groups, and the matrix of differences where it is small or wanted in parts."""
        said = self.verdict.of(title_of(table)).sentences
        if not table.of_all_pairs:
            return [replace(_differences(table, self.plan), verdict=said)]
        caption = _caption(table, self.plan)
        groups = replace(_groups(table), verdict=said)
        many = len(table.runs) > MOST_IN_MATRIX
        matrix = None if many and not self.in_full else replace(_matrix(table), caption=caption)
        if matrix is not None and (self.in_full or matrix.width() <= width):
            return [groups, *folded(matrix, width)]
        return [replace(groups, caption=[*caption, _ALL])]

    def _side_by_side(self, tables: Sequence[PairTable]) -> Display:
        """Values, ranks and letters by each measure, of as many runs as a screen has lines for."""
        first = tables[0]
        order = best_first(first)
        leaders = {row for table in tables for row in may_be_best(table)}
        order.sort(key=lambda row: row not in leaders)
        rows = order[:MOST_ON_SCREEN] if len(order) > MOST_ON_SCREEN + 1 else order
        names = [first.runs[row] for row in rows]
        columns = [Column.of(Heading("run", left=True, names=True), names)]
        for table in tables:
            title = words_of(table.of).title
            if len({table.alpha for table in tables}) > 1 and table.of.depends_on_alpha:
                title += f"\nα={table.alpha:g}"
            decimals = words_of(table.of).decimals
            values = [f"{table.values[row]:.{decimals}f}" for row in rows]
            columns.append(Column.of(title, values))
            columns.append(Column.of("ranks", [_ranks(table, row) for row in rows]))
            if _has_groups(table):
                letters = [table.groups[row] for row in rows]
                columns.append(Column.of(Heading("letters", left=True), letters))
        left = len(order) - len(rows)
        more = [f"And {counted(left, 'more run')}: --full."] if left else []
        line, *others = _caption(first, self.plan)
        for table in tables[1:]:
            if is_tested(table) and (how := _how(table, self.plan)) not in line:
                line = f"{line.removesuffix(').')}; {words_of(table.of).title}: {how})."
        caption = [*more, line, *([" ".join(others)] if others else [])]
        said = [text for table in tables for text in self.verdict.of(title_of(table)).sentences]
        return Display(
            f"{first.measure}, every pair of runs", columns, caption, verdict=said,
            hint=_OF_PAIRS,
        )  # fmt: skip

    def result(self) -> Result:
        """The long format: a row a pair, or a run, where the best one is asked for."""
        count = sum(len(table.pairs.first) for table in self.tables)
        rows = rows_of(count, lambda: (row for table in self.tables for row in _rows(table)))
        if self.best:
            runs = [row for table in self.best for row in table.rows()]
            parts = {"best": (choosing.COLUMNS, runs), "pairs": (COLUMNS, rows)}
            return part_of(self.provenance, parts, "best")
        return Result(COLUMNS, rows, self.provenance)


_UNASKED = ("mean", "georisk")
_NAME_A_BASELINE = "name a --baseline to compare each run with it"


def compare_pairs(
    scores: base.Scores,
    baseline: base.Names = None,
    *,
    of: base.Names = None,
    between: Between | None = None,
    alpha: float | Sequence[float] | None = None,
    options: Options | None = None,
    tukey: bool = False,
    best: bool = False,
) -> SignificanceTables:
    """Compare every pair of runs, or each run with the baseline (where one is named).

    By default `of` is the mean and GeoRisk, and the mean alone where scores are below 0.

    The family that p-values are corrected for is all pairs of one measure. With `tukey`, means are
    compared by the randomised Tukey HSD instead (`options.significance.swaps` replicates). `best`
    asks how probably each run is the best, and what choosing it is expected to lose.
    """
    setup = base.set_up(scores, options, baseline, alpha, noting=False)
    options = setup.options
    between = between or ("baseline" if options.baselines else "all")
    _check_asked(between, options, tukey, best)
    chosen = _measures_named(of or _UNASKED)
    compared = pairwise.against_baseline
    if between == "all":
        compared = partial(pairwise.all_pairs, tukey=tukey)
        pairs = [
            refuse_many_pairs(len(m.runs), _NAME_A_BASELINE, MOST_LISTED_PAIRS)
            for m in setup.matrices
        ]
        tables_each = len(chosen) * len(options.alphas)
        base.refuse_much("significance", setup.matrices, options, pairs=sum(pairs) * tables_each)
    tables: list[PairTable] = []
    choices: list[choosing.ChoiceTable] = []
    notes: list[Note] = []
    for matrix in setup.matrices:
        asked = chosen if of else [m for m in chosen if not (m.nonnegative and matrix.has_negative)]
        for measure in asked:
            for level in options.alphas if measure.depends_on_alpha else options.alphas[:1]:
                table, cautions = compared(matrix, measure, level, options)
                tables.append(table)
                notes += cautions
                if best:
                    choices.append(choosing.choice_table(matrix, measure, level, options))
    settings = _described([measure.id for measure in chosen], between, options, tukey, best)
    return SignificanceTables(
        tuple(tables), options.significance, best=tuple(choices),
        provenance=setup.provenance.adding(settings, notes),
    )  # fmt: skip


def _check_asked(between: Between, options: Options, tukey: bool, best: bool) -> None:
    """Refuse what does not go together."""
    check_words(between=(between, Between))
    base.require_plain(options, "significance")
    if between == "all" and options.population == "baselines":
        raise UsageError("all pairs are compared in the population of all runs")
    if best and between != "all":
        raise UsageError("the best run is one of all; it does not go with one baseline")
    if tukey and between != "all":
        raise UsageError("Tukey's HSD compares all pairs; it does not go with one baseline")


def _measures_named(names: base.Names) -> list[RiskMeasure]:
    """The risk measures of these names; each must be one that pairs of runs have."""
    able = [m for m in measures() if m.deviations or m.statistic or m.details is None]
    return base.chosen_measures(
        names, able, "runs cannot be compared in pairs by",
        "; URisk and TRisk compare with a baseline: see score",
    )  # fmt: skip


def _rows(table: PairTable) -> Iterator[list[Value]]:
    pairs, groups = table.pairs, table.groups or [None] * len(table.runs)
    alpha = table.alpha if table.of.depends_on_alpha else None
    columns = (
        table.values[pairs.first], table.other_values, pairs.difference, pairs.low, pairs.high,
        pairs.error, pairs.p, pairs.p_adjusted, pairs.flag, table.effect,
    )  # fmt: skip
    for some in row_blocks(len(pairs.first), 1, _ROWS_AT_ONCE):
        ends = zip(pairs.first[some].tolist(), pairs.second[some].tolist(), strict=True)
        cells = zip(*(tidy(column[some]) for column in columns), strict=True)
        for (first, second), of_pair in zip(ends, cells, strict=True):
            yield [
                table.runs[first], table.others[second], table.measure, table.of.id,
                table.population, alpha, table.topics, *of_pair, groups[first], groups[second],
            ]  # fmt: skip


def _described(
    of: Sequence[str], between: str, options: Options, tukey: bool, best: bool
) -> dict[str, Any]:
    plan = options.significance
    described: dict[str, Any] = {
        "of": list(of),
        "between": between,
        "alphas": list(options.alphas),
        "gamma": plan.gamma,
        "correction": plan.correction,
        "tukey": tukey,
        **({"best": True} if best else {}),
    }
    if between == "baseline":
        described |= {"baselines": list(options.wanted), "pool": options.pool}
        described |= {"test": plan.test} if plan.test == "swap" else {}
    if tukey or plan.test == "swap":
        described |= {"replicates": plan.swaps, "seed": plan.seed}
    return described


def _groups(table: PairTable) -> Display:
    """The runs from best to worst; runs that share a letter are not significantly different."""
    order, ranks, words = best_first(table), rank(table.values), words_of(table.of)
    columns = [
        Column.of("#", [f"{ranks[row]:.0f}" for row in order]),
        Column.of(Heading("run", left=True, names=True), [table.runs[row] for row in order]),
        Column.of(words.title, [f"{table.values[row]:.{words.decimals}f}" for row in order]),
        Column.of("ranks", [_ranks(table, row) for row in order]),
    ]
    if _has_groups(table):
        letters = [table.groups[row] for row in order]
        columns.append(Column.of(Heading("letters", left=True), letters))
    above = table.best_above
    below = [table.runs[above[row]] if row in above else "" for row in order]
    if above:
        columns.append(Column.of(Heading("below", left=True, names=True), below))
    return Display(title_of(table), columns)


def _has_groups(table: PairTable) -> bool:
    """Letters mean something where runs were tested, and where they are few."""
    return is_tested(table) and len(table.runs) <= MOST_IN_MATRIX


def _ranks(table: PairTable, row: int) -> str:
    """The ranks that the tests leave open."""
    if table.rank_low is None or table.rank_high is None:
        return UNDEFINED
    return span(float(table.rank_low[row]), float(table.rank_high[row]))


def _matrix(table: PairTable) -> Display:
    """Row less column, each pair once, with the mark of the row."""
    order, pairs, places = best_first(table), table.pairs, words_of(table.of).decimals - 1
    position = {row: index for index, row in enumerate(order)}
    cells = [[Cell("") for _ in order[1:]] for _ in order[:-1]]
    columns = (pairs.first, pairs.second, pairs.difference, pairs.flag)
    for first, second, difference, flag in zip(*(c.tolist() for c in columns), strict=True):
        above, below = position[first], position[second]
        if above > below:
            above, below, difference = below, above, -difference
        text = UNDEFINED if np.isnan(difference) else f"{difference:.{places}f}"
        mark: Mark = "" if not flag else "better" if difference > 0 else "worse"
        cells[above][below - 1] = Cell(text, mark=mark)
    headings = [Heading("row - column", left=True)]
    headings += [Heading(f"{index + 1}", marked=True) for index in range(1, len(order))]
    names = (Cell(f"{index + 1} {table.runs[row]}") for index, row in enumerate(order[:-1]))
    rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
    return Display.of_rows("", headings, rows)


def _differences(table: PairTable, plan: Significance) -> Display:
    """Each run against the baseline, with the interval of the difference."""
    pairs, words = table.pairs, words_of(table.of)
    marks = pairs.flag.tolist()
    rows: list[list[str | Cell]] = []
    for i in sorted(range(len(marks)), key=lambda i: -table.values[pairs.first[i]]):
        run, tested = int(pairs.first[i]), bool(np.isfinite(pairs.p[i]))
        value, difference, low, high = (
            f"{number:.{words.decimals}f}"
            for number in (table.values[run], pairs.difference[i], pairs.low[i], pairs.high[i])
        )
        texts = [f"[{low}, {high}]", f"{pairs.p[i]:.2g}", f"{pairs.p_adjusted[i]:.2g}"]
        is_known = tested or not (is_tested(table) or np.isnan(pairs.difference[i]))
        cell = Cell(difference if is_known else UNDEFINED, mark=marks[i])
        rows.append([table.runs[run], value, cell, *(texts if tested else [UNDEFINED] * 3)])
    headings: list[str | Heading] = [
        Heading("run", left=True, names=True), words.title, Heading("difference", marked=True),
        "interval", "p", "adjusted",
    ]  # fmt: skip
    title = f"{title_of(table)}, less that of {table.others[0]}"
    return Display.of_rows(title, headings, rows, _caption(table, plan))


def _test_of(table: PairTable, plan: Significance) -> str:
    """The test of the differences; label swaps compare runs with a baseline only."""
    if table.of.plain_mean:
        return "paired t"
    if plan.test == "swap" and not table.of_all_pairs:
        return f"label swaps, {plan.swaps} replicates, seed {plan.seed}"
    return "delete-one-topic jackknife, t"


def _how(table: PairTable, plan: Significance) -> str:
    """The test, and what takes care of the number of tests."""
    if table.correction == pairwise.TUKEY:
        return f"randomised Tukey HSD by t, {plan.swaps} replicates, seed {plan.seed}"
    tests = counted(table.pairs.family, "test")
    return f"{_test_of(table, plan)}; {CORRECTION_TITLES[table.correction]} over {tests}"


def _caption(table: PairTable, plan: Significance) -> list[str]:
    """What was tested, how, and in which family."""
    on = f"{counted(table.topics, 'topic')}, {counted(len(table.runs), 'run')}"
    logarithms = about_logarithms([table.measure])
    if not is_tested(table):
        return [f"{on}; neither ▲ nor ▼: nothing could be tested.", *logarithms]
    how = _how(table, plan)
    percent = f"{100 * (1 - plan.gamma):g} %"
    line = f"{on}; different at γ = {plan.gamma:g} ({how})."
    if not table.of_all_pairs:
        return [line, f"{percent} confidence intervals, one per difference.", *logarithms]
    as_marks = table.correction in ("holm", pairwise.TUKEY)
    otherwise = "" if as_marks else " (Holm, whatever the marks' correction)"
    ranks = f"ranks: {percent} intervals, which hold together{otherwise}."
    if not _has_groups(table):
        return [line, ranks, *logarithms]
    letters = "Runs that share a letter are not significantly different."
    return [line, ranks, letters, *logarithms]
