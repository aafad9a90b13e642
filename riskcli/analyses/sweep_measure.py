"""How far the rankings by several risk measures, effectiveness measures or judges agree."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from math import isnan

import numpy as np

from riskcli.analyses import base, unjudged
from riskcli.analyses.cautions import cautions
from riskcli.core.limits import refuse_many_pairs
from riskcli.core.messages import Note, UsageError, joined
from riskcli.output.display import (
    Display,
    Heading,
    decimal,
    fitting,
    folded,
    in_title,
    shortened,
)
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, Value, tidy
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import rank
from riskcli.risk.losses import LINEAR
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.rank_agreement import Overlap, kendall_tau_b, rank_biased_overlap, tau_ap
from riskcli.risk.rounding import equal_digits
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "measure", "of", "loss", "other_measure", "other_of", "other_loss", "runs", "tau_b", "tau_ap",
    "rbo_min", "rbo_residual", "rbo_ext",
)  # fmt: skip
PERSISTENCE = 0.9
_MOST_NAMED = 5
"""Rankings that a sentence names; more are counted."""


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

    @cached_property
    def places(self) -> dict[str, int]:
        """The rank of each run that has one, the best first."""
        known = self.ranked
        order = rank(np.array([*known.values()])).tolist() if known else []
        return dict(sorted(zip(known, map(int, order), strict=True), key=lambda each: each[1]))

    @property
    def first(self) -> list[str]:
        """The run of rank 1, or all that share it."""
        return [run for run, place in self.places.items() if place == 1]


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

    @property
    def verdict(self) -> Statements:
        """Who is first by which ranking, and which rankings agree most and least."""
        return Statements((*self._firsts(), *self._extremes()))

    def displays(self, width: int, /) -> Sequence[Display]:
        """Who is first by each ranking; then how every two of them agree."""
        return [*self.screen(width), *self._matrices(width)]

    def screen(self, _width: int, /) -> Sequence[Display]:
        """Who is first by each ranking."""
        return [replace(self._answer(), verdict=self.verdict.sentences)]

    def _answer(self) -> Display:
        """The first runs by each ranking, and which other ranking is most like it."""
        headings = [
            Heading("ranking", left=True, names=True), Heading("first", left=True, names=True),
            Heading("second", left=True, names=True, optional=True),
            Heading("third", left=True, names=True, optional=True),
            Heading("most like", left=True, names=True), Heading("τ_b"),
        ]  # fmt: skip
        rows = []
        for number, ranking in enumerate(self.rankings):
            first = [*_first_runs(ranking), "–", "–", "–"][:3]
            alike = self._most_like(number)
            other = self._names[alike.second] if alike else "–"
            rows.append(
                [self._names[number], *first, other, decimal(alike.tau_b if alike else None, 2)]
            )
        caption = ["= the same value as the run before it. τ_b, τ_AP and RBO of all pairs: --full."]
        title = f"Who is first; baseline {in_title(self.baseline)}, α = {self.alpha:g}"
        return Display.of_rows(title, headings, rows, caption)

    def _most_like(self, number: int) -> Agreed | None:
        mine = [pair for pair in self.pairs if pair.first == number and not isnan(pair.tau_b)]
        return max(mine, key=lambda pair: pair.tau_b, default=None)

    def _firsts(self) -> Iterator[Statement]:
        """Who is first by all rankings, or by which, or by how many where they are many."""
        by_run: dict[str, list[str]] = {}
        for name, ranking in zip(self._names, self.rankings, strict=True):
            for run in ranking.first:
                by_run.setdefault(run, []).append(name)
        count = len(self.rankings)
        runs = tuple(sorted(by_run, key=lambda run: -len(by_run[run])))
        numbers = {"rankings": float(count)}
        if not runs:
            return
        if all(len(by_run[run]) == count for run in runs):
            verb = "is" if len(runs) == 1 else "are"
            text = f"{joined([*map(shortened, runs)])} {verb} first by every ranking."
            yield Statement("first-by-all", text, "", runs, (), numbers)
            return
        parts = [f"{shortened(run)} by {joined(by_run[run])}" for run in runs]
        if count > _MOST_NAMED:
            parts = [f"{shortened(run)} by {len(by_run[run])}" for run in runs]
            parts[0] += f" of {count} rankings"
        text = f"Who is first depends on the measure: {fitting(parts, 110)}{self._unranked(runs)}."
        yield Statement("first-by", text, "", runs, (), numbers)

    def _unranked(self, runs: Sequence[str]) -> str:
        """A baseline that is first by some rankings has no place in those of differences to it."""
        for run in runs:
            pairs = zip(self._names, self.rankings, strict=True)
            without = [name for name, ranking in pairs if run not in ranking.ranked]
            if without:
                named = (
                    joined(without) if len(without) <= _MOST_NAMED else f"{len(without)} of them"
                )
                return f"; {shortened(run)} has no place by {named}"
        return ""

    def _extremes(self) -> Iterator[Statement]:
        """Which rankings agree most and least."""
        pairs = [pair for pair in self.pairs if pair.first < pair.second and not isnan(pair.tau_b)]
        if len(pairs) < 2:
            return
        most, least = (end(pairs, key=lambda pair: pair.tau_b) for end in (max, min))
        names = [f"{self._names[p.first]} and {self._names[p.second]}" for p in (most, least)]
        yield Statement(
            "rankings-agree",
            f"The rankings by {names[0]} agree most (Kendall's tau {decimal(most.tau_b, 2)}), "
            f"those by {names[1]} least ({decimal(least.tau_b, 2)}).",
            numbers={"most": most.tau_b, "least": least.tau_b},
        )

    def _matrices(self, width: int) -> Sequence[Display]:
        """Kendall's tau_b, tau_AP, and RBO: extrapolated, with what is certain and its residual."""
        about = f"baseline {in_title(self.baseline)}, α = {self.alpha:g}"
        seen = "" if self.depth is None else f", first {self.depth} runs"
        rbo = f"RBO, persistence {self.persistence:g}{seen}; {about}"
        tables = [
            (
                f"Kendall's τ_b; {about}",
                lambda pair: decimal(pair.tau_b, 2),
                ["1: the same order, -1: the reverse; ties count as ties. A ranking without the "
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


def _first_runs(ranking: Ranking) -> list[str]:
    """The first three; a sign at those that share the rank of the run before."""
    runs = [*ranking.places.items()][:3]
    before = [None, *(place for _, place in runs)]
    return [
        f"{'= ' if place == last else ''}{shortened(run)}"
        for (run, place), last in zip(runs, before, strict=False)
    ]


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
        notes += unjudged.notes(matrix, comparison)
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
