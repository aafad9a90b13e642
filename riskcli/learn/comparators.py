"""What a ranker is compared with: a feature, a run file, an earlier model, and cheaper ways.

Those are cheap ways to lose less without training for it, each as risky as a model on validation
data. Blend: the plain model's scores plus a weight times the baseline's ranking, both standardised
within each query. Selective re-ranking (SIGIR'12, section 5): the plain model where the highest
value of a feature in the query is at most a threshold, the baseline elsewhere. Coin flip (SIGIR'12,
section 5.7): the plain model with a chance p, else the baseline; its gain and risk are p times the
model's.

With several baselines their rankings, standardised and averaged, stand for the one: the blend adds
that mean, and the other two fall back on it. Risk remains the loss to the effectiveness of the
baselines (their mean on each query, or what --pool makes of them): falling back may have some.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Input, InputError, Note, UsageError, counted
from riskcli.learn.features import Features, pooled_start, standardised, tie_free
from riskcli.learn.lambdas import Queries
from riskcli.learn.model_files import Model, natively, read_model
from riskcli.learn.training import RankedDocuments, predicted
from riskcli.risk.comparison import POOLS
from riskcli.risk.paired import Paired
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


def files_of(sources: Iterable[BaselineSource]) -> list[Path]:
    """The runs and models among the baselines."""
    return [Path(source.value) for source in sources if source.kind != "feature"]


def scored(
    model: Model, documents: Features, start: Sequence[BaselineSource] = ()
) -> tuple[Floats, list[Note]]:
    """The model's scores, and those of the baselines that it starts from added again.

    These are the ones that it was trained with, unless others are given.
    """
    about = model.about
    if about.features and len(documents.names) <= len(about.features):
        documents = documents.widened(about.features)
    with natively(model.path):
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


_WEIGHTS = (0.0, *np.geomspace(0.02, 20, 46).tolist())
_STEPS = 101


@dataclass(frozen=True)
class JudgedQueries:
    """Documents whose rankings can be measured, and what the baseline comes to on them."""

    part: RankedDocuments
    queries: Queries
    pool: str = "mean"
    """How several baselines become one a query."""

    @cached_property
    def baseline(self) -> Floats:
        """The effectiveness of the baseline, or of several as one, on each counted query."""
        each = self.part.baselines.values()
        return POOLS[self.pool](np.array([self.queries.effectiveness(places) for places in each]))

    @cached_property
    def fallback(self) -> Floats:
        """The effectiveness of what selection and coin fall back on: the baseline's ranking."""
        return self.effectiveness(self.part.start)

    def effectiveness(self, scores: Floats) -> Floats:
        """The measure of each counted query, ties broken as in a run file."""
        return self.queries.effectiveness(tie_free(self.part.features, scores))

    def risk(self, scores: Floats) -> float:
        """The mean loss to the baseline."""
        return mean_loss(self.effectiveness(scores), self.baseline)


def mean_loss(model: Floats, baseline: Floats) -> float:
    """Risk of one model."""
    return float(Paired(model[None], baseline).risk[0])


def blended(part: RankedDocuments, plain: Floats, weight: float) -> Floats:
    """Scores of the blend."""
    return standardised(part.features, plain) + weight * part.start


def highest(features: Features, column: str) -> Floats:
    """The highest value of a feature in each query; missing ones are below all others."""
    values = np.nan_to_num(features.column(column), nan=-np.inf, neginf=-np.inf)
    return np.maximum.reduceat(values, features.starts)


def selected(part: RankedDocuments, plain: Floats, column: str, threshold: float) -> Floats:
    """The plain ranking of the queries at or below the threshold, the baseline's of the others."""
    chosen = (highest(part.features, column) <= threshold)[part.features.query_of]
    return np.where(chosen, tie_free(part.features, plain), tie_free(part.features, part.start))


@dataclass(frozen=True)
class EqualRisk:
    """What comes nearest to a model's risk on the very test queries that it is compared on.

    Elsewhere a blend, a selection or a coin is made as risky as a model on validation queries,
    since it is a ranker that somebody might use. On test queries its risk then differs from the
    model's, and neither mean says which of the two is better. Here risk is matched on the test
    queries themselves (SIGIR'12, Figure 2, at the model's risk), as nearly as the steps of weights
    and thresholds allow: means compare as far as the risks agree, which stand beside them. Nothing
    may be chosen by it, so it has no run.

    `blend` and `selection` are their effectiveness by counted query, `chance` that of the coin.
    """

    blend: Floats
    selection: Floats | None
    chance: float


@dataclass(frozen=True)
class RiskMatcher:
    """A plain model on some queries, to be made as risky there as another one."""

    judged: JudgedQueries
    plain: Floats
    """Its scores."""

    def weight(self, risk: float) -> float:
        """The weight with which the blend comes nearest to that risk."""
        return float(_WEIGHTS[self._nearest(self._blends, risk)])

    def threshold(self, column: str, risk: float) -> float:
        """The threshold at which selective re-ranking comes nearest to that risk."""
        thresholds, selections = self._selections(column)
        return float(thresholds[self._nearest(selections, risk)])

    def chance(self, risk: float) -> float:
        """The chance with which flipping a coin for the model comes nearest to that risk."""
        fallback_risk = mean_loss(self.judged.fallback, self.judged.baseline)
        apart = mean_loss(self._model, self.judged.baseline) - fallback_risk
        return float(np.clip((risk - fallback_risk) / apart, 0, 1)) if apart else 1.0

    def at_risk(self, risk: float, selector: str | None) -> EqualRisk:
        """The blend, selection and coin that come nearest to that risk on these queries."""
        blend = self._blends[self._nearest(self._blends, risk)]
        selections = [] if selector is None else self._selections(selector)[1]
        selection = selections[self._nearest(selections, risk)] if selections else None
        return EqualRisk(blend, selection, self.chance(risk))

    @cached_property
    def _model(self) -> Floats:
        return self.judged.effectiveness(self.plain)

    @cached_property
    def _blends(self) -> list[Floats]:
        """The effectiveness of the blend with each of the weights."""
        part = self.judged.part
        return [self.judged.effectiveness(blended(part, self.plain, w)) for w in _WEIGHTS]

    def _selections(self, column: str) -> tuple[list[float], list[Floats]]:
        """Thresholds from none to all queries, and the effectiveness with each."""
        values = highest(self.judged.part.features, column)[self.judged.queries.counted]
        steps = np.unique(np.quantile(values, np.linspace(0, 1, _STEPS), method="lower"))
        thresholds = [-np.inf, *steps.tolist()]
        fallback = self.judged.fallback
        return thresholds, [np.where(values <= end, self._model, fallback) for end in thresholds]

    def _nearest(self, ways: Sequence[Floats], risk: float) -> int:
        """The first of those whose risk is nearest."""
        risks = np.array([mean_loss(values, self.judged.baseline) for values in ways])
        return int(np.argmin(np.abs(risks - risk)))
