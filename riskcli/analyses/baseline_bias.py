"""Whether the choice of a baseline favours runs that resemble it (Dinçer et al., ECIR'14)."""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from riskcli.core.arrays import Floats, divided, in_units, row_blocks
from riskcli.risk.comparison import VIRTUAL
from riskcli.risk.estimate import DEFAULT_SEED, LEAST_SHUFFLES
from riskcli.risk.paired import Paired
from riskcli.risk.rank_agreement import kendall_tau_b
from riskcli.risk.rounding import EQUAL_STATISTIC, equal_digits
from riskcli.risk.weights import Weights, mean, weighed

MOST_WORK = 100_000_000
"""Runs squared times topics (150 more, for ranking): what beyond it would take over a minute."""
_LEAST_RUNS = 4
_DIGITS = 12
_ROUNDING = 1e-12


class ShuffledFigure(NamedTuple):
    """A figure of equal runs: its mean over shuffles, and how often it goes as far as observed."""

    mean: Floats
    p: Floats


class EqualRuns(NamedTuple):
    """What equal runs show; `bias` and `partial` by baseline, the virtual ones last."""

    w: ShuffledFigure
    bias: ShuffledFigure
    partial: ShuffledFigure
    shuffles: int


def too_much_to_shuffle(scores: Floats) -> bool:
    """Whether every shuffle of so many runs and topics would take too long."""
    runs, topics = scores.shape
    return bool(runs**2 * (topics + 150) > MOST_WORK)


def equal_runs(
    scores: Floats,
    virtual: Floats,
    alpha: float,
    observed: tuple[float, Floats, Floats],
    shuffles: int,
    weights: Weights = None,
) -> EqualRuns:
    """W, bias r and partial of the runs as `observed`, and of shuffled ones; NaN without shuffles.

    p of W is the share of shuffles whose W is at least as large; those of bias r and partial are
    two-sided. A run as the baseline is like any other when shuffled: all of them count.
    """
    cells = np.sort(scores, axis=0)
    order = np.lexsort((*cells, *virtual))
    cells, fixed = cells[:, order], virtual[:, order]
    weights = None if weights is None else weights[order]
    generator = np.random.Generator(np.random.SFC64(DEFAULT_SEED))
    w = np.empty(shuffles)
    coefficients = np.empty((2, shuffles, len(scores) + len(virtual)))
    for number in range(shuffles):
        shuffled = generator.permuted(cells, axis=0)
        urisk, similarity = _urisk_and_similarity(shuffled, fixed, alpha, weights)
        w[number] = _kendall_w(urisk[:, : len(scores)])
        coefficients[:, number] = biases(similarity, urisk, mean(shuffled, weights))
    bias, partial = (
        _compared(each, values, len(scores))
        for each, values in zip(coefficients, observed[1:], strict=True)
    )
    reached = np.count_nonzero(w >= observed[0] * (1 - EQUAL_STATISTIC))
    p = (reached + 1) / (shuffles + 1) if shuffles and np.isfinite(observed[0]) else np.nan
    finite = w[np.isfinite(w)]
    average = finite.mean() if len(finite) else np.nan
    figure = ShuffledFigure(np.array([average]), np.array([p]))
    return EqualRuns(figure, bias, partial, shuffles)


def _urisk_and_similarity(
    scores: Floats, virtual: Floats, alpha: float, weights: Weights = None
) -> tuple[Floats, Floats]:
    """By run and baseline: URisk = (1 + alpha/2) mean delta - (alpha/2) mean |delta|."""
    from scipy.spatial.distance import cdist  # late: it loads much that nothing else needs

    baselines = np.concatenate([scores, virtual])
    topics = scores.shape[1]
    gain = mean(scores, weights)[:, None] - mean(baselines, weights)
    weighed_rows = weighed(scores, weights), weighed(baselines, weights)
    distance = cdist(*weighed_rows, "cityblock") / topics
    urisk = (1 + alpha / 2) * gain - alpha / 2 * distance
    return urisk, standardised_rows(scores, weights) @ standardised_rows(baselines, weights).T


def standardised_rows(rows: Floats, weights: Weights = None) -> Floats:
    """Rows of mean 0 and length 1; NaN where a row does not vary."""
    rows, _ = in_units(rows)
    centred = _rooted(rows - mean(rows, weights)[:, None], weights)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    least = _ROUNDING * np.linalg.norm(rows, axis=1, keepdims=True)
    return divided(centred, length, length > least, otherwise=np.nan)


