"""Pairs of a topic and a document as one 64-bit hash: to find what stands twice, or is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskcli.trec.fast.texts import Texts, Words

_TOPIC_MIX = np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True)
class Pairs:
    """The topic and the document of each line, as one 64-bit hash."""

    topics: tuple[str, ...]
    codes: NDArray[np.int32]
    hashes: Words

    @classmethod
    def of(cls, topics: tuple[str, ...], codes: NDArray[np.int32], docnos: Texts) -> Pairs:
        """The pairs of lines; `codes` point into `topics`."""
        return cls(topics, codes, pair_hashes(Texts.of_strings(topics).hashes(), codes, docnos))


def pair_hashes(topics: Words, codes: NDArray[np.integer], docnos: Texts) -> Words:
    """A hash of each document with its topic; a topic is a number, `codes` point into them."""
    hashes = docnos.hashes()
    hashes ^= (topics * _TOPIC_MIX).take(codes)
    return hashes


def may_repeat(pairs: Pairs) -> bool:
    """False only if no pair occurs twice; True asks for a close look: it can be a chance hit."""
    return _any_twice(pairs.hashes)


def may_repeat_between(parts: Sequence[Pairs]) -> bool:
    """`may_repeat` for the parts of a run of which none repeats a pair by itself."""
    holders = Counter(topic for part in parts for topic in part.topics)
    shared = [_of_shared_topics(part, holders) for part in parts]
    return _any_twice(np.concatenate(shared)) if shared else False


def _of_shared_topics(pairs: Pairs, holders: Counter[str]) -> Words:
    shared = np.array([holders[topic] > 1 for topic in pairs.topics])
    found: Words = pairs.hashes[shared[pairs.codes]]
    return found


def _any_twice(hashes: Words) -> bool:
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))
