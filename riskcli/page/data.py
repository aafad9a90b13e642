"""What the page computes with: scores, and the sums in which every measure is plain arithmetic.

For each run: S/c, and the sums of z above and below 0 (ZRisk is linear in 1 + alpha, GeoRisk
follows). For each baseline and run: reward and risk (URisk is linear), and the variances and the
covariance of gains and losses (TRisk's variance is a quadratic). All in full double precision.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.output.escape import visible
from riskcli.output.result import tidy
from riskcli.risk.comparison import Comparison
from riskcli.risk.measures import measures
from riskcli.risk.options import Options
from riskcli.risk.table import comparisons
from riskcli.scores.matrix import ScoreMatrix

Numbers = NDArray[np.float64] | NDArray[np.int64]


def page_data(matrices: Iterable[ScoreMatrix], plans: Sequence[Options]) -> dict[str, Any]:
    """Every matrix against the baselines of every plan; the plans differ in nothing else."""
    significance = plans[0].significance
    return {
        "alpha": plans[0].alphas[0],
        "gamma": significance.gamma,
        "correction": significance.correction,
        "columns": {measure.id: measure.decimals for measure in measures()},
        "measures": [_measure(matrix, plans) for matrix in matrices],
    }


def _measure(matrix: ScoreMatrix, plans: Sequence[Options]) -> dict[str, Any]:
    found = [comparison for plan in plans for comparison in comparisons(matrix, plan)]
    return {
        "name": visible(matrix.measure),
        "runs": list(map(visible, matrix.runs)),
        "topics": list(map(visible, matrix.topics)),
        "scores": packed(matrix.values),
        "mean": tidy(found[0].crowd.mean.tolist()),
        "comparisons": [_comparison(comparison) for comparison in found],
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    paired = comparison.paired
    counts = {
        "wins": paired.wins,
        "ties": paired.ties,
        "losses": paired.losses,
        "losses20": paired.losses20,
    }
    return {
        "baseline": visible(comparison.baseline.name),
        "population": comparison.population,
        "own": comparison.baseline.own_row,
        "members": comparison.baseline.members,
        "named": comparison.named,
        "scores": packed(comparison.baseline.scores),
        **{name: _column(comparison, values) for name, values in counts.items()},
        "reward": _column(comparison, paired.reward),
        "risk": _column(comparison, paired.risk),
        **_spread(comparison),
        **_sums_of_z(comparison),
    }


def _spread(comparison: Comparison) -> dict[str, Any]:
    """The variances of gains and losses and their covariance; 0 for a constant difference."""
    names = ("varGain", "varLoss", "covariance")
    if comparison.topics < 2:
        return {name: [None] * len(comparison.scores) for name in names}
    constant = comparison.paired.constant
    parts = (np.where(constant, 0.0, part) for part in comparison.paired.spread)
    return {name: _column(comparison, part) for name, part in zip(names, parts, strict=True)}


def _sums_of_z(comparison: Comparison) -> dict[str, Any]:
    """The sums of z above and below 0; none where a score below 0 forbids ZRisk."""
    if comparison.has_negative:
        return {"above": None, "below": None}
    crowd = comparison.crowd
    return {"above": tidy(crowd.above.tolist()), "below": tidy(crowd.below.tolist())}


def _column(comparison: Comparison, values: Numbers) -> list[Any]:
    return tidy(comparison.off_baseline(values).tolist())


def packed(values: NDArray[np.float64]) -> str:
    """Doubles, little-endian, row by row, in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")
