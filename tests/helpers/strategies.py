"""Random score matrices that hold what breaks programs: zeros, ties, equal and empty runs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from riskcli import ScoreMatrix
from riskcli.core.limits import LARGEST_SCORE, LEAST_SCORE

Floats = NDArray[np.float64]


@st.composite
def score_values(
    draw: st.DrawFn, min_runs: int = 2, max_runs: int = 7, min_topics: int = 2, max_topics: int = 9
) -> Floats:
    """Scores in [0, 1], on a coarse or a fine grid, with copied, scaled and empty rows, columns."""
    runs = draw(st.integers(min_runs, max_runs))
    topics = draw(st.integers(min_topics, max_topics))
    steps = draw(st.sampled_from([4, 100, 10**6]))
    cell = st.integers(0, steps).map(lambda n: n / steps)
    values = np.array(
        draw(
            st.lists(st.lists(cell, min_size=topics, max_size=topics), min_size=runs, max_size=runs)
        )
    )
    what = draw(st.sampled_from(["plain", "copy", "scaled", "empty run", "empty topic"]))
    row, other = draw(st.integers(0, runs - 1)), draw(st.integers(0, runs - 1))
    if what == "copy":
        values[row] = values[other]
    elif what == "scaled":
        values[row] = 0.5 * values[other]
    elif what == "empty run":
        values[row] = 0.0
    elif what == "empty topic":
        values[:, draw(st.integers(0, topics - 1))] = 0.0
    return values


ANY_SCORE: st.SearchStrategy[float] = (
    st.sampled_from([0.0, LEAST_SCORE, LARGEST_SCORE, 0.5, 1e-30, 1e30])
    | st.floats(LEAST_SCORE, LARGEST_SCORE)
    | st.floats(-LARGEST_SCORE, -LEAST_SCORE)
)
"""Whatever an effectiveness score may be."""
ALPHAS = st.sampled_from([0.0, 0.5, 1.0, 5.0, 10.0]) | st.floats(0, 50, allow_nan=False)


def named(values: Floats) -> ScoreMatrix:
    """The values with names r0, r1, ... and t0, t1, ..."""
    runs, topics = values.shape
    return ScoreMatrix(
        "score",
        tuple(f"r{row}" for row in range(runs)),
        tuple(f"t{column}" for column in range(topics)),
        values,
    )
