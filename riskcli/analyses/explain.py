"""How one run's number and its flag came about, step by step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from riskcli.analyses import base, unjudged
from riskcli.analyses.base import Names, Scores
from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.analyses.query_texts import COLUMN, QueryTexts
from riskcli.core.messages import UsageError, nearest
from riskcli.output.display import Display, Heading
from riskcli.output.measure_words import about_logarithms, words_of
from riskcli.output.result import Result, tidy
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import CORRECTION_TITLES, Significance
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

Steps = Sequence[tuple[str, float]]
"""What each number is, and the number."""
COLUMNS = ("run", "measure", "of", "baseline", "alpha", "part", "what", "value")


@dataclass(frozen=True)
class TopicShare:
    """What one topic adds to the value."""

    topic: str
    score: float
    reference: float
    contribution: float


@dataclass(frozen=True, repr=False)
class Explanation(base.Analysis):
    """The steps to a value, to its test, and the topics that cost it most."""

    run: str
    measure: str
    of: RiskMeasure
    baseline: str
    alpha: float
    steps: Steps
    test: Steps
    outcome: str
    topics: tuple[TopicShare, ...]
    queries: QueryTexts = field(default_factory=QueryTexts)

    @property
    def verdict(self) -> Statements:
        """What the test says."""
        said = Statement("test", self.outcome, runs=(self.run,)) if self.outcome else None
        return Statements((said,) if said else ())

    def displays(self, width: int, /) -> Sequence[Display]:
        """Value, test, and topics."""
        words = words_of(self.of)
        alpha = f", α = {self.alpha:g}" if self.of.depends_on_alpha else ""
        title = f"{words.title} of {self.run} by {self.measure}{alpha}, against {self.baseline}"
        about = [f"{words.title}: {words.summary}.", words.reading]
        if words.formula:
            about = [f"{words.title} = {words.formula}", f"({words.source})", words.reading]
        about += about_logarithms([self.measure])
        tables = [_display(title, self.steps, about)]
        if self.test:
            tables.append(_display("Its test", self.test, [self.outcome]))
        if self.topics:
            tables.append(self._topics_display(width))
        return tables

    def _topics_display(self, width: int) -> Display:
        reference = "expected" if self.of.nonnegative else "baseline"
        titles = ("score", reference, "adds")
        rows = [
            [share.topic, *map("{:.4f}".format, (share.score, share.reference, share.contribution))]
            for share in self.topics
        ]
        heading = Heading("topic", left=True)
        shown = Display.of_rows("The topics that cost most", [heading, *titles], rows)
        topics = [share.topic for share in self.topics]
        return replace(shown, columns=self.queries.beside(shown.columns, topics, width))

    def result(self) -> Result:
        """A row a number: `part` is value, test or topic."""
        numbers = [
            *(("value", what, value) for what, value in self.steps),
            *(("test", what, value) for what, value in self.test),
            *(("topic", share.topic, share.contribution) for share in self.topics),
        ]
        head = (self.run, self.measure, self.of.id, self.baseline, self.alpha)
        values = tidy(value for _, _, value in numbers)
        rows = [(*head, *names[:2], value) for names, value in zip(numbers, values, strict=True)]
        extra = {"verdict": self.outcome}
        if not self.queries.given:
            return Result(COLUMNS, rows, self.provenance, extra)
        texts: list[str | None] = [None] * (len(rows) - len(self.topics))
        texts += [self.queries.of_topic(share.topic) for share in self.topics]
        with_texts = [(*row, text) for row, text in zip(rows, texts, strict=True)]
        return Result((*COLUMNS, COLUMN), with_texts, self.provenance, extra)


def _display(title: str, steps: Steps, caption: list[str]) -> Display:
    rows = [[what, _number(value)] for what, value in steps]
    return Display.of_rows(title, [Heading("", left=True), ""], rows, caption)


def _number(value: float) -> str:
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:g}" if float(value).is_integer() else f"{value:.6g}"


def explain_run(
    scores: Scores,
    baseline: Names = None,
    *,
    run: str,
    of: str | None = None,
    worst: int = 5,
    alpha: float | None = None,
    options: Options | None = None,
    queries: Mapping[str, str] | None = None,
) -> Explanation:
    """Explain one run's value by the risk measure `of`, against one baseline at one alpha.

    By default that is GeoRisk, and the mean where scores are below 0. `queries` are the texts of
    topics.
    """
    setup = base.set_up(scores, options, baseline, alpha)
    options, matrix = setup.options, base.one_matrix(setup.matrices)
    base.require_plain(options, "explain")
    of = of or ("mean" if matrix.has_negative else "georisk")
    (measure,) = base.chosen_measures(of, measures(), "cannot explain")
    if run not in matrix.runs:
        raise UsageError(f"no run is named {run!r}{nearest(run, matrix.runs)}")
    level, row = base.one_alpha(options, "explain"), matrix.runs.index(run)
    blocks, notes = risk_blocks(matrix, options)
    if len(blocks) != 1:
        raise UsageError("explain takes one baseline, or a set of them pooled")
    (block,), (comparison,) = blocks, comparisons(matrix, options)
    notes += unjudged.notes(matrix, comparison, [row])
    title = words_of(measure).title
    if measure.id not in block.estimates:
        raise UsageError(f"{title} needs scores of at least 0")
    if measure.paired and comparison.baseline.own_row == row:
        raise UsageError(f"{run} is the baseline itself: it has no {title}")
    settings = {"run": run, "of": of, "alpha": level, "baselines": list(options.wanted)}
    topics = tuple(_worst_topics(matrix, comparison, measure, level, row))[:worst]
    texts = QueryTexts.of(queries, matrix.topics)
    return Explanation(
        run=run,
        measure=matrix.measure,
        of=measure,
        baseline=block.baseline,
        alpha=level,
        steps=_value_steps(comparison, measure, level, row),
        test=list(_test_steps(block, measure, row, options.significance, comparison.degrees)),
        outcome=_verdict(block, measure, row, options.significance.gamma),
        topics=topics,
        queries=texts,
        provenance=setup.provenance.adding(settings, [*notes, *texts.notes(matrix.topics)]),
    )


def _value_steps(comparison: Comparison, measure: RiskMeasure, alpha: float, row: int) -> Steps:
    """The numbers of the formula; of a measure that does not declare them, only the value."""
    if measure.steps is not None:
        return measure.steps(comparison, alpha, row)
    title, of_baseline = words_of(measure).title, measure.of_baseline(comparison, alpha)
    steps = [] if np.isnan(of_baseline) else [(f"{title} of the baseline", of_baseline)]
    return [*steps, (title, float(measure.values(comparison, alpha)[row]))]


def _test_steps(
    block: Block, measure: RiskMeasure, row: int, plan: Significance, degrees: float
) -> Iterator[tuple[str, float]]:
    """Difference, error, statistic, degrees of freedom, p, and its correction."""
    estimate = block.estimates[measure.id]
    if estimate.p is None or estimate.p_adjusted is None or np.isnan(estimate.p[row]):
        return
    if estimate.difference is not None and estimate.difference_error is not None:
        difference, error = float(estimate.difference[row]), float(estimate.difference_error[row])
        yield "difference to the baseline", difference
        if plan.test == "jackknife" or measure.statistic is None:
            t = difference / error if error else np.copysign(np.inf, difference)
            yield "SE of the difference", error
            yield "t", t if difference else 0.0
    correction = CORRECTION_TITLES[plan.correction]
    if estimate.p_stepped is None:
        what = "c - 1" if float(degrees).is_integer() else "effective topics - 1"
        yield f"degrees of freedom, {what}", degrees
    else:
        yield "shuffles of the runs within topics", plan.number_of_shuffles
        correction = "max-t, step-down" if plan.correction == "holm" else correction
    yield "p, two-sided", float(estimate.p[row])
    yield "tests in the family", estimate.family
    yield f"p corrected ({correction})", float(estimate.p_adjusted[row])


def _verdict(block: Block, measure: RiskMeasure, row: int, gamma: float) -> str:
    estimate = block.estimates[measure.id]
    if estimate.flag is None or estimate.p_adjusted is None:
        return f"{words_of(measure).title} is not tested by itself."
    if np.isnan(estimate.p_adjusted[row]):
        return "No test applies to this run."
    flag = estimate.flag[row]
    beginning = f"Flag {flag}: the corrected p is" if flag else "No flag: the corrected p is not"
    return f"{beginning} below γ = {gamma:g}."


def _worst_topics(
    matrix: ScoreMatrix, comparison: Comparison, measure: RiskMeasure, alpha: float, row: int
) -> Iterator[TopicShare]:
    """The topics by what they add, the one that costs most first."""
    if measure.contributions is None:
        return
    contributions = measure.contributions(comparison, alpha)[row]
    population, baseline = comparison.population, comparison.baseline
    reference = population.expected[row] if measure.nonnegative else baseline.scores
    for i in np.argsort(contributions, kind="stable").tolist():
        numbers = (matrix.values[row, i], reference[i], contributions[i])
        yield TopicShare(matrix.topics[i], *map(float, numbers))
