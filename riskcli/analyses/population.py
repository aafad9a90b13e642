"""Populations: frozen in a file, what one holds, and how much depends on who takes part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.analyses import base
from riskcli.core.arrays import Floats
from riskcli.core.messages import Provenance, UsageError, counted
from riskcli.output.display import Display, Heading
from riskcli.output.measure_words import words_of
from riskcli.output.result import Result, tidy
from riskcli.risk.estimate import rank
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.population import Members
from riskcli.scores.comparisons import FrozenPopulation, Options, comparisons, read_population
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.plausibility import refuse_percent
from riskcli.scores.teams import Teams

MEMBER_COLUMNS = ("run", "team", "measure", "topics", "mean", "weight")
MemberRow = tuple[str, str | None, str, int, float, float]
"""A value of each column."""


@dataclass(frozen=True, repr=False)
class PopulationMembers(base.Analysis):
    """Who is in a frozen population, and what each weighs in it."""

    population: FrozenPopulation

    def displays(self, _width: int, /) -> Sequence[Display]:
        """The runs of each measure with team, mean and weight."""
        headings = (Heading("run", left=True), Heading("team", left=True), "mean", "weight")
        shown = []
        for matrix in self.population.matrices:
            cells = [
                [run, team or "–", f"{mean:.4f}", f"{weight:.4g}"]
                for run, team, _, _, mean, weight in _member_rows(matrix, self.population)
            ]
            totals = self.population.totals[matrix.measure]
            caption = [
                f"{counted(len(matrix.runs), 'run')} on {counted(len(matrix.topics), 'topic')}; "
                f"grand total {sum(totals):.6g}, topic totals from {min(totals):.4g} to "
                f"{max(totals):.4g}."
            ]
            title = f"{self.population.name}: {matrix.measure}"
            shown.append(Display.of_rows(title, headings, cells, caption))
        return shown

    def result(self) -> Result:
        """A row a measure and run."""
        matrices = self.population.matrices
        rows = [row for matrix in matrices for row in _member_rows(matrix, self.population)]
        return Result(MEMBER_COLUMNS, rows, self.provenance)


def freeze(scores: base.Scores, *, options: Options | None = None) -> FrozenPopulation:
    """The runs (or their teams) as a population for other runs to be measured in."""
    setup = base.set_up(scores, options, noting=False)
    for matrix in setup.matrices:
        _check_scores(matrix)
    settings, teams = base.provenance_of(scores).settings, setup.options.teams
    runs = sorted({run for matrix in setup.matrices for run in matrix.runs})
    by_run = {run: team for run, team in zip(runs, teams.of(runs), strict=True) if team}
    return FrozenPopulation(
        setup.matrices,
        {matrix.measure: tuple(_totals(matrix, teams)) for matrix in setup.matrices},
        by_run,
        {name: value for name, value in settings.items() if name != "measures"},
        tuple(base.input_records(setup.provenance)),
    )


def members(population: FrozenPopulation | Path | str) -> PopulationMembers:
    """What is in a frozen population, or in the file of one."""
    if not isinstance(population, FrozenPopulation):
        population = read_population(population)
    settings = {
        **population.settings,
        "population": population.name,
        "hash": population.hash,
        "frozen_inputs": [dict(each) for each in population.inputs],
    }
    return PopulationMembers(population, provenance=Provenance(settings))


def _check_scores(matrix: ScoreMatrix) -> None:
    if not matrix.runs or not matrix.topics:
        raise UsageError("the score matrix is empty")
    matrix.check_finite()
    refuse_percent(matrix)
    negative = np.argwhere(matrix.values < 0)
    if len(negative):
        run, topic = negative[0]
        raise UsageError(
            f"a population needs scores of at least 0: run {matrix.runs[run]} has "
            f"{matrix.values[run, topic]:g} on topic {matrix.topics[topic]} by {matrix.measure}"
        )


def _totals(matrix: ScoreMatrix, teams: Teams) -> list[float]:
    rows = matrix.values
    if teams:
        rows = Members.of_teams(rows, matrix.runs, teams.of(matrix.runs), "teams").rows
    totals: list[float] = rows.sum(axis=0).tolist()
    return totals


def _member_rows(matrix: ScoreMatrix, population: FrozenPopulation) -> Iterator[MemberRow]:
    teams = Teams(population.teams).of(matrix.runs)
    for row, (run, team) in enumerate(zip(matrix.runs, teams, strict=True)):
        mean = float(matrix.values[row].mean())
        weight = 1.0 if team is None else _weight_in_team(matrix, teams, row)
        yield run, team, matrix.measure, len(matrix.topics), mean, weight


def _weight_in_team(matrix: ScoreMatrix, teams: list[str | None], row: int) -> float:
    """One over the distinct runs of its team, shared among the run and its copies."""
    mates = matrix.values[[i for i, team in enumerate(teams) if team == teams[row]]]
    copies = int((mates == matrix.values[row]).all(axis=1).sum())
    return 1.0 / (len(np.unique(mates, axis=0)) * copies)


# How much depends on who takes part: each run, or each team, left out of the population.


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

    def displays(self, _width: int, /) -> Sequence[Display]:
        """A table a measure and risk measure, the best first."""
        return [_display(part) for part in self.parts]

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


def _display(part: WithoutEach) -> Display:
    words = words_of(part.of)
    digits, rows = words.decimals, []
    for run, *_, value, low, high, place, best, worst, by, change, _ in sorted(
        _rows(part), key=lambda row: (row[7], row[0])
    ):
        ranks = f"{best} to {worst}" if best != worst else f"{best}"
        values = f"{value:.{digits}f}", f"{low:.{digits}f} to {high:.{digits}f}"
        rows.append([f"{place}", run, *values, ranks, by, f"{change:+.{digits}f}"])
    headings: list[str | Heading] = [
        "#", Heading("run", left=True), words.title, "range", "# range",
        Heading("most without", left=True), "change",
    ]  # fmt: skip
    everybody = "everybody" if part.population == "all" else f"everybody in {part.population}"
    caption = [
        f"Ranges with {everybody}, and without each other member of the population in turn. A "
        "run or team that is left out keeps its rank, so a rank changes only where others "
        "overtake each other.",
    ]
    title = f"{words.title} of {part.measure}, α = {part.alpha:g}: each left out in turn"
    return Display.of_rows(title, headings, rows, caption)
