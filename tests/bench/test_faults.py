"""Faults raised at a few calls of every command; `tests/bench/faults.py` raises many more."""

from __future__ import annotations

import pytest

from tests.bench import faults
from tests.bench.faults import CALLS, FAULTS, OLD, Outcome, inject
from tests.helpers.program import Ran

POINTS = 10


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_whatever_goes_wrong_ends_well(name: str) -> None:
    points = 3 if name == "train" else POINTS  # each of its calls trains six models
    raised, wrong = inject(name, points)
    assert not wrong, "\n".join(wrong)
    assert raised >= points - 2


NEW = {"out.csv": b"new"}
BAD = {
    "a traceback": (Ran(70, "", "Traceback (most recent call last):\nriskeval: x"), {}),
    "half of a file": (Ran(2, "", "riskeval: x"), {"out.csv": b"ne"}),
    "no file": (Ran(2, "", "riskeval: x"), {}),
    "something beside it": (Ran(2, "", "riskeval: x"), {"out.csv": OLD, ".out.csv.part": b""}),
    "the wrong exit code": (Ran(1, "", "riskeval: x"), {"out.csv": OLD}),
    "another result and no word": (Ran(0, "", ""), {"out.csv": OLD}),
    "no word": (Ran(2, "", ""), {"out.csv": OLD}),
    "half a result": (Ran(2, "hal", "riskeval: x"), {"out.csv": OLD}),
}


@pytest.mark.parametrize(("ran", "files"), BAD.values(), ids=BAD)
def test_a_bad_end_is_seen(ran: Ran, files: dict[str, bytes]) -> None:
    plain = Outcome(Ran(0, "half", ""), NEW)
    assert faults.wrong(["score", "-o", "out.csv"], plain, Outcome(ran, files), "memory")
    good = Outcome(Ran(2, "", "riskeval: x"), {"out.csv": OLD})
    assert faults.wrong(["score", "-o", "out.csv"], plain, good, "memory") is None
    assert set(FAULTS) > {"memory", "interrupt"}
