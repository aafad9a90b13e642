"""How much the program takes. `docs/reliability.md` lists these limits for users."""

from __future__ import annotations

from math import isfinite

from riskcli.core.errors import UsageError
from riskcli.core.memory import WORK

MOST_JOBS = 1024
MOST_ALPHA = 1e9
"""Above it 1 + α leaves nothing of a gain beside a loss, and its powers leave the doubles."""
LEAST_SCORE, LARGEST_SCORE = 1e-50, 1e50
"""The sizes of effectiveness scores besides 0: the fourth powers of them are ordinary doubles."""
MOST_PAIRS = 1_000_000
"""Pairs of runs that one table compares: 1,414 runs."""
MOST_LISTED_PAIRS = 1_999_000
"""Pairs that `significance` and `bias` list, a row each: 2,000 runs."""


def refuse_many_pairs(runs: int, instead: str, most: int = MOST_PAIRS) -> int:
    """The pairs of runs; too many of them are refused, with what it would take."""
    pairs = runs * (runs - 1) // 2
    if pairs > most:
        gigabytes = pairs * WORK["significance"].pair / 1e9
        raise UsageError(
            f"{runs:,} runs make {pairs:,} pairs, which would take about {gigabytes:.0f} GB; "
            f"at most {most:,} pairs are compared: {instead}"
        )
    return pairs


def is_score(value: float) -> bool:
    """Whether a finite number is an effectiveness score that can be computed with."""
    return value == 0 or LEAST_SCORE <= abs(value) <= LARGEST_SCORE


def score_expected(value: float | None) -> str:
    """What was expected in place of a value that is no score; None is what is no number."""
    if value is None or not isfinite(value):
        return "expected a finite number"
    return f"expected 0 or a size from {LEAST_SCORE:g} to {LARGEST_SCORE:g}"
