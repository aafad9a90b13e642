"""LightGBM, the extra `learn`: the package, its parameters, and training a model.

A parameter goes by any of the names that LightGBM knows it by. One that it does not know, or that
would have no effect, is refused: LightGBM itself would ignore it silently.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Pool, check_words
from riskcli.core.files import LIST_MARK, listed_in
from riskcli.core.messages import UsageError, lacking, nearest
from riskcli.learn.choices import DEFAULT_MEASURE, Discount, Marginals, QueryRisk, Spread, StopOn
from riskcli.learn.features import Features, padded, pooled_start
from riskcli.learn.objectives import OBJECTIVES
from riskcli.scores.comparisons import POOL_EACH
from riskcli.trec.findings import number, whole_number

PLACE = re.compile(r"\s+at \S+, line \d+\s*\.?\s*$")
"""Where in its own code LightGBM says that something is wrong."""
_NOTHING_SPLITS = "num_features()) > (0)"


def lightgbm() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import lightgbm  # late: it is an extra, and takes long
    except ImportError as error:
        raise lacking("training and ranking need LightGBM", "learn") from error
    return lightgbm


@contextmanager
def failures_told() -> Iterator[None]:
    """What LightGBM cannot do is an error about the request."""
    try:
        yield
    except lightgbm().basic.LightGBMError as error:
        raise UsageError(f"LightGBM: {_in_words(str(error))}") from error


def _in_words(message: str) -> str:
    if _NOTHING_SPLITS in message:
        return (
            "no feature splits the training documents into two leaves of min_data_in_leaf "
            "documents: lower it (--param min_data_in_leaf=5) or give more data"
        )
    return PLACE.sub("", message.strip())


DEFAULTS: dict[str, Any] = {
    "num_leaves": 31, "learning_rate": 0.05, "min_data_in_leaf": 50, "feature_fraction": 0.8,
}  # fmt: skip
"""LightGBM's parameters where nobody says otherwise."""
_BAGGING: dict[str, Any] = {"bagging_fraction": 0.8, "bagging_freq": 1, "bagging_by_query": True}
"""More of them, but for GOSS, which samples documents in its own way."""
FIXED: dict[str, Any] = {
    "objective": "none", "metric": "None", "verbosity": -1, "deterministic": True,
    "force_row_wise": True,
}  # fmt: skip
_OPTIONS = {
    "objective": "--objective", "num_iterations": "--trees", "early_stopping_round": "--patience",
    "metric": "--stop", "first_metric_only": "--stop", "seed": "--seed",
}  # fmt: skip
"""What options of riskeval do."""
_WITHOUT_EFFECT = frozenset((
    # Of LightGBM's own objectives and metrics.
    "alpha", "auc_mu_weights", "boost_from_average", "eval_at", "fair_c", "is_unbalance",
    "label_gain", "lambdarank_norm", "lambdarank_position_bias_regularization",
    "lambdarank_truncation_level", "metric_freq", "multi_error_top_k", "neg_bagging_fraction",
    "num_class", "objective_seed", "poisson_max_delta_step", "pos_bagging_fraction", "reg_sqrt",
    "scale_pos_weight", "sigmoid", "tweedie_variance_power", "is_provide_training_metric",
    # Of its own program: files, predictions, other machines.
    "config", "convert_model", "convert_model_language", "data", "early_stopping_min_delta",
    "group_column", "header", "ignore_column", "input_model", "label_column", "local_listen_port",
    "machine_list_filename", "machines", "num_iteration_predict", "num_machines", "output_model",
    "output_result", "parser_config_file", "pre_partition", "precise_float_parser",
    "pred_early_stop", "pred_early_stop_freq", "pred_early_stop_margin", "predict_contrib",
    "predict_disable_shape_check", "predict_leaf_index", "predict_raw_score", "refit_decay_rate",
    "save_binary", "saved_feature_importance_type", "snapshot_freq", "start_iteration_predict",
    "task", "time_out", "top_k", "tree_learner", "two_round", "valid", "weight_column",
    # Of DART, which is refused.
    "drop_rate", "drop_seed", "max_drop", "skip_drop", "uniform_drop", "xgboost_dart_mode",
))  # fmt: skip
_LEAST_HESSIAN = "min_sum_hessian_in_leaf"
_BOOSTING = ("gbdt", "gbrt", "goss")


