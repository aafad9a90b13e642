"""What a paired t test can see: power, the topics that it needs, the smallest loss that it sees.

The difference over topics is taken for normal with standard deviation `spread`; the test is
one-sided at `level`. Then t is noncentral, with noncentrality loss sqrt(c) / spread.
"""

import numpy as np
from scipy.special import nctdtr, stdtrit

LEAST_TOPICS = 3
MOST_TOPICS = 10_000_000
USUAL_POWER = 0.8
_STEPS = 100


def power(loss: float, spread: float, topics: int, level: float) -> float:
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
    low, high = 1, LEAST_TOPICS
    while power(loss, spread, high, level) < wanted:
        low, high = high, high * 2
        if high > MOST_TOPICS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power(loss, spread, middle, level) >= wanted else (middle, high)
        )
    return max(high, LEAST_TOPICS)


def smallest_loss(
    spread: float, topics: int, level: float, wanted: float = USUAL_POWER
) -> float | None:
    """The smallest true loss that so many topics see with the power wanted."""
    if topics < 2:
        return None
    if spread == 0:
        return 0.0
    # Student's t for the two parts is a bound from above for any number of topics.
    high = float((stdtrit(topics - 1, 1 - level) + stdtrit(topics - 1, wanted)) * 2)
    low, unit = 0.0, spread / np.sqrt(topics)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if power(middle * unit, spread, topics, level) >= wanted:
            high = middle
        else:
            low = middle
    return float(high * unit)
