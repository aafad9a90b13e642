"""Which runs differ: every pair of them, or each against the baseline, by one measure or more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskcli.analyses import base, pairwise
from riskcli.analyses.base import Analysis, Names, Scores
from riskcli.analyses.blocks import risk_blocks
from riskcli.analyses.cautions import NO_RANK_INTERVALS, cautions
from riskcli.analyses.pairwise import PairTable, PairTests
from riskcli.analyses.significance_display import displays
from riskcli.core.arrays import Floats
from riskcli.core.choices import DEFAULT_BASELINE, Between, Correction, check_words
from riskcli.core.limits import MOST_LISTED_PAIRS, refuse_many_pairs
from riskcli.core.messages import Note, UsageError
from riskcli.output.display import Display
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, Value, rows_of, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Significance, adjust, flags, rank
from riskcli.risk.intervals import rank_intervals
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.paired import LEAST_TOPICS, effect_size
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "run", "other", "measure", "of", "population", "alpha", "topics", "value", "other_value",
    "diff", "diff_lo", "diff_hi", "diff_se", "p", "p_adj", "flag", "dz", "group", "other_group",
)  # fmt: skip
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, repr=False)
class SignificanceTables(Analysis):
    """All tables of a call, and what they rest on."""

    tables: tuple[PairTable, ...]
    plan: Significance
    in_full: bool = False
    """Whether people see the matrix of all differences, however many runs there are."""

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self.tables, self.plan, width, self.in_full)

    def result(self) -> Result:
        """The long format: a row a pair."""
        count = sum(len(table.pairs.first) for table in self.tables)
        rows = rows_of(count, lambda: (row for table in self.tables for row in _rows(table)))
        return Result(COLUMNS, rows, self.provenance)


_NAME_A_BASELINE = "name a --baseline to compare each run with it"


def compare_pairs(
    scores: Scores,
    baseline: Names = None,
    *,
    of: Names = ("mean", "georisk"),
    between: Between | None = None,
    alpha: float | Sequence[float] | None = None,
    options: Options | None = None,
    tukey: bool = False,
) -> SignificanceTables:
    """Compare every pair of runs, or each run with the baseline (where one is named).

    The family that p-values are corrected for is all pairs of one measure. With `tukey`, means are
    compared by the randomised Tukey HSD instead (`options.significance.swaps` replicates).
    """
    setup = base.set_up(scores, options, baseline, alpha, noting=False)
    options = setup.options
    between = between or ("baseline" if options.baselines else "all")
    check_words(between=(between, Between))
    base.require_plain(options, "significance")
    if between == "all" and options.population == "baselines":
        raise UsageError("all pairs are compared in the population of all runs")
    if tukey and between != "all":
        raise UsageError("Tukey's HSD compares all pairs; it does not go with one baseline")
    able = [m for m in measures() if m.deviations or m.statistic or m.details is None]
    chosen = base.chosen_measures(
        of, able, "runs cannot be compared in pairs by",
        "; URisk and TRisk compare with a baseline: see score",
    )  # fmt: skip
    make = _all_pairs if between == "all" else _against_baseline
    if between == "all":
        pairs = [
            refuse_many_pairs(len(m.runs), _NAME_A_BASELINE, MOST_LISTED_PAIRS)
            for m in setup.matrices
        ]
        tables_each = len(chosen) * len(options.alphas)
        base.refuse_much("significance", setup.matrices, options, pairs=sum(pairs) * tables_each)
    tables: list[PairTable] = []
    notes: list[Note] = []
    for matrix in setup.matrices:
        for measure in chosen:
            alphas = options.alphas if measure.depends_on_alpha else options.alphas[:1]
            for level in alphas:
                table, cautioned = make(matrix, measure, level, options, tukey)
                tables.append(table)
                notes += cautioned
    settings = _described([measure.id for measure in chosen], between, options, tukey)
    return SignificanceTables(
        tuple(tables), options.significance, provenance=setup.provenance.adding(settings, notes)
    )


def _all_pairs(
    matrix: ScoreMatrix, measure: RiskMeasure, alpha: float, options: Options, tukey: bool
) -> tuple[PairTable, list[Note]]:
    """In the population of all runs; a measure about a baseline has the one named, or the mean."""
    plan = options.significance
    if not measure.paired:
        options = replace(options, baselines=(DEFAULT_BASELINE,))
    (comparison,) = comparisons(matrix, options)
    values = _values(measure, comparison, alpha)
    deviations = measure.deviations_of(comparison, alpha)
    tested = deviations is not None
    correction = pairwise.TUKEY if tukey and measure.plain_mean else plan.correction
    adjusting: Correction = "none" if correction == pairwise.TUKEY else plan.correction
    if deviations is None:
        deviations = np.full(matrix.values.shape, np.nan)
    pairs = pairwise.compare_all(values, deviations, plan.gamma, adjusting)
    if measure.nonnegative:
        pairs = _without_empty_runs(pairs, matrix, plan)
    if correction == pairwise.TUKEY:
        pairs = _by_tukey(pairs, matrix, plan)
    low, high = rank_intervals(values, deviations, plan.gamma) if tested else (None, None)
    table = PairTable(
        matrix.measure, measure, alpha, len(matrix.topics), matrix.runs, values, matrix.runs,
        values, pairs, _effects(measure, pairs, comparison.topics),
        _letters(values, pairs) if tested else (), correction, True, comparison.population_name,
        rank_low=low, rank_high=high,
    )  # fmt: skip
    notes = cautions(matrix, comparison, options.alphas)
    return table, notes if tested else [*notes, _not_tested(measure)]


def _values(measure: RiskMeasure, comparison: Comparison, alpha: float) -> Floats:
    if measure.nonnegative and comparison.has_negative:
        raise UsageError(f"{words_of(measure).title} needs scores of at least 0")
    return measure.values(comparison, alpha)


def _not_tested(measure: RiskMeasure) -> Note:
    title = words_of(measure).title
    message = f"differences in {title} are not tested: no test of them is known"
    return Note("not-tested", message, warning=False)


def _letters(values: Floats, pairs: PairTests) -> tuple[str, ...]:
    """Each run's, from the best run on; none where runs are too many for letters."""
    if len(values) > pairwise.MOST_LETTERED:
        return ()
    order = np.lexsort((np.arange(len(values)), rank(values)))
    return tuple(pairwise.letters(len(values), order.tolist(), pairs.significant()))


