"""How far the rankings by several risk measures, effectiveness measures or judges agree."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from math import isnan

import numpy as np

from riskcli.analyses import base
from riskcli.analyses.cautions import cautions
from riskcli.core.arrays import Floats, Rows
from riskcli.core.limits import refuse_many_pairs
from riskcli.core.messages import Note, UsageError
from riskcli.output.display import Display, Heading, decimal, folded, in_title
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.losses import LINEAR
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.rounding import equal_digits
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix


def kendall_tau_b(x: Floats, y: Floats) -> float:
    """Kendall's tau_b: (concordant - discordant) / sqrt(pairs untied in x * untied in y).

    Values that are equal but for rounding are tied; NaN where all of x or all of y are equal.
    """
    x_rank, y_rank = (np.unique(equal_digits(each), return_inverse=True)[1] for each in (x, y))
    both = x_rank * len(y_rank) + y_rank
    pairs = len(x_rank) * (len(x_rank) - 1) // 2
    x_tied, y_tied, both_tied = (_tied_pairs(each) for each in (x_rank, y_rank, both))
    untied = (pairs - x_tied) * (pairs - y_tied)
    discordant = _inversions(y_rank[np.argsort(both, kind="stable")])
    balance = pairs - x_tied - y_tied + both_tied - 2 * discordant
    return float(balance / np.sqrt(float(untied))) if untied else float("nan")


def _tied_pairs(values: Rows) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(numbers: Rows) -> int:
    """The pairs of numbers of which the larger stands first."""
    count, before = 0, list[int]()
    for index, number in enumerate(numbers.tolist()):
        not_larger = bisect_right(before, number)
        before.insert(not_larger, number)
        count += index - not_larger
    return count


def tau_ap(truth: Rows, estimate: Rows) -> float:
    """The AP rank correlation of Yilmaz, Aslam and Robertson (SIGIR 2008); NaN for one item.

    The chance, over items of the estimate but its first and over items above them there, that the
    truth has them in the same order, put on the scale from -1 to 1: mistakes near the top of the
    estimate weigh most. Both are orders of the same items, best first.
    """
    size = len(estimate)
    if size < 2:
        return float("nan")
    index = np.empty(size, dtype=np.intp)
    index[truth] = np.arange(size)
    at = index[estimate]
    right = [np.count_nonzero(at[:i] < at[i]) / i for i in range(1, size)]
    return float(2 * np.mean(right) - 1)


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two rankings known to some depth only."""

    least: float
    """If all that is below what is known differed."""
    residual: float
    """How much more it could be."""
    extrapolated: float
    """If the agreement seen went on."""


def rank_biased_overlap(
    one: Sequence[int], other: Sequence[int], persistence: float = 0.9
) -> Overlap:
    """RBO of Webber, Moffat and Zobel (TOIS 28(4), 2010): (1 - p) sum of p^(d - 1) X_d / d.

    X_d counts the items that both have among their first d; a reader goes on to the next depth
    with probability p. Each ranking holds no item twice.
    """
    if not 0 < persistence < 1:
        raise UsageError(f"the persistence is {persistence:g}, expected a number between 0 and 1")
    short, long = sorted((len(one), len(other)))
    if short == 0:
        return Overlap(0.0, 1.0, 0.0)
    shared = _shared_by_depth(one, other)
    depth = np.arange(1, long + 1)
    weight = (1 - persistence) * persistence ** (depth - 1)
    seen = float(weight @ (shared / depth))
    # sum over d > long of p^(d - 1) / d, from the series of -ln(1 - p)
    rest = -np.log1p(-persistence) / persistence - np.sum(persistence ** (depth - 1) / depth)
    least = seen + float((1 - persistence) * rest * shared[-1])
    most = _most(shared, short, long, persistence)
    expected = shared + np.maximum(depth - short, 0) * shared[short - 1] / short
    extrapolated = (
        float(weight @ (expected / depth)) + persistence**long * float(expected[-1]) / long
    )
    return Overlap(least, max(most - least, 0.0), min(extrapolated, 1.0))


def _shared_by_depth(one: Sequence[int], other: Sequence[int]) -> Floats:
    """X_d for each depth to the longer length; the shorter ranking counts whole below its end."""
    first = {item: index for index, item in enumerate(one)}
    met = np.zeros(max(len(one), len(other)))
    for index, item in enumerate(other):
        if item in first:
            met[max(index, first[item])] += 1
    return np.cumsum(met)


