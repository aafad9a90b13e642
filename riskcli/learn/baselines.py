"""What a ranker is compared with: a feature, a run file, or an earlier model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Input, InputError, Note, UsageError, counted
from riskcli.learn.features import Features, standardised, tie_free
from riskcli.learn.lightgbm import Model, predicted, read_model
from riskcli.trec.runs import Run, run_of
from riskcli.trec.source import TextFile as File

KINDS = ("feature", "run", "model")


@dataclass(frozen=True)
class BaselineSource:
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
            scores, notes = scored(self._model, features)
            return tie_free(features, scores), notes
        return _of_run(features, self._run)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """The checksums of the files that a model has learned from, as far as they are known."""
        return self._model.about.trained_on if self.kind == "model" else ()

    @property
    def inputs(self) -> list[Input]:
        """The file that the scores were read from, if any."""
        file = None if self.kind == "feature" else self._file
        return [Input(file.path, self.kind, file.sha256)] if file else []

    @cached_property
    def _file(self) -> File:
        return File(Path(self.value), checksum=True)

    @cached_property
    def _run(self) -> Run:
        return run_of(self._file)

    @cached_property
    def _model(self) -> Model:
        return read_model(self._file)


def parse_source(text: str) -> BaselineSource:
    """The baseline that a text asks for."""
    kind, _, value = text.partition(":")
    if kind not in KINDS or not value:
        raise UsageError(
            f"baseline is {text!r}, expected feature:<number or name>, run:<file> or model:<file>"
        )
    return BaselineSource(kind, value)


def scored(
    model: Model, documents: Features, start: Sequence[BaselineSource] = ()
) -> tuple[Floats, list[Note]]:
    """The model's scores, and those of the baselines that it starts from added again.

    These are the ones that it was trained with, unless others are given.
    """
    about = model.about
    if about.features and len(documents.names) <= len(about.features):
        documents = documents.widened(about.features)
    scores = predicted(model.booster, documents)
    if not about.start_weight:
        return scores, []
    sources = start or [parse_source(text) for text in about.baselines]
    places, notes = zip(*(source.scores(documents) for source in sources), strict=True)
    weighted = about.start_weight * pooled_start(documents, places)
    return scores + weighted, [note for several in notes for note in several]


def _of_run(features: Features, run: Run) -> tuple[Floats, list[Note]]:
    """A run's scores in the precision of `riskeval score`; documents that it lacks come last."""
    path = run.path
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32).astype(np.float64).tolist()
    lines = zip(run.topic_codes.tolist(), run.docnos.as_strings(), strict=True)
    given = dict(zip(lines, scores, strict=True))
    codes = {topic: code for code, topic in enumerate(run.topics)}
    own = [codes.get(topic, -1) for topic in features.topics]
    values = np.array([
        given.get((own[query], name), np.nan)
        for query, name in zip(features.query_of.tolist(), features.docnos, strict=True)
    ])  # fmt: skip
    missing = int(np.isnan(values).sum())
    if missing == len(values):
        raise InputError(path, "no-common-document", f"no document of {features.path} is in it")
    message = f"{path.name} lacks {counted(missing, 'document')} of {features.path.name}: "
    note = Note("documents-not-in-run", message + "they are ranked below all that it has")
    return tie_free(features, values), [note] if missing else []


def pooled_start(features: Features, baselines: Sequence[Floats]) -> Floats:
    """The standardised ranking of the baselines, their mean where there are several."""
    each = [standardised(features, places) for places in baselines]
    return np.asarray(sum(each) / len(each))