def _without_empty_runs(pairs: PairTests, matrix: ScoreMatrix, plan: Significance) -> PairTests:
    """A run whose scores are all 0 has no test."""
    empty = np.asarray(~matrix.values.any(axis=1))
    void = empty[pairs.first] | empty[pairs.second]
    p = np.where(void, np.nan, pairs.p)
    adjusted, family = adjust(p, plan.correction)
    blank = {
        name: np.where(void, np.nan, getattr(pairs, name))
        for name in ("difference", "error", "low", "high")
    }
    flag = flags(blank["difference"], adjusted, plan.gamma)
    return replace(pairs, p=p, p_adjusted=adjusted, family=family, flag=flag, **blank)


def _by_tukey(pairs: PairTests, matrix: ScoreMatrix, plan: Significance) -> PairTests:
    if len(matrix.topics) < LEAST_TOPICS:
        return pairs
    p = np.maximum(pairwise.randomised_tukey_hsd(matrix.values, plan.swaps, plan.seed), pairs.p)
    return replace(pairs, p_adjusted=p, flag=flags(pairs.difference, p, plan.gamma))


def _effects(measure: RiskMeasure, pairs: PairTests, topics: int) -> Floats:
    """d_z of paired means; empty for other measures."""
    if not measure.plain_mean:
        return np.full(len(pairs.p), np.nan)
    return effect_size(pairs.difference, pairs.error, topics)


