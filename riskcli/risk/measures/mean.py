"""Mean effectiveness: what everybody reports, and what risk is weighed against."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.columns import Column
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.measure import Claim, RiskMeasure
from riskcli.risk.paired import LEAST_TOPICS, effect_size


def mean(comparison: Comparison, _alpha: float) -> Floats:
    """The mean over topics."""
    return np.asarray(comparison.scores.mean(axis=1))


def details(comparison: Comparison, _alpha: float, inference: Inference) -> Estimate:
    """The run's own interval, and the paired t test of the difference to the baseline."""
    baseline_mean = np.full(len(comparison.scores), comparison.baseline.scores.mean())
    extra = {"baseline_mean": baseline_mean, **_effect_size(comparison, inference)}
    return replace(inference.of_means, extra=extra)


def _effect_size(comparison: Comparison, inference: Inference) -> dict[str, Floats]:
    """d_z with an interval: the usual large-sample one, of variance 1/c + d_z^2 / (2 (c - 1))."""
    topics = comparison.topics
    if topics < LEAST_TOPICS:
        return {}
    d = effect_size(comparison.paired.gain, comparison.paired.gain_se, topics)
    margin = inference.critical * np.sqrt(1 / topics + d**2 / (2 * (topics - 1)))
    return {
        "mean_dz": comparison.off_baseline(d),
        "mean_dz_lo": comparison.off_baseline(d - margin),
        "mean_dz_hi": comparison.off_baseline(d + margin),
    }


def claim(about: Claim) -> str:
    """The means differ."""
    return f"it differs from that of {about.baseline} ({about.mean_test})."


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
    position=0,
    values=mean,
    details=details,
    fields={
        "value": "mean effectiveness",
        "low": "lower end of the mean's confidence interval",
        "high": "upper end of the mean's confidence interval",
        "difference": "mean less the baseline's mean (Gain)",
        "difference_low": None,
        "difference_high": None,
        "p": "p-value of the test that the means differ",
        "rank_low": None,
        "rank_high": None,
        "rank": "rank by mean, 1 is best; equal values share the smaller rank",
    },
    columns=(
        Column("baseline_mean", "number", "mean effectiveness of the baseline"),
        Column("mean_dz", "number", "effect size d_z: mean difference over its standard deviation"),
        Column("mean_dz_lo", "number", "lower end of d_z's confidence interval", averages=False),
        Column("mean_dz_hi", "number", "upper end of d_z's confidence interval", averages=False),
    ),
    plain_mean=True,
    claim=claim,
    depends_on_alpha=False,
    signed=False,
    contributions=contributions,
    steps=steps,
    deviations=deviations,
)
