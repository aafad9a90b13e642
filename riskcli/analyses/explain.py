"""How one run's number and its flag came about, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.analyses.base import (
    Analysis,
    Names,
    Scores,
    chosen_measures,
    one_matrix,
    require_plain,
    set_up,
)
from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.core.messages import UsageError, nearest
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.significance import CORRECTION_TITLES
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix


@dataclass(frozen=True)
class TopicShare:
    """What one topic adds to the value."""

    topic: str
    score: float
    reference: float
    contribution: float


@dataclass(frozen=True)
class Account:
    """The steps to a value, to its test, and the topics that cost it most."""

    run: str
    measure: str
    of: RiskMeasure
    baseline: str
    alpha: float
    steps: tuple[tuple[str, float], ...]
    test: tuple[tuple[str, float], ...]
    verdict: str
    topics: tuple[TopicShare, ...]
    reference_title: str


# An explanation for people: the steps one below the other, then the worst topics.


def displays(found: Account) -> list[Display]:
    """Value, test, and topics."""
    words = words_of(found.of)
    alpha = f", α = {found.alpha:g}" if found.of.depends_on_alpha else ""
    against = f", against {found.baseline}"
    title = f"{words.title} of {found.run} by {found.measure}{alpha}{against}"
    about = [f"{words.title}: {words.summary}.", words.reading]
    if words.formula:
        about = [f"{words.title} = {words.formula}", f"({words.source})", words.reading]
    made = [_steps(title, found.steps, about)]
    if found.test:
        made.append(_steps("Its test", found.test, [found.verdict]))
    if found.topics:
        made.append(_topics(found))
    return made


def _steps(title: str, steps: tuple[tuple[str, float], ...], caption: list[str]) -> Display:
    rows = [[Cell(what), Cell(_shown(value))] for what, value in steps]
    return Display.of_rows(title, [Heading("", left=True), Heading("")], rows, caption)


def _shown(value: float) -> str:
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:g}" if float(value).is_integer() else f"{value:.6g}"


def _topics(found: Account) -> Display:
    headings = [
        Heading("topic", left=True), Heading("score"), Heading(found.reference_title),
        Heading("adds"),
    ]  # fmt: skip
    rows = [
        [
            Cell(share.topic),
            Cell(f"{share.score:.4f}"),
            Cell(f"{share.reference:.4f}"),
            Cell(f"{share.contribution:.4f}"),
        ]
        for share in found.topics
    ]
    return Display.of_rows("The topics that cost most", headings, rows)


# How one run's number and its flag came about, step by step.


COLUMNS = ("run", "measure", "of", "baseline", "alpha", "part", "what", "value")


@dataclass(frozen=True, repr=False)
class Explanation(Analysis, Account):
    """The account of one number, and what it rests on."""

    def displays(self, _width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self)

    def result(self) -> Result:
        """A row a number: `part` is value, test or topic."""
        numbers = [
            *(("value", what, value) for what, value in self.steps),
            *(("test", what, value) for what, value in self.test),
            *(("topic", share.topic, share.contribution) for share in self.topics),
        ]
        values = tidy(value for _, _, value in numbers)
        rows = [
            (self.run, self.measure, self.of.id, self.baseline, self.alpha, part, what, value)
            for (part, what, _), value in zip(numbers, values, strict=True)
        ]
        return Result(
            COLUMNS, rows, self.provenance, extra={"verdict": self.verdict},
        )  # fmt: skip


def explain_run(
    scores: Scores,
    baseline: Names = None,
    *,
    run: str,
    of: str = "georisk",
    worst: int = 5,
    alpha: float | None = None,
    options: Options | None = None,
) -> Explanation:
    """Explain one run's value by the risk measure `of`, against one baseline at one alpha."""
    setup = set_up(scores, options, baseline, alpha)
    options, matrix = setup.options, one_matrix(setup.matrices)
    require_plain(options, "explain")
    (measure,) = chosen_measures(of, measures(), "cannot explain")
    if run not in matrix.runs:
        raise UsageError(f"no run is named {run!r}{nearest(run, matrix.runs)}")
    if len(options.alphas) != 1:
        raise UsageError(f"explain takes one alpha, found {len(options.alphas)}")
    blocks, notes = risk_blocks(matrix, options)
    if len(blocks) != 1:
        raise UsageError("explain takes one baseline, or a set of them pooled")
    row, level = matrix.runs.index(run), options.alphas[0]
    (comparison,) = comparisons(matrix, options)
    if measure.id not in blocks[0].estimates:
        raise UsageError(f"{words_of(measure).title} needs scores of at least 0")
    if measure.paired and comparison.baseline.own_row == row:
        raise UsageError(f"{run} is the baseline itself: it has no {words_of(measure).title}")
    settings = {"run": run, "of": of, "alpha": level, "baselines": list(options.wanted)}
    return Explanation(
        run=run,
        measure=matrix.measure,
        of=measure,
        baseline=blocks[0].baseline,
        alpha=level,
        steps=tuple(_value_steps(comparison, measure, level, row)),
        test=tuple(_test_steps(blocks[0], measure, row, options)),
        verdict=_verdict(blocks[0], measure, row, options),
        topics=_worst_topics(matrix, comparison, measure, level, row, worst),
        reference_title="expected" if measure.nonnegative else "baseline",
        provenance=setup.provenance.adding(settings, notes),
    )


