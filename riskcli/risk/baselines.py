"""What runs are compared with: a run, a set of runs, or a virtual run made from the matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Floats


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
