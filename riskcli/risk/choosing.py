"""Which run to choose: how probably each is truly the best, and what choosing it would lose.

The best value of a sample is too good by chance. So the values are shrunk towards their mean: the
true values are taken for normal about it, with a deviation that the values themselves tell, and
what is observed for normal about the true values, with the covariance of the jackknife influences,
which is itself shrunk (Ledoit and Wolf 2004). `docs/appendix-calibration.md` says how often a run
that was chosen in this way is the best.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from riskcli.core.arrays import Floats, divided, row_blocks, units
from riskcli.risk.paired import LEAST_TOPICS

_DRAWS = 20_000
_MOST_CELLS = 4_000_000
"""Of many runs there are fewer draws."""
_SEED = 20161
_STEPS = 64
_NO_AXIS = 1e-12
"""A singular value this small beside the largest is rounding."""
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
    runs = len(values)
    if runs == 1:
        return np.ones(1), np.zeros(1)
    unit = float(units(deviations.ravel()))
    errors = _Errors.of((deviations - deviations.mean(axis=0)) / unit)
    observed = (values - values.mean()) / unit
    generator = np.random.default_rng(_SEED)
    draws = min(_DRAWS, _MOST_CELLS // runs)
    possible, weights = errors.spreads(observed)
    spread = generator.choice(possible, draws, p=weights)
    best, lost = np.zeros(runs), np.zeros(runs)
    for some in row_blocks(draws, runs, _CELLS_AT_ONCE):
        noise = generator.standard_normal((runs, some.stop - some.start))
        true = errors.true_values(observed, spread[some] ** 2, noise)
        highest = true.max(axis=0)
        first = true == highest  # several only where runs do not differ at all
        best += (first / first.sum(axis=0)).sum(axis=1)
        lost += (highest - true).sum(axis=1)
    return best / draws, unit * lost / draws


@dataclass(frozen=True)
class _Errors:
    """How observed values vary about the true ones: the covariance, after Ledoit and Wolf (2004).

    Only contrasts between runs count: what all runs share decides nothing. Along `axes` (columns)
    the variances are `sizes`, and `rest` along all other contrasts.
    """

    axes: Floats
    sizes: Floats
    rest: float

    @classmethod
    def of(cls, centred: Floats) -> Self:
        """From deviations, whose mean over runs is 0 on every topic."""
        runs, topics = centred.shape
        axes, singular, _ = np.linalg.svd(centred, full_matrices=False)
        some = singular > _NO_AXIS * singular.max(initial=0.0)
        axes, sizes = axes[:, some], singular[some] ** 2 / (topics - 1)
        level, others = float(sizes.sum()) / (runs - 1), runs - 1 - len(sizes)
        distance = float(((sizes - level) ** 2).sum()) + others * level**2
        fourth = float(((centred**2).sum(axis=0) ** 2).sum()) / topics
        error = max(fourth - float((sizes**2).sum()), 0.0) / topics
        share = min(error / distance, 1.0) if distance > 0 else 1.0
        shrunk = (1 - share) * sizes + share * level
        return cls(axes, shrunk / topics, share * level / topics)

    def spreads(self, observed: Floats) -> tuple[Floats, Floats]:
        """How far true values may lie apart, and how probable each of these is, given the observed.

        Any is as probable beforehand as any other, up to one beyond all that was observed.
        """
        count = len(observed) - 1
        others = count - len(self.sizes)
        level = (float(self.sizes.sum()) + others * self.rest) / count
        most = 3 * np.sqrt(float((observed**2).sum()) / count) + np.sqrt(level)
        if most == 0:
            return np.zeros(1), np.ones(1)
        spreads = most * (np.arange(_STEPS) + 0.5) / _STEPS
        along = self.axes.T @ observed
        left = max(float((observed**2).sum() - (along**2).sum()), 0.0)
        variance, rest = self.sizes[:, None] + spreads**2, self.rest + spreads**2
        density = (np.log(variance) + along[:, None] ** 2 / variance).sum(axis=0)
        density += others * np.log(rest) + (left / rest if others else 0.0)
        weights = np.exp((density.min() - density) / 2)
        return spreads, weights / weights.sum()

    def true_values(self, observed: Floats, variance: Floats, noise: Floats) -> Floats:
        """By run and draw: true values, given how far they lie apart, and standard normal noise."""
        along, noise_along = self.axes.T @ observed, self.axes.T @ noise
        kept = divided(variance, self.sizes[:, None] + variance)
        kept_of_rest = divided(variance, self.rest + variance)
        drawn = kept * along[:, None] + np.sqrt(kept * self.sizes[:, None]) * noise_along
        left = observed - self.axes @ along
        noise_left = noise - noise.mean(axis=0) - self.axes @ noise_along
        of_rest = left[:, None] * kept_of_rest + np.sqrt(kept_of_rest * self.rest) * noise_left
        return np.asarray(self.axes @ drawn + of_rest)
