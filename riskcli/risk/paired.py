"""Runs against a baseline, topic by topic: what URisk and TRisk are made of.

Notation of Dinçer, Macdonald and Ounis (SIGIR'14): delta_q = x_q - b_q, and w_q is delta_q with
losses counted t = 1 + alpha times. All sums here are free of alpha, so any number of its values
costs one pass over the matrix.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import chdtri, nctdtr, stdtr, stdtrit

from riskcli.core.arrays import ALL, Counts, Floats, Mask, Rows, in_units, row_blocks, units
from riskcli.risk.rounding import CONSTANT, NO_DIFFERENCE
from riskcli.risk.weights import Weights, degrees, leveraged, mean

LEAST_TOPICS = 3
"""Fewer topics have neither p-values nor intervals."""


@dataclass(frozen=True)
class Moments:
    """URisk and TRisk of each run at any weight of losses t: the one place of both formulas.

    `reward`, `risk` and `variance` are by run; a row of `variance` holds the coefficients of s_w^2,
    the sample variance of w, as a quadratic in t, from t^0 up. All are in the run's `unit`, without
    which the squares of tiny differences would be 0. `rows` chooses runs, each of which may have a
    t of its own.
    """

    topics: int
    reward: Floats
    risk: Floats
    variance: Floats
    unit: Floats
    degrees: float
    """Of freedom, of the variance."""

    def urisk(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """URisk = Reward - (1 + alpha) Risk (SIGIR'14, Eq. 4)."""
        return np.asarray(self.unit[rows] * (self.reward[rows] - t * self.risk[rows]))

    def urisk_se(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """s_w / sqrt(c), the standard error of URisk (SIGIR'14, Eq. 12, divisor c - 1)."""
        fixed, linear, square = self.variance[rows].T
        error = np.sqrt((fixed + t * linear + t**2 * square) / self.topics)
        return np.asarray(self.unit[rows] * error)

    def trisk(self, t: float | Floats, rows: Rows | slice = ALL) -> Floats:
        """TRisk = URisk / SE(URisk) (SIGIR'14, Eq. 10); 0 for a run equal to the baseline."""
        return ratio_to_error(self.urisk(t, rows), self.urisk_se(t, rows))

    @cached_property
    def squared_urisk(self) -> Floats:
        """URisk^2 as a quadratic in t, by run, from t^0 up; in the square of its unit."""
        reward, risk = self.reward, self.risk
        return np.stack([reward**2, -2 * reward * risk, risk**2], axis=1)

    @cached_property
    def squared_error(self) -> Floats:
        """SE(URisk)^2 as a quadratic in t, by run, from t^0 up; in the square of its unit."""
        return np.asarray(self.variance / self.topics)


@dataclass(frozen=True)
class Paired:
    """Every run of a matrix (rows) against one baseline, over the same topics (columns)."""

    scores: Floats
    baseline: Floats
    pooled: int = field(default=1, kw_only=True)
    """How many runs the baseline is a mean of, at most: its rounding grows with their root."""
    noise: Floats | None = field(default=None, kw_only=True)
    """By run and topic, which differences are noise of repeats, and count as ties."""
    weights: Weights = field(default=None, kw_only=True)
    """How much each topic counts, 1 on average; None: all the same."""

    @cached_property
    def delta(self) -> Floats:
        """x_q - b_q."""
        return np.asarray(self.scores - self.baseline)

    @property
    def topics(self) -> int:
        """c, the number of topics."""
        return int(self.scores.shape[1])

    @cached_property
    def wins(self) -> Counts:
        """Topics with delta > 0, beyond the noise of repeats where there are any."""
        return self._topics_that_are(np.greater, 1)

    @cached_property
    def losses(self) -> Counts:
        """Topics with delta < 0, beyond the noise of repeats where there are any."""
        return self._topics_that_are(np.less, -1)

    @property
    def differing(self) -> Counts:
        """Topics with another score than the baseline, be it noise or not."""
        return self._topics_that_are(np.not_equal, 0)

    @property
    def lost(self) -> Mask:
        """Which topics are lost."""
        return np.less(self.scores, self._beyond_noise(ALL, -1))

    def _topics_that_are(self, compared: np.ufunc, side: int) -> Counts:
        """Counted without delta, which a large matrix has no room for."""
        cells = (
            compared(self.scores[rows], self._beyond_noise(rows, side))
            for rows in row_blocks(*self.scores.shape)
        )
        return np.concatenate([np.count_nonzero(block, axis=1) for block in cells])

    def _beyond_noise(self, rows: slice, side: int) -> Floats:
        """The scores above (1) or below (-1) which a difference is more than noise."""
        return self.baseline if self.noise is None else self.baseline + side * self.noise[rows]

    @cached_property
    def ties(self) -> Counts:
        """The other topics."""
        return self.topics - self.wins - self.losses

    @cached_property
    def losses20(self) -> Counts:
        """Topics that lose more than a fifth of a baseline score above 0."""
        return np.asarray(np.count_nonzero(self.ruined, axis=1))

    @property
    def ruined(self) -> Mask:
        """Which topics they are."""
        return self.lost & loses_a_fifth(self.delta, self.baseline)

    @cached_property
    def reward(self) -> Floats:
        """The mean gain, (1/c) sum max(0, delta) (SIGIR'14, Eq. 2)."""
        return mean(np.maximum(self.delta, 0), self.weights)

    @cached_property
    def risk(self) -> Floats:
        """The mean loss, (1/c) sum max(0, -delta) (SIGIR'14, Eq. 1)."""
        return mean(np.maximum(-self.delta, 0), self.weights)

    @cached_property
    def constant(self) -> Mask:
        """Runs whose delta is the same on every topic, but for rounding of that topic's scores.

        Equal scores are no rounding: a run that differs on one topic alone is not constant.
        """
        found = np.empty(len(self.scores), dtype=np.bool_)
        for rows in row_blocks(*self.scores.shape):
            delta, scores = self.delta[rows], self.scores[rows]
            size = np.maximum(np.abs(scores), np.sqrt(self.pooled) * np.abs(self.baseline))
            noise = CONSTANT / 2 * size
            noise[delta == 0] = 0.0
            found[rows] = (delta - noise).max(axis=1) <= (delta + noise).min(axis=1)
        return found

    @cached_property
    def unit(self) -> Floats:
        """The power of two that each run's sums of squares are computed in."""
        return units(self.delta)

    @cached_property
    def linear(self) -> Moments:
        """Under the linear loss: losses count t times, whatever the loss function in force."""
        reward, risk = self.reward / self.unit, self.risk / self.unit
        variance, freedom = self._variance(), degrees(self.topics, self.weights)
        return Moments(self.topics, reward, risk, variance, self.unit, freedom)

    def _variance(self) -> Floats:
        """Var(w) = Var(gain) - 2 t Cov(gain, loss) + t^2 Var(loss); NaN on a single topic."""
        if self.topics < 2:
            return np.full((len(self.scores), 3), np.nan)
        delta, _ = in_units(self.delta)
        gain, loss = np.maximum(delta, 0), np.maximum(-delta, 0)
        gain -= (self.reward / self.unit)[:, None]
        loss -= (self.risk / self.unit)[:, None]
        gain, loss = leveraged(gain, self.weights), leveraged(loss, self.weights)
        gains, both, losses = (
            np.einsum("ij,ij->i", *pair) / (self.topics - 1)
            for pair in ((gain, gain), (gain, loss), (loss, loss))
        )
        variance = np.stack([gains, -2 * both, losses], axis=1)
        variance[self.constant] = 0.0
        return variance

    @property
    def moments(self) -> Moments:
        """Under the loss function in force."""
        return self.linear

    @property
    def gain(self) -> Floats:
        """The mean of delta: Reward - Risk."""
        return self.linear.urisk(1.0)

    @property
    def gain_se(self) -> Floats:
        """The standard error of the mean of delta."""
        return self.linear.urisk_se(1.0)

    def urisk(self, alpha: float) -> Floats:
        """The mean of w."""
        return self.moments.urisk(1 + alpha)

    def urisk_se(self, alpha: float) -> Floats:
        """The standard error of URisk."""
        return self.moments.urisk_se(1 + alpha)

    def trisk(self, alpha: float) -> Floats:
        """URisk over its standard error."""
        return self.moments.trisk(1 + alpha)

    def weighted(self, alpha: float | Floats) -> Floats:
        """w, run by topic; each cell may have an alpha of its own."""
        return np.where(self.delta < 0, (1 + alpha) * self.delta, self.delta)


def loses_a_fifth(delta: Floats, baseline: Floats) -> Mask:
    """Where more than a fifth of a baseline score above 0 is lost.

    A fifth is RBP's from rank to rank with p = 0.8: no rounding makes it more.
    """
    return np.asarray((baseline > 0) & (delta < -(0.2 + NO_DIFFERENCE) * baseline))


def ratio_to_error(estimate: Floats, error: Floats) -> Floats:
    """Estimate / error; 0 where both are 0, infinite where only the error is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimate / error
    t[(error == 0) & (estimate == 0)] = 0.0
    return t


def two_sided_p(t: Floats, degrees: float) -> Floats:
    """The two-sided p-value of Student's t.

    NaN with fewer than 3 topics, or where t is infinite: a standard error of 0 is no sample's.
    """
    if degrees + 1 < LEAST_TOPICS:
        return np.full(np.shape(t), np.nan)
    return np.where(np.isinf(t), np.nan, 2 * stdtr(degrees, -np.abs(t)))


def effect_size(difference: Floats, error: Floats, topics: float) -> Floats:
    """d_z = mean difference / its standard deviation = t / sqrt(c); NaN where that is infinite."""
    t = ratio_to_error(difference, error)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(t), t / np.sqrt(topics), np.nan)


# What a paired t test can see: power, the topics that it needs, the smallest loss that it sees.
#
# The difference over topics is taken for normal with standard deviation `spread`; the test is
# one-sided at `level`. Then t is noncentral, with noncentrality loss sqrt(c) / spread.


MOST_TOPICS = 10_000_000
USUAL_POWER = 0.8
_STEPS = 100


def power(loss: float, spread: float, topics: float, level: float) -> float:
    """The chance that a true loss of that size is significant with so many topics."""
    if topics < 2:
        return 0.0
    if spread == 0:
        return 1.0 if loss > 0 else level
    critical = stdtrit(topics - 1, 1 - level)
    seen = 1 - nctdtr(topics - 1, loss * np.sqrt(topics) / spread, critical)
    # far in the tail the library gives NaN, where every loss is seen
    return 1.0 if np.isnan(seen) else float(seen)


def topics_needed(
    loss: float, spread: float, level: float, wanted: float = USUAL_POWER
) -> int | None:
    """The fewest topics with which the loss is seen with the power wanted; None: too many."""
    if loss <= 0:
        return None

    def seen(count: int) -> float:
        return power(loss, spread, count, level)

    low, high = 1, LEAST_TOPICS
    while seen(high) < wanted:
        low, high = high, high * 2
        if high > MOST_TOPICS:
            return None
    return max(bisect_left(range(high), wanted, low + 1, key=seen), LEAST_TOPICS)


def smallest_loss(
    spread: float, topics: float, level: float, wanted: float = USUAL_POWER
) -> float | None:
    """The smallest true loss that so many topics see with the power wanted."""
    if topics < 2:
        return None
    if spread == 0:
        return 0.0
    return float(_smallest_in_errors(topics, level, wanted) * (spread / np.sqrt(topics)))


@lru_cache(maxsize=1024)  # many runs have the same number of topics
def _smallest_in_errors(topics: float, level: float, wanted: float) -> float:
    """The same in standard errors of the mean."""
    # Student's t for the two parts is a bound from above for any number of topics.
    low = 0.0
    high = float((stdtrit(topics - 1, 1 - level) + stdtrit(topics - 1, wanted)) * 2)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if power(middle, np.sqrt(topics), topics, level) >= wanted:
            high = middle
        else:
            low = middle
    return high


RANGE = 0.9
"""How often the range of a spread is to hold the true one."""


def spread_range(spread: float, degrees: float) -> tuple[float, float]:
    """Where the true spread lies, if its square has these degrees of freedom: by chi-square."""
    ends = (chdtri(degrees, (1 + side * RANGE) / 2) for side in (-1, 1))
    low, high = (float(spread * np.sqrt(degrees / end)) for end in ends)
    return low, high