def _most(shared: Floats, short: int, long: int, p: float) -> float:
    """RBO if every unknown item were, as early as can be, one that the other ranking has."""
    full = short + long - int(shared[-1])
    depth = np.arange(1, full + 1)
    seen = np.concatenate([shared, np.full(max(full - long, 0), shared[-1])])[:full]
    unknown = np.maximum(depth - short, 0) + np.maximum(depth - long, 0)
    agreement = np.minimum(depth, seen + unknown) / depth
    return float((1 - p) * p ** (depth - 1) @ agreement + p**full)


# How far the rankings by several risk measures, effectiveness measures or judges agree.


COLUMNS = (
    "measure", "of", "loss", "other_measure", "other_of", "other_loss", "runs", "tau_b", "tau_ap",
    "rbo_min", "rbo_residual", "rbo_ext",
)  # fmt: skip
PERSISTENCE = 0.9


@dataclass(frozen=True)
class Ranking:
    """The runs' values by one risk and one effectiveness measure; NaN where there is none."""

    measure: str
    of: RiskMeasure
    loss: str
    values: Mapping[str, float]

    @cached_property
    def ranked(self) -> dict[str, float]:
        """The values of the runs that have one."""
        return {run: value for run, value in self.values.items() if not isnan(value)}


@dataclass(frozen=True)
class Agreed:
    """Two rankings, over the runs that both have; AP correlation takes the first for the truth."""

    first: int
    second: int
    runs: int
    tau_b: float
    tau_ap: float
    overlap: Overlap


@dataclass(frozen=True, repr=False)
class Agreement(base.Analysis):
    """Every ordered pair of rankings, how they were compared, and what they rest on."""

    rankings: tuple[Ranking, ...]
    pairs: tuple[Agreed, ...]
    baseline: str
    alpha: float
    persistence: float
    depth: int | None

    def displays(self, width: int, /) -> Sequence[Display]:
        """Kendall's tau_b, tau_AP, and RBO: extrapolated, with what is certain and its residual."""
        about = f"baseline {in_title(self.baseline)}, α = {self.alpha:g}"
        seen = "" if self.depth is None else f", first {self.depth} runs"
        rbo = f"RBO, persistence {self.persistence:g}{seen}; {about}"
        tables = [
            (
                f"Kendall's τ_b; {about}",
                lambda pair: decimal(pair.tau_b, 2),
                [*self._extremes(),
                 "1: the same order, -1: the reverse; ties count as ties. A ranking without the "
                 "baseline's own row is compared over the runs that both have."],
            ),
            (
                f"τ_AP; {about}",
                lambda pair: decimal(pair.tau_ap, 2),
                ["The row's ranking is taken for the truth, the column's for the estimate; "
                 "mistakes near the estimate's top weigh most."],
            ),
            (
                f"{rbo}: extrapolated",
                lambda pair: decimal(pair.overlap.extrapolated, 2),
                ["1: the same order, 0: nothing in common; the top weighs most."],
            ),
            (
                f"{rbo}: RBO_min + residual",
                lambda pair: f"{pair.overlap.least:.2f}+{pair.overlap.residual:.2f}",
                ["What is certain, and how much more it could be if the rankings went on."],
            ),
        ]  # fmt: skip
        return [
            display
            for title, show, caption in tables
            for display in folded(self._matrix(title, show, caption), width)
        ]

    def _extremes(self) -> list[str]:
        """Which rankings agree most and least, in words."""
        taus = [
            (pair.tau_b, f"{self._names[pair.first]} and {self._names[pair.second]}")
            for pair in self.pairs
            if pair.first < pair.second and not isnan(pair.tau_b)
        ]
        if len(taus) < 2:
            return []
        ends = (max(taus, key=lambda each: each[0]), min(taus, key=lambda each: each[0]))
        most, least = (f"{names} ({decimal(tau, 2)})" for tau, names in ends)
        return [f"Most alike: {most}; least alike: {least}."]

    def _matrix(self, title: str, show: Callable[[Agreed], str], caption: Sequence[str]) -> Display:
        """Every ranking by every other one."""
        names = self._names
        texts = {(pair.first, pair.second): show(pair) for pair in self.pairs}
        headings = [Heading("", left=True), *(Heading(name.replace(" ", "\n")) for name in names)]
        rows = [
            [name, *(texts.get((row, column), "") for column in range(len(names)))]
            for row, name in enumerate(names)
        ]
        return Display.of_rows(title, headings, rows, caption)

    @cached_property
    def _names(self) -> list[str]:
        """Each ranking's name, as short as it can be told from the others."""
        several = len({ranking.measure for ranking in self.rankings}) > 1
        return [
            (f"{ranking.measure} " if several else "")
            + words_of(ranking.of).title
            + (" s(x)" if ranking.loss != LINEAR else "")
            for ranking in self.rankings
        ]

    def result(self) -> Result:
        """A row an ordered pair."""
        return Result(COLUMNS, [_row(self, pair) for pair in self.pairs], self.provenance)


