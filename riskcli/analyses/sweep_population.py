"""How much depends on who takes part: each run, or each team, left out of the population."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.analyses import base
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError, counted, joined
from riskcli.output.display import (
    Cell,
    Column,
    Display,
    Heading,
    decimals,
    shortened,
    span,
)
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, tidy
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.estimate import rank
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.population import Members
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.frozen import FrozenPopulation, read_population
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import Teams

_SHORT = "# range: ranks without each other member in turn. More: --full."
MOST_ROWS = 17
"""Runs that a table shows unasked."""


@dataclass(frozen=True)
class WithoutEach:
    """One matrix by one risk measure: everyone's figures, and those without each member."""

    measure: str
    of: RiskMeasure
    alpha: float
    runs: tuple[str, ...]
    values: Floats
    ranks: Floats
    left_out: tuple[str, ...]
    """The runs, or the teams and the runs without one."""
    values_without: Floats
    """By run and member left out; NaN for a run that is left out itself."""
    ranks_without: Floats
    """Likewise; who is left out keeps the place that it had, so that only others' moves count."""
    population: str = "all"
    """What the population is called in results."""

    @property
    def about(self) -> str:
        """What tells it from others in a verdict."""
        return f"{self.measure}, alpha {self.alpha:g}"

    @property
    def title(self) -> str:
        """The risk measure's."""
        return words_of(self.of).title

    def range_of(self, row: int) -> tuple[float, float, float, float]:
        """The least and the largest value and rank of a run, with everyone or without one."""
        values = np.append(self.values_without[row], self.values[row])
        ranks = np.append(self.ranks_without[row], self.ranks[row])
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        return low, high, float(np.nanmin(ranks)), float(np.nanmax(ranks))

    def most(self, row: int) -> tuple[str, float]:
        """Whose absence changes the run's value most, and by how much."""
        change = self.values_without[row] - self.values[row]
        index = int(np.nanargmax(np.abs(change)))
        return self.left_out[index], float(change[index])


