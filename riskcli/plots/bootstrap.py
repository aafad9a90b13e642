"""Replicates of a mean over topics, topics drawn with replacement."""

from __future__ import annotations

import numpy as np

from riskcli.core.arrays import Floats


def mean_replicates(values: Floats, count: int, seed: int) -> Floats:
    """Means over as many topics as there are, in rising order."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (count, len(values)))
    return np.sort(values[drawn].mean(axis=1))
