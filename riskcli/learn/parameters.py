"""LightGBM's parameters: which of them can be set, and what riskeval sets itself.

A parameter goes by any of the names that LightGBM knows it by. One that it does not know, or that
would have no effect, is refused: LightGBM itself would pass over it in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskcli.core.messages import UsageError, nearest
from riskcli.learn.lightgbm import lightgbm

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
    asked = checked(params)
    goss = "goss" in (asked.get("boosting"), asked.get("data_sample_strategy"))
    return {**DEFAULTS, **({} if goss else _BAGGING), "seed": seed, **asked, **FIXED}


def checked(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters by LightGBM's first name for each, if they do something and do no harm."""
    found = {}
    for name, value in params.items():
        canonical = _first_name(name)
        _refuse(name, canonical)
        _refuse_value(name, canonical, value)
        found[canonical] = value
    return found


def _first_name(name: str) -> str:
    """LightGBM's first name for a parameter."""
    known = {
        alias: first
        for first, aliases in lightgbm().basic._ConfigAliases._get_all_param_aliases().items()
        for alias in (first, *aliases)
    }
    if name not in known:
        raise UsageError(f"LightGBM has no parameter {name!r}{nearest(name, list(known))}")
    return str(known[name])


def _refuse(name: str, canonical: str) -> None:
    shown = name if name == canonical else f"{name} ({canonical})"
    if canonical in _OPTIONS:
        raise UsageError(f"{shown} is not yours to set: {_OPTIONS[canonical]} does that")
    if canonical in FIXED:
        raise UsageError(f"{shown} is not yours to set: it is always {FIXED[canonical]}")
    if canonical in _WITHOUT_EFFECT:
        raise UsageError(f"{shown} has no effect: the objective, the data and the stopping are "
                         "riskeval's own")  # fmt: skip


def _refuse_value(name: str, canonical: str, value: Any) -> None:
    if canonical == _LEAST_HESSIAN and _is_at_most_0(value):
        raise UsageError(
            f"{name} is {value}, expected more than 0: documents without pairs have none, and "
            "LightGBM fails at leaves of such documents"
        )
    if canonical == "boosting" and value not in _BOOSTING:
        raise UsageError(
            f"{name} is {value}, expected {' or '.join(_BOOSTING)}: dart changes earlier trees, so "
            "that the best number of them cannot be kept; rf takes no objective of one's own"
        )


def _is_at_most_0(value: Any) -> bool:
    try:
        return float(value) <= 0
    except ValueError:
        return False  # LightGBM says what it expects


def read_params(pairs: Sequence[str], text: str | None, path: str = "") -> dict[str, Any]:
    """LightGBM's parameters from `name=value` texts, which win over those of a file's lines."""
    found: dict[str, Any] = {}
    lines = [] if text is None else text.splitlines()
    for number, line in enumerate(lines, start=1):
        bare = line.split("#", 1)[0].strip()
        if bare:
            found.update(_param(bare, f"{path}:{number}: "))
    for pair in pairs:
        found.update(_param(pair, "--param: "))
    return found


def _param(text: str, where: str) -> dict[str, Any]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise UsageError(f"{where}found {text!r}, expected name=value")
    try:
        return checked({name: value})
    except UsageError as error:
        raise UsageError(f"{where}{error}") from error
