"""nDCG and AP of many rankings at once, from the grades of their documents, best first.

`Scorer` has pytrec_eval compute them from names of documents. Training to rank asks for them after
every tree, where that would take a third of its time: these are the same numbers but for rounding
(tested), as array operations. Arrays are queries × ranks; a row has all judged documents of its
query, so the best possible ranking follows from it. ERR of such arrays is in `measures/err.py`.
"""

import numpy as np

from riskcli.core.arrays import Floats


def gains(grades: Floats, exponential: bool) -> Floats:
    """What nDCG gains by each document: its grade, or 2^grade - 1; grades below 0 count as 0."""
    relevant = np.maximum(grades, 0)
    return np.asarray(np.exp2(relevant) - 1 if exponential else relevant)


def discounts(ranks: int, cutoff: int | None = None) -> Floats:
    """1 / log2(1 + rank) for the first so many ranks, 0 below the cutoff."""
    return _cut(np.asarray(1 / np.log2(np.arange(2, ranks + 2, dtype=np.float64))), cutoff)


def dcg(gain: Floats, cutoff: int | None = None) -> Floats:
    """Sum of gain / log2(1 + rank) over the ranks down to the cutoff, a query each."""
    return np.asarray(gain @ discounts(gain.shape[1], cutoff))


def ideal_dcg(gain: Floats, cutoff: int | None = None) -> Floats:
    """The same of the best ranking of these documents: nDCG is DCG over it."""
    return dcg(-np.sort(-gain, axis=1), cutoff)


def inverse_ranks(ranks: int, cutoff: int | None = None) -> Floats:
    """1 / rank for the first so many ranks, 0 below the cutoff."""
    return _cut(1 / np.arange(1, ranks + 1, dtype=np.float64), cutoff)


def precision_sums(relevant: Floats, cutoff: int | None = None) -> Floats:
    """The sum of precision at the ranks of relevant documents: AP is it over their number.

    `relevant` is 1 for a relevant document, else 0.
    """
    found = np.cumsum(relevant, axis=1)
    return np.asarray((relevant * found) @ inverse_ranks(relevant.shape[1], cutoff))


def _cut(weights: Floats, cutoff: int | None) -> Floats:
    if cutoff is not None:
        weights[cutoff:] = 0.0
    return weights
