"""Before the run: topics that a loss or a margin needs, and the loss that given topics detect."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from riskcli.analyses import base
from riskcli.analyses.base import Names, Scores
from riskcli.analyses.power_questions import Answer as Answer
from riskcli.analyses.power_questions import Questions as Questions
from riskcli.analyses.power_verdict import Needed
from riskcli.core.arrays import Floats
from riskcli.core.choices import PopulationRule, is_virtual, population_in_words
from riskcli.core.limits import refuse_many_pairs
from riskcli.core.messages import Note, UsageError, counted
from riskcli.output.display import Display, Heading, folded
from riskcli.output.measure_words import about_logarithms, words_of
from riskcli.output.result import Result
from riskcli.output.verdict import Statements
from riskcli.risk.comparison import Baseline, Comparison
from riskcli.risk.estimate import Significance
from riskcli.risk.inference import Inference
from riskcli.risk.intervals import degrees_by_kurtosis
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures, statistics
from riskcli.risk.paired import (
    MOST_TOPICS,
    RANGE,
    USUAL_POWER,
    smallest_loss,
    spread_range,
)
from riskcli.risk.population import Members
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.weights import deviations, effective_topics, spread
from riskcli.scores.comparisons import Options, frozen_members, named_rows
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "measure", "of", "alpha", "pairs", "topics", "share", "spread", "level", "power", "question",
    "size", "count", "size_lo", "size_hi", "count_lo", "count_hi",
)  # fmt: skip
USUAL_LOSSES = (0.01, 0.02, 0.05)
USUAL_COUNTS = (25, 50, 100, 200)
SHARES = (0.5, 0.9)
"""For these shares of the pairs of runs, in order of their spread, an answer is enough."""


@dataclass(frozen=True)
class Prospect:
    """The answers by one measure and risk measure, enough for a share of the pairs."""

    measure: str
    of: RiskMeasure
    alpha: float | None
    pairs: int
    left_out: int
    """Pairs of equal runs, and such as cannot be tested."""
    topics: int
    effective_topics: float
    share: float
    spread: float
    """A difference's standard error times the root of the number of topics."""
    ends: tuple[float, float]
    """Where the true spread lies in 9 of 10 cases: past topics are a sample."""
    answers: tuple[Answer, ...]


@dataclass(frozen=True, repr=False)
class PowerTable(base.Analysis):
    """What tests of differences like those of past runs will see."""

    prospects: tuple[Prospect, ...]
    questions: Questions
    tests: int
    population: str | None = None
    """The frozen population that GeoRisk is measured in; None: that of each pair alone."""

    def displays(self, width: int) -> Sequence[Display]:
        """A table for each effectiveness measure, given the width that it may take."""
        return [
            table
            for measure in dict.fromkeys(prospect.measure for prospect in self.prospects)
            for table in folded(
                replace(self._table(measure), verdict=self.verdict.of(measure).sentences),
                width,
                fixed=3,
            )
        ]

    @property
    def verdict(self) -> Statements:
        """What most pairs of runs need, by the mean if it is there."""
        by_measure: dict[str, Prospect] = {}
        for each in sorted(self.prospects, key=lambda one: (not one.of.plain_mean, -one.share)):
            by_measure.setdefault(each.measure, each)
        return Statements(tuple(s for e in by_measure.values() for s in self._said(e).statements()))

    def _said(self, each: Prospect) -> Needed:
        asked = self.questions
        losses, margins = (
            [(a.size, a.count) for a in each.answers if a.question == name and a.size is not None]
            for name in ("loss", "margin")
        )
        seen = smallest_loss(each.spread, each.effective_topics, asked.level, asked.power)
        of, share = words_of(each.of).title, share_in_words(each.share)
        return Needed(
            each.measure, of, share, asked.power, losses, margins, each.topics, seen
        )  # fmt: skip

    def _table(self, measure: str) -> Display:
        prospects = [prospect for prospect in self.prospects if prospect.measure == measure]
        headings: list[str | Heading] = [
            Heading("", left=True, names=True), Heading("pairs\nof runs", left=True, names=True),
            "spread", *map(_heading, prospects[0].answers),
        ]  # fmt: skip
        rows = [
            [words_of(each.of).title, share_in_words(each.share), f"{each.spread:.4f}",
             *map(_shown, each.answers)]
            for each in prospects
        ]  # fmt: skip
        title = f"{measure}: what a test detects with power {self.questions.power:g}"
        return Display.of_rows(title, headings, rows, list(self._caption(prospects)))

    def _caption(self, prospects: Sequence[Prospect]) -> Iterator[str]:
        first = prospects[0]
        yield (
            f"From {counted(first.pairs, 'pair')} of runs on {counted(first.topics, 'topic')}. "
            "Spread: standard deviation of the difference over topics (GeoRisk: its jackknife "
            "error times the root of the number of topics); half and 9 of 10 of the pairs have no "
            "larger one."
        )
        if self.questions.losses:
            yield "Loss: number of topics that detect a true loss of that size."
        if self.questions.margins:
            yield "Margin: number of topics with which a candidate without a loss passes."
        if self.questions.counts:
            yield "Topics: the smallest true loss that this number of topics detects."
        if self.questions.losses or self.questions.margins:
            yield (
                f"Past topics are a sample: in {share_in_words(RANGE)} cases the true number of "
                f"topics is the one shown times {_multiples(prospects)}."
            )
        corrected = f", the level of the first of {self.tests} tests by Holm."
        level = f"One-sided t test at {self.questions.level:.2g}"
        yield level + (corrected if self.tests > 1 else ".")
        if self.population and not all(prospect.of.plain_mean for prospect in self.prospects):
            yield f"Population of GeoRisk: {population_in_words(self.population)}."
        if first.effective_topics != first.topics:
            yield (
                f"Topics have weights: {first.topics} count as {first.effective_topics:.3g} of "
                "equal weight. The spread is by effective topics; numbers of topics are of such "
                "as have weights like these."
            )
        yield from about_logarithms([first.measure])

    def result(self) -> Result:
        """A row an answer."""
        rows = [
            [one.measure, one.of.id, one.alpha, one.pairs, one.topics, one.share, one.spread,
             self.questions.level, self.questions.power, answer.question, answer.size, answer.count,
             *_ends(answer)]
            for one in self.prospects
            for answer in one.answers
        ]  # fmt: skip
        return Result(COLUMNS, rows, self.provenance)


