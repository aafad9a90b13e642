"""LambdaMART's gradients for any objective that knows what swapping two documents changes.

For documents H (better graded) and L, with sigma = 1 unless another is given:

    rho = 1 / (1 + exp(sigma (s_H - s_L)))
    grad_H -= sigma rho W,  grad_L += sigma rho W,  hess_H, hess_L += sigma^2 rho (1 - rho) W

where W is by how much the swap changes the objective (SIGIR'12, section 4.3; LightGBM's and
Jforests' lambdarank are the case W = change of NDCG).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats
from riskcli.learn.queries import Bucket, Ints, Queries

SwapChange = Callable[[Ints, Floats], Floats]
"""From queries (n) and changes of the effectiveness measure by swaps (n × rows × ranks) to the
changes of the objective."""

_NEAR = float(np.float32(0.01))
"""What LightGBM adds to a difference of scores before it divides by it."""


@dataclass(frozen=True)
class Lambda:
    """How pairs of documents are weighted, whatever the objective."""

    rows: int
    """Pairs are learned that have a document among the first `rows` ranks."""
    sigma: float = 1.0
    normalize: bool = True
    """LightGBM's normalisation: changes are divided by the difference of scores, and a query's
    gradients shrink to the logarithm of their sum. That sum is of the plain measure's gradients,
    so that it does not take back the weight that risk gives to a query."""


class Ranked(NamedTuple):
    """The queries of a bucket in the order of the model's scores."""

    bucket: Bucket
    order: NDArray[np.intp]
    worth: Floats


class Gradients(NamedTuple):
    """First and second derivatives, a document each."""

    grad: Floats
    hess: Floats


def rank(queries: Queries, scores: Floats) -> tuple[list[Ranked], Floats]:
    """Every bucket in the order of the scores, and the measure of each counted query."""
    values = np.zeros(len(queries.counted))
    ranked = []
    for bucket in queries.buckets:
        order = bucket.order(scores)
        worth = bucket.ranked_worth(order)
        values[bucket.queries] = queries.measure.values(worth, bucket.scale)
        ranked.append(Ranked(bucket, order, worth))
    return ranked, values


def gradients(
    queries: Queries, ranked: list[Ranked], scores: Floats, changed: SwapChange, how: Lambda
) -> Gradients:
    """The gradients of all documents at these scores."""
    total = Gradients(np.zeros(queries.documents), np.zeros(queries.documents))
    for part in ranked:
        rows = min(how.rows, part.order.shape[1] - 1)
        if rows < 1:
            continue
        for chunk in part.bucket.chunks(rows):
            bucket = part.bucket
            documents = np.take_along_axis(bucket.documents[chunk], part.order[chunk], axis=1)
            change = queries.measure.changes(part.worth[chunk], bucket.scale[chunk], rows)
            weight = changed(bucket.queries[chunk], change)
            found = pair_gradients(scores[documents], change, weight, how)
            total.grad[documents] = found.grad
            total.hess[documents] = found.hess
    return total


def pair_gradients(scores: Floats, change: Floats, weight: Floats, how: Lambda) -> Gradients:
    """The gradients of ranked documents (queries × ranks) from the weights of their swaps.

    `weight` is above 0 where the swap improves the ranking: then the lower document is H.
    """
    rows = change.shape[1]
    apart = scores[:, :rows, None] - scores[:, None, :]
    np.maximum(apart, 0.0, out=apart)  # below 0 only where j is not below i, and nothing changes
    odds = np.exp(-how.sigma * apart)
    lower_wins = 1 / (1 + odds)
    hess = odds * lower_wins
    rho = np.where(change > 0, lower_wins, hess)
    hess *= lower_wins
    if how.normalize:
        np.add(apart, _NEAR, out=apart)
        apart[scores[:, 0] == scores[:, -1]] = 1.0
        rho /= apart
        hess /= apart
    factor = _norm(rho, change, how.sigma) if how.normalize else 1.0
    hess *= np.abs(weight)
    rho *= weight
    return Gradients(
        how.sigma * factor * _spread(rho, -1.0), how.sigma**2 * factor * _spread(hess, 1.0)
    )


def _norm(rho: Floats, change: Floats, sigma: float) -> Floats:
    """log2(1 + sum) / sum of the plain measure's lambdas, a query each."""
    sums = 2 * sigma * np.einsum("qij,qij->q", rho, np.abs(change))
    shrunk = np.divide(np.log2(1 + sums), sums, out=np.ones_like(sums), where=sums > 0)
    return np.asarray(shrunk[:, None])


def _spread(pairs: Floats, sign: float) -> Floats:
    """Each pair's value added to its upper document and, times `sign`, to its lower one."""
    documents = sign * pairs.sum(axis=1)
    documents[:, : pairs.shape[1]] += pairs.sum(axis=2)
    return np.asarray(documents)
