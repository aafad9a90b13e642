"""Every pair of runs: difference, interval and test; groups without a significant difference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Self

import numpy as np
from scipy.special import stdtrit

from riskcli.analyses import unjudged
from riskcli.analyses.blocks import risk_blocks
from riskcli.analyses.cautions import NO_RANK_INTERVALS, cautions
from riskcli.core.arrays import Flags, Floats, Mask, Rows, row_blocks, units
from riskcli.core.choices import DEFAULT_BASELINE, Correction
from riskcli.core.messages import Note, UsageError
from riskcli.output.measure_words import words_of
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate, adjust, flags, rank
from riskcli.risk.intervals import error_of
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.paired import LEAST_TOPICS, effect_size, ratio_to_error, two_sided_p
from riskcli.risk.ranks import BESIDE_MARKS, ranks_left_open
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE, above_rounding
from riskcli.risk.weights import weighed
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

_CELLS_AT_ONCE = 200_000

TUKEY = "tukey"
FAMILYWISE = ("holm", "bonferroni")
"""The corrections by which all statements hold together."""
MOST_LETTERED = 100
"""More runs have no letters: their groups are too many to be read, or even to be found."""


@dataclass(frozen=True)
class PairTests:
    """All pairs (first, second) of runs, the difference of the first to the second, its test."""

    first: Rows
    second: Rows
    difference: Floats
    error: Floats
    low: Floats
    high: Floats
    p: Floats
    p_adjusted: Floats
    flag: Flags
    family: int

    def beside(self, row: int, marks: Estimate, gamma: float, correction: Correction) -> Self:
        """With what the `marks` against one of the runs, `row`, say of it.

        The other pairs are a family beside that, at the level that `risk.ranks` has for it; and a
        run above that run is above one below it, as surely as both marks are.
        """
        with_it = (self.first == row) | (self.second == row)
        run = np.where(self.first == row, self.second, self.first)
        adjusted, corrected = self.p_adjusted, adjust(_cells(marks.p), correction)[0]
        if correction in FAMILYWISE:
            side = np.sign(marks.effect)
            through = np.maximum(corrected[self.first], corrected[self.second])
            implied = side[self.first] * side[self.second] < 0
            adjusted = np.minimum(adjusted / BESIDE_MARKS, 1.0)
            adjusted = np.where(implied, np.fmin(adjusted, through), adjusted)
        adjusted = np.where(with_it, corrected[run], adjusted)
        ends = np.array([_cells(marks.difference_low)[run], _cells(marks.difference_high)[run]])
        ends = np.where(self.first == row, -ends[::-1], ends)
        low, high = np.where(with_it, ends, [self.low, self.high])
        return replace(
            self, low=low, high=high, p=np.where(with_it, _cells(marks.p)[run], self.p),
            p_adjusted=adjusted, flag=flags(self.difference, adjusted, gamma),
        )  # fmt: skip

    def ranks(self, tested: Mask) -> tuple[Floats, Floats]:
        """The best and the worst rank that they leave open; NaN for a run without tests."""
        better, worse = self.flag == "better", self.flag == "worse"
        above = np.concatenate([self.first[better], self.second[worse]])
        below = np.concatenate([self.second[better], self.first[worse]])
        known = tested & bool(np.isfinite(self.p).any())
        low, high = ranks_left_open(len(tested), above, below)
        return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _cells(column: Floats | None) -> Floats:
    """A column of an estimate that its tests fill in."""
    assert column is not None
    return column


def compare_all(
    values: Floats,
    deviations: Floats,
    gamma: float,
    correction: Correction,
    degrees: float | None = None,
) -> PairTests:
    """Each run against each later one, from what every topic adds to each run's value.

    Differences without a test have deviations of NaN.

    `deviations` are a statistic's deviations by topic (rows sum to 0): x - mean for a mean, the
    jackknife's or the influence function's for others; SE^2 = sum (d_i - d_j)^2 / (c (c - 1)).
    Student's t has so many `degrees` of freedom (None: c - 1).
    """
    runs, topics = deviations.shape
    freedom = topics - 1 if degrees is None else degrees
    first, second = np.triu_indices(runs, k=1)
    error = np.concatenate([_errors_to_later(deviations, row) for row in range(runs)])
    difference = values[first] - values[second]
    scale = np.fmax.reduce(np.abs(deviations), axis=None, initial=0.0)
    p = _p_values(difference, error, freedom, float(scale))
    critical = stdtrit(freedom, 1 - gamma / 2) if topics > 1 else np.nan
    margin = np.where(np.isnan(p), np.nan, critical * error)
    adjusted, family = adjust(p, correction)
    return PairTests(
        first, second, difference, error, difference - margin, difference + margin, p, adjusted,
        flags(difference, adjusted, gamma), family,
    )  # fmt: skip


def _errors_to_later(deviations: Floats, row: int) -> Floats:
    topics = deviations.shape[1]
    if topics < 2:
        return np.full(len(deviations) - row - 1, np.nan)
    return error_of(deviations[row + 1 :] - deviations[row])


def _p_values(difference: Floats, error: Floats, degrees: float, scale: float) -> Floats:
    noise = NO_DIFFERENCE * scale
    nothing = (np.abs(difference) <= noise) & (error <= noise)
    t = ratio_to_error(np.where(nothing, 0.0, difference), np.where(error <= noise, 0.0, error))
    return two_sided_p(t, degrees)


def randomised_tukey_hsd(scores: Floats, replicates: int, seed: int) -> Floats:
    """The p-value of each pair of means by the largest t of all pairs, as Tukey's HSD takes it.

    In each replicate the signs of whole topics, as differences of all runs to the topic's mean, are
    turned at random; p is the share of replicates whose largest t of a pair is at least the pair's
    t, (count + 1) / (B + 1). Runs keep their variances and correlations: shuffled among runs, as
    Carterette (TOIS 2012) has it, one run of high variance lends it to all.
    """
    topics = scores.shape[1]
    first, second = np.triu_indices(len(scores), k=1)
    order = np.lexsort(np.sort(scores, axis=0))
    scores = scores / units(scores.ravel())  # no square is lost
    centred = (scores - scores.mean(axis=0))[:, order]
    apart = centred[first] - centred[second]
    squares = np.einsum("ij,ij->i", apart, apart)
    noise = NO_DIFFERENCE * float(np.abs(scores).max(initial=0.0))

    def sizes_of_t(mean: Floats) -> Floats:
        variance = above_rounding(squares - topics * mean**2, squares)
        t: Floats = np.where(np.abs(mean) <= noise, 0.0, np.inf)
        error = np.sqrt(variance / (topics * (topics - 1)))
        np.divide(np.abs(mean), error, out=t, where=(error > 0) & (np.abs(mean) > noise))
        return t

    observed = sizes_of_t(apart.mean(axis=1))
    generator = np.random.default_rng(seed)
    largest = []
    for some in row_blocks(replicates, max(len(first), topics), _CELLS_AT_ONCE):
        signs = np.where(generator.random((some.stop - some.start, topics)) < 0.5, -1.0, 1.0)
        largest.append(sizes_of_t(signs @ apart.T / topics).max(axis=1, initial=0.0))
    sizes = np.sort(np.concatenate(largest))
    count = replicates - np.searchsorted(sizes, observed * (1 - EQUAL_STATISTIC), side="left")
    return np.where(np.isinf(observed), np.nan, (count + 1) / (replicates + 1))


def letters(runs: int, order: Sequence[int], significant: Iterable[tuple[int, int]]) -> list[str]:
    """Letters for each run, such that two runs share one unless they are significantly different.

    The insert-and-absorb algorithm (Piepho 2004); `order` lists the runs from best to worst, and
    the best run's group is called `a`. After `z` come `aa`, `ab`, ..., then parted by commas.
    """
    groups: list[frozenset[int]] = [frozenset(range(runs))]
    for one, other in significant:
        split = [group - {member} for group in groups if {one, other} <= group
                 for member in (one, other)]  # fmt: skip
        groups = [group for group in groups if not {one, other} <= group]
        for group in split:
            if not any(group <= other for other in groups):
                groups = [other for other in groups if not other <= group]
                groups.append(group)
    index = {run: position for position, run in enumerate(order)}
    groups.sort(key=lambda group: sorted(index[run] for run in group))
    names = [_letter(number) for number in range(len(groups))]
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    return [
        separator.join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(runs)
    ]


def _letter(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    head, last = divmod(number, len(ascii_lowercase))
    return (_letter(head - 1) if head else "") + ascii_lowercase[last]


@dataclass(frozen=True)
class PairTable:
    """The differences by one risk measure (`of`) of one score matrix, at one alpha."""

    measure: str
    of: RiskMeasure
    alpha: float
    topics: int
    effective_topics: float
    runs: tuple[str, ...]
    values: Floats
    others: tuple[str, ...]
    other_values: Floats
    """The value of the second of each pair."""
    pairs: PairTests
    population: str
    correction: str
    of_all_pairs: bool = False
    """Whether every pair is compared, or each run with the baseline."""
    groups: tuple[str, ...] = ()
    """The letters of each run; none where a baseline is compared with, or there are too many."""
    rank_low: Floats | None = None
    """The best rank that the tests leave open for each run; None where there are no such tests."""
    rank_high: Floats | None = None

    @property
    def best_above(self) -> dict[int, int]:
        """By row, the best of the runs that are significantly above it."""
        columns = (self.pairs.first, self.pairs.second, self.pairs.flag)
        found: dict[int, int] = {}
        for first, second, flag in zip(*(column.tolist() for column in columns), strict=True):
            if flag:
                upper, lower = (first, second) if flag == "better" else (second, first)
                found[lower] = max(found.get(lower, upper), upper, key=self.values.__getitem__)
        return found

    @property
    def effect(self) -> Floats:
        """d_z of paired means; empty for other measures."""
        if not self.of.plain_mean:
            return np.full(len(self.pairs.p), np.nan)
        return effect_size(self.pairs.difference, self.pairs.error, self.effective_topics)


def all_pairs(
    matrix: ScoreMatrix, measure: RiskMeasure, alpha: float, options: Options, tukey: bool
) -> tuple[PairTable, list[Note]]:
    """In the population of all runs; a measure about a baseline has the one named, or the mean.

    What is said of a baseline run that is named is what the risk table's marks say.
    """
    plan = options.significance
    tukey = tukey and measure.plain_mean
    against = None if tukey else _marks(matrix, measure, alpha, options)
    if not measure.paired:
        options = replace(options, baselines=(DEFAULT_BASELINE,))
    (comparison,) = comparisons(matrix, options)
    values = _values(measure, comparison, alpha)
    shown = measure.shown(comparison, values)
    deviations = measure.deviations_of(comparison, alpha)
    # A run whose scores are all 0 has no test.
    void = measure.nonnegative & (matrix.values == 0).all(axis=1)
    tested = np.where(void, np.nan, values)
    spread = np.where(void[:, None], np.nan, np.nan if deviations is None else deviations)
    adjusting: Correction = "none" if tukey else plan.correction
    freedom = comparison.degrees
    pairs = compare_all(tested, spread, plan.gamma, adjusting, freedom)
    if tukey and len(matrix.topics) >= LEAST_TOPICS:
        p = np.maximum(
            randomised_tukey_hsd(weighed(matrix.values, matrix.weights), plan.swaps, plan.seed),
            pairs.p,
        )
        pairs = replace(pairs, p_adjusted=p, flag=flags(pairs.difference, p, plan.gamma))
    sure = pairs
    if not tukey and plan.correction != "holm":  # ranks go by Holm, as in the risk table
        sure = compare_all(tested, spread, plan.gamma, "holm", freedom)
    if against is not None:
        pairs = pairs.beside(*against, plan.gamma, plan.correction)
        sure = sure.beside(*against, plan.gamma, "holm")
    table = PairTable(
        matrix.measure, measure, alpha, comparison.topics, comparison.effective_topics,
        matrix.runs, shown, matrix.runs,
        shown[pairs.second], pairs, comparison.population_name,
        TUKEY if tukey else plan.correction, of_all_pairs=True,
    )  # fmt: skip
    notes = [*cautions(matrix, comparison, options.alphas), *unjudged.notes(matrix, comparison)]
    if deviations is None:
        return table, [*notes, _not_tested(measure)]
    low, high = sure.ranks(~void)
    return replace(table, groups=_groups(values, pairs, void), rank_low=low, rank_high=high), notes


def _marks(
    matrix: ScoreMatrix, measure: RiskMeasure, alpha: float, options: Options
) -> tuple[int, Estimate] | None:
    """The row of the baseline run that is named, and the tests against it; None: there is none."""
    if not options.baselines:
        return None
    blocks, _ = risk_blocks(matrix, replace(options, alphas=(alpha,)), [measure])
    block = blocks[0]
    estimate = block.estimates.get(measure.id)
    if len(blocks) > 1 or block.baseline_row is None or estimate is None or estimate.p is None:
        return None
    return block.baseline_row, estimate


def _groups(values: Floats, pairs: PairTests, void: Mask) -> tuple[str, ...]:
    """The letters of each run, from the best run on; none where runs are too many for them.

    A run without tests has none.
    """
    if len(values) > MOST_LETTERED:
        return ()
    order = np.lexsort((np.arange(len(values)), rank(values)))
    significant = np.flatnonzero(pairs.flag != "")
    ends = zip(pairs.first[significant].tolist(), pairs.second[significant].tolist(), strict=True)
    found = letters(len(values), order.tolist(), ends)
    return tuple("" if void[row] else each for row, each in enumerate(found))


def _values(measure: RiskMeasure, comparison: Comparison, alpha: float) -> Floats:
    if measure.nonnegative and comparison.has_negative:
        raise UsageError(f"{words_of(measure).title} needs scores of at least 0")
    return measure.values(comparison, alpha)


def _not_tested(measure: RiskMeasure) -> Note:
    title = words_of(measure).title
    message = f"differences in {title} are not tested: no test of them is known"
    return Note("not-tested", message, warning=False)


def against_baseline(
    matrix: ScoreMatrix, measure: RiskMeasure, alpha: float, options: Options
) -> tuple[PairTable, list[Note]]:
    """The same tests as the risk table's, with the interval of the difference, and its cautions."""
    options = replace(options, alphas=(alpha,))
    blocks, notes = risk_blocks(matrix, options, [measure])
    if len(blocks) != 1:
        raise UsageError("one baseline, or a set of them pooled, is needed here")
    (block,), (comparison,) = blocks, comparisons(matrix, options)
    notes += unjudged.notes(matrix, comparison)
    values = _values(measure, comparison, alpha)
    rows = np.flatnonzero(np.arange(len(block.runs)) != block.baseline_row)
    estimate = block.estimates[measure.id].of_runs(rows)
    difference = estimate.difference
    if difference is None:
        difference = values[rows] - measure.of_baseline(comparison, alpha)
    error, low, high, p, adjusted = (
        np.full(len(rows), np.nan) if cells is None else cells
        for cells in (
            estimate.difference_error, estimate.difference_low, estimate.difference_high,
            estimate.p, estimate.p_adjusted,
        )
    )  # fmt: skip
    flag = np.full(len(rows), "") if estimate.flag is None else estimate.flag
    pairs = PairTests(
        rows, np.zeros_like(rows), difference, error, low, high, p, adjusted, flag, estimate.family
    )
    table = PairTable(
        matrix.measure, measure, alpha, comparison.topics, comparison.effective_topics, matrix.runs,
        measure.shown(comparison, values), (block.baseline,),
        measure.shown(comparison, values[rows] - difference), pairs, block.population,
        options.significance.correction,
    )  # fmt: skip
    notes = [note for note in notes if note.code != NO_RANK_INTERVALS]
    return table, notes if estimate.p is not None else [*notes, _not_tested(measure)]
