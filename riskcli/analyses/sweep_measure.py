"""How far the rankings by several risk measures, effectiveness measures or judges agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import isnan

import numpy as np

from riskcli.analyses.base import (
    Analysis,
    Fit,
    Names,
    Scores,
    chosen_measures,
    described,
    loss_record,
    set_up,
)
from riskcli.analyses.cautions import cautions
from riskcli.analyses.rank_agreement import (
    Agreed,
    ComparedRankings,
    Ranking,
    kendall_tau_b,
    rank_biased_overlap,
    tau_ap,
)
from riskcli.core.limits import refuse_many_pairs
from riskcli.core.messages import Note, UsageError
from riskcli.output.display import Cell, Display, Heading, decimal, folded, in_title
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.losses import LINEAR
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

Show = Callable[[Agreed], str]


def displays(agreement: ComparedRankings, width: int) -> list[Display]:
    """Kendall's tau_b, tau_AP, and RBO: extrapolated, with what is certain and its residual."""
    about = f"baseline {in_title(agreement.baseline)}, α = {agreement.alpha:g}"
    seen = "" if agreement.depth is None else f", first {agreement.depth} runs"
    rbo = f"RBO, persistence {agreement.persistence:g}{seen}; {about}"
    tables = [
        (
            f"Kendall's τ_b; {about}",
            lambda pair: decimal(pair.tau_b, 2),
            [*_extremes(agreement),
             "1: the same order, -1: the reverse; ties count as ties. A ranking without the "
             "baseline's own row is compared over the runs that both have."],
        ),
        (
            f"τ_AP; {about}",
            lambda pair: decimal(pair.tau_ap, 2),
            ["The row's ranking is taken for the truth, the column's for the estimate; mistakes "
             "near the estimate's top weigh most."],
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
    made: list[Display] = []
    for title, show, caption in tables:
        made += folded(_matrix(agreement, title, show, caption), width)
    return made


def _extremes(agreement: ComparedRankings) -> list[str]:
    """Which rankings agree most and least, in words."""
    names = [_name(ranking, agreement.rankings) for ranking in agreement.rankings]
    known = [
        (pair.tau_b, f"{names[pair.first]} and {names[pair.second]} ({decimal(pair.tau_b, 2)})")
        for pair in agreement.pairs
        if pair.first < pair.second and not isnan(pair.tau_b)
    ]
    if len(known) < 2:
        return []
    most, least = max(known, key=lambda each: each[0]), min(known, key=lambda each: each[0])
    return [f"Most alike: {most[1]}; least alike: {least[1]}."]


def _matrix(agreement: ComparedRankings, title: str, show: Show, caption: Sequence[str]) -> Display:
    names = [_name(ranking, agreement.rankings) for ranking in agreement.rankings]
    found = {(pair.first, pair.second): pair for pair in agreement.pairs}
    headings = [Heading("", left=True), *(Heading(name.replace(" ", "\n")) for name in names)]
    rows = []
    for row, name in enumerate(names):
        cells = [
            Cell("") if row == column else Cell(show(found[row, column]))
            for column in range(len(names))
        ]
        rows.append([Cell(name), *cells])
    return Display.of_rows(title, headings, rows, caption)


def _name(ranking: Ranking, everyone: Sequence[Ranking]) -> str:
    """As short as it can be told from the others."""
    parts = []
    if len({other.measure for other in everyone}) > 1:
        parts.append(ranking.measure)
    parts.append(words_of(ranking.of).title)
    if ranking.loss != LINEAR:
        parts.append("s(x)")
    return " ".join(parts)


# How far rankings agree: by several risk measures, effectiveness measures and loss functions.


COLUMNS = (
    "measure", "of", "loss", "other_measure", "other_of", "other_loss", "runs", "tau_b", "tau_ap",
    "rbo_min", "rbo_residual", "rbo_ext",
)  # fmt: skip
PERSISTENCE = 0.9


@dataclass(frozen=True, repr=False)
class Agreement(Analysis, ComparedRankings):
    """Every ordered pair of rankings, and what they rest on."""

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self, width)

    def result(self) -> Result:
        """A row an ordered pair."""
        rows = [_row(self, pair) for pair in self.pairs]
        return Result(COLUMNS, rows, self.provenance)


def ranking_agreement(
    scores: Scores,
    baseline: Names = None,
    *,
    of: Names = None,
    persistence: float = PERSISTENCE,
    depth: int | None = None,
    alpha: float | None = None,
    options: Options | None = None,
) -> Agreement:
    """Compare the rankings by every risk measure (or those of `of`) and effectiveness measure.

    With a smooth loss in the options, its rankings stand beside those of the linear one. RBO looks
    at the first `depth` runs of each (None: all).
    """
    setup = set_up(scores, options, baseline, alpha)
    options = setup.options
    if len(options.alphas) != 1:
        raise UsageError(f"rankings are compared at one alpha, found {len(options.alphas)}")
    chosen = chosen_measures(of, measures(), "no measure")
    rankings: list[Ranking] = []
    fits: list[Fit] = []
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
    record, doubts = loss_record(fits, options.loss)
    settings = {**described(options), **record, "alphas": list(options.alphas)}
    settings |= {"of": [m.id for m in chosen], "persistence": persistence, "depth": depth}
    return Agreement(
        tuple(rankings), tuple(pairs), ", ".join(options.wanted), options.alphas[0], persistence,
        depth, provenance=setup.provenance.adding(settings, [*notes, *doubts]),
    )  # fmt: skip


def _only_comparison(matrix: ScoreMatrix, options: Options) -> Comparison:
    found = comparisons(matrix, options)
    if len(found) != 1:
        raise UsageError("one baseline, or a set of them pooled, is needed here")
    return found[0]


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
