"""Who a population is made of, where it is not simply the runs at hand: teams, or frozen runs.

Whoever is a member weighs one in the totals of a population and in virtual baselines. A team is one
member: the mean of its distinct runs, so that copies of a run change nothing. A run that is no
member is added to the totals for its own figures, as SIGIR'16 adds it to a set of baselines; one
that is, whatever it is called, is not added twice: runs are recognised by their scores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from riskcli.core.arrays import Floats, Mask
from riskcli.core.messages import UsageError, listed, nearest
from riskcli.core.text import naturally


@dataclass(frozen=True)
class Members:
    """`rows` weigh one each; `runs` are the scores of the runs that they are made of.

    Of a team those are its distinct runs, which have its weight together.
    """

    rows: Floats
    runs: Floats
    weights: Floats
    name: str
    """What the population is called in results."""

    @classmethod
    def of_runs(cls, scores: Floats, name: str) -> Members:
        """Every run is a member."""
        return cls(scores, scores, np.ones(len(scores)), name)

    @classmethod
    def of_teams(
        cls, scores: Floats, runs: Sequence[str], teams: Sequence[str | None], name: str
    ) -> Members:
        """A member a team, the mean of its distinct runs, and each run without one."""
        distinct = distinct_runs(scores, runs, teams)
        return cls(
            np.array([rows.mean(axis=0) for rows in distinct], dtype=np.float64),
            np.concatenate(distinct),
            np.concatenate([np.full(len(rows), 1 / len(rows)) for rows in distinct]),
            name,
        )

    def include(self, scores: Floats) -> Mask:
        """Which of these runs are in the population already, by their scores."""
        known = {_key(row) for row in self.runs}
        return np.array([_key(row) in known for row in scores], dtype=np.bool_)


def _key(row: Floats) -> bytes:
    return (np.ascontiguousarray(row) + 0.0).tobytes()  # -0.0 is 0.0


@dataclass(frozen=True)
class Teams:
    """Which team a run belongs to: as listed, else as a pattern finds it in the run's name.

    The team is what the pattern's first group holds, or all that it matches.
    """

    by_run: Mapping[str, str] = field(default_factory=dict)
    pattern: str | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern or "")
        except re.error as error:
            raise UsageError(f"the pattern of teams {self.pattern!r} is wrong: {error}") from error

    def __bool__(self) -> bool:
        return bool(self.by_run) or self.pattern is not None

    def of(self, runs: Sequence[str]) -> list[str | None]:
        """The team of each run, None for a run without one; refuse a team for a run not there."""
        for run, team in self.by_run.items():
            if run not in runs:
                hint = nearest(run, runs)
                raise UsageError(
                    f"team {team!r} is given for {run!r}, but no run has that name{hint}"
                )
        return [self.by_run.get(run) or self._found(run) for run in runs]

    def found(self, runs: Sequence[str]) -> dict[str, str]:
        """The team of each run that has one; refuse a pattern that finds none at all."""
        by_run = {run: team for run, team in zip(runs, self.of(runs), strict=True) if team}
        if self.pattern is not None and not by_run:
            raise UsageError(
                f"the pattern of teams {self.pattern!r} finds none in the runs' names: "
                f"{listed(runs)}"
            )
        return by_run

    def _found(self, run: str) -> str | None:
        match = None if self.pattern is None else re.search(self.pattern, run)
        if match is None:
            return None
        return (match[1] if match.re.groups else match[0]) or None


def distinct_runs(scores: Floats, runs: Sequence[str], teams: Sequence[str | None]) -> list[Floats]:
    """The distinct runs of each team, and each run without a team by itself."""
    groups: dict[tuple[int, str], list[int]] = {}
    for row, (run, team) in enumerate(zip(runs, teams, strict=True)):
        groups.setdefault((1, run) if team is None else (0, team), []).append(row)
    order = [(0, name) for name in naturally(name for kind, name in groups if kind == 0)]
    order += [(1, name) for name in naturally(name for kind, name in groups if kind == 1)]
    # Distinct rows come sorted: neither copies nor the order of the runs change a digit.
    return [np.unique(scores[groups[key]] + 0.0, axis=0) for key in order]


def team_rows(scores: Floats, runs: Sequence[str], teams: Sequence[str | None]) -> Floats:
    """A row a team, the mean of its distinct runs; a run without a team stands for itself."""
    return Members.of_teams(scores, runs, teams, "teams").rows


def described(name: str) -> str:
    """What a population is, in words, by its name in results."""
    words = {
        "all": "all runs",
        "baselines": "for each run, the named baselines and that run",
        "teams": "all teams, each the mean of its distinct runs",
        "baseline teams": "for each run, the teams of the named baselines and that run",
    }
    return words.get(name, f"{name}, and the run itself where it is not in it")
