"""Populations: frozen in a file, what one holds, and how much depends on who takes part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riskcli.analyses import base
from riskcli.core.messages import Provenance, UsageError, counted
from riskcli.output.display import Display, Heading
from riskcli.output.result import Result
from riskcli.risk.population import Members
from riskcli.scores.comparisons import Options
from riskcli.scores.frozen import FrozenPopulation, read_population
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
        mean = float(matrix.shown_means()[row])
        weight = 1.0 if team is None else _weight_in_team(matrix, teams, row)
        yield run, team, matrix.measure, len(matrix.topics), mean, weight


def _weight_in_team(matrix: ScoreMatrix, teams: list[str | None], row: int) -> float:
    """One over the distinct runs of its team, shared among the run and its copies."""
    mates = matrix.values[[i for i, team in enumerate(teams) if team == teams[row]]]
    copies = int((mates == matrix.values[row]).all(axis=1).sum())
    return 1.0 / (len(np.unique(mates, axis=0)) * copies)
