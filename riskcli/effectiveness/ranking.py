"""The ranking that every measure of a run is computed on, equal to trec_eval's.

Score descending, then docno descending by bytes; the rank column of the file plays no part.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riskcli.trec.runs import Run

Precision = Literal["single", "double"]


def rank(run: Run, depth: int | None, precision: Precision = "single") -> dict[str, list[str]]:
    """The first `depth` documents of each topic, best first (all of them where depth is None).

    In single precision, as pytrec_eval holds them, scores tie that differ only beyond it.
    """
    order, keys, codes = _by_topic_and_score(run, precision)
    if depth is not None:
        deep_enough = _may_reach(depth, keys, codes, len(run.topics))
        order, keys, codes = order[deep_enough], keys[deep_enough], codes[deep_enough]
    docnos: list[str] = run.docnos.take(_as_arrow(order)).to_pylist()
    _settle_ties(docnos, keys, codes)
    ends = np.cumsum(np.bincount(codes, minlength=len(run.topics))).tolist()
    starts = [0, *ends[:-1]]
    return {
        topic: docnos[start:end][:depth]
        for topic, start, end in zip(run.topics, starts, ends, strict=True)
    }


def _as_arrow(places: NDArray[np.intp]) -> pa.Array:
    """The places as an Arrow array. (`pa.array` would import pandas, which takes longer.)"""
    buffer = pa.py_buffer(np.ascontiguousarray(places, dtype=np.int64))
    return pa.Array.from_buffers(pa.int64(), len(places), [None, buffer])


def _by_topic_and_score(
    run: Run, precision: Precision
) -> tuple[NDArray[np.intp], NDArray[np.floating], NDArray[np.int32]]:
    """Line order by topic, then by falling score, with the scores and topics in that order."""
    codes, keys = run.topic_codes, run.scores
    if precision == "single":
        with np.errstate(over="ignore"):
            keys = run.scores.astype(np.float32)
    same_topic = codes[1:] == codes[:-1]
    if np.all((codes[1:] > codes[:-1]) | (same_topic & (keys[1:] <= keys[:-1]))):
        return np.arange(len(codes)), keys, codes
    order = np.lexsort((-keys, codes))
    return order, keys[order], codes[order]


def _may_reach(
    depth: int, keys: NDArray[np.floating], codes: NDArray[np.int32], topics: int
) -> NDArray[np.bool_]:
    """Which of the sorted lines may be among the first `depth`: with them, all that tie."""
    counts = np.bincount(codes, minlength=topics)
    ends = np.cumsum(counts)
    last_within = ends - counts + np.minimum(counts, depth) - 1
    return np.asarray(keys >= np.repeat(keys[last_within], counts))


def _settle_ties(docnos: list[str], keys: NDArray[np.floating], codes: NDArray[np.int32]) -> None:
    """Sort each group of equal scores by docno, highest first. (UTF-8 sorts as its characters.)"""
    new_group = np.ones(len(docnos) + 1, dtype=bool)
    new_group[1:-1] = (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1])
    bounds = np.flatnonzero(new_group)
    for group in np.flatnonzero(np.diff(bounds) > 1).tolist():
        start, end = bounds[group], bounds[group + 1]
        docnos[start:end] = sorted(docnos[start:end], reverse=True)
