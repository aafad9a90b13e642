"""Populations that are kept in a file: how one is frozen, and what is in it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riskcli.analyses.base import Analysis, Scores, input_records, provenance_of, set_up
from riskcli.core.messages import Provenance, UsageError, counted
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.result import Result
from riskcli.risk.population import team_rows
from riskcli.scores.comparisons import Options
from riskcli.scores.frozen import FrozenPopulation, read_population
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.teams import Teams

Row = tuple[str, str | None, str, int, float, float]
"""Of `Members`: run, team, measure, topics, mean, weight."""


def displays(population: FrozenPopulation, rows: Iterable[Row]) -> list[Display]:
    """The runs of each measure with team, mean and weight."""
    headings = [
        Heading("run", left=True), Heading("team", left=True), Heading("mean"), Heading("weight"),
    ]  # fmt: skip
    shown = []
    for matrix in population.matrices:
        cells = [
            [Cell(run), Cell(team or "–"), Cell(f"{mean:.4f}"), Cell(f"{weight:.4g}")]
            for run, team, measure, _, mean, weight in rows
            if measure == matrix.measure
        ]
        totals = population.totals[matrix.measure]
        caption = [
            f"{counted(len(matrix.runs), 'run')} on {counted(len(matrix.topics), 'topic')}; grand "
            f"total {sum(totals):.6g}, topic totals from {min(totals):.4g} to {max(totals):.4g}."
        ]
        title = f"{population.name}: {matrix.measure}"
        shown.append(Display.of_rows(title, headings, cells, caption))
    return shown


# Populations that are kept in a file: how one is frozen, and what is in it.


COLUMNS = ("run", "team", "measure", "topics", "mean", "weight")


@dataclass(frozen=True, repr=False)
class PopulationMembers(Analysis):
    """Who is in a frozen population, and what each weighs in it."""

    population: FrozenPopulation

    def displays(self, _width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self.population, _rows(self.population))

    def result(self) -> Result:
        """A row a measure and run."""
        return Result(COLUMNS, list(_rows(self.population)), self.provenance)


def freeze(scores: Scores, *, options: Options | None = None) -> FrozenPopulation:
    """The runs (or their teams) as a population for other runs to be measured in."""
    setup = set_up(scores, options, noting=False)
    for matrix in setup.matrices:
        _check(matrix)
    settings, teams = provenance_of(scores).settings, setup.options.teams
    runs = {run for matrix in setup.matrices for run in matrix.runs}
    by_run = {
        run: team
        for run, team in zip(sorted(runs), teams.of(sorted(runs)), strict=True)
        if team is not None
    }
    return FrozenPopulation(
        setup.matrices,
        {matrix.measure: tuple(_totals(matrix, teams)) for matrix in setup.matrices},
        by_run,
        {name: value for name, value in settings.items() if name != "measures"},
        tuple(input_records(setup.provenance)),
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


def _check(matrix: ScoreMatrix) -> None:
    if not matrix.runs or not matrix.topics:
        raise UsageError("the score matrix is empty")
    matrix.check_finite()
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
        rows = team_rows(rows, matrix.runs, teams.of(matrix.runs))
    totals: list[float] = rows.sum(axis=0).tolist()
    return totals


def _rows(population: FrozenPopulation) -> Iterator[Row]:
    for matrix in population.matrices:
        teams = Teams(population.teams).of(matrix.runs)
        for row, (run, team) in enumerate(zip(matrix.runs, teams, strict=True)):
            scores = matrix.values[row]
            weight = 1.0 if team is None else _weight_in_team(matrix, teams, row)
            yield run, team, matrix.measure, len(matrix.topics), float(scores.mean()), weight


def _weight_in_team(matrix: ScoreMatrix, teams: list[str | None], row: int) -> float:
    """One over the distinct runs of its team, shared among the run and its copies."""
    mates = matrix.values[[i for i, team in enumerate(teams) if team == teams[row]]]
    copies = int((mates == matrix.values[row]).all(axis=1).sum())
    return 1.0 / (len(np.unique(mates, axis=0)) * copies)
