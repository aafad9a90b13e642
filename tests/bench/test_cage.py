"""A hundred spoilt files of each kind that native code reads."""

from __future__ import annotations

import sys

import pytest

from tests.bench.cage import KINDS, fuzz

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="its children are forked"),
]
_EXTRAS = {"models": "lightgbm", "letor": "lightgbm", "lz4": "cbor2"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_no_spoilt_file_ends_the_program(kind: str) -> None:
    if kind in _EXTRAS:
        pytest.importorskip(_EXTRAS[kind])
    outcomes, failures = fuzz(kind, 11, 100)
    assert not failures, "\n".join(failures[:3])
    assert len(outcomes) > 1 and not any("crashed" in outcome for outcome in outcomes)
