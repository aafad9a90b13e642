"""What runs that are equal would show: the same figures, runs shuffled within topics.

Friedman's blocks are the baselines here, which are the runs themselves and share their topics, so
that chi2 does not follow its distribution: equal runs are "significant" in most samples, and have
a W well above 0. A run's URisk rises with its mean and falls with its distance to the baseline, so
that equal runs have a *bias r* well above 0 as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.options import DEFAULT_SEED, LEAST_SHUFFLES
from riskcli.risk.rounding import EQUAL_STATISTIC

MOST_WORK = 100_000_000
"""Runs squared times topics (150 more, for ranking): what beyond it would take over a minute."""
_LEAST_RUNS = 4
_DIGITS = 12
_ROUNDING = 1e-12


@dataclass(frozen=True)
class EqualRuns:
    """A figure of equal runs: its mean over shuffles, and how often it goes as far as observed."""

    mean: Floats
    p: Floats


@dataclass(frozen=True)
class Shuffled:
    """What equal runs show; `bias` and `partial` by baseline, the virtual ones last."""

    w: EqualRuns
    bias: EqualRuns
    partial: EqualRuns
    shuffles: int
    seed: int


def too_much_to_shuffle(scores: Floats) -> bool:
    """Whether every shuffle of so many runs and topics would take too long."""
    runs, topics = scores.shape
    return bool(runs**2 * (topics + 150) > MOST_WORK)


def unknown(figures: int) -> Shuffled:
    """What is known of equal runs where nothing was shuffled."""
    one, many = (EqualRuns(np.full(n, np.nan), np.full(n, np.nan)) for n in (1, figures))
    return Shuffled(one, many, many, 0, DEFAULT_SEED)


def equal_runs(
    scores: Floats,
    virtual: Floats,
    alpha: float,
    observed: tuple[float, Floats, Floats],
    shuffles: int = LEAST_SHUFFLES,
    seed: int = DEFAULT_SEED,
) -> Shuffled:
    """W, bias r and partial of the runs as `observed`, and of shuffled ones; B >= 999.

    p of W is the share of shuffles whose W is at least as large; those of bias r and partial are
    two-sided. A run as the baseline is like any other when shuffled: all of them count.
    """
    cells = np.sort(scores, axis=0)
    order = np.lexsort((*cells, *virtual))
    cells, fixed = cells[:, order], virtual[:, order]
    generator = np.random.Generator(np.random.SFC64(seed))
    w = np.empty(shuffles)
    coefficients = np.empty((2, shuffles, len(scores) + len(virtual)))
    for number in range(shuffles):
        shuffled = generator.permuted(cells, axis=0)
        urisk, similarity = _urisk_and_similarity(shuffled, fixed, alpha)
        w[number] = _kendall_w(urisk[:, : len(scores)])
        coefficients[:, number] = biases(similarity, urisk, shuffled.mean(axis=1))
    bias, partial = (
        _compared(each, values, len(scores))
        for each, values in zip(coefficients, observed[1:], strict=True)
    )
    reached = np.count_nonzero(w >= observed[0] * (1 - EQUAL_STATISTIC))
    p = (reached + 1) / (shuffles + 1) if np.isfinite(observed[0]) else np.nan
    return Shuffled(
        EqualRuns(np.array([_mean_of_known(w)]), np.array([p])), bias, partial, shuffles, seed
    )


def _urisk_and_similarity(scores: Floats, virtual: Floats, alpha: float) -> tuple[Floats, Floats]:
    """By run and baseline: URisk = (1 + alpha/2) mean delta - (alpha/2) mean |delta|."""
    from scipy.spatial.distance import cdist  # late: it loads much that nothing else needs

    baselines = np.concatenate([scores, virtual])
    topics = scores.shape[1]
    gain = scores.mean(axis=1)[:, None] - baselines.mean(axis=1)
    distance = cdist(scores, baselines, "cityblock") / topics
    urisk = (1 + alpha / 2) * gain - alpha / 2 * distance
    return urisk, standardised_rows(scores) @ standardised_rows(baselines).T


def standardised_rows(rows: Floats) -> Floats:
    """Rows of mean 0 and length 1; NaN where a row does not vary."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    made: Floats = np.full_like(centred, np.nan)
    least = _ROUNDING * np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(centred, length, out=made, where=length > least)
    return made