def _value_steps(
    comparison: Comparison, measure: RiskMeasure, alpha: float, row: int
) -> list[tuple[str, float]]:
    """The numbers of the formula; of a measure that does not declare them, only the value."""
    if measure.steps is not None:
        return measure.steps(comparison, alpha, row)
    title, of_baseline = words_of(measure).title, measure.of_baseline(comparison, alpha)
    steps = [] if np.isnan(of_baseline) else [(f"{title} of the baseline", of_baseline)]
    return [*steps, (title, float(measure.values(comparison, alpha)[row]))]


def _test_steps(
    block: Block, measure: RiskMeasure, row: int, options: Options
) -> list[tuple[str, float]]:
    """Difference, error, statistic, degrees of freedom, p, and its correction."""
    known = block.estimates[measure.id]
    if known.p is None or known.p_adjusted is None or np.isnan(known.p[row]):
        return []
    steps: list[tuple[str, float]] = []
    if known.difference is not None and known.difference_error is not None:
        difference, error = float(known.difference[row]), float(known.difference_error[row])
        steps.append(("difference to the baseline", difference))
        if options.significance.test == "jackknife" or measure.statistic is None:
            t = difference / error if error else np.copysign(np.inf, difference)
            steps += [("SE of the difference", error), ("t", t if difference else 0.0)]
    correction = CORRECTION_TITLES[options.significance.correction]
    if known.p_stepped is None:
        steps.append(("degrees of freedom, c - 1", block.topics - 1))
    else:
        shuffles = options.significance.number_of_shuffles
        steps.append(("shuffles of the runs within topics", shuffles))
        correction = "max-t, step-down" if options.significance.correction == "holm" else correction
    steps.append(("p, two-sided", float(known.p[row])))
    steps.append(("tests in the family", known.family))
    steps.append((f"p corrected ({correction})", float(known.p_adjusted[row])))
    return steps


def _verdict(block: Block, measure: RiskMeasure, row: int, options: Options) -> str:
    gamma = options.significance.gamma
    known = block.estimates[measure.id]
    if known.flag is None or known.p_adjusted is None:
        return f"{words_of(measure).title} is not tested by itself."
    if np.isnan(known.p_adjusted[row]):
        return "No test applies to this run."
    flag = str(known.flag[row])
    if not flag:
        return f"No flag: the corrected p is not below γ = {gamma:g}."
    return f"Flag {flag}: the corrected p is below γ = {gamma:g}."


def _worst_topics(
    matrix: ScoreMatrix,
    comparison: Comparison,
    measure: RiskMeasure,
    alpha: float,
    row: int,
    worst: int,
) -> tuple[TopicShare, ...]:
    if measure.contributions is None:
        return ()
    contributions = measure.contributions(comparison, alpha)[row]
    reference = (
        comparison.population.expected[row] if measure.nonnegative else comparison.baseline.scores
    )
    order: Sequence[int] = np.argsort(contributions, kind="stable")[:worst].tolist()
    return tuple(
        TopicShare(
            matrix.topics[topic],
            float(matrix.values[row, topic]),
            float(reference[topic]),
            float(contributions[topic]),
        )
        for topic in order
    )
