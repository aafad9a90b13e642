"""The targets of coverage-guided fuzzing on their seeds, and on what once broke the program."""

from __future__ import annotations

import pytest

from tests.bench.targets import TARGETS

_POPULATION = (
    b'{"riskeval_population": 1, "hash": "", "teams": {}, "settings": {}, "inputs": [], "measures":'
    b' [{"measure": "AP", "topics": ["1"], "topic_totals": [%s], "grand_total": 1, "runs": {}}]}'
)
BROKE = {
    "a step whose quotient is beyond decimals": ("alphas", b"0:1:1e-9999999"),
    "a range of too many values to print": ("alphas", b"0:1e9:1e-99999"),
    "white space for text, not for bytes": ("features", b"\x1e\n\x1f\x00"),
    "a grade beyond whole numbers": ("features", b"1e300 qid:1 1:1\n"),
    "a grade beyond whole numbers, in CSV": ("features", b"qid,grade,f\n1,1e300,.5\n"),
    "a number of 400 digits": ("population", _POPULATION % (b"9" * 400)),
    "a number of 5,000 digits": ("population", _POPULATION % (b"9" * 5000)),
    "lists without end": ("population", b"[" * 100_000),
}


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_hold(name: str) -> None:
    seeds = TARGETS[name].all_seeds()
    assert len(seeds) >= (20 if TARGETS[name].kit else 1)
    for seed in seeds:
        TARGETS[name].try_on(seed)


@pytest.mark.parametrize(("name", "data"), BROKE.values(), ids=BROKE)
def test_what_once_broke_the_program(name: str, data: bytes) -> None:
    TARGETS[name].try_on(data)
