"""Mean effectiveness: what everybody reports, and what risk is weighed against."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from riskcli.risk.comparison import Comparison
from riskcli.risk.inference import Inference
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.paired import ratio_to_error, two_sided_p

Floats = NDArray[np.float64]


def mean(comparison: Comparison, _alpha: float) -> Floats:
    """The mean over topics."""
    return np.asarray(comparison.scores.mean(axis=1))


def details(comparison: Comparison, alpha: float, inference: Inference) -> Mapping[str, Floats]:
    """The run's own t interval, and the paired t test of the difference to the baseline."""
    paired, topics = comparison.paired, comparison.topics
    means = mean(comparison, alpha)
    error = np.full(len(means), np.nan)
    if topics > 1:
        error = comparison.scores.std(axis=1, ddof=1) / np.sqrt(topics)
    margin = inference.critical * error
    t = ratio_to_error(paired.urisk(0.0), paired.urisk_se(0.0))
    return {
        "mean_lo": means - margin,
        "mean_hi": means + margin,
        "baseline_mean": np.full(len(means), comparison.baseline.scores.mean()),
        "mean_diff": comparison.off_baseline(paired.urisk(0.0)),
        "mean_diff_se": comparison.off_baseline(paired.urisk_se(0.0)),
        "mean_p": comparison.off_baseline(two_sided_p(t, topics - 1)),
        **_effect_size(comparison, t, inference),
    }


def _effect_size(comparison: Comparison, t: Floats, inference: Inference) -> dict[str, Floats]:
    """d_z = mean difference / its standard deviation = t / sqrt(c), with an interval.

    The interval is the usual large-sample one: the variance of d_z is 1/c + d_z^2 / (2 (c - 1)).
    """
    topics = comparison.topics
    with np.errstate(invalid="ignore"):
        d = np.where(np.isfinite(t), t / np.sqrt(topics), np.nan)
    if topics < 2:
        return {}
    margin = inference.critical * np.sqrt(1 / topics + d**2 / (2 * (topics - 1)))
    return {
        "mean_dz": comparison.off_baseline(d),
        "mean_dz_lo": comparison.off_baseline(d - margin),
        "mean_dz_hi": comparison.off_baseline(d + margin),
    }


def contributions(comparison: Comparison, _alpha: float) -> Floats:
    """The difference to the baseline on each topic."""
    return comparison.paired.delta


def deviations(comparison: Comparison, _alpha: float) -> Floats:
    """x - mean: those of a plain mean over topics."""
    return np.asarray(comparison.scores - comparison.scores.mean(axis=1, keepdims=True))


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """Total over number of topics."""
    return [
        ("S, sum of the scores", float(comparison.scores[row].sum())),
        ("c, topics", comparison.topics),
        ("mean = S / c", float(mean(comparison, alpha)[row])),
    ]


MEASURE = RiskMeasure(
    id="mean",
    title="Mean",
    summary="mean effectiveness over the topics",
    formula="(1/c) Σ x_q",
    source="the effectiveness measure's own definition",
    reading="Higher is better. It hides which topics pay for the gains of others.",
    place=0,
    values=mean,
    details=details,
    depends_on_alpha=False,
    signed=False,
    contributions=contributions,
    steps=steps,
    deviations=deviations,
)
