"""Whether the choice of a baseline favours runs that resemble it (Dinçer et al., ECIR'14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskcli.analyses.agree.coefficients import kendall_tau_b
from riskcli.analyses.bias.shuffled import (
    Shuffled,
    equal_runs,
    standardised_rows,
    too_much_to_shuffle,
    unknown,
)
from riskcli.core.arrays import Counts, Floats, row_blocks
from riskcli.core.special import chdtrc
from riskcli.risk.baselines import VIRTUAL
from riskcli.risk.paired import Paired
from riskcli.risk.rounding import equal_digits

VIRTUAL_BASELINES = ("@mean", "@median", "@max")
"""ECIR'14, section 3."""
_LEAST_RUNS = 4
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Friedman:
    """Friedman's test, runs as treatments and baselines as blocks; W is Kendall's."""

    chi2: float
    degrees: int
    p: float
    w: float


@dataclass(frozen=True)
class Baselines:
    """Every run (row) against every baseline (column): the runs themselves, then virtual ones."""

    names: tuple[str, ...]
    """Of the virtual baselines."""
    scores: Floats
    urisk: Floats
    similarity: Floats
    """Correlation of run and baseline across topics."""
    tau_b: Floats
    """By baseline: agreement of the rankings of all other runs by mean and by URisk."""
    bias: Floats
    """By baseline: correlation, over all other runs, of similarity and URisk less its mean part."""
    partial: Floats
    """The same with the mean taken out of the similarity too."""
    friedman: Friedman
    equal_runs: Shuffled
    """What the figures would be if all runs were equal."""


def each_as_baseline(scores: Floats, alpha: float) -> Baselines:
    """Each run in turn as the baseline, and the virtual runs."""
    virtual = np.array([VIRTUAL[name](scores) for name in VIRTUAL_BASELINES])
    baselines = np.concatenate([scores, virtual])
    urisk = np.stack([_urisk(scores, b, alpha) for b in baselines], axis=1)
    similarity = _correlations(scores, baselines)
    mean = scores.mean(axis=1)
    tau, bias, partial = (np.full(len(baselines), np.nan) for _ in range(3))
    for index in range(len(baselines)):
        others = np.arange(len(scores)) != index
        tau[index] = kendall_tau_b(mean[others], urisk[others, index])
        bias[index], partial[index] = bias_of(
            similarity[others, index], urisk[others, index], mean[others]
        )
    test = friedman(urisk[:, : len(scores)])
    if too_much_to_shuffle(scores):
        equal = unknown(len(baselines))
    else:
        equal = equal_runs(scores, virtual, alpha, (test.w, bias, partial))
    return Baselines(
        VIRTUAL_BASELINES, baselines, urisk, similarity, tau, bias, partial, test, equal
    )


def _urisk(scores: Floats, baseline: Floats, alpha: float) -> Floats:
    """URisk of every run against one baseline, some runs at a time."""
    blocks = row_blocks(*scores.shape)
    return np.concatenate([Paired(scores[rows], baseline).urisk(alpha) for rows in blocks])


def bias_of(similarity: Floats, urisk: Floats, mean: Floats) -> tuple[float, float]:
    """Correlation of similarity with what URisk has beyond a linear function of the mean.

    The second figure is the partial correlation: similarity is treated likewise. NaN with fewer
    than four runs, or where one of the two does not vary.
    """
    known = np.isfinite(similarity)
    if np.count_nonzero(known) < _LEAST_RUNS:
        return float("nan"), float("nan")
    similarity, urisk, mean = similarity[known], urisk[known], mean[known]
    corrected = _beyond(mean, urisk)
    return _correlation(similarity, corrected), _correlation(_beyond(mean, similarity), corrected)


def _beyond(mean: Floats, values: Floats) -> Floats:
    """The values less their least-squares line in the mean, around their own mean."""
    centred = mean - mean.mean()
    size = float(centred @ centred)
    slope = float(centred @ values) / size if size > _ROUNDING else 0.0
    return np.asarray(values - slope * centred)


def _correlation(x: Floats, y: Floats) -> float:
    """Pearson's; NaN where one does not vary."""
    return float(_correlations(x[None, :], y[None, :])[0, 0])


def _correlations(rows: Floats, others: Floats) -> Floats:
    """Pearson's correlation of every row with every other one."""
    product: Floats = standardised_rows(rows) @ standardised_rows(others).T
    return np.asarray(np.clip(product, -1, 1), dtype=np.float64)


def friedman(matrix: Floats) -> Friedman:
    """Treatments as rows, blocks as columns; corrected for ties, NaN where all are tied."""
    treatments, blocks = matrix.shape
    ranks = np.stack([average_ranks(block) for block in matrix.T], axis=1)
    ties = sum(float(np.sum(n**3 - n)) for n in map(_tie_sizes, matrix.T))
    possible = blocks * (treatments**3 - treatments)
    degrees = treatments - 1
    if possible == 0 or ties >= possible:
        return Friedman(float("nan"), degrees, float("nan"), float("nan"))
    total = ranks.sum(axis=1)
    plain = 12 / (blocks * treatments * (treatments + 1)) * float(total @ total)
    chi2 = max(plain - 3 * blocks * (treatments + 1), 0.0) / (1 - ties / possible)
    return Friedman(chi2, degrees, float(chdtrc(degrees, chi2)), chi2 / (blocks * degrees))


def _tie_sizes(values: Floats) -> Counts:
    return np.asarray(np.unique(equal_digits(values), return_counts=True)[1])


def average_ranks(values: Floats) -> Floats:
    """1 for the smallest; values equal but for rounding share the mean of their ranks."""
    _, index, counts = np.unique(equal_digits(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[index])


@dataclass(frozen=True)
class Components:
    """Principal components of the runs' profiles over topics."""

    explained: Floats
    """Each component's share of the variance."""
    coordinates: Floats
    """By row (runs, then what was projected) and component."""


def principal_components(scores: Floats, projected: Floats, count: int) -> Components:
    """The runs as points in the space of topics, seen along the axes on which they differ most.

    Topics are centred on the mean over runs, so that @mean lies at the origin. What is projected
    has no part in choosing the axes. An axis points to where scores are higher on the whole.
    """
    centre = scores.mean(axis=0)
    _, size, axes = np.linalg.svd(scores - centre, full_matrices=False)
    axes = axes * np.where(axes.sum(axis=1) < 0, -1.0, 1.0)[:, None]
    kept = min(count, len(scores) - 1, scores.shape[1])
    total = float(size @ size)
    explained = size**2 / total if total > 0 else np.zeros_like(size)
    everything = np.concatenate([scores, projected]) - centre
    return Components(explained[:kept], np.asarray(everything @ axes[:kept].T))


@dataclass(frozen=True)
class MatrixBias:
    """One score matrix: URisk under every baseline, and what it shows."""

    measure: str
    alpha: float
    topics: int
    runs: tuple[str, ...]
    means: Floats
    found: Baselines
    ranks: Floats
    """Of URisk, by run and baseline; NaN for the baseline itself."""
    components: Components

    @property
    def baselines(self) -> tuple[str, ...]:
        """The runs, then the virtual ones."""
        return (*self.runs, *self.found.names)
