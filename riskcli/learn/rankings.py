"""From scores to rankings and run files: one order for training, comparison and `riskeval score`.

Equal scores are ranked by falling document id, as trec_eval does; what is written never ties, not
even in the single precision in which pytrec_eval holds scores.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.learn.features import Features
from riskcli.learn.queries import Ints


def best_first(features: Features, scores: Floats) -> Ints:
    """The documents by query, then by falling score; missing scores (NaN) come last."""
    known = np.nan_to_num(scores, nan=-np.inf)
    by_name = features.by_falling_name
    order = by_name[np.lexsort((-known[by_name], features.query_of[by_name]))]
    return np.asarray(order)


def tie_free(features: Features, scores: Floats) -> Floats:
    """How many documents of its query each one is ranked above: scores without ties."""
    order = best_first(features, scores)
    ends = np.cumsum(features.sizes)
    places: Floats = np.empty(len(order))
    places[order] = ends[features.query_of[order]] - 1 - np.arange(len(order))
    return places


def standardised(features: Features, scores: Floats) -> Floats:
    """Scores with mean 0 and deviation 1 in every query; 0 where all of a query are equal."""
    starts = np.cumsum(features.sizes) - features.sizes
    means = np.add.reduceat(scores, starts) / features.sizes
    centred = scores - means[features.query_of]
    deviations = np.sqrt(np.add.reduceat(centred**2, starts) / features.sizes)
    spread = deviations[features.query_of]
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)


def run_lines(features: Features, scores: Floats, tag: str) -> Iterator[str]:
    """The lines of a TREC run, in single precision and without ties."""
    order = best_first(features, scores)
    with np.errstate(over="ignore"):
        falling = np.nan_to_num(scores, nan=-np.inf)[order].astype(np.float32)
    queries = features.query_of[order]
    written = _strictly_falling(falling, queries)
    ends = np.cumsum(features.sizes) - features.sizes
    for line, (document, query) in enumerate(zip(order.tolist(), queries.tolist(), strict=True)):
        rank = line - int(ends[query]) + 1
        name = features.docnos[document]
        yield f"{features.topics[query]} Q0 {name} {rank} {written[line]!s} {tag}\n"


def _strictly_falling(scores: np.ndarray, queries: Ints) -> list[np.float32]:
    """Each score, or the next lower number than the one above it where that is not above it."""
    highest = np.finfo(np.float32).max
    found: list[np.float32] = []
    last_query, last = -1, np.float32(0)
    for query, score in zip(queries.tolist(), np.clip(scores, -highest / 2, highest), strict=True):
        if query == last_query and not score < last:
            score = np.nextafter(last, np.float32(-np.inf))
        found.append(score)
        last_query, last = query, score
    return found


def qrels_lines(features: Features) -> Iterator[str]:
    """The grades as TREC judgements."""
    for query, docno, grade in zip(
        features.query_of.tolist(), features.docnos, features.grades.tolist(), strict=True
    ):
        yield f"{features.topics[query]} 0 {docno} {grade}\n"
