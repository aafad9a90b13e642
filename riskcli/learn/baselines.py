"""What a ranker is compared with: a feature, a run file, or an earlier model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.basis import Input
from riskcli.core.errors import InputError, UsageError
from riskcli.core.notes import Note, counted
from riskcli.learn.features import Features
from riskcli.learn.lightgbm import lightgbm
from riskcli.learn.rankings import standardised, tie_free
from riskcli.trec.pieces import run_of
from riskcli.trec.runs import Run
from riskcli.trec.source import Source as File

KINDS = ("feature", "run", "model")


@dataclass(frozen=True)
class Source:
    """A baseline as it is asked for: `feature:110`, `run:bm25.run`, `model:old.txt`.

    Its file is read once, when scores are first asked for.
    """

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"

    def scores(self, features: Features) -> tuple[Floats, list[Note]]:
        """A score for each document, without ties, and what the reader should know."""
        if self.kind == "feature":
            return tie_free(features, features.column(self.value)), []
        if self.kind == "model":
            return tie_free(features, predicted(self._model, features)), []
        return _of_run(features, self._run)

    @property
    def inputs(self) -> list[Input]:
        """The file that the scores were read from, if any."""
        if self.kind == "feature":
            return []
        return [Input(self._file.path, self.kind, self._file.sha256)]

    @cached_property
    def _file(self) -> File:
        return File(Path(self.value), checksum=True)

    @cached_property
    def _run(self) -> Run:
        return run_of(self._file)

    @cached_property
    def _model(self) -> Any:
        return model_of(self._file)


def parse_source(text: str) -> Source:
    """The baseline that a text asks for."""
    kind, _, value = text.partition(":")
    if kind not in KINDS or not value:
        raise UsageError(
            f"baseline is {text!r}, expected feature:<number or name>, run:<file> or model:<file>"
        )
    return Source(kind, value)


def load_model(path: Path) -> Any:
    """A LightGBM model from its text file."""
    return model_of(File(path))


def model_of(file: File) -> Any:
    """The LightGBM model in a file."""
    try:
        return lightgbm().Booster(model_str=file.text().decode(errors="replace"))
    except lightgbm().basic.LightGBMError as error:
        raise InputError(file.path, "bad-model", f"not a model of LightGBM: {error}") from error


def predicted(booster: Any, features: Features, trees: int | None = None) -> Floats:
    """The model's scores; features that it knows and the file lacks are 0."""
    wanted = booster.num_feature()
    values = features.values
    if values.shape[1] > wanted:
        raise UsageError(
            f"{features.path} has {values.shape[1]} features, the model knows {wanted}"
        )
    if values.shape[1] < wanted:
        values = np.pad(values, ((0, 0), (0, wanted - values.shape[1])))
    scores = booster.predict(values, num_iteration=trees)
    return np.asarray(scores, dtype=np.float64)


def _of_run(features: Features, run: Run) -> tuple[Floats, list[Note]]:
    """A run's scores in the precision of `riskeval score`; documents that it lacks come last."""
    path = run.path
    given: dict[tuple[int, str], float] = {}
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32).astype(np.float64).tolist()
    names = run.docnos.as_strings()
    for code, name, score in zip(run.topic_codes.tolist(), names, scores, strict=True):
        given[code, name] = score
    codes = {topic: code for code, topic in enumerate(run.topics)}
    own = [codes.get(topic, -1) for topic in features.topics]
    found = np.array([
        given.get((own[query], name), np.nan)
        for query, name in zip(features.query_of.tolist(), features.docnos, strict=True)
    ])  # fmt: skip
    missing = int(np.isnan(found).sum())
    if missing == len(found):
        raise InputError(path, "no-common-document", f"no document of {features.path} is in it")
    message = f"{path.name} lacks {counted(missing, 'document')} of {features.path.name}: "
    note = Note("documents-not-in-run", message + "they are ranked below all that it has")
    return tie_free(features, found), [note] if missing else []


def pooled_start(features: Features, baselines: Sequence[Floats]) -> Floats:
    """The standardised ranking of the baselines, their mean where there are several."""
    each = [standardised(features, places) for places in baselines]
    return np.asarray(sum(each) / len(each))
