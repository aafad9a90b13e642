"""LambdaMART's gradients for any objective that knows what swapping two documents changes.

For documents H (better graded) and L, with sigma = 1 unless another is given:

    rho = 1 / (1 + exp(sigma (s_H - s_L)))
    grad_H -= sigma rho W,  grad_L += sigma rho W,  hess_H, hess_L += sigma^2 rho (1 - rho) W

where W is by how much the swap changes the objective (SIGIR'12, section 4.3; LightGBM's and
Jforests' lambdarank are the case W = change of NDCG).

No query needs a loop of its own: queries of one exact size form a bucket, whose documents are the
rows of an array, and a whole bucket is sorted, scored and differentiated at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskcli.core.arrays import Floats, divided, row_blocks
from riskcli.core.messages import UsageError
from riskcli.learn.choices import Ties
from riskcli.learn.swaps import SwapMeasure

Ints = NDArray[np.int64]

_CELLS_AT_ONCE = 60_000
"""Pairs of documents that are worked on at once: their arrays stay in the processor's cache."""


@dataclass(frozen=True)
class Bucket:
    """Queries with the same number of documents; those without a relevant one are in no bucket."""

    queries: Ints
    """Which of the counted queries each row is."""
    documents: Ints
    """The documents of each query (row of the array), in the order in which ties are broken."""
    worth: Floats
    """What each of these documents is worth to the effectiveness measure."""
    scale: Floats
    """By what each query's sum is multiplied, as 1 / ideal DCG."""


class Queries:
    """The documents of a data set by query, as one effectiveness measure sees them."""

    def __init__(
        self, grades: ArrayLike, sizes: ArrayLike, measure: SwapMeasure, ties: Ties = "shuffled"
    ) -> None:
        """`sizes` are the numbers of documents of the queries, one query after the other."""
        self.grades = np.asarray(grades, dtype=np.float64)
        self.sizes = np.asarray(sizes, dtype=np.int64)
        self.measure = measure
        _check(self.grades, self.sizes)
        starts = np.cumsum(self.sizes) - self.sizes
        worth = measure.worth(self.grades)
        buckets = [
            _bucket(np.flatnonzero(self.sizes == size), starts, int(size), worth, measure, ties)
            for size in np.unique(self.sizes)
            if size
        ]
        self.counted: Ints = np.sort(np.concatenate([bucket.queries for bucket in buckets]))
        """The queries with a relevant document: only these count, and only these are learned."""
        self.buckets = [
            replace(bucket, queries=np.searchsorted(self.counted, bucket.queries))
            for bucket in buckets
            if len(bucket.queries)
        ]

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.grades)

    def effectiveness(self, scores: ArrayLike) -> Floats:
        """The measure of each counted query where its documents are ranked by these scores.

        Missing scores (NaN) rank last.
        """
        finite = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, neginf=-np.inf)
        if finite.shape != (self.documents,):
            raise UsageError(f"{finite.size} scores given for {self.documents} documents")
        return rank(self, finite)[1]

    def baseline_effectiveness(self, given: ArrayLike) -> Floats:
        """The measure of each counted query, from one score a document or one value a query."""
        values = np.asarray(given, dtype=np.float64)
        if values.shape == (self.documents,):
            return self.effectiveness(values)
        if values.shape == self.sizes.shape:
            return values[self.counted]
        raise UsageError(
            f"a baseline has {values.size} numbers, expected one for each of the "
            f"{self.documents} documents or {len(self.sizes)} queries of the data"
        )


def _check(grades: Floats, sizes: Ints) -> None:
    if sizes.sum() != len(grades):
        raise UsageError(
            f"the query groups hold {sizes.sum()} documents, the data {len(grades)}: "
            "give the data set its groups"
        )
    for wrong in np.flatnonzero(~(np.isfinite(grades) & (grades == np.floor(grades)))):
        fault = f"document {wrong + 1} has the grade {grades[wrong]:g}"
        raise UsageError(f"{fault}, expected a whole number")
    if not len(grades):
        raise UsageError("the data set holds no document")


def _bucket(
    queries: Ints, starts: Ints, size: int, worth: Floats, measure: SwapMeasure, ties: Ties
) -> Bucket:
    documents = starts[queries][:, None] + np.arange(size)
    if ties == "shuffled":
        mixed = np.argsort(_mixed(documents), axis=1)
        documents = np.take_along_axis(documents, mixed, axis=1)
    scale = measure.scale(worth[documents])
    rows = scale > 0
    documents = documents[rows]
    return Bucket(queries[rows], documents, worth[documents], scale[rows])


