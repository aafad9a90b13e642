"""What runs are compared with: a run, a set of runs, or a virtual run made from the matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import is_virtual
from riskcli.core.messages import UsageError, nearest


def column_mean(scores: Floats) -> Floats:
    """The mean of each topic's column; where all of a column is equal, that very number."""
    mean = scores.mean(axis=0)
    return np.asarray(np.clip(mean, scores.min(axis=0), scores.max(axis=0)))


def column_median(scores: Floats) -> Floats:
    """The median of each topic's column."""
    return np.asarray(np.median(scores, axis=0))


def column_max(scores: Floats) -> Floats:
    """The best score of each topic."""
    return np.asarray(scores.max(axis=0))


def column_min(scores: Floats) -> Floats:
    """The worst score of each topic."""
    return np.asarray(scores.min(axis=0))


POOLS: dict[str, Callable[[Floats], Floats]] = {
    "mean": column_mean,
    "median": column_median,
    "max": column_max,
    "min": column_min,
}
"""How the scores of several runs on a topic become one (ECIR'14, section 4.2; SIGIR'16, 3.1)."""

VIRTUAL = {f"@{name}": pool for name, pool in POOLS.items()}
POOL_EACH = "each"


@dataclass(frozen=True)
class Baseline:
    """Scores to compare with. `members` are its rows of the matrix; a virtual run has none."""

    name: str
    members: tuple[int, ...]
    scores: Floats

    @cached_property
    def own_row(self) -> int | None:
        """The row that is the baseline itself, whose paired cells stay empty."""
        return self.members[0] if len(self.members) == 1 else None


def choose_baselines(
    runs: Sequence[str],
    scores: Floats,
    wanted: Sequence[str],
    pool: str = "mean",
    population_rows: Floats | None = None,
) -> list[Baseline]:
    """The baselines that `wanted` (names, globs, or one of @mean @median @max @min) stand for.

    Several named runs make one baseline, pooled per topic, or with pool "each" one baseline each.
    Virtual ones are made from the rows of the population, where these are not the runs themselves.
    """
    virtual = [name for name in wanted if is_virtual(name)]
    if virtual:
        return [_virtual(scores if population_rows is None else population_rows, wanted)]
    members = sorted({row for name in wanted for row in matching_runs(runs, name)})
    if pool == POOL_EACH or len(members) == 1:
        return [Baseline(runs[row], (row,), scores[row]) for row in members]
    name = f"{pool}({','.join(runs[row] for row in members)})"
    return [Baseline(name, tuple(members), POOLS[pool](scores[members]))]


def matching_runs(runs: Sequence[str], pattern: str) -> list[int]:
    """The rows of the run of that name, or of all runs that the glob pattern fits."""
    if pattern in runs:
        return [list(runs).index(pattern)]
    rows = [row for row, run in enumerate(runs) if fnmatchcase(run, pattern)]
    if not rows:
        raise UsageError(
            f"no run and no file is named {pattern!r}{nearest(pattern, [*runs, *VIRTUAL])}"
        )
    return rows


def _virtual(scores: Floats, wanted: Sequence[str]) -> Baseline:
    if len(set(wanted)) > 1:
        raise UsageError(
            f"a virtual baseline cannot be combined with others, found {', '.join(wanted)}; "
            "give one virtual baseline or any number of runs"
        )
    name = wanted[0]
    if name not in VIRTUAL:
        known = ", ".join(VIRTUAL)
        raise UsageError(f"unknown virtual baseline {name!r}, expected one of {known}")
    return Baseline(name, (), VIRTUAL[name](scores))
