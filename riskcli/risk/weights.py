"""Topics that count differently: what takes the place of sums and deviations over topics.

Topic q counts w_q, and the weights of c topics sum to c; None: every topic counts 1. A mean is
(1/c) sum w x. Its error rests on what the jackknife makes of each topic: without topic q a mean m
is (c m - w_q x_q) / (c - w_q), so that the deviation x_q - m becomes
(x_q - m) w_q (c - 1) / (c - w_q), and SE^2 stays the sum of squares / (c (c - 1)).
"""

import numpy as np

from riskcli.core.arrays import Floats, Mask, Rows

Weights = Floats | None
"""By topic, along the axis of the topics; None: all count the same."""


def weighed(values: Floats, weights: Weights) -> Floats:
    """What each topic adds to a sum."""
    return values if weights is None else values * weights


def mean(values: Floats | Mask, weights: Weights, axis: int = -1) -> Floats:
    """The mean over topics; of a mask, the share that is true."""
    return np.asarray((values if weights is None else values * weights).mean(axis=axis))


def leveraged(centred: Floats, weights: Weights) -> Floats:
    """Deviations from a mean as the jackknife has them, given what each topic lies off it."""
    if weights is None:
        return centred
    topics = weights.size
    return np.asarray(centred * (weights * (topics - 1) / (topics - weights)))


def deviations(values: Floats, weights: Weights, axis: int = -1) -> Floats:
    """What each topic lies off the mean over topics, as the jackknife has it."""
    centre = np.expand_dims(mean(values, weights, axis), axis)
    return leveraged(values - centre, weights)


def of_others(topics: int, weights: Weights) -> int | Floats:
    """What all topics but each count together."""
    return max(topics - 1, 1) if weights is None else topics - weights


def effective_topics(topics: int, weights: Weights) -> float:
    """How many topics that count the same tell as much: (sum w)^2 / sum w^2 (Kish 1965)."""
    return topics if weights is None else float(topics**2 / (weights**2).sum())


def degrees(topics: int, weights: Weights) -> float:
    """The degrees of freedom of Student's t: as of so many topics."""
    return effective_topics(topics, weights) - 1


def by_weight(text: str, weights: Weights) -> str:
    """What a sum is called where topics have weights."""
    return text if weights is None else f"{text}, each times its topic's weight"


def column(weights: Weights, topics: Rows | slice) -> Weights:
    """Of these topics, along the last axis but one."""
    return None if weights is None else weights[topics, None]


def spread(differences: Floats, weights: Weights) -> Floats:
    """The standard deviation over topics: the error of the mean, times the root of their number.

    With weights that is how many effective topics there are.
    """
    if weights is None:
        return np.asarray(np.std(differences, axis=-1, ddof=1))
    topics = weights.size
    squares = (deviations(differences, weights) ** 2).sum(axis=-1) / (topics * (topics - 1))
    return np.asarray(np.sqrt(squares * effective_topics(topics, weights)))