def _against_baseline(
    matrix: ScoreMatrix, measure: RiskMeasure, alpha: float, options: Options, _tukey: bool
) -> tuple[PairTable, list[Note]]:
    """The same tests as the risk table's, with the interval of the difference, and its cautions."""
    options = replace(options, alphas=(alpha,))
    blocks, notes = risk_blocks(matrix, options, [measure])
    if len(blocks) != 1:
        raise UsageError("one baseline, or a set of them pooled, is needed here")
    (block,), (comparison,) = blocks, comparisons(matrix, options)
    values = _values(measure, comparison, alpha)
    known = block.estimates[measure.id]
    rows = np.flatnonzero(np.arange(len(block.runs)) != block.baseline_row)
    difference = known.difference
    if difference is None:
        difference = values - measure.of_baseline(comparison, alpha)

    def of_rows(cells: Floats | None) -> Floats:
        return np.full(len(rows), np.nan) if cells is None else cells[rows]

    flag = np.full(len(rows), "") if known.flag is None else known.flag[rows]
    pairs = PairTests(
        rows, np.zeros_like(rows), difference[rows], of_rows(known.difference_error),
        of_rows(known.difference_low), of_rows(known.difference_high), of_rows(known.p),
        of_rows(known.p_adjusted), flag, known.family,
    )  # fmt: skip
    table = PairTable(
        matrix.measure, measure, alpha, len(matrix.topics), matrix.runs, values,
        (block.baseline,), values - difference, pairs,
        _effects(measure, pairs, len(matrix.topics)), (), options.significance.correction,
        False, block.population,
    )  # fmt: skip
    notes = [note for note in notes if note.code != NO_RANK_INTERVALS]
    return table, notes if known.p is not None else [*notes, _not_tested(measure)]


def _rows(table: PairTable) -> Iterator[list[Value]]:
    for start in range(0, len(table.pairs.first), _ROWS_AT_ONCE):
        yield from _rows_of(table, slice(start, start + _ROWS_AT_ONCE))


def _rows_of(table: PairTable, some: slice) -> Iterator[list[Value]]:
    """Those of some pairs."""
    pairs, groups = table.pairs, table.groups
    firsts, seconds = pairs.first[some], pairs.second[some]
    alpha = table.alpha if table.of.depends_on_alpha else None
    numbers = [
        tidy(values)
        for values in (
            table.values[firsts],
            table.other_values[seconds if table.of_all_pairs else firsts],
            *(
                each[some]
                for each in (
                    pairs.difference, pairs.low, pairs.high, pairs.error, pairs.p,
                    pairs.p_adjusted,
                )
            ),
        )
    ]  # fmt: skip
    names = zip(firsts.tolist(), seconds.tolist(), pairs.flag[some].tolist(), strict=True)
    effects = tidy(table.effect[some])
    for (first, second, flag), effect, *cells in zip(names, effects, *numbers, strict=True):
        yield [
            table.runs[first], table.others[second], table.measure, table.of.id,
            table.population, alpha, table.topics, *cells, flag, effect,
            *([groups[first], groups[second]] if groups else [None, None]),
        ]  # fmt: skip


def _described(of: Sequence[str], between: str, options: Options, tukey: bool) -> dict[str, Any]:
    plan = options.significance
    described: dict[str, Any] = {
        "of": list(of),
        "between": between,
        "alphas": list(options.alphas),
        "gamma": plan.gamma,
        "correction": plan.correction,
        "tukey": tukey,
    }
    if between == "baseline":
        described |= {"baselines": list(options.wanted), "pool": options.pool}
        described |= {"test": plan.test} if plan.test == "swap" else {}
    if tukey or plan.test == "swap":
        described |= {"replicates": plan.swaps, "seed": plan.seed}
    return described
