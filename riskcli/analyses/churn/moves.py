"""How far rankings moved, as values: by run and topic, and by tenths of the distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Counts, Floats, Rows

BINS = 10


@dataclass(frozen=True)
class Moves:
    """How far one run's rankings are from the baseline's: an array a figure, a cell a topic."""

    distance: Floats
    rbo: Floats
    overlap: Floats
    documents: Counts
    baseline_documents: Counts
    shared: Counts

    @property
    def bins(self) -> Rows:
        """Tenths of the distance, 0 to 9 (SIGIR'12, Figure 5)."""
        # A distance of 3/10 may come out as 0.3 less a rounding error.
        tenths = np.floor(self.distance * BINS + 1e-9).astype(np.intp)
        return np.minimum(tenths, BINS - 1)


@dataclass(frozen=True)
class RunChurn:
    """One run by one effectiveness measure: its moves, and its scores and the baseline's."""

    run: str
    measure: str
    baseline: str
    moves: Moves
    scores: Floats
    baseline_scores: Floats

    @property
    def delta(self) -> Floats:
        """Score less the baseline's, by topic."""
        return np.asarray(self.scores - self.baseline_scores)

    def by_bin(self) -> Iterator[tuple[int, int, float, float]]:
        """Bin, its topics, and what they add to reward and to risk: the sums are the run's."""
        gains, losses = np.maximum(self.delta, 0.0), np.maximum(-self.delta, 0.0)
        for number in range(BINS):
            here, topics = self.moves.bins == number, len(self.delta)
            yield (
                number,
                int(here.sum()),
                float(gains[here].sum() / topics),
                float(losses[here].sum() / topics),
            )


@dataclass(frozen=True)
class Churn:
    """Every run but the baseline, by every effectiveness measure."""

    parts: tuple[RunChurn, ...]
    topics: tuple[str, ...]
    at: int
    persistence: float
    depth: int | None
