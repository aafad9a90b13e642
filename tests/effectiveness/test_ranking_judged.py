"""Judged documents are found by hash, and those of one hash are told apart by their names."""

from __future__ import annotations

import numpy as np
import pytest

from riskcli.effectiveness.ranking import JudgedDocuments
from riskcli.trec.arrow import Texts, Words


@pytest.mark.parametrize(
    "hashes", [(0,), (2**64 - 1,), (0, 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1)]
)
def test_whatever_the_hashes_what_is_found_is_what_a_dictionary_holds(
    monkeypatch: pytest.MonkeyPatch, hashes: tuple[int, ...]
) -> None:
    def few(docnos: Texts) -> Words:
        return np.array([hashes[sum(d) % len(hashes)] for d in docnos.as_bytes()], dtype=np.uint64)

    monkeypatch.setattr(Texts, "hashes", few)
    grades = {str(t): {f"d{n}": n for n in range(t, 3 * t + 5)} for t in range(4)}
    grades["2"] = {}  # a topic without judgements finds none of the next one's
    listed = [(t, docno) for t in range(4) for docno in grades[str(t)]]
    asked = [(t, f"d{n}") for t in range(4) for n in range(20)]
    found = JudgedDocuments(grades).find(
        Texts.of_strings([docno for _, docno in asked]),
        np.arange(len(asked)),
        np.array([t for t, _ in asked]),
    )
    assert found.tolist() == [listed.index(pair) if pair in listed else -1 for pair in asked]
