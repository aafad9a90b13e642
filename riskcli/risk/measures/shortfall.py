"""Expected shortfall (CVaR): the mean of the worst tenth of δ."""

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.measure import RiskMeasure


def shortfall(comparison: Comparison, _alpha: float) -> Floats:
    """Expected shortfall (CVaR), the mean of the worst tenth of δ_q = x_q − b_q.

    Of c topics the c/10 lowest δ count, the last of them by the fraction that is left
    (Rockafellar and Uryasev 2000). The nearer to 0, the better; above 0 even the worst tenth gains.
    It has neither interval nor test: on 25 to 50 topics 95 % intervals hold the truth in 64 to 84 %
    of samples.
    """
    if comparison.weights is not None:
        return _of_weighed(comparison.paired.delta, comparison.weights)
    tail = comparison.topics / 10
    many = int(np.ceil(tail))
    lowest = np.sort(np.partition(comparison.paired.delta, many - 1, axis=1)[:, :many], axis=1)
    weights = np.minimum(tail - np.arange(many), 1.0)
    return np.asarray((lowest * weights).sum(axis=1) / tail)


def _of_weighed(delta: Floats, weights: Floats) -> Floats:
    """The lowest of which a tenth of all weight consists; the last by what is left of it."""
    order = np.argsort(delta, axis=1)
    counted, tail = weights[order], len(weights) / 10
    left = tail - (np.cumsum(counted, axis=1) - counted)
    counted = np.clip(left, 0.0, counted)
    return np.asarray((np.take_along_axis(delta, order, 1) * counted).sum(axis=1) / tail)


MEASURE = RiskMeasure(id="shortfall", values=shortfall, paired=True, depends_on_alpha=False)
