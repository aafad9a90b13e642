"""Some flips of a bit or a byte in each kind of file that riskeval writes to be read again."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.bench.flips import KINDS, SEED, in_a_child

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", KINDS)
def test_a_flip_is_refused_or_changes_no_number(name: str) -> None:
    found = Counter(each for _, each in in_a_child(name, range(SEED, SEED + 60)))
    assert found["refused"] >= 10 and set(found) <= {"refused", "same"}
