"""The replicates behind a score matrix, and how far their noise reaches into its differences."""

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Baseline
from riskcli.risk.replicates import Repeats, pulls_of_pool
from riskcli.scores.matrix import ScoreMatrix


def repeats_of(matrix: ScoreMatrix) -> Repeats | None:
    """The replicates of the matrix's systems; None where runs are no systems."""
    if not matrix.axes.replicates:
        return None
    return Repeats(matrix.axes.repeats_of(matrix.runs, matrix.topics))


def pulls_of(baseline: Baseline, scores: Floats, pool: str, of_others: bool) -> Floats:
    """By run and topic, how much a run's score moves the baseline's.

    A virtual baseline made `of_others` (teams, frozen runs) is taken as it is.
    """
    pulls = np.zeros(scores.shape)
    rows = list(baseline.members or ([] if of_others else range(len(scores))))
    if rows:
        how = pool if baseline.members else baseline.name.removeprefix("@")
        pulls[rows] = pulls_of_pool("mean" if len(rows) == 1 else how, scores[rows])
    return pulls


def noise_of(
    matrix: ScoreMatrix, baseline: Baseline, pool: str, gamma: float, of_others: bool
) -> Floats | None:
    """By run and topic, which differences are no more than noise; None where runs are no systems.

    A virtual baseline may be made `of_others`, as above.
    """
    repeats = repeats_of(matrix)
    if repeats is None:
        return None
    return repeats.half_widths(pulls_of(baseline, matrix.values, pool, of_others), gamma)
