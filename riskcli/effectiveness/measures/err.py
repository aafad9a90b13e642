"""Expected reciprocal rank (Chapelle et al., CIKM 2009), which trec_eval does not have."""

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats
from riskcli.effectiveness.measures import Family


def expected_reciprocal_rank(grades: NDArray[np.int64], max_grade: int) -> Floats:
    """ERR of each row of a topics × ranks array of grades (0 beyond the end of a ranking)."""
    return err_of_stops(stop_probability(grades, max_grade))


def stop_probability(grades: NDArray[np.int64], max_grade: int) -> Floats:
    """R = (2^g - 1) / 2^G, the chance that the reader stops here; grades below 0 count as 0."""
    exponents = np.maximum(grades, 0).astype(np.int32) - np.int32(max_grade)
    exact = np.ldexp(1.0, exponents) - np.ldexp(1.0, -max_grade)  # and never beyond range
    return np.asarray(exact)


def err_of_stops(stop: Floats) -> Floats:
    """Sum over ranks i of (1/i) R_i prod_{j<i} (1 - R_j), for each row."""
    return np.asarray(terms_of_stops(stop).sum(axis=1), dtype=np.float64)


def terms_of_stops(stop: Floats) -> Floats:
    """What each rank adds to the sum."""
    reached = np.ones_like(stop)
    reached[:, 1:] = np.cumprod(1 - stop, axis=1)[:, :-1]
    ranks = np.arange(1, stop.shape[1] + 1)
    return np.asarray(stop * reached / ranks)


FAMILIES = (
    Family(
        "ERR",
        "expected reciprocal rank, as gdeval.pl computes it",
        "optional cutoff",
        computed_by=lambda _, ranked: expected_reciprocal_rank(ranked.grades, ranked.max_grade),
        bounded=True,
        position=0,
    ),
)