def ranking_agreement(
    scores: base.Scores,
    baseline: base.Names = None,
    *,
    of: base.Names = None,
    persistence: float = PERSISTENCE,
    depth: int | None = None,
    alpha: float | None = None,
    options: Options | None = None,
) -> Agreement:
    """Compare the rankings by every risk measure (or those of `of`) and effectiveness measure.

    With a smooth loss in the options, its rankings stand beside those of the linear one. RBO looks
    at the first `depth` runs of each (None: all).
    """
    setup = base.set_up(scores, options, baseline, alpha)
    options = setup.options
    if len(options.alphas) != 1:
        raise UsageError(f"rankings are compared at one alpha, found {len(options.alphas)}")
    chosen = base.chosen_measures(of, measures(), "no measure")
    rankings: list[Ranking] = []
    fits: list[base.Fit] = []
    notes: list[Note] = []
    for matrix in setup.matrices:
        refuse_many_pairs(len(matrix.runs), "give fewer runs")
        for loss in dict.fromkeys([LINEAR, options.loss]):
            comparison, *others = comparisons(matrix, replace(options, loss=loss))
            if others:
                raise UsageError("one baseline, or a set of them pooled, is needed here")
            rankings += _rankings(matrix, comparison, loss, options.alphas[0], chosen)
            fits.append((matrix.measure, comparison.baseline.name, comparison.smooth))
            warned = cautions(matrix, comparison, ())
            notes += [note for note in warned if note.code == "negative-score"]
    pairs = [
        _agreed(rankings, first, second, persistence, depth)
        for first, second in permutations(range(len(rankings)), 2)
    ]
    provenance = setup.recorded(
        fits, notes, alphas=list(options.alphas), of=[m.id for m in chosen],
        persistence=persistence, depth=depth,
    )  # fmt: skip
    return Agreement(
        tuple(rankings), tuple(pairs), ", ".join(options.wanted), options.alphas[0], persistence,
        depth, provenance=provenance,
    )  # fmt: skip


def _rankings(
    matrix: ScoreMatrix,
    comparison: Comparison,
    loss: str,
    alpha: float,
    chosen: Sequence[RiskMeasure],
) -> Iterator[Ranking]:
    """One a risk measure; a loss does not touch what is no risk measure."""
    for measure in chosen:
        if loss != LINEAR and not measure.depends_on_alpha:
            continue
        values = measure.of(comparison, alpha if comparison.smooth is None else 0.0)
        if values is not None:
            named = dict(zip(matrix.runs, values.tolist(), strict=True))
            yield Ranking(matrix.measure, measure, loss, named)


def _agreed(
    rankings: Sequence[Ranking], first: int, second: int, persistence: float, depth: int | None
) -> Agreed:
    """Runs that are equal but for rounding are in the order of the first ranking's runs."""
    one, other = rankings[first].ranked, rankings[second].ranked
    runs = [run for run in one if run in other]
    x, y = (np.array([values[run] for run in runs]) for values in (one, other))
    truth, estimate = (np.argsort(-equal_digits(values), kind="stable") for values in (x, y))
    overlap = rank_biased_overlap(truth[:depth].tolist(), estimate[:depth].tolist(), persistence)
    return Agreed(first, second, len(runs), kendall_tau_b(x, y), tau_ap(truth, estimate), overlap)


def _row(agreement: Agreement, pair: Agreed) -> list[Value]:
    one, other = agreement.rankings[pair.first], agreement.rankings[pair.second]
    overlap = pair.overlap
    numbers = (pair.tau_b, pair.tau_ap, overlap.least, overlap.residual, overlap.extrapolated)
    return [
        one.measure, one.of.id, one.loss, other.measure, other.of.id, other.loss, pair.runs,
        *tidy(numbers),
    ]  # fmt: skip
