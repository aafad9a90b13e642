"""The replicates behind a score matrix, and how far their noise reaches into its differences."""

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Baseline
from riskcli.risk.replicates import Repeats, pulls_of
from riskcli.scores.matrix import ScoreMatrix


def repeats_of(matrix: ScoreMatrix) -> Repeats | None:
    """The replicates of the matrix's systems; None where runs are no systems."""
    known = matrix.axes.replicates
    if not known:
        return None
    systems = zip(matrix.runs, matrix.values[:, None], strict=True)
    return Repeats([
        known[name].on(matrix.topics) if name in known else row for name, row in systems
    ])  # fmt: skip


def noise_of(
    matrix: ScoreMatrix, baseline: Baseline, pool: str, gamma: float, of_others: bool
) -> Floats | None:
    """By run and topic, which differences are no more than noise; None where runs are no systems.

    A virtual baseline may be made `of_others`: see `pulls_of`.
    """
    repeats = repeats_of(matrix)
    if repeats is None:
        return None
    return repeats.half_widths(pulls_of(baseline, matrix.values, pool, of_others), gamma)
