"""Training one ranker: trees one by one, the best number of them by validation data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Pool, check_words
from riskcli.learn.baselines import pooled_start
from riskcli.learn.choices import DEFAULT_MEASURE, Discount, StopOn
from riskcli.learn.features import Features
from riskcli.learn.lightgbm import checked, failures_told, lightgbm, predicted, tree_params
from riskcli.learn.objectives import OBJECTIVES
from riskcli.scores.comparisons import POOL_EACH

Ticked = Callable[[], bool]
"""Called after each tree; tells whether to go on."""


@dataclass(frozen=True)
class ModelSpec:
    """A model to train: an objective with its alpha and options."""

    objective: str
    alpha: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its run is called."""
        if self.objective == PLAIN.objective:
            return self.objective
        variant = "".join(f"-{value}" for value in self.options.values())
        return f"{self.objective}{variant}-{self.alpha:g}"


PLAIN = ModelSpec("plain")


@dataclass(frozen=True)
class Settings:
    """What all models of an experiment share."""

    effectiveness: str = DEFAULT_MEASURE
    max_grade: int = 4
    trees: int = 500
    patience: int = 50
    truncation: int | None = None
    discount: Discount = "full"
    pool: Pool = "mean"
    stop: StopOn | None = None
    start_weights: tuple[float, ...] = ()
    """Weights of the baseline's ranking to start from, of which validation data choose one."""
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked(self.params)
        if self.stop is not None:
            check_words(stop=(self.stop, StopOn))

    @property
    def baseline_pool(self) -> Pool:
        """How several baselines become the one that figures are against: the mean for `each`."""
        return "mean" if self.pool == POOL_EACH else self.pool


@dataclass(frozen=True)
class RankedDocuments:
    """Documents and the baselines' rankings of them, without ties."""

    features: Features
    baselines: Mapping[str, Floats]

    @property
    def start(self) -> Floats:
        """What a warm start begins with, but for its weight."""
        return pooled_start(self.features, list(self.baselines.values()))


@dataclass
class TrainedModel:
    """A model, how many of its trees to use, and what the data showed along the way."""

    spec: ModelSpec
    booster: Any
    trees: int
    start_weight: float
    figure: float
    """What the validation data showed at that number of trees, by the figure it was stopped on."""
    curve: list[dict[str, Any]]
    feature_names: tuple[str, ...]

    def scores(self, part: RankedDocuments) -> Floats:
        """The scores of documents."""
        found = predicted(self.booster, part.features, self.trees)
        return found + self.start_weight * part.start if self.start_weight else found

    def text(self) -> str:
        """The model as LightGBM reads it."""
        return str(self.booster.model_to_string(num_iteration=self.trees))


def train_best(
    train: RankedDocuments,
    valid: RankedDocuments,
    spec: ModelSpec,
    settings: Settings,
    seed: int,
    tick: Ticked,
) -> TrainedModel:
    """The model, from the start (none, or a weight of the baseline) that validation data prefer."""
    found = [
        train_one(train, valid, spec, settings, seed, tick, weight)
        for weight in (0.0, *settings.start_weights)
    ]
    return max(found, key=lambda one: one.figure)


def train_one(
    train: RankedDocuments,
    valid: RankedDocuments,
    spec: ModelSpec,
    settings: Settings,
    seed: int,
    tick: Ticked,
    start_weight: float = 0.0,
) -> TrainedModel:
    """One model, until the validation data have shown nothing better for `patience` trees."""
    kind = OBJECTIVES[spec.objective]
    objective = kind(
        baseline=train.baselines, alpha=spec.alpha, effectiveness=settings.effectiveness,
        max_grade=settings.max_grade, truncation=settings.truncation, discount=settings.discount,
        pool=settings.pool if settings.pool in kind.pools else "mean", **spec.options,
    )  # fmt: skip
    shown: list[dict[str, float]] = []
    evaluated = objective.measure(valid.baselines, settings.stop, shown)
    best, best_trees = -np.inf, 0
    with failures_told():
        booster = _booster(train, valid, tree_params(settings.params, seed), start_weight)
        for number in range(1, settings.trees + 1):
            booster.update(fobj=objective)
            ((_, _, value, _),) = booster.eval_valid(evaluated)
            if value > best:
                best, best_trees = value, number
            if number - best_trees >= settings.patience or not tick():
                break
    curve = [
        {"part": part, "trees": number, **row}
        for part, rows, first in (("train", objective.history, 0), ("valid", shown, 1))
        for number, row in enumerate(rows, start=first)
    ]
    names = train.features.names
    return TrainedModel(spec, booster, best_trees, start_weight, best, curve, names)


def _booster(
    train: RankedDocuments, valid: RankedDocuments, params: Mapping[str, Any], start_weight: float
) -> Any:
    def dataset(part: RankedDocuments, **given: Any) -> Any:
        known, start = part.features, start_weight * part.start if start_weight else None
        sizes = {"group": known.sizes, "init_score": start}
        return lightgbm().Dataset(known.values, known.grades, **sizes, **given)

    data = dataset(train, params=dict(params))
    held_out = dataset(valid, reference=data)
    booster = lightgbm().Booster(dict(params), data)
    booster.add_valid(held_out, "valid")
    return booster
