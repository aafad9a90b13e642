"""Differences by a model's judgements, corrected by those of humans on some of the topics.

Prediction-powered inference (arXiv 2407.02464) with power tuning (PPI++, arXiv 2311.01453). Of N
topics a random part of n has human judgements; h are the differences by humans on these, f those
by the model, f_u those of the model on the N - n others. The mean that humans would find is

    (1/n) Σ (h - λ f)  +  λ mean(f_u)

whatever λ is; with λ = 0 it is the humans' mean alone. The form with the model's mean over all N
topics in place of mean(f_u) is the same estimate at λ N / (N - n): here both terms are of different
topics, so that their variances add.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from riskcli.core.arrays import Floats, Mask, divided
from riskcli.risk.rounding import NO_DIFFERENCE

LEAST_JUDGED = 5
"""Fewer topics judged by humans correct nothing."""


@dataclass(frozen=True)
class TestedMean:
    """A mean of each run, its standard error, and the degrees of freedom of t."""

    mean: Floats
    error: Floats
    degrees: Floats

    @property
    def p(self) -> Floats:
        """Two-sided; 1 where there is no difference at all, NaN where only its error is none."""
        none = self.error <= NO_DIFFERENCE
        t = divided(np.abs(self.mean), self.error, where=~none, otherwise=np.nan)
        p = 2 * stdtr(self.degrees, -t)
        return np.where(none & (np.abs(self.mean) <= NO_DIFFERENCE), 1.0, p)

    def interval(self, gamma: float) -> tuple[Floats, Floats]:
        """At level gamma; NaN where there is no p-value."""
        margin = stdtrit(self.degrees, 1 - gamma / 2) * self.error
        margin = np.where(np.isnan(self.p), np.nan, margin)
        return self.mean - margin, self.mean + margin


def mean_of(values: Floats) -> TestedMean:
    """The mean of each row, over topics that are a random sample."""
    count = values.shape[1]
    error = values.std(axis=1, ddof=1) / np.sqrt(count)
    return TestedMean(values.mean(axis=1), error, np.full(len(values), count - 1.0))


def corrected_mean(human: Floats, model: Floats, judged: Mask) -> TestedMean:
    """The mean over topics that humans would find, a row a run.

    `human` has the n topics that are `judged`, in the order of the columns of `model`. Each topic
    of them is corrected by the λ of the others, so that none is fitted to itself.
    """
    others = model[:, ~judged]
    if not others.shape[1]:
        return mean_of(human)
    centre = others.mean(axis=1, keepdims=True)
    share = others.shape[1] / model.shape[1]
    power = np.clip(share * _slopes(human, model[:, judged]), 0.0, 1.0)
    own = mean_of(human - power * (model[:, judged] - centre))
    # The model varies over all topics alike, so that its variance is taken from all.
    variance = power.mean(axis=1) ** 2 * model.var(axis=1, ddof=1) / others.shape[1]
    whole = own.error**2 + variance
    parts = own.error**4 / own.degrees + variance**2 / max(others.shape[1] - 1, 1)
    degrees = divided(whole**2, parts, otherwise=human.shape[1] - 1.0)
    return TestedMean(own.mean, np.sqrt(whole), degrees)


def _slopes(human: Floats, model: Floats) -> Floats:
    """By run and topic, the best λ N / (N - n) by the other topics: the slope of h on f.

    It is times 1 - 1/F where that is above 0: where F, the test of the slope, does not tell it from
    none, the model is left out, as what is fitted to noise only adds to it.
    """
    count = human.shape[1]
    own, of_model = (v - v.mean(axis=1, keepdims=True) for v in (human, model))
    of_model[np.abs(of_model) <= NO_DIFFERENCE] = 0.0
    of_others = count / (count - 1)  # what a topic adds to a sum of squares about the mean

    def without_each(products: Floats) -> Floats:
        total = products.sum(axis=1, keepdims=True)
        return np.asarray(np.maximum(total - of_others * products, 0.0))

    both = own * of_model
    covariance = both.sum(axis=1, keepdims=True) - of_others * both
    of_human, spread = without_each(own**2), without_each(of_model**2)
    explained = divided(covariance**2, spread)
    unexplained = np.maximum(of_human - explained, 0.0)
    told = 1 - divided(unexplained, explained * (count - 3), where=explained > 0, otherwise=1.0)
    return divided(covariance, spread) * np.maximum(told, 0.0)
