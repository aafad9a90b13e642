"""Before the run: topics that a loss or a margin needs, and the loss that given topics detect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from riskcli.analyses.base import (
    Analysis,
    Names,
    Scores,
    chosen_measures,
    population_record,
    require_plain,
    set_up,
)
from riskcli.analyses.prospects import (
    Answer,
    Asked,
    Prospect,
    paired_rows,
    population_of_pairs,
    prospects,
)
from riskcli.core.choices import population_in_words
from riskcli.core.messages import Note, UsageError, counted
from riskcli.output.display import Cell, Display, Heading, folded
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, Value
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.power import MOST_TOPICS, USUAL_POWER
from riskcli.scores.comparisons import Options
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix


def displays(
    prospects: Sequence[Prospect],
    asked: Asked,
    tests: int,
    width: int,
    population: str | None = None,
) -> list[Display]:
    """A table for each effectiveness measure."""
    below = []
    if population and not all(prospect.of.plain_mean for prospect in prospects):
        below = [f"Population of GeoRisk: {population_in_words(population)}."]
    by_measure = dict.fromkeys(prospect.measure for prospect in prospects)
    return [
        table
        for measure in by_measure
        for table in folded(
            _table([p for p in prospects if p.measure == measure], asked, tests, below),
            width,
            fixed=3,
        )
    ]


def _table(
    prospects: Sequence[Prospect], asked: Asked, tests: int, below: Sequence[str]
) -> Display:
    first = prospects[0]
    headings = [
        Heading("", left=True, names=True), Heading("pairs\nof runs", left=True, names=True),
        Heading("spread"), *map(_heading, first.answers),
    ]  # fmt: skip
    rows = [
        [
            Cell(words_of(prospect.of).title),
            Cell(share_in_words(prospect.share)),
            Cell(f"{prospect.spread:.4f}"),
            *(Cell(_shown(answer)) for answer in prospect.answers),
        ]
        for prospect in prospects
    ]
    title = f"{first.measure}: what a test detects with power {asked.power:g}"
    return Display.of_rows(title, headings, rows, [*_caption(prospects, asked, tests), *below])


def share_in_words(share: float) -> str:
    """`half`, `9 of 10`."""
    return {0.5: "half", 1.0: "the one"}.get(share, f"{share * 10:g} of 10")


def _heading(answer: Answer) -> Heading:
    if answer.question == "topics":
        return Heading(f"{answer.count}\ntopics")
    return Heading(f"{answer.question}\n{answer.size:g}")


def _shown(answer: Answer) -> str:
    if answer.question == "topics":
        return "–" if answer.size is None else f"{answer.size:.2g}"
    return f"> {MOST_TOPICS:.0e}" if answer.count is None else f"{answer.count}"


def _caption(prospects: Sequence[Prospect], asked: Asked, tests: int) -> list[str]:
    first = prospects[0]
    lines = [
        f"From {counted(first.pairs, 'pair')} of runs on {counted(first.topics, 'topic')}. Spread: "
        "standard deviation of the difference over topics (GeoRisk: its jackknife error times the "
        "root of the number of topics); half and 9 of 10 of the pairs have no larger one.",
    ]
    if asked.losses:
        lines.append("Loss: number of topics that detect a true loss of that size.")
    if asked.margins:
        lines.append("Margin: number of topics with which a candidate without a loss passes.")
    if asked.counts:
        lines.append("Topics: the smallest true loss that this number of topics detects.")
    level = f"{asked.level:.2g}"
    lines.append(
        f"One-sided t test at {level}"
        + (f", the level of the first of {tests} tests by Holm." if tests > 1 else ".")
    )
    return lines


# Before the run: topics that a loss or a margin asks for, and the loss that topics show.


COLUMNS = (
    "measure", "of", "alpha", "pairs", "topics", "share", "spread", "level", "power", "question",
    "size", "count",
)  # fmt: skip

USUAL_LOSSES = (0.01, 0.02, 0.05)
USUAL_COUNTS = (25, 50, 100, 200)


@dataclass(frozen=True, repr=False)
class PowerTable(Analysis):
    """What tests of differences like those of past runs will see."""

    prospects: tuple[Prospect, ...]
    asked: Asked
    tests: int
    population: str | None = None
    """The frozen population that GeoRisk is measured in; None: that of each pair alone."""

    def displays(self, width: int) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self.prospects, self.asked, self.tests, width, self.population)

    def result(self) -> Result:
        """A row an answer."""
        rows = [row for prospect in self.prospects for row in self._rows(prospect)]
        return Result(COLUMNS, rows, self.provenance)

    def _rows(self, prospect: Prospect) -> Iterator[list[Value]]:
        for answer in prospect.answers:
            yield [
                prospect.measure, prospect.of.id, prospect.alpha, prospect.pairs, prospect.topics,
                prospect.share, prospect.spread, self.asked.level, self.asked.power,
                answer.question, answer.size, answer.count,
            ]  # fmt: skip


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
    setup = set_up(scores, options, baseline, alpha, noting=False)
    options = setup.options
    require_plain(options, "power")
    if len(options.alphas) != 1:
        raise UsageError(f"power takes one alpha, found {len(options.alphas)}")
    _check(losses, margins, counts, power, tests)
    able = [m for m in measures() if m.plain_mean or words_of(m).headline]
    chosen = chosen_measures(of, able, "power is not available for")
    gamma = options.significance.gamma
    asked = Asked(tuple(losses), tuple(margins), tuple(counts), gamma / tests, power)
    found: list[Prospect] = []
    notes: list[Note] = []
    for matrix in setup.matrices:
        rows = paired_rows(matrix, options.baselines)
        members = population_of_pairs(matrix, options)
        for measure in chosen:
            mine = prospects(matrix, measure, options.alphas[0], rows, asked, members)
            found += mine
            notes += _notes(matrix, measure, mine)
    if not found:
        raise UsageError("no two runs differ in a way that could be tested: give more past runs")
    frozen = options.population if isinstance(options.population, FrozenPopulation) else None
    settings = {
        "baselines": list(options.wanted) if options.baselines else None,
        "alphas": list(options.alphas), "gamma": gamma, "tests": tests, "power": power,
        "population": population_record(options) if frozen else "pair",
    }  # fmt: skip
    provenance = setup.provenance.adding(settings, notes)
    return PowerTable(
        tuple(found), asked, tests, frozen.name if frozen else None, provenance=provenance
    )


def _check(
    losses: Sequence[float],
    margins: Sequence[float],
    counts: Sequence[int],
    power: float,
    tests: int,
) -> None:
    for name, sizes in (("loss", losses), ("margin", margins)):
        for size in sizes:
            if not (isfinite(size) and size > 0):
                raise UsageError(f"the {name} is {size:g}, expected a number above 0")
    for count in counts:
        if count < 2:
            raise UsageError(f"{counted(count, 'topic')}, expected 2 or more")
    if not 0 < power < 1:
        raise UsageError(f"the power is {power:g}, expected a number between 0 and 1")
    if tests < 1:
        raise UsageError(f"{tests} tests, expected 1 or more")


def _notes(matrix: ScoreMatrix, of: RiskMeasure, mine: Sequence[Prospect]) -> Iterator[Note]:
    title = words_of(of).title
    if not mine:
        message = f"{matrix.measure}: no pair of runs can be tested by {title}; it is left out"
        yield Note("no-power", message)
    elif mine[0].left_out:
        pairs = counted(mine[0].left_out, "pair")
        message = f"{matrix.measure}, {title}: {pairs} of runs left out, equal or not testable"
        yield Note("equal-pairs", message, warning=False)