COLUMNS = (
    "run", "measure", "of", "alpha", "value", "value_min", "value_max", "rank", "rank_min",
    "rank_max", "changed_by", "change", "population",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class PopulationBias(base.Analysis):
    """All matrices of a call by all risk measures asked for."""

    parts: tuple[WithoutEach, ...]

    @property
    def verdict(self) -> Statements:
        """Whether the lead, and which rank most, depends on who takes part."""
        return Statements(tuple(each for some in self._groups() for each in _statements(some)))

    def displays(self, _width: int, /) -> Sequence[Display]:
        """A table a measure and risk measure, of every run."""
        return self._answering(
            (parts[0].about, [_display(part, full=True) for part in parts])
            for parts in self._groups()
        )

    def screen(self, _width: int, /) -> Sequence[Display]:
        """A table a measure, of the best runs."""
        return self._answering(
            (parts[0].about, [_answer(parts) if parts[1:] else _display(parts[0], full=False)])
            for parts in self._groups()
        )

    def _groups(self) -> list[list[WithoutEach]]:
        """The parts about the same scores and alpha, that which stands for a run first."""
        by_about: dict[str, list[WithoutEach]] = {}
        for part in sorted(self.parts, key=lambda each: not words_of(each.of).headline):
            by_about.setdefault(part.about, []).append(part)
        return [by_about[about] for about in dict.fromkeys(part.about for part in self.parts)]

    def result(self) -> Result:
        """A row a run, measure and risk measure."""
        return Result(COLUMNS, [row for part in self.parts for row in _rows(part)], self.provenance)


def population_bias(
    scores: base.Scores,
    *,
    of: base.Names = None,
    alpha: float | None = None,
    options: Options | None = None,
    frozen: FrozenPopulation | Path | str | None = None,
) -> PopulationBias:
    """ZRisk and GeoRisk of every run without each other run (or team) in the population.

    The population is that of a file, if one is given here or in the options; else all runs.
    """
    if frozen is not None:
        given = frozen if isinstance(frozen, FrozenPopulation) else read_population(frozen)
        options = replace(options or Options(), population=given)
    setup = base.set_up(scores, options, alpha=alpha, noting=False)
    population = setup.options.population
    if population == "baselines":
        raise UsageError("runs are left out of the population of all runs, or of one in a file")
    plan = replace(
        setup.options,
        baselines=(),
        population=population if isinstance(population, FrozenPopulation) else None,
    )
    able = [measure for measure in measures() if measure.statistic is not None]
    chosen = base.chosen_measures(of, able, "no population behind")
    pairs = sum(len(matrix.runs) ** 2 // 2 for matrix in setup.matrices) * len(chosen)
    base.refuse_much("sweep --over population", setup.matrices, plan, pairs=pairs)
    tables = [each for matrix in setup.matrices for each in left_out(matrix, plan, chosen)]
    settings = {
        "of": [measure.id for measure in chosen],
        "alphas": list(plan.alphas),
        "population": base.population_record(plan) if plan.population else "all",
    }
    return PopulationBias(tuple(tables), provenance=setup.provenance.adding(settings))


def members_of(runs: Sequence[str], teams: Teams) -> list[tuple[str, list[int]]]:
    """The rows of each team, and of each run without one."""
    members: dict[tuple[bool, str], list[int]] = {}
    for row, (run, team) in enumerate(zip(runs, teams.of(runs), strict=True)):
        members.setdefault((team is None, run if team is None else team), []).append(row)
    return [(name, rows) for (_, name), rows in members.items()]


def who_is_in(matrix: ScoreMatrix, options: Options) -> tuple[ScoreMatrix, Teams]:
    """The runs that make the population, and their teams."""
    if isinstance(options.population, FrozenPopulation):
        return options.population.matrix_for(matrix), Teams(options.population.teams)
    return matrix, options.teams


def left_out(
    matrix: ScoreMatrix, options: Options, chosen: Sequence[RiskMeasure]
) -> list[WithoutEach]:
    """Each of these measures at each alpha of the options, without each member in turn."""
    inside, teams = who_is_in(matrix, options)
    members = members_of(inside.runs, teams)
    if len(inside.runs) < 3:
        raise UsageError(f"at least 3 runs are needed to leave one out, found {len(inside.runs)}")
    if len(members) < 2:
        raise UsageError("all runs are of one team: no run would be left")
    wanted = [(measure, alpha) for measure in chosen for alpha in options.alphas]
    values = _values(matrix, options, wanted)
    without = np.full((len(wanted), len(matrix.runs), len(members)), np.nan)
    ranks = np.full_like(without, np.nan)
    for index, (_, rows) in enumerate(members):
        left = None if inside is matrix else _without(inside, teams, rows)
        gone = rows if left is None else _of_those(matrix, inside, rows, left)
        stay = np.setdiff1d(np.arange(len(matrix.runs)), gone)
        if not len(stay):
            continue
        after_all = _values(matrix.of_runs(stay.tolist()), options, wanted, left)
        for part, (before, after) in enumerate(zip(values, after_all, strict=True)):
            above = rank(before)[gone][None, :] < rank(before)[stay][:, None]
            without[part, stay, index] = after
            ranks[part, stay, index] = rank(after) + above.sum(axis=1)
    names = tuple(name for name, _ in members)
    name = options.population.name if isinstance(options.population, FrozenPopulation) else "all"
    return [
        WithoutEach(matrix.measure, measure, alpha, matrix.runs, values[part], rank(values[part]),
                names, without[part], ranks[part], name)
        for part, (measure, alpha) in enumerate(wanted)
    ]  # fmt: skip


def _without(inside: ScoreMatrix, teams: Teams, rows: Sequence[int]) -> Members:
    """The members of a frozen population but for those."""
    left = inside.of_runs([row for row in range(len(inside.runs)) if row not in rows])
    here = Teams({run: team for run, team in teams.by_run.items() if run in left.runs})
    return Members.of_teams(left.values, left.runs, here.of(left.runs), "")


def _of_those(
    matrix: ScoreMatrix, inside: ScoreMatrix, rows: Sequence[int], left: Members
) -> list[int]:
    """The runs at hand, by their scores, that are among these members and no others."""
    theirs = replace(left, runs=inside.values[list(rows)])
    gone = theirs.include(matrix.values) & ~left.include(matrix.values)
    rows_gone: list[int] = np.flatnonzero(gone).tolist()
    return rows_gone


def _values(
    matrix: ScoreMatrix,
    options: Options,
    wanted: Sequence[tuple[RiskMeasure, float]],
    members: Members | None = None,
) -> list[Floats]:
    """The runs by each of the measures, in the options' population or among these members."""
    by_run = {run: team for run, team in options.teams.by_run.items() if run in matrix.runs}
    teams = Teams(by_run, options.teams.pattern)
    (comparison,) = comparisons(matrix, replace(options, teams=teams))
    if members is not None:
        comparison = replace(comparison, members=members)
    columns = []
    for measure, alpha in wanted:
        values = measure.of(comparison, alpha)
        if values is None:
            raise UsageError(f"{words_of(measure).title} needs scores of at least 0")
        columns.append(values)
    return columns


def _rows(part: WithoutEach) -> Iterator[tuple[Any, ...]]:
    for row, run in enumerate(part.runs):
        low, high, best, worst = part.range_of(row)
        by, change = part.most(row)
        values = tidy([float(part.values[row]), low, high])
        ranks = tidy([float(part.ranks[row]), best, worst], whole=True)
        head = (run, part.measure, part.of.id, part.alpha)
        yield (*head, *values, *ranks, by, *tidy([change]), part.population)


def _statements(parts: Sequence[WithoutEach]) -> Iterator[Statement]:
    """Who would lead without one of the others, and whose rank changes most."""
    first = parts[0]
    ranges = [first.range_of(row) for row in range(len(first.runs))]
    leaders = [run for run, place in zip(first.runs, first.ranks, strict=True) if place == 1]
    others = [
        run
        for run, (_, _, best, _) in zip(first.runs, ranges, strict=True)
        if best == 1 and run not in leaders
    ]
    named = f"{joined([shortened(run) for run in leaders])} lead{'s' * (len(leaders) == 1)}"
    runs = tuple(leaders)
    if others:
        would = " or ".join(shortened(run) for run in others[:2])
        more = f" or {len(others) - 2} more" if len(others) > 2 else ""
        text = f"{named} by {first.title}; without one other member {would}{more} would."
        yield Statement("lead-depends", text, first.about, (*runs, *others))
    else:
        text = f"{named} by {first.title} whoever else is left out."
        yield Statement("lead-robust", text, first.about, runs)
    spans = [
        (high - low, part, row, low, high)
        for part in parts
        for row in range(len(part.runs))
        for _, _, low, high in [part.range_of(row)]
    ]
    width, part, row, low, high = max(spans, key=lambda each: each[0])
    if width == 0:
        titles = joined([each.title for each in parts])
        text = f"No run's rank by {titles} changes, whoever else is left out."
        yield Statement("ranks-stay", text, first.about)
        return
    place = float(part.ranks[row])
    alike = sum(each[0] == width for each in spans) - 1
    text = (
        f"By {part.title} {shortened(part.runs[row])} moves most: rank {place:.0f} with everybody, "
        f"{low:.0f} to {high:.0f} without one other"
    ) + (f" ({alike} more as far)." if alike else ".")
    numbers = {"rank": place, "rank_min": low, "rank_max": high}
    yield Statement("rank-moves", text, first.about, (part.runs[row],), (), numbers)


def _answer(parts: Sequence[WithoutEach]) -> Display:
    """Each run's value, rank and range of ranks by each risk measure."""
    first = parts[0]
    order = sorted(range(len(first.runs)), key=lambda row: (first.ranks[row], first.runs[row]))
    shown = order[:MOST_ROWS]
    run = Heading("run", left=True, names=True)
    columns = [Column.of(run, [first.runs[row] for row in shown])]
    for part in parts:
        values = decimals(part.values[shown].tolist(), words_of(part.of).decimals)
        cells = [
            Cell(text, rank=int(part.ranks[row])) for text, row in zip(values, shown, strict=True)
        ]
        ranges = [span(*part.range_of(row)[2:]) for row in shown]
        without = [shortened(part.most(row)[0]) for row in shown]
        by = Heading("most without", left=True, names=True, optional=part is not first)
        columns += [
            Column(Heading(part.title, ranked=True), cells),
            Column.of("# range", ranges),
            Column.of(by, without),
        ]
    left = len(order) - len(shown)
    caption = [f"And {counted(left, 'run')} more: --full."] if left else []
    caption.append(_SHORT)
    return Display(_title(first, joined([part.title for part in parts])), columns, caption)


def _title(part: WithoutEach, titles: str) -> str:
    return f"{titles} of {part.measure}, α = {part.alpha:g}: each left out in turn"


def _display(part: WithoutEach, full: bool) -> Display:
    words = words_of(part.of)
    digits, rows = words.decimals, []
    for run, *_, value, low, high, place, best, worst, by, change, _ in sorted(
        _rows(part), key=lambda row: (row[7], row[0])
    )[: None if full else MOST_ROWS]:
        ranks = f"{best} to {worst}" if best != worst else f"{best}"
        values = f"{value:.{digits}f}", f"{low:.{digits}f} to {high:.{digits}f}"
        rows.append([f"{place}", run, *values, ranks, by, f"{change:+.{digits}f}"])
    headings: list[str | Heading] = [
        "#", Heading("run", left=True), words.title, "range", "# range",
        Heading("most without", left=True), "change",
    ]  # fmt: skip
    if full:
        everybody = "everybody" if part.population == "all" else f"everybody in {part.population}"
        caption = [
            f"Ranges with {everybody}, and without each other member of the population in turn. A "
            "run or team that is left out keeps its rank, so a rank changes only where others "
            "overtake each other. Most without: whose absence changes the value most.",
        ]
    else:
        left = len(part.runs) - len(rows)
        caption = [*([f"And {counted(left, 'run')} more: --full."] if left else []), _SHORT]
    return Display.of_rows(_title(part, words.title), headings, rows, caption)
