"""A quick test for a document listed twice for one topic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.trec.texts import Texts

_TOPIC_MIX = np.uint64(0xC2B2AE3D27D4EB4F)


def may_repeat(topic_codes: NDArray[np.int32], docnos: Any) -> bool:
    """False only if no (topic, docno) pair occurs twice; True asks for a close look.

    Pairs are compared by a 64-bit hash, so True can be a chance hit, False never is.
    """
    hashes = Texts.of_column(docnos).hashes()
    hashes ^= topic_codes.astype(np.uint64) * _TOPIC_MIX
    hashes.sort()
    return bool(np.any(hashes[1:] == hashes[:-1]))
