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
from riskcli.learn.objective import QueryData, summary
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

    wanted: ModelSpec
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
    wanted: ModelSpec,
    settings: Settings,
    seed: int,
    tick: Ticked,
) -> TrainedModel:
    """The model, from the start (none, or a weight of the baseline) that validation data prefer."""
    found = [
        train_one(train, valid, wanted, settings, seed, tick, weight)
        for weight in (0.0, *settings.start_weights)
    ]
    return max(found, key=lambda one: one.figure)


def train_one(
    train: RankedDocuments,
    valid: RankedDocuments,
    wanted: ModelSpec,
    settings: Settings,
    seed: int,
    tick: Ticked,
    start_weight: float = 0.0,
) -> TrainedModel:
    """One model, until the validation data have shown nothing better for `patience` trees."""
    objective = OBJECTIVES[wanted.objective](
        baseline=train.baselines,
        alpha=wanted.alpha,
        effectiveness=settings.effectiveness,
        max_grade=settings.max_grade,
        truncation=settings.truncation,
        discount=settings.discount,
        **_pooled(wanted, settings),
        **wanted.options,
    )
    stop = settings.stop or objective.declared.stop
    known = objective.know(valid.features.grades, valid.features.sizes, valid.baselines)
    watch = _Watch(known, wanted.alpha, stop)
    with failures_told():
        booster = _booster(train, valid, tree_params(settings.params, seed), start_weight)
        for number in range(1, settings.trees + 1):
            booster.update(fobj=objective)
            booster.eval_valid(watch.evaluated)
            if number - watch.best_trees >= settings.patience or not tick():
                break
    curve = [
        {"part": part, "trees": number, **row}
        for part, rows, first in (("train", objective.history, 0), ("valid", watch.rows, 1))
        for number, row in enumerate(rows, start=first)
    ]
    names = train.features.names
    return TrainedModel(wanted, booster, watch.best_trees, start_weight, watch.best, curve, names)


def _pooled(wanted: ModelSpec, settings: Settings) -> dict[str, Any]:
    """The pool, where the objective knows of it: GeoRisk takes its baselines one by one."""
    known = OBJECTIVES[wanted.objective].pools
    return {"pool": settings.pool} if settings.pool in known else {}


def _booster(
    train: RankedDocuments, valid: RankedDocuments, params: Mapping[str, Any], start_weight: float
) -> Any:
    def start(part: RankedDocuments) -> Floats | None:
        return start_weight * part.start if start_weight else None

    data = _dataset(train.features, init_score=start(train), params=dict(params))
    held_out = _dataset(valid.features, reference=data, init_score=start(valid))
    booster = lightgbm().Booster(dict(params), data)
    booster.add_valid(held_out, "valid")
    return booster


def _dataset(features: Features, **given: Any) -> Any:
    """What LightGBM trains on; `given` are further arguments of its Dataset."""
    return lightgbm().Dataset(features.values, features.grades, group=features.sizes, **given)


class _Watch:
    """What the validation data show after each tree."""

    def __init__(self, known: QueryData, alpha: float, stop: str) -> None:
        self.rows: list[dict[str, float]] = []
        self.best, self.best_trees = -np.inf, 0
        self._known, self._alpha, self._stop = known, alpha, stop

    def evaluated(self, scores: Any, _dataset: Any) -> tuple[str, float, bool]:
        """Called by LightGBM."""
        model = self._known.queries.effectiveness(scores)
        self.rows.append(summary(model, self._known.baselines, self._alpha))
        value = self.rows[-1][self._stop]
        if value > self.best:
            self.best, self.best_trees = value, len(self.rows)
        return self._stop, value, True