def share_in_words(share: float) -> str:
    """`half`, `9 of 10`."""
    return {0.5: "half", 1.0: "the one"}.get(share, f"{share * 10:g} of 10")


def _multiples(prospects: Sequence[Prospect]) -> str:
    """The ranges of numbers of topics, which grow with the square of the spread."""
    ends = [[(end / each.spread) ** 2 for end in each.ends] for each in prospects]
    return ", ".join(
        f"{low:.1f}–{high:.1f} ({words_of(each.of).title}, {share_in_words(each.share)})"
        for each, (low, high) in zip(prospects, ends, strict=True)
    )


def _ends(answer: Answer) -> tuple[float | None, ...]:
    """The ranges of size and count, one of which was given."""
    none = (None, None)
    by_size = answer.question == "topics"
    return (*answer.range, *none) if by_size else (*none, *answer.range)


def _heading(answer: Answer) -> str:
    if answer.question == "topics":
        return f"{answer.count}\ntopics"
    return f"{answer.question}\n{answer.size:g}"


def _shown(answer: Answer) -> str:
    if answer.question == "topics":
        return "–" if answer.size is None else f"{answer.size:.2g}"
    return f"> {MOST_TOPICS:.0e}" if answer.count is None else f"{answer.count}"


def power_table(
    scores: Scores,
    baseline: Names = None,
    *,
    losses: Sequence[float] = USUAL_LOSSES,
    margins: Sequence[float] = (),
    counts: Sequence[int] = USUAL_COUNTS,
    of: Names = None,
    power: float = USUAL_POWER,
    tests: int = 1,
    alpha: float | None = None,
    options: Options | None = None,
) -> PowerTable:
    """The topics that show a loss or settle a margin, and the losses that `counts` topics show.

    Past scores tell how much differences vary over topics: those of every pair of runs, or of the
    baseline and every other run. `tests` is how many the gate will correct for: candidates times
    tests of its policy times measures. GeoRisk is measured as the gate does: in the matrix of the
    two runs of a pair, or in the frozen population of the options.
    """
    setup = base.set_up(scores, options, baseline, alpha, noting=False)
    options, gamma = setup.options, setup.options.significance.gamma
    base.require_plain(options, "power")
    base.one_alpha(options, "power")
    if tests < 1:
        raise UsageError(f"{tests} tests, expected 1 or more")
    questions = Questions(tuple(losses), tuple(margins), tuple(counts), gamma / tests, power)
    able = [m for m in measures() if m.plain_mean or words_of(m).headline]
    chosen = base.chosen_measures(of, able, "power is not available for")
    prospects: list[Prospect] = []
    notes: list[Note] = []
    for matrix in setup.matrices:
        for measure in chosen:
            of_measure = _prospects(matrix, measure, options, questions)
            prospects += of_measure
            notes += _notes(matrix.measure, words_of(measure).title, of_measure)
    if not prospects:
        raise UsageError("no two runs differ in a way that could be tested: give more past runs")
    frozen = options.population if isinstance(options.population, FrozenPopulation) else None
    settings = {
        "baselines": list(options.wanted) if options.baselines else None,
        "alphas": list(options.alphas), "gamma": gamma, "tests": tests, "power": power,
        "population": base.population_record(options) if frozen else "pair",
    }  # fmt: skip
    provenance = setup.provenance.adding(settings, notes)
    name = frozen.name if frozen else None
    return PowerTable(tuple(prospects), questions, tests, name, provenance=provenance)


