"""Cheap ways to lose less without training for it, each as risky as a model on validation data.

Blend: the plain model's scores plus a weight times the baseline's ranking, both standardised within
each query. Selective re-ranking (SIGIR'12, section 5): the plain model where the highest value of a
feature in the query is at most a threshold, the baseline elsewhere. Coin flip (SIGIR'12, section
5.7): the plain model with a chance p, else the baseline; its gain and risk are p times the model's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.learn.features import Features
from riskcli.learn.queries import Queries
from riskcli.learn.rankings import standardised, tie_free
from riskcli.learn.training import Part
from riskcli.risk.baselines import column_mean
from riskcli.risk.paired import Paired

_WEIGHTS = (0.0, *np.geomspace(0.02, 20, 46).tolist())
_STEPS = 101


@dataclass(frozen=True)
class Judged:
    """Documents whose rankings can be measured, and what the baseline comes to on them."""

    part: Part
    queries: Queries

    @property
    def baselines(self) -> Floats:
        """The effectiveness of each baseline (row) on each counted query."""
        each = self.part.baselines.values()
        return np.array([self.queries.effectiveness(places) for places in each])

    @property
    def baseline(self) -> Floats:
        """That of the baseline, or the mean over several."""
        return column_mean(self.baselines)

    def effectiveness(self, scores: Floats) -> Floats:
        """The measure of each counted query, ties broken as in a run file."""
        return self.queries.effectiveness(tie_free(self.part.features, scores))

    def risk(self, scores: Floats) -> float:
        """The mean loss to the baseline."""
        return mean_loss(self.effectiveness(scores), self.baseline)


def mean_loss(model: Floats, baseline: Floats) -> float:
    """Risk of one model."""
    return float(Paired(model[None], baseline).risk[0])


def blended(part: Part, plain: Floats, weight: float) -> Floats:
    """Scores of the blend."""
    return standardised(part.features, plain) + weight * part.start


def matched_weight(valid: Judged, plain: Floats, risk: float) -> float:
    """The weight with which the blend comes nearest to that risk."""
    risks = [valid.risk(blended(valid.part, plain, weight)) for weight in _WEIGHTS]
    return float(_WEIGHTS[int(np.argmin(np.abs(np.array(risks) - risk)))])


def highest(features: Features, column: str) -> Floats:
    """The highest value of a feature in each query; missing ones are below all others."""
    starts = np.cumsum(features.sizes) - features.sizes
    known = np.nan_to_num(features.column(column), nan=-np.inf, neginf=-np.inf)
    return np.maximum.reduceat(known, starts)


def selected(part: Part, plain: Floats, column: str, threshold: float) -> Floats:
    """The plain ranking of the queries at or below the threshold, the baseline's of the others."""
    (baseline,) = part.baselines.values()
    chosen = (highest(part.features, column) <= threshold)[part.features.query_of]
    return np.where(chosen, tie_free(part.features, plain), baseline)


def matched_threshold(valid: Judged, plain: Floats, column: str, risk: float) -> float:
    """The threshold at which selective re-ranking comes nearest to that risk."""
    values = highest(valid.part.features, column)[valid.queries.counted]
    model, baseline = valid.effectiveness(plain), valid.baseline
    steps = np.unique(np.quantile(values, np.linspace(0, 1, _STEPS), method="lower"))
    thresholds = [-np.inf, *steps.tolist()]
    risks = [
        mean_loss(np.where(values <= threshold, model, baseline), baseline)
        for threshold in thresholds
    ]
    return float(thresholds[int(np.argmin(np.abs(np.array(risks) - risk)))])


def matched_chance(plain_risk: float, risk: float) -> float:
    """The chance with which flipping a coin for the plain model takes that risk."""
    return float(np.clip(risk / plain_risk, 0, 1)) if plain_risk > 0 else 1.0
