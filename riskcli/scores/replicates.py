"""The replicates behind a score matrix, and how far their noise reaches into its differences."""

from dataclasses import replace

from riskcli.risk.comparison import Comparison
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


def with_noise(comparison: Comparison, matrix: ScoreMatrix, pool: str, gamma: float) -> Comparison:
    """The same where it is known which differences are no more than noise of replicates."""
    repeats = repeats_of(matrix)
    if repeats is None:
        return comparison
    return replace(comparison, noise=repeats.half_widths(pulls_of(comparison, pool), gamma))
