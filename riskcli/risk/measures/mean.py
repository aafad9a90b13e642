"""Mean effectiveness, (1/c) Σ x_q: what everybody reports, and what risk is weighed against."""

from dataclasses import replace

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import Inference
from riskcli.risk.measure import OF_A_STATISTIC, MeasureColumn, RiskMeasure
from riskcli.risk.paired import LEAST_TOPICS, effect_size
from riskcli.risk.weights import by_weight, deviations, weighed


def mean(comparison: Comparison, _alpha: float) -> Floats:
    """The mean over topics."""
    return comparison.mean(comparison.scores)


def details(comparison: Comparison, _alpha: float, inference: Inference) -> Estimate:
    """The run's own interval, and the paired t test of the difference to the baseline.

    Of logarithms means and intervals are shown as geometric means; the difference stays as it is.
    """
    shown, tested = comparison.shown_mean, inference.of_means
    baseline_mean = np.full(len(comparison.scores), comparison.mean(comparison.baseline.scores))
    extra = {"baseline_mean": shown(baseline_mean), **_effect_size(comparison, inference)}
    spread = comparison.paired.gain_se * np.sqrt(comparison.effective_topics)
    extra["delta_sd"] = comparison.off_baseline(spread)
    low, high = (None if end is None else shown(end) for end in (tested.low, tested.high))
    return replace(tested, low=low, high=high, extra=extra)


def _effect_size(comparison: Comparison, inference: Inference) -> dict[str, Floats]:
    """d_z with an interval: the usual large-sample one, of variance 1/c + d_z^2 / (2 (c - 1))."""
    topics = comparison.effective_topics
    if topics < LEAST_TOPICS:
        return {}
    d = effect_size(comparison.paired.gain, comparison.paired.gain_se, topics)
    margin = inference.critical * np.sqrt(1 / topics + d**2 / (2 * (topics - 1)))
    return {
        "mean_dz": comparison.off_baseline(d),
        "mean_dz_lo": comparison.off_baseline(d - margin),
        "mean_dz_hi": comparison.off_baseline(d + margin),
    }


def steps(comparison: Comparison, alpha: float, row: int) -> list[tuple[str, float]]:
    """Total over number of topics."""
    tested = mean(comparison, alpha)[row]
    total = weighed(comparison.scores[row], comparison.weights).sum()
    found: list[tuple[str, float]] = [
        (by_weight("S, sum of the scores", comparison.weights), float(total)),
        ("c, topics", comparison.topics),
        ("mean = S / c", float(tested)),
    ]
    if comparison.logarithms:
        found.append(("geometric mean = exp(S / c)", float(comparison.shown_mean(tested))))
    return found


MEASURE = RiskMeasure(
    id="mean",
    values=mean,
    details=details,
    fields=OF_A_STATISTIC,
    columns=(
        MeasureColumn("baseline_mean", "number"),
        MeasureColumn("mean_dz", "number"),
        MeasureColumn("mean_dz_lo", "number", averages=False),
        MeasureColumn("mean_dz_hi", "number", averages=False),
        MeasureColumn("delta_sd", "number"),
    ),
    plain_mean=True,
    depends_on_alpha=False,
    signed=False,
    contributions=lambda compared, _: weighed(compared.paired.delta, compared.weights),
    steps=steps,
    deviations=lambda compared, _: deviations(compared.scores, compared.weights),
)
