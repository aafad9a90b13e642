"""Which run to choose: how probably each is the best, and what choosing it is expected to lose."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import DEFAULT_BASELINE
from riskcli.core.messages import UsageError, counted
from riskcli.output.display import UNDEFINED, Display, Heading
from riskcli.output.measure_words import about_logarithms, words_of
from riskcli.output.result import Value, tidy
from riskcli.output.verdict import Statement
from riskcli.risk.choosing import Choice, choices
from riskcli.risk.estimate import rank
from riskcli.risk.measure import RiskMeasure
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = (
    "run", "measure", "of", "population", "alpha", "topics", "value", "p_best", "expected_loss",
)  # fmt: skip
LEAST_SHOWN = 0.005
"""Runs that are the best less probably are counted only."""


@dataclass(frozen=True)
class ChoiceTable:
    """By one risk measure (`of`) of one score matrix, at one alpha."""

    measure: str
    of: RiskMeasure
    population: str
    alpha: float
    topics: int
    runs: tuple[str, ...]
    values: Floats
    choice: Choice

    def rows(self) -> Iterator[list[Value]]:
        """A row a run, in the order of the matrix."""
        alpha = self.alpha if self.of.depends_on_alpha else None
        cells = zip(
            *map(tidy, (self.values, self.choice.p_best, self.choice.expected_loss)), strict=True
        )
        for run, of_run in zip(self.runs, cells, strict=True):
            yield [
                run, self.measure, self.of.id, self.population, alpha, self.topics, *of_run
            ]  # fmt: skip

    @property
    def title(self) -> str:
        """What tells it from others."""
        alpha = f", α = {self.alpha:g}" if self.of.depends_on_alpha else ""
        return f"{words_of(self.of).title} of {self.measure}{alpha}: which run is the best"

    @cached_property
    def _likely(self) -> list[int]:
        """The rows that may well be the best, the most probable first."""
        p = self.choice.p_best
        # Chances that differ by the draws alone are in the order of the values.
        order = np.lexsort((rank(self.values), -np.round(np.nan_to_num(p, nan=-1.0), 2)))
        return [int(row) for row in order if p[row] >= LEAST_SHOWN]

    def statements(self) -> Iterator[Statement]:
        """Which run is the best, how probably, and what choosing it is expected to lose."""
        for row in self._likely[:1]:
            p, loss = float(self.choice.p_best[row]), float(self.choice.expected_loss[row])
            text = (
                f"{self.runs[row]}: P(best) {p:.2f}; expected loss by choosing it "
                f"{loss:.{words_of(self.of).decimals - 1}f}."
            )
            numbers = {"p_best": p, "expected_loss": loss}
            yield Statement("best", text, self.title, (self.runs[row],), numbers=numbers)

    def display(self) -> Display:
        """The runs that may well be the best."""
        words, p, loss = words_of(self.of), self.choice.p_best, self.choice.expected_loss
        shown = self._likely
        headings: list[str | Heading] = [
            Heading("run", left=True, names=True), words.title, "P(best)", "expected loss",
        ]  # fmt: skip
        rows = [
            [self.runs[row], f"{self.values[row]:.{words.decimals}f}", f"{p[row]:.2f}",
             f"{loss[row]:.{words.decimals}f}"]
            for row in shown
        ]  # fmt: skip
        if not shown:
            rows = [[run, UNDEFINED, UNDEFINED, UNDEFINED] for run in self.runs[:1]]
        display = Display.of_rows(self.title, headings, rows, list(self._caption(len(shown))))
        return replace(display, verdict=[each.text for each in self.statements()])

    def _caption(self, shown: int) -> Iterator[str]:
        if not shown:
            yield "Too few topics, or no run with a value: nothing can be said."
            return
        yield (
            "P(best): how probably the run's true value is the highest; expected loss: by how much "
            "the highest true value is expected to be above the run's. Values are shrunk towards "
            "their mean, as the best of a sample is too good by chance; the runs are taken as "
            "given."
        )
        others = len(self.runs) - shown
        if others:
            yield f"{counted(others, 'other run')}: P(best) below {LEAST_SHOWN:g}."
        yield from about_logarithms([self.measure])


def choice_table(
    matrix: ScoreMatrix, measure: RiskMeasure, alpha: float, options: Options
) -> ChoiceTable:
    """In the population of all runs; a run whose scores are all 0 is not chosen by GeoRisk."""
    if measure.paired:
        raise UsageError(f"{words_of(measure).title} is about a baseline: it has no best run")
    (comparison,) = comparisons(matrix, replace(options, baselines=(DEFAULT_BASELINE,)))
    deviations = measure.deviations_of(comparison, alpha)
    if deviations is None:
        raise UsageError(f"{words_of(measure).title} has no test, so that no run is told the best")
    values = measure.values(comparison, alpha)
    void = measure.nonnegative & (matrix.values == 0).all(axis=1)
    choice = choices(np.where(void, np.nan, values), deviations)
    return ChoiceTable(
        matrix.measure, measure, comparison.population_name, alpha, comparison.topics, matrix.runs,
        measure.shown(comparison, values), choice,
    )  # fmt: skip
