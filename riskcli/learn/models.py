"""Models in files: LightGBM's text, and what `riskeval train` writes beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import InputError, UsageError
from riskcli.learn.features import Features
from riskcli.learn.lightgbm import lightgbm
from riskcli.trec.source import Source as File


@dataclass(frozen=True)
class Sidecar:
    """What ranking with a model needs beside its trees; it lies beside them."""

    features: tuple[str, ...] = ()
    start_weight: float = 0.0
    baselines: tuple[str, ...] = ()
    trained_on: tuple[str, ...] = ()
    """The checksums of the files with its training and validation queries."""


@dataclass(frozen=True)
class Model:
    """A model of LightGBM, and what is known of it."""

    booster: Any
    about: Sidecar


def read_model(file: File) -> Model:
    """The model in a file; nothing is known of one that was trained elsewhere."""
    try:
        booster = lightgbm().Booster(model_str=file.text().decode(errors="replace"))
    except lightgbm().basic.LightGBMError as error:
        raise InputError(file.path, "bad-model", f"not a model of LightGBM: {error}") from error
    return Model(booster, _read_sidecar(file.path.with_suffix(".json")))


def _read_sidecar(path: Path) -> Sidecar:
    if not path.is_file():
        return Sidecar()
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        return Sidecar(
            tuple(given["features"]), float(given["start_weight"]), tuple(given["baselines"]),
            tuple(given["trained_on"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        message = f"not what riskeval train writes beside a model: {error!r}"
        raise InputError(path, "bad-model", message) from error


def predicted(booster: Any, features: Features, trees: int | None = None) -> Floats:
    """The model's scores; features that it knows and the file lacks are 0."""
    wanted = booster.num_feature()
    values = features.values
    if values.shape[1] > wanted:
        raise UsageError(
            f"{features.path} has {values.shape[1]} features, the model expects {wanted}"
        )
    if values.shape[1] < wanted:
        values = np.pad(values, ((0, 0), (0, wanted - values.shape[1])))
    scores = booster.predict(values, num_iteration=trees)
    return np.asarray(scores, dtype=np.float64)