def tree_params(params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """All that LightGBM is told; `params` are those that somebody asked for."""
    chosen = checked(params)
    goss = "goss" in (chosen.get("boosting"), chosen.get("data_sample_strategy"))
    return {**DEFAULTS, **({} if goss else _BAGGING), "seed": seed, **chosen, **FIXED}


def checked(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters by LightGBM's first name for each, if they do something and do no harm."""
    by_first_name = {}
    for name, value in params.items():
        canonical = _first_name(name)
        _refuse(name, canonical, value)
        by_first_name[canonical] = value
    return by_first_name


def _first_name(name: str) -> str:
    """LightGBM's first name for a parameter."""
    first_names = {
        alias: first
        for first, aliases in lightgbm().basic._ConfigAliases._get_all_param_aliases().items()
        for alias in (first, *aliases)
    }
    if name not in first_names:
        raise UsageError(f"LightGBM has no parameter {name!r}{nearest(name, list(first_names))}")
    return str(first_names[name])


def _refuse(name: str, canonical: str, value: Any) -> None:
    shown = name if name == canonical else f"{name} ({canonical})"
    if canonical in _OPTIONS:
        raise UsageError(f"{shown} cannot be set: use {_OPTIONS[canonical]}")
    if canonical in FIXED:
        raise UsageError(f"{shown} cannot be set: it is always {FIXED[canonical]}")
    if canonical in _WITHOUT_EFFECT:
        raise UsageError(f"{shown} has no effect: the objective, the data and the stopping are "
                         "riskeval's own")  # fmt: skip
    least = number(str(value)) if canonical == _LEAST_HESSIAN else None  # not one: LightGBM says so
    if least is not None and least <= 0:
        raise UsageError(
            f"{name} is {value}, expected more than 0: documents without pairs have none, and "
            "LightGBM fails at leaves of such documents"
        )
    if canonical == "boosting" and value not in _BOOSTING:
        raise UsageError(
            f"{name} is {value}, expected {' or '.join(_BOOSTING)}: dart changes earlier trees, so "
            "that the best number of them cannot be kept; rf takes no objective of one's own"
        )


OBJECTIVE_PARAMS: dict[str, Any] = {
    "tr": QueryRisk, "spread": Spread, "marginals": Marginals, "discount": Discount,
}  # fmt: skip
"""What the objectives here let one choose, with the words of each choice."""
TRUNCATION = "lambdarank_truncation_level"
"""Pairs with a document among so many first ones are learned, as in LightGBM's own objective."""


def read_params(texts: Sequence[str]) -> dict[str, Any]:
    """Parameters of LightGBM and of the objectives, from `name=value` and @FILE texts.

    A file has one a line. Those of the command line itself win over those of files.
    """
    given: dict[str, Any] = {}
    for text in texts:
        if text.startswith(LIST_MARK):
            path = Path(text.removeprefix(LIST_MARK))
            for n, line in listed_in(path, "parameter"):
                given |= _param(line, f"{path}:{n}: ")
    for text in texts:
        if not text.startswith(LIST_MARK):
            given |= _param(text, "--param: ")
    return given


def _param(text: str, where: str) -> dict[str, Any]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise UsageError(f"{where}found {text!r}, expected name=value")
    try:
        if name in OBJECTIVE_PARAMS:
            check_words(**{name: (value, OBJECTIVE_PARAMS[name])})
            return {name: value}
        return {name: _ranks(value)} if name == TRUNCATION else checked({name: value})
    except UsageError as error:
        raise UsageError(f"{where}{error}") from error


def _ranks(text: str) -> int:
    ranks = whole_number(text)
    if ranks is None or ranks < 1:
        raise UsageError(f"{TRUNCATION} is {text!r}, expected a whole number of at least 1")
    return ranks


def predicted(booster: Any, features: Features, trees: int | None = None) -> Floats:
    """The model's scores; features that it knows and the file lacks are 0."""
    given, expected = features.values.shape[1], booster.num_feature()
    if given > expected:
        raise UsageError(f"{features.path} has {given} features, the model expects {expected}")
    values = padded(features.values, expected)
    return np.asarray(booster.predict(values, num_iteration=trees), dtype=np.float64)


# Training one ranker: trees one by one, the best number of them by validation data.


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
