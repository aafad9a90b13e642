"""Matrices and statistics that several tests look at."""

from __future__ import annotations

from typing import Literal

import numpy as np

from riskcli.risk.jackknife import Statistic
from riskcli.risk.measures import georisk, zrisk
from tests.helpers import reference
from tests.helpers.strategies import Floats

Name = Literal["zrisk", "georisk"]
STATISTICS: dict[str, Statistic] = {"zrisk": zrisk.STATISTIC, "georisk": georisk.STATISTIC}
NAMES: tuple[tuple[Name, reference.Measure], ...] = (("zrisk", "zeta"), ("georisk", "georisk"))


def golden_matrix() -> Floats:
    """The matrix of the simulation study (section 9, point 6)."""
    values = np.array(
        [[((7 * i + 3) * (5 * q + 2) % 101) / 101 for q in range(20)] for i in range(6)]
    )
    values[2, 4] = 0.0
    values[3] = 0.9 * values[0]
    return values


def equal_runs(generator: np.random.Generator, topics: int, runs: int = 8) -> Floats:
    """Skewed scores with zeros, whose runs are alike."""
    easy = generator.standard_normal((1, topics))
    scores = 1 / (1 + np.exp(2.0 - 1.5 * easy - 1.2 * generator.standard_normal((runs, topics))))
    return np.where(scores < 0.03, 0.0, scores)


def past(runs: int = 5, topics: int = 30, seed: int = 2) -> Floats:
    generator = np.random.default_rng(seed)
    difficulty = generator.standard_normal((1, topics))
    spread = np.linspace(0.2, 1.0, runs)[:, None]
    noise = spread * generator.standard_normal((runs, topics))
    return np.asarray(1 / (1 + np.exp(1 - difficulty - noise)))