def _mixed(numbers: Ints) -> NDArray[np.uint64]:
    """A number for each number, alike in every run and without any order (splitmix64)."""
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


SwapChange = Callable[[Ints, Floats], Floats]
"""From queries (n) and changes of the effectiveness measure by swaps (n × rows × ranks) to the
changes of the objective."""

_NEAR = float(np.float32(0.01))
"""What LightGBM adds to a difference of scores before it divides by it."""


@dataclass(frozen=True)
class PairWeighting:
    """How pairs of documents are weighted, whatever the objective."""

    rows: int
    """Pairs are learned that have a document among the first `rows` ranks."""
    sigma: float = 1.0
    normalize: bool = True
    """LightGBM's normalisation: changes are divided by the difference of scores, and a query's
    gradients shrink to the logarithm of their sum. That sum is of the plain measure's gradients,
    so that it does not take back the weight that risk gives to a query."""


class RankedBucket(NamedTuple):
    """The queries of a bucket in the order of the model's scores."""

    bucket: Bucket
    order: NDArray[np.intp]
    worth: Floats


class Gradients(NamedTuple):
    """First and second derivatives, a document each."""

    grad: Floats
    hess: Floats


def rank(queries: Queries, scores: Floats) -> tuple[list[RankedBucket], Floats]:
    """Every bucket in the order of the scores, and the measure of each counted query.

    Equal scores keep the order of the bucket's documents.
    """
    values = np.zeros(len(queries.counted))
    ranked = []
    for bucket in queries.buckets:
        order = np.argsort(-scores[bucket.documents], axis=1, kind="stable")
        worth = np.take_along_axis(bucket.worth, order, axis=1)
        values[bucket.queries] = queries.measure.values(worth, bucket.scale)
        ranked.append(RankedBucket(bucket, order, worth))
    return ranked, values


def gradients(
    queries: Queries,
    ranked: list[RankedBucket],
    scores: Floats,
    changed: SwapChange,
    options: PairWeighting,
) -> Gradients:
    """The gradients of all documents at these scores."""
    total = Gradients(np.zeros(queries.documents), np.zeros(queries.documents))
    for part in ranked:
        bucket, (count, ranks) = part.bucket, part.order.shape
        rows = min(options.rows, ranks - 1)
        if rows < 1:
            continue
        for chunk in row_blocks(count, rows * ranks, _CELLS_AT_ONCE):
            documents = np.take_along_axis(bucket.documents[chunk], part.order[chunk], axis=1)
            change = queries.measure.changes(part.worth[chunk], bucket.scale[chunk], rows)
            weight = changed(bucket.queries[chunk], change)
            derivatives = pair_gradients(scores[documents], change, weight, options)
            total.grad[documents] = derivatives.grad
            total.hess[documents] = derivatives.hess
    return total


def pair_gradients(
    scores: Floats, change: Floats, weight: Floats, options: PairWeighting
) -> Gradients:
    """The gradients of ranked documents (queries × ranks) from the weights of their swaps.

    `weight` is above 0 where the swap improves the ranking: then the lower document is H.
    """
    rows = change.shape[1]
    apart = scores[:, :rows, None] - scores[:, None, :]
    np.maximum(apart, 0.0, out=apart)  # below 0 only where j is not below i, and nothing changes
    odds = np.exp(-options.sigma * apart)
    lower_wins = 1 / (1 + odds)
    hess = odds * lower_wins
    rho = np.where(change > 0, lower_wins, hess)
    hess *= lower_wins
    if options.normalize:
        np.add(apart, _NEAR, out=apart)
        apart[scores[:, 0] == scores[:, -1]] = 1.0
        rho /= apart
        hess /= apart
    factor = _norm(rho, change, options.sigma) if options.normalize else 1.0
    hess *= np.abs(weight)
    rho *= weight
    return Gradients(
        options.sigma * factor * _spread(rho, -1.0), options.sigma**2 * factor * _spread(hess, 1.0)
    )


def _norm(rho: Floats, change: Floats, sigma: float) -> Floats:
    """log2(1 + sum) / sum of the plain measure's lambdas, a query each."""
    sums = 2 * sigma * np.einsum("qij,qij->q", rho, np.abs(change))
    return divided(np.log2(1 + sums), sums, otherwise=1.0)[:, None]


def _spread(pairs: Floats, sign: float) -> Floats:
    """Each pair's value added to its upper document and, times `sign`, to its lower one."""
    documents = sign * pairs.sum(axis=1)
    documents[:, : pairs.shape[1]] += pairs.sum(axis=2)
    return np.asarray(documents)
