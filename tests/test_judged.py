"""Judged documents are found by hash, and those of one hash are told apart by their names."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from riskcli.effectiveness import judged
from riskcli.trec.fast import Texts, Words


@pytest.mark.parametrize(
    "hashes", [(0,), (2**64 - 1,), (0, 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1)]
)
def test_whatever_the_hashes_what_is_found_is_what_a_dictionary_holds(
    monkeypatch: pytest.MonkeyPatch, hashes: tuple[int, ...]
) -> None:
    def few(_: Words, topics: NDArray[np.integer], docnos: Texts) -> Words:
        pairs = zip(topics.tolist(), docnos.as_bytes(), strict=True)
        return np.array([hashes[(t + sum(d)) % len(hashes)] for t, d in pairs], dtype=np.uint64)

    monkeypatch.setattr(judged, "pair_hashes", few)
    grades = {str(t): {f"d{n}": n for n in range(t, 3 * t + 5)} for t in range(4)}
    listed = [(t, docno) for t in range(4) for docno in grades[str(t)]]
    asked = [(t, f"d{n}") for t in range(4) for n in range(20)]
    found = judged.Judged(grades).find(
        Texts.of_strings([docno for _, docno in asked]),
        np.arange(len(asked)),
        np.array([t for t, _ in asked]),
    )
    assert found.tolist() == [listed.index(pair) if pair in listed else -1 for pair in asked]