def _kendall_w(matrix: Floats) -> float:
    """Of the rows ranked in each column, corrected for ties; NaN where all are tied."""
    size = np.abs(matrix).max(initial=0.0)
    values = np.round(matrix / size, _DIGITS) if size > 0 else matrix
    treatments, blocks = values.shape
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    # Equal neighbours share the mean of the first and the last rank of their stretch.
    new = np.ones((treatments + 1, blocks), dtype=bool)
    new[1:-1] = ordered[1:] != ordered[:-1]
    index = np.arange(treatments)[:, None]
    first = np.maximum.accumulate(np.where(new[:-1], index, 0), axis=0)
    last = np.minimum.accumulate(np.where(new[1:], index, treatments)[::-1], axis=0)[::-1]
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    ties = float((((last - first + 1.0) ** 2) - 1).sum())
    possible = blocks * (treatments**3 - treatments)
    if possible <= ties:
        return float("nan")
    spread = ranks.sum(axis=1) - blocks * (treatments + 1) / 2
    return float(12 * (spread @ spread) / (blocks * (possible - ties)))


def biases(similarity: Floats, urisk: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """By baseline (column), over all other runs: *bias r* and *partial*; see `bias_of`."""
    runs, baselines = urisk.shape
    known = np.isfinite(similarity)
    known[np.arange(runs), np.arange(runs)] = False
    count = known.sum(axis=0)
    centred = _centred(np.broadcast_to(mean[:, None], urisk.shape), known)
    size = np.einsum("ij,ij->j", centred, centred)

    def beyond(values: Floats) -> Floats:
        slope = np.divide(
            np.einsum("ij,ij->j", centred, values), size, out=np.zeros(baselines),
            where=size > _ROUNDING,
        )  # fmt: skip
        return np.asarray(values - slope * centred)

    alike, corrected = _centred(similarity, known), beyond(_centred(urisk, known))
    found = _correlated(alike, corrected), _correlated(beyond(alike), corrected)
    bias, partial = (np.where(count < _LEAST_RUNS, np.nan, each) for each in found)
    return bias, partial


def _centred(values: Floats, known: Floats) -> Floats:
    """Each column around the mean of its known cells; 0 elsewhere."""
    kept = np.where(known, values, 0.0)
    mean = kept.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, kept - mean, 0.0)


def _correlated(x: Floats, y: Floats) -> Floats:
    """Of centred columns; NaN where one does not vary."""
    lengths = np.linalg.norm(x, axis=0) * np.linalg.norm(y, axis=0)
    product = np.einsum("ij,ij->j", x, y)
    made: Floats = np.full_like(product, np.nan)
    np.divide(product, lengths, out=made, where=lengths > _ROUNDING)
    return np.clip(made, -1, 1)


def _compared(shuffled: Floats, observed: Floats, runs: int) -> EqualRuns:
    """By baseline; the runs as baselines share their replicates."""
    pools = [shuffled[:, :runs].ravel()] * runs + list(shuffled[:, runs:].T)
    known = {id(pool): np.sort(pool[np.isfinite(pool)]) for pool in pools}
    mean, p = np.full((2, len(observed)), np.nan)
    for column, pool in enumerate(pools):
        values = known[id(pool)]
        if not len(values):
            continue
        mean[column] = values.mean()
        if np.isfinite(observed[column]):
            p[column] = _two_sided(values, float(observed[column]))
    return EqualRuns(mean, p)


def _two_sided(ordered: Floats, observed: float) -> float:
    """Twice the smaller tail, (count + 1) / (replicates + 1) each."""
    above = len(ordered) - np.searchsorted(ordered, observed - _ROUNDING, side="left")
    below = np.searchsorted(ordered, observed + _ROUNDING, side="right")
    return min(1.0, 2 * (min(int(above), int(below)) + 1) / (len(ordered) + 1))


def _mean_of_known(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
