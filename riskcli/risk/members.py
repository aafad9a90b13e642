"""Who a population is made of, where it is not simply the runs at hand: teams, or frozen runs.

Whoever is a member weighs one in the totals of a population and in virtual baselines. A team is one
member: the mean of its distinct runs, so that copies of a run change nothing. A run that is no
member is added to the totals for its own figures, as SIGIR'16 adds it to a set of baselines; one
that is, whatever it is called, is not added twice: runs are recognised by their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats, Mask
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