def _notes(measure: str, title: str, prospects: Sequence[Prospect]) -> Iterator[Note]:
    if not prospects:
        message = f"{measure}: no pair of runs can be tested by {title}; it is left out"
        yield Note("no-power", message)
    elif prospects[0].left_out:
        pairs = counted(prospects[0].left_out, "pair")
        message = f"{measure}, {title}: {pairs} of runs left out, equal or not testable"
        yield Note("equal-pairs", message, warning=False)


def _prospects(
    matrix: ScoreMatrix, of: RiskMeasure, options: Options, questions: Questions
) -> list[Prospect]:
    """One for each share of the pairs; none where no pair differs."""
    rows, frozen = _paired_rows(matrix, options.baselines), options.population
    if frozen == "all":
        raise UsageError(
            "power measures each pair of runs alone: its population is baselines, or a frozen one"
        )
    members = frozen_members(frozen, matrix) if isinstance(frozen, FrozenPopulation) else None
    all_pairs, degrees = pair_spreads(matrix, of, options.alphas[0], rows, members)
    differ = all_pairs > NO_DIFFERENCE
    varying, degrees = all_pairs[differ], degrees[differ]
    if not len(varying):
        return []
    alpha = options.alphas[0] if of.depends_on_alpha else None
    order = np.argsort(varying, kind="stable")
    topics = len(matrix.topics)
    effective = effective_topics(topics, matrix.weights)
    prospects = []
    for share in SHARES if len(varying) > 1 else (1.0,):
        pair = order[ceil(share * len(varying)) - 1]
        spread = float(varying[pair])
        ends = spread_range(spread, float(degrees[pair]))
        prospects.append(
            Prospect(
                matrix.measure, of, alpha, len(varying), len(all_pairs) - len(varying),
                topics, effective, share, spread, ends,
                tuple(questions.answers(spread, ends, topics / effective)),
            )
        )  # fmt: skip
    return prospects


def _paired_rows(matrix: ScoreMatrix, baselines: Sequence[str]) -> Sequence[int]:
    """The runs whose pairs with all others count: the baselines, or every run."""
    if len(matrix.topics) < 2:
        raise UsageError("past scores on one topic do not tell how differences vary")
    for name in baselines:
        if is_virtual(name):
            raise UsageError(f"power compares pairs of runs, found the baseline {name}")
    matrix.check_finite()
    if baselines:
        return named_rows(matrix.runs, baselines)
    refuse_many_pairs(len(matrix.runs), "name a --baseline to pair each run with it")
    return range(len(matrix.runs))


def pair_spreads(
    matrix: ScoreMatrix,
    of: RiskMeasure,
    alpha: float,
    rows: Sequence[int],
    members: Members | None,
) -> tuple[Floats, Floats]:
    """The spread of every pair of a run in `rows` and another run, each pair once.

    Beside them are the degrees of freedom of their squares, by kurtosis.

    Each pair is measured in the matrix of its two runs alone, or within the `members` of a frozen
    population, as the gate does. NaN where the test is undefined; scores below 0 give NaN where
    the risk measure cannot take them.
    """
    spreads = [np.empty((2, 0))]
    for index, row in enumerate(rows, start=1):
        others = np.setdiff1d(np.arange(len(matrix.runs)), rows[:index])
        spreads.append(np.array(_spreads_to(matrix, of, alpha, row, members))[:, others])
    found, degrees = np.concatenate(spreads, axis=1)
    return found, degrees


def _spreads_to(
    matrix: ScoreMatrix, of: RiskMeasure, alpha: float, row: int, members: Members | None
) -> tuple[Floats, Floats]:
    """The spread of each run's difference to the run `row`, and its degrees of freedom."""
    values = matrix.values
    if of.plain_mean:
        apart, weights = values - values[row], matrix.weights
        off = apart if weights is None else deviations(apart, weights)
        return spread(apart, weights), degrees_by_kurtosis(off)
    baseline = Baseline(matrix.runs[row], (row,), values[row])
    rule: PopulationRule = "all" if members else "baselines"
    weights = matrix.weights
    comparison = Comparison(values, baseline, rule, (row,), members=members, weights=weights)
    inference = Inference(comparison, Significance(), statistics(), (alpha,), ranked=False)
    estimate = of.estimate(comparison, alpha, inference)
    error = None if estimate is None else estimate.difference_error
    if error is None or of.statistic is None:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    degrees = degrees_by_kurtosis(inference.jackknife.differences(of.statistic, alpha))
    return np.asarray(error * np.sqrt(comparison.effective_topics)), degrees
