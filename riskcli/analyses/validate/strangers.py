"""Runs that tell nothing: those whose documents nobody judged, and those that are there already."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Mask, Rows
from riskcli.effectiveness.judged import Judged
from riskcli.trec.fast import Texts, Words, pair_hashes
from riskcli.trec.runs import Run

_SAMPLE = 200
_SEPARATOR = re.compile(r"[-_:/.]")


def rankings(run: Run) -> dict[str, str]:
    """A digest of each topic's ranking: the same documents in the same order have the same one.

    Scores and lines do not matter; documents whose scores tie in single precision stand in no
    order.
    """
    names = sorted(run.topics)
    place = np.argsort(np.argsort(np.array(run.topics)))
    words = Texts.of_strings(run.topics).hashes()
    hashes = pair_hashes(words, run.topic_codes, run.docnos)
    topics = place[run.topic_codes]
    with np.errstate(over="ignore"):  # beyond single precision scores tie
        scores = run.scores.astype(np.float32)
    order = _ranking(topics, scores)
    topics, scores, hashes = topics[order], scores[order], hashes[order]
    tied = (topics[1:] == topics[:-1]) & (scores[1:] == scores[:-1])
    _sort_ties(hashes, tied)
    starts = np.searchsorted(topics, np.arange(len(names) + 1)).tolist()
    return {
        name: _digest(hashes[start:end], tied[start : end - 1])
        for name, start, end in zip(names, starts[:-1], starts[1:], strict=True)
    }


def _digest(hashes: Words, tied: Mask) -> str:
    digest = hashlib.sha256(hashes.tobytes())
    digest.update(tied.tobytes())
    return digest.hexdigest()[:16]


def nearest_before(runs: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int, int, int]]:
    """For each run but the first the earlier one that ranks most alike, the first of those.

    Gives both places, on how many topics they differ, and how many topics either answers.
    """
    topics = {topic: column for column, topic in enumerate({t: None for run in runs for t in run})}
    cells = np.zeros((len(runs), len(topics)), dtype=np.uint64)  # 0: no answer
    for row, run in enumerate(runs):
        cells[row, [topics[topic] for topic in run]] = [int(digest, 16) for digest in run.values()]
        if row:
            differing = (cells[:row] != cells[row]).sum(axis=1)
            first = int(differing.argmin())
            either = int(((cells[first] != 0) | (cells[row] != 0)).sum())
            yield row, first, int(differing[first]), either


def _ranking(topics: Rows, scores: NDArray[np.float32]) -> Rows:
    """Topic after topic, by falling scores; most files stand so already."""
    falling = (topics[1:] != topics[:-1]) | (scores[1:] <= scores[:-1])
    changes = np.count_nonzero(topics[1:] != topics[:-1])
    if falling.all() and changes == topics.max(initial=0):
        return np.argsort(topics, kind="stable")
    return np.lexsort((-scores, topics))


def _sort_ties(hashes: Words, tied: Mask) -> None:
    """Sort the hashes of documents that tie; `tied` says which tie with their predecessor."""
    member = np.concatenate([[False], tied]) | np.concatenate([tied, [False]])
    group = np.concatenate([[0], np.cumsum(~tied)])
    places = np.flatnonzero(member)
    hashes[places] = hashes[places][np.lexsort((hashes[places], group[places]))]


def none_is_judged(run: Run, judged: Judged) -> bool:
    """Whether no document is judged for its topic; False for a run that has none of the topics."""
    index = np.array([judged.topics.get(topic, -1) for topic in run.topics], dtype=np.intp)
    topics = index[run.topic_codes]
    known = np.flatnonzero(topics >= 0)
    found = judged.find(run.docnos, known, topics[known])
    return bool(len(known)) and not np.any(found >= 0)


def likely_cause(run: Run, judgements: Mapping[str, Mapping[str, int]]) -> str:
    """Why none of them is: letter case, or a prefix that one side has; nothing where unknown."""
    sample = run.docnos.take(np.arange(min(_SAMPLE, len(run.docnos)))).as_strings()
    known = {docno for grades in judgements.values() for docno in grades}
    folded = {docno.casefold() for docno in known}
    if any(docno.casefold() in folded for docno in sample):
        return "; they differ from the judged ones in upper and lower case"
    for docno in sample:
        for start in _starts(docno):
            if docno[start:] in known:
                return f"; the qrels lack their prefix {docno[:start]!r}"
    shorter = {docno[start:]: docno[:start] for docno in known for start in _starts(docno)}
    for docno in sample:
        if docno in shorter:
            return f"; they lack the prefix {shorter[docno]!r} of the qrels"
    return f"; is {sample[0]!r} of the collection that was judged?"


def _starts(docno: str) -> Iterable[int]:
    """Where a document number goes on behind a separator."""
    return (found.end() for found in _SEPARATOR.finditer(docno) if found.end() < len(docno))
