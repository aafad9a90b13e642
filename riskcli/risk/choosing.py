"""Which run to choose: how probably each is truly the best, and what choosing it would lose.

The best value of a sample is too good by chance. So the values are shrunk towards their mean: the
true values are taken for normal about it, with a deviation that the values themselves tell, and
what is observed for normal about the true values, with the covariance of the jackknife influences,
which is itself shrunk (Ledoit and Wolf 2004). `docs/appendix-calibration.md` says how often a run
that was chosen in this way is the best.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from riskcli.core.arrays import Floats, divided, row_blocks, units
from riskcli.risk.paired import LEAST_TOPICS

_DRAWS = 20_000
_MOST_CELLS = 4_000_000
"""Of many runs there are fewer draws."""
_SEED = 20161
_STEPS = 64
_CELLS_AT_ONCE = 400_000


@dataclass(frozen=True)
class Choice:
    """Of each run; NaN for a run without a value, and where topics are too few."""

    p_best: Floats
    """The probability that its true value is the highest."""
    expected_loss: Floats
    """By how much the highest true value is expected to be above its own."""


def choices(values: Floats, deviations: Floats) -> Choice:
    """From values and their deviations by run and topic, as those of a mean.

    The covariance of the values is that of the deviations over the number of topics.
    """
    p_best, loss = np.full((2, len(values)), np.nan)
    known = ~np.isnan(values)
    if deviations.shape[1] >= LEAST_TOPICS and known.any():
        p_best[known], loss[known] = _choices(values[known], deviations[known])
    return Choice(p_best, loss)


def _choices(values: Floats, deviations: Floats) -> tuple[Floats, Floats]:
    runs, topics = deviations.shape
    if runs == 1:
        return np.ones(1), np.zeros(1)
    unit = float(units(deviations.ravel()))
    apart = (values - values.mean()) / unit
    sizes, axes = _shrunk_covariance((deviations - deviations.mean(axis=0)) / unit)
    sizes /= topics
    observed = axes.T @ apart
    generator = np.random.default_rng(_SEED)
    draws = min(_DRAWS, _MOST_CELLS // runs)
    possible, weights = _deviations_of_true_values(observed, sizes)
    deviation = generator.choice(possible, draws, p=weights)
    best, lost = np.zeros(runs), np.zeros(runs)
    for some in row_blocks(draws, runs, _CELLS_AT_ONCE):
        variance = deviation[some] ** 2
        kept = divided(variance, sizes[:, None] + variance)
        noise = generator.standard_normal(kept.shape)
        true = axes @ (kept * observed[:, None] + np.sqrt(kept * sizes[:, None]) * noise)
        highest = true.max(axis=0)
        first = true == highest  # several only where runs do not differ at all
        best += (first / first.sum(axis=0)).sum(axis=1)
        lost += (highest - true).sum(axis=1)
    return best / draws, unit * lost / draws


def _shrunk_covariance(centred: Floats) -> tuple[Floats, Floats]:
    """Variances along axes (columns), after Ledoit and Wolf (2004).

    The axes are those of the contrasts between runs: what all runs share decides nothing.
    """
    runs, topics = centred.shape
    contrasts = helmert(runs)
    apart = contrasts @ centred
    covariance = apart @ apart.T / (topics - 1)
    sizes, axes = np.linalg.eigh(covariance)
    sizes = np.maximum(sizes, 0.0)
    level = sizes.mean()
    distance = ((sizes - level) ** 2).sum()
    fourth = (apart**2).sum(axis=0) ** 2
    error = (fourth.sum() / topics - (covariance**2).sum()) / topics
    share = min(max(error, 0.0) / distance, 1.0) if distance > 0 else 1.0
    return (1 - share) * sizes + share * level, contrasts.T @ axes


def _deviations_of_true_values(observed: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """How far true values may lie apart, and how probable each of these is, given the observed.

    Any deviation is as probable beforehand as any other, up to one beyond all that was observed.
    """
    largest = np.sqrt((observed**2).mean())
    most = 3 * largest + np.sqrt(sizes.mean())
    if most == 0:
        return np.zeros(1), np.ones(1)
    deviations = most * (np.arange(_STEPS) + 0.5) / _STEPS
    variance = sizes[:, None] + deviations**2
    likelihood = -0.5 * (np.log(variance) + observed[:, None] ** 2 / variance).sum(axis=0)
    weights = np.exp(likelihood - likelihood.max())
    return deviations, weights / weights.sum()
