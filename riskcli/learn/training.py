"""Training one ranker: trees one by one, the best number of them by validation data."""

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
        scores = predicted(self.booster, part.features, self.trees)
        return scores + self.start_weight * part.start if self.start_weight else scores


@dataclass(frozen=True)
class Trainer:
    """Trains the models of one fold."""

    train: RankedDocuments
    valid: RankedDocuments
    settings: Settings
    seed: int

    def best_model(self, spec: ModelSpec, tick: Ticked) -> TrainedModel:
        """From the start (none, or a weight of the baseline) that validation data prefer."""
        weights = (0.0, *self.settings.start_weights)
        return max((self._model(spec, tick, weight) for weight in weights), key=lambda m: m.figure)

    def _model(self, spec: ModelSpec, tick: Ticked, start_weight: float) -> TrainedModel:
        """Trained until the validation data have shown nothing better for `patience` trees."""
        settings, kind = self.settings, OBJECTIVES[spec.objective]
        objective = kind(
            baseline=self.train.baselines, alpha=spec.alpha, effectiveness=settings.effectiveness,
            max_grade=settings.max_grade, truncation=settings.truncation,
            discount=settings.discount,
            pool=settings.pool if settings.pool in kind.pools else "mean", **spec.options,
        )  # fmt: skip
        shown: list[dict[str, float]] = []
        evaluated = objective.measure(self.valid.baselines, settings.stop, shown)
        best, best_trees = -np.inf, 0
        with failures_told():
            booster = self._booster(start_weight)
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
        names = self.train.features.names
        return TrainedModel(spec, booster, best_trees, start_weight, best, curve, names)

    def _booster(self, start_weight: float) -> Any:
        params = tree_params(self.settings.params, self.seed)

        def dataset(part: RankedDocuments, **given: Any) -> Any:
            features, start = part.features, start_weight * part.start if start_weight else None
            sizes = {"group": features.sizes, "init_score": start}
            return lightgbm().Dataset(features.values, features.grades, **sizes, **given)

        data = dataset(self.train, params=dict(params))
        booster = lightgbm().Booster(params, data)
        booster.add_valid(dataset(self.valid, reference=data), "valid")
        return booster
