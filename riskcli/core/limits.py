"""How much the program takes. `docs/reliability.md` lists these limits for users."""

from __future__ import annotations

MOST_JOBS = 1024
MOST_ALPHA = 1e9
"""Above it 1 + α leaves nothing of a gain beside a loss, and its powers leave the doubles."""
LEAST_SCORE, LARGEST_SCORE = 1e-50, 1e50
"""The sizes of effectiveness scores besides 0: the fourth powers of them are ordinary doubles."""
LONGEST_LINE = 2**20
"""Bytes of a line of a run, of judgements, or of what an evaluation program printed."""
MOST_PAIRS = 5_000_000
"""Pairs of runs that one table compares: 3,162 runs."""


def is_score(value: float) -> bool:
    """Whether a finite number is an effectiveness score that can be computed with."""
    return value == 0 or LEAST_SCORE <= abs(value) <= LARGEST_SCORE


SCORE_EXPECTED = f"expected 0 or a size from {LEAST_SCORE:g} to {LARGEST_SCORE:g}"
