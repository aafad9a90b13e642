"""How far the rankings by several risk measures, effectiveness measures or judges agree."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from math import isnan

import numpy as np

from riskcli.analyses import base
from riskcli.analyses.cautions import cautions
from riskcli.analyses.rank_agreement import Overlap, kendall_tau_b, rank_biased_overlap, tau_ap
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

    def order(self, runs: Sequence[str]) -> list[str]:
        """The runs from best to worst; those equal but for rounding as they are given."""
        values = dict(
            zip(runs, equal_digits(np.array([self.values[run] for run in runs])), strict=True)
        )
        return sorted(runs, key=lambda run: -values[run])

    @property
    def ranked(self) -> set[str]:
        """The runs that have a value."""
        return {run for run, value in self.values.items() if not np.isnan(value)}


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
        return Display.of_texts(title, headings, rows, caption)

    @cached_property
    def _names(self) -> list[str]:
        """Each ranking's name, as short as it can be told from the others."""
        several = len({ranking.measure for ranking in self.rankings}) > 1
        return [
            " ".join(
                [ranking.measure] * several
                + [words_of(ranking.of).title]
                + ["s(x)"] * (ranking.loss != LINEAR)
            )
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
            comparison = _only_comparison(matrix, replace(options, loss=loss))
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


def _only_comparison(matrix: ScoreMatrix, options: Options) -> Comparison:
    compared = comparisons(matrix, options)
    if len(compared) != 1:
        raise UsageError("one baseline, or a set of them pooled, is needed here")
    return compared[0]


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
    one, other = rankings[first], rankings[second]
    runs = [run for run in one.values if run in one.ranked and run in other.ranked]
    x, y = (np.array([ranking.values[run] for run in runs]) for ranking in (one, other))
    index = {run: number for number, run in enumerate(runs)}
    orders = [[index[run] for run in ranking.order(runs)] for ranking in (one, other)]
    overlap = rank_biased_overlap(orders[0][:depth], orders[1][:depth], persistence)
    truth, estimate = (np.array(order, dtype=np.intp) for order in orders)
    return Agreed(first, second, len(runs), kendall_tau_b(x, y), tau_ap(truth, estimate), overlap)


def _row(agreement: Agreement, pair: Agreed) -> list[Value]:
    one, other = agreement.rankings[pair.first], agreement.rankings[pair.second]
    overlap = pair.overlap
    numbers = (pair.tau_b, pair.tau_ap, overlap.least, overlap.residual, overlap.extrapolated)
    return [
        one.measure, one.of.id, one.loss, other.measure, other.of.id, other.loss, pair.runs,
        *tidy(numbers),
    ]  # fmt: skip