def _rooted(rows: Floats, weights: Weights) -> Floats:
    """Times the root of the weights, so that sums of products are weighted."""
    return rows if weights is None else rows * np.sqrt(weights)


def _kendall_w(matrix: Floats) -> float:
    """Of the rows ranked in each column, corrected for ties; NaN where all are tied."""
    size = np.abs(matrix).max(initial=0.0)
    ranks, ties = _ranked(np.round(matrix / size, _DIGITS) if size > 0 else matrix)
    treatments, blocks = matrix.shape
    possible = blocks * (treatments**3 - treatments)
    if possible <= ties:
        return float("nan")
    spread = ranks.sum(axis=1) - blocks * (treatments + 1) / 2
    return float(12 * (spread @ spread) / (blocks * (possible - ties)))


def _ranked(values: Floats) -> tuple[Floats, float]:
    """Ranks within each column, 1 the smallest, equal values share their mean; sum of n^3 - n.

    The sum is over ties of n values each.
    """
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
    return ranks, float((((last - first + 1.0) ** 2) - 1).sum())


def biases(similarity: Floats, urisk: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """By baseline (column), over all other runs: *bias r* and *partial*; see `bias_of`."""
    defined = np.isfinite(similarity)
    np.fill_diagonal(defined, False)
    count = defined.sum(axis=0)
    centred = _centred(np.broadcast_to(mean[:, None], urisk.shape), defined)
    size = np.einsum("ij,ij->j", centred, centred)

    def beyond(values: Floats) -> Floats:
        slope = divided(np.einsum("ij,ij->j", centred, values), size, size > _ROUNDING)
        return np.asarray(values - slope * centred)

    alike, corrected = _centred(similarity, defined), beyond(_centred(urisk, defined))
    both = _correlated(alike, corrected), _correlated(beyond(alike), corrected)
    bias, partial = (np.where(count < _LEAST_RUNS, np.nan, each) for each in both)
    return bias, partial


def _centred(values: Floats, defined: Floats) -> Floats:
    """Each column around the mean of its defined cells; 0 elsewhere."""
    kept = np.where(defined, values, 0.0)
    mean = kept.sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    return np.where(defined, kept - mean, 0.0)


def _correlated(x: Floats, y: Floats) -> Floats:
    """Of centred columns; NaN where one does not vary."""
    lengths = np.linalg.norm(x, axis=0) * np.linalg.norm(y, axis=0)
    product = np.einsum("ij,ij->j", x, y)
    return np.clip(divided(product, lengths, lengths > _ROUNDING, otherwise=np.nan), -1, 1)


def _compared(shuffled: Floats, observed: Floats, runs: int) -> ShuffledFigure:
    """By baseline; the runs as baselines share their replicates."""
    pools = [shuffled[:, :runs], *shuffled[:, runs:].T]
    of_runs, *others = [np.sort(pool[np.isfinite(pool)]) for pool in pools]
    ordered = [of_runs] * runs + others
    mean = [values.mean() if len(values) else np.nan for values in ordered]
    p = [_two_sided(values, at) for values, at in zip(ordered, observed.tolist(), strict=True)]
    return ShuffledFigure(np.array(mean), np.array(p))


def _two_sided(ordered: Floats, observed: float) -> float:
    """Twice the smaller tail, (count + 1) / (replicates + 1) each; NaN where either is unknown."""
    if not len(ordered) or not np.isfinite(observed):
        return float("nan")
    above = len(ordered) - np.searchsorted(ordered, observed - _ROUNDING, side="left")
    below = np.searchsorted(ordered, observed + _ROUNDING, side="right")
    return min(1.0, 2 * (min(int(above), int(below)) + 1) / (len(ordered) + 1))


# Whether the choice of a baseline favours runs that resemble it (Dinçer et al., ECIR'14).


VIRTUAL_BASELINES = ("@mean", "@median", "@max")
"""ECIR'14, section 3."""


class Friedman(NamedTuple):
    """Friedman's test, runs as treatments and baselines as blocks; W is Kendall's."""

    chi2: float
    degrees: int
    p: float
    w: float


class Baselines(NamedTuple):
    """Every run (row) against every baseline (column): the runs themselves, then virtual ones."""

    scores: Floats
    means: Floats
    """Of these runs, as baselines."""
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
    equal_runs: EqualRuns
    """What the figures would be if all runs were equal."""


def each_as_baseline(scores: Floats, alpha: float, weights: Weights = None) -> Baselines:
    """Each run in turn as the baseline, and the virtual runs."""
    virtual = np.array([VIRTUAL[name](scores) for name in VIRTUAL_BASELINES])
    baselines = np.concatenate([scores, virtual])
    urisk = np.stack([_urisk(scores, b, alpha, weights) for b in baselines], axis=1)
    similarity = _correlations(scores, baselines, weights)
    means = mean(baselines, weights)
    tau, bias, partial = (np.full(len(baselines), np.nan) for _ in range(3))
    for index in range(len(baselines)):
        others = np.arange(len(scores)) != index
        tau[index] = kendall_tau_b(means[: len(scores)][others], urisk[others, index])
        bias[index], partial[index] = bias_of(
            similarity[others, index], urisk[others, index], means[: len(scores)][others]
        )
    test = friedman(urisk[:, : len(scores)])
    shuffles = 0 if too_much_to_shuffle(scores) else LEAST_SHUFFLES
    equal = equal_runs(scores, virtual, alpha, (test.w, bias, partial), shuffles, weights)
    return Baselines(baselines, means, urisk, similarity, tau, bias, partial, test, equal)


def _urisk(scores: Floats, baseline: Floats, alpha: float, weights: Weights) -> Floats:
    """URisk of every run against one baseline, some runs at a time."""
    blocks = row_blocks(*scores.shape)
    return np.concatenate(
        [Paired(scores[rows], baseline, weights=weights).urisk(alpha) for rows in blocks]
    )


def bias_of(similarity: Floats, urisk: Floats, mean: Floats) -> tuple[float, float]:
    """Correlation of similarity with what URisk has beyond a linear function of the mean.

    The second figure is the partial correlation: similarity is treated likewise. NaN with fewer
    than four runs, or where one of the two does not vary.
    """
    defined = np.isfinite(similarity)
    if np.count_nonzero(defined) < _LEAST_RUNS:
        return float("nan"), float("nan")
    similarity, urisk, mean = similarity[defined], urisk[defined], mean[defined]
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


def _correlations(rows: Floats, others: Floats, weights: Weights = None) -> Floats:
    """Pearson's correlation of every row with every other one."""
    product: Floats = standardised_rows(rows, weights) @ standardised_rows(others, weights).T
    return np.asarray(np.clip(product, -1, 1), dtype=np.float64)


def friedman(matrix: Floats) -> Friedman:
    """Treatments as rows, blocks as columns; corrected for ties, NaN where all are tied."""
    treatments, blocks = matrix.shape
    ranks, ties = _ranked(np.stack([equal_digits(block) for block in matrix.T], axis=1))
    possible = blocks * (treatments**3 - treatments)
    degrees = treatments - 1
    if possible == 0 or ties >= possible:
        return Friedman(float("nan"), degrees, float("nan"), float("nan"))
    total = ranks.sum(axis=1)
    plain = 12 / (blocks * treatments * (treatments + 1)) * float(total @ total)
    chi2 = max(plain - 3 * blocks * (treatments + 1), 0.0) / (1 - ties / possible)
    return Friedman(chi2, degrees, float(chdtrc(degrees, chi2)), chi2 / (blocks * degrees))


class Components(NamedTuple):
    """Principal components of the runs' profiles over topics."""

    explained: Floats
    """Each component's share of the variance."""
    coordinates: Floats
    """By row (runs, then what was projected) and component."""


def principal_components(
    scores: Floats, projected: Floats, count: int, weights: Weights = None
) -> Components:
    """The runs as points in the space of topics, seen along the axes on which they differ most.

    Topics are centred on the mean over runs, so that @mean lies at the origin. What is projected
    has no part in choosing the axes. An axis points to where scores are higher on the whole.
    """
    scores, projected = _rooted(scores, weights), _rooted(projected, weights)
    centre = scores.mean(axis=0)
    _, size, axes = np.linalg.svd(scores - centre, full_matrices=False)
    axes = axes * np.where(axes.sum(axis=1) < 0, -1.0, 1.0)[:, None]
    kept = min(count, len(scores) - 1, scores.shape[1])
    total = float(size @ size)
    explained = size**2 / total if total > 0 else np.zeros_like(size)
    everything = np.concatenate([scores, projected]) - centre
    return Components(explained[:kept], np.asarray(everything @ axes[:kept].T))
