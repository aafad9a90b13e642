"""What every analysis shares: how it is called, what its result can do, what it rests on.

An analysis is a function `analysis(scores, baseline=None, *, options=None, ...)`. It takes whatever
holds scores, and gives an `Analysis`: rows, tables for people, and the provenance of its numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Union, cast

import numpy as np

from riskcli.core.choices import DEFAULT_BASELINE, is_virtual
from riskcli.core.limits import COSTS, refuse_beyond
from riskcli.core.messages import Note, Provenance, UsageError, counted, nearest
from riskcli.output.formats import Analysis as Analysis
from riskcli.output.measure_words import PRINTED, words_of
from riskcli.output.result import Result
from riskcli.risk.losses import FALLING_LOSS, LINEAR, SMOOTH_FIT, Cubic
from riskcli.risk.measure import RiskMeasure
from riskcli.scores import comparisons
from riskcli.scores.comparisons import Options
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.plausibility import notes_on_scores
from riskcli.scores.reading import UNJUDGED
from riskcli.scores.teams import Teams
from riskcli.trec.names import each_baseline

if TYPE_CHECKING:
    import pandas as pd

Scores = Union[Evaluation, ScoreMatrix, Iterable[ScoreMatrix], "pd.DataFrame"]
"""Whatever holds scores: an evaluation, a matrix or several, a frame of runs by topics or with one
row per score."""

Names = str | Sequence[str] | None
"""A name, several of them, or none."""

Fit = tuple[str, str, Cubic | None]
"""Effectiveness measure, baseline, and the loss between them (None: linear)."""


@dataclass(frozen=True)
class Setup:
    """What an analysis is given, whoever called it and with whatever."""

    matrices: tuple[ScoreMatrix, ...]
    options: Options
    provenance: Provenance
    """Of the scores; what is computed from them adds to it."""

    def recorded(
        self, fits: Iterable[Fit] = (), notes: Iterable[Note] = (), **settings: Any
    ) -> Provenance:
        """The provenance of a result: with the options, the fitted cubics and these settings."""
        cubics = {(measure, name): cubic for measure, name, cubic in fits if cubic is not None}
        falling = [
            Note("loss-falls", f"{measure}, baseline {name}: {FALLING_LOSS}")
            for (measure, name), cubic in cubics.items()
            if not cubic.rises
        ]
        record = described(self.options)
        if self.options.loss == SMOOTH_FIT:
            record["fitted"] = [
                {"measure": measure, "baseline": name, **asdict(cubic)}
                for (measure, name), cubic in cubics.items()
            ]
        return self.provenance.adding({**record, **settings}, [*notes, *falling])


def set_up(
    scores: Scores,
    options: Options | None = None,
    baseline: Names = None,
    alpha: float | Sequence[float] | None = None,
    default: Options | None = None,
    noting: bool = True,
    weighs: bool = True,
    of_table: bool = False,
) -> Setup:
    """The matrices, the options with what was given beside them, and the provenance of the scores.

    A baseline that is a file of the evaluation stands for the run in it. That nobody named a
    baseline is noted, unless the analysis does not need one; weights of topics are refused, unless
    it `weighs` topics; and what only the risk table knows, unless it is that.
    """
    chosen = comparisons.combined(options, baseline, alpha, default)
    if not of_table:
        comparisons.refuse_own(chosen)
    matrices, provenance = matrices_of(scores), provenance_of(scores)
    if not weighs:
        refuse_weights(matrices, "this")
    if chosen.convention == PRINTED and (not of_table or chosen.pool == comparisons.POOL_EACH):
        each = " without --pool each" if of_table else ""
        raise UsageError(f"--convention minus-printed is for `riskeval score`{each}")
    if not isinstance(scores, Evaluation) and not provenance.settings:  # nobody looked at them yet
        provenance = provenance.adding(notes=notes_on_scores(matrices, "the scores"))
    if isinstance(chosen.population, FrozenPopulation):
        chosen.population.check_settings(provenance.settings, input_records(provenance))
    asked = provenance.settings.get(UNJUDGED)
    if asked is not None and all(matrix.judging is None for matrix in matrices):
        message = f"--unjudged {asked} does nothing here: of files of scores no document is known"
        provenance = provenance.adding(notes=[Note("no-documents", message)])
    teams, names = chosen.teams, chosen.baselines
    if isinstance(scores, Evaluation) and not teams:
        teams = Teams(scores.teams)
    added = scores.added if isinstance(scores, Evaluation) else {}
    declared = {added.get(r, r): added.get(b, b) for r, b in chosen.own_baselines.items()}
    if len(declared) < len(chosen.own_baselines):  # by the name of before, and the one shown
        raise UsageError("own baselines: a run is listed twice, by two of its names")
    if not names and noting:
        provenance = provenance.adding(notes=[_DEFAULT_BASELINE])
    else:
        runs = {*added, *(run for matrix in matrices for run in matrix.runs)}
        names = tuple(added.get(name, name) for name in each_baseline(names, runs))
    chosen = replace(chosen, teams=teams, baselines=names, own_baselines=declared)
    return Setup(matrices, chosen, provenance)


def refuse_weights(matrices: Iterable[ScoreMatrix], what: str) -> None:
    """Refuse weights of topics where they would be without effect."""
    if any(matrix.weights is not None for matrix in matrices):
        raise UsageError(f"{what} counts all topics the same: leave out --weights")


_DEFAULT_BASELINE = Note(
    "default-baseline",
    f"no baseline given: runs are compared with {DEFAULT_BASELINE}, the mean of all runs",
    warning=False,
)


def matrices_of(scores: Scores) -> tuple[ScoreMatrix, ...]:
    """Whatever holds scores, as matrices."""
    if isinstance(scores, ScoreMatrix):
        return (scores,)
    if isinstance(scores, Evaluation):
        return scores.matrices
    if hasattr(scores, "to_numpy"):
        from riskcli.scores.frames import has_a_row_per_score, scores_from_frame

        frame = cast("pd.DataFrame", scores)
        if has_a_row_per_score(frame):
            return scores_from_frame(frame).matrices
        return (ScoreMatrix.from_frame(frame),)
    matrices = tuple(scores)
    for matrix in matrices:
        if not isinstance(matrix, ScoreMatrix):
            kind = type(matrix).__name__
            raise UsageError(f"scores are an evaluation, matrices or a frame, found {kind}")
    return matrices


def input_records(provenance: Provenance) -> list[dict[str, Any]]:
    """The inputs with their checksums, as machine formats record them."""
    records: list[dict[str, Any]] = Result((), (), provenance).envelope()["inputs"]
    return records


def provenance_of(scores: Scores) -> Provenance:
    """What the scores rest on, where they say; settings in which several differ are left out."""
    if isinstance(scores, Evaluation | ScoreMatrix):
        return scores.provenance
    if not isinstance(scores, list | tuple) or not scores:
        return Provenance()
    parts = [matrix.provenance for matrix in scores]
    settings = {
        name: value
        for name, value in parts[0].settings.items()
        if all(part.settings.get(name) == value for part in parts)
    }
    if "measures" in parts[0].settings:
        settings["measures"] = [matrix.measure for matrix in scores]
    inputs, notes, skipped = (
        tuple(dict.fromkeys(each for part in parts for each in getattr(part, of)))
        for of in ("inputs", "notes", "skipped")
    )
    return Provenance(settings, inputs, notes, skipped)


def refuse_much(
    work: str, matrices: Sequence[ScoreMatrix], options: Options, *, pairs: int = 0, lines: int = 0
) -> None:
    """Refuse what this machine lacks the memory for; `work` names what it takes (`core.memory`).

    Each baseline is compared with every cell, and makes a row for every run and alpha; `lines` are
    rows besides.
    """
    if not matrices:
        return
    cells, rows = 0, lines
    for matrix in matrices:
        each = options.pool == comparisons.POOL_EACH
        baselines = len(comparisons.named_rows(matrix.runs, options.wanted)) if each else 1
        cells += matrix.values.size * max(1, baselines)
        rows += len(matrix.runs) * max(1, baselines) * len(options.levels)
    runs, topics = np.max([matrix.values.shape for matrix in matrices], axis=0).tolist()
    size = f"{counted(runs, 'run')} and {counted(topics, 'topic')}"
    refuse_beyond(COSTS[work].bytes(cells, rows, pairs), f"{work} of {size}")


def one_matrix(matrices: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """The matrix, where there is only one measure."""
    if len(matrices) != 1:
        names = ", ".join(matrix.measure for matrix in matrices)
        raise UsageError(
            f"one measure at a time, found {names}; choose one with --measure, or in the library "
            f"evaluation[{matrices[0].measure!r}]"
        )
    return matrices[0]


def chosen_measures(
    wanted: Names, able: Iterable[RiskMeasure], cannot: str, hint: str = ""
) -> list[RiskMeasure]:
    """The risk measures named; none: those that are able and shown unasked.

    `cannot` begins the message about others.
    """
    by_id = {measure.id: measure for measure in able}
    names = list(dict.fromkeys(comparisons.as_names(wanted or ())))
    for name in names:
        if name not in by_id:
            reason = f"{cannot} {name!r}{nearest(name, by_id)} ({', '.join(by_id)}{hint})"
            raise UsageError(reason)
    return [by_id[name] for name in names] or [m for m in by_id.values() if words_of(m).usual]


def described(options: Options) -> dict[str, Any]:
    """The options as machine formats record them: how differences are tested by field."""
    plan, resampling = options.significance, ("swaps", "shuffles", "seed")
    settings: dict[str, Any] = {
        "baselines": list(options.wanted),
        "pool": options.pool,
        "population": population_record(options),
        "alphas": list(options.alphas) if options.loss == LINEAR else None,
        "loss": options.loss,
        "convention": options.convention,
        **{e.name: getattr(plan, e.name) for e in fields(plan) if e.name not in resampling},
    }
    if options.own_baselines:
        settings["own_baselines"] = dict(options.own_baselines)
    if options.teams:
        settings["teams"] = dict(options.teams.by_run) or {"pattern": options.teams.pattern}
    if plan.test == "swap":
        settings |= {"swaps": plan.swaps, "seed": plan.seed}
    elif any(is_virtual(name) for name in options.wanted):
        settings |= {"shuffles": plan.number_of_shuffles, "seed": plan.seed}
    return settings


def population_record(options: Options) -> str:
    """The population as machine formats record it: a rule, or the hash of a frozen one."""
    if isinstance(options.population, FrozenPopulation):
        return f"frozen:{options.population.hash}"
    return options.population or "auto"


def require_plain(options: Options, what: str) -> None:
    """Refuse a loss or a convention that this analysis does not know."""
    if options.loss != LINEAR or options.convention != "plain":
        raise UsageError(f"{what} supports the linear loss and the plain convention only")


def one_alpha(options: Options, what: str) -> float:
    """The alpha, of an analysis that takes one."""
    if len(options.alphas) != 1:
        raise UsageError(f"{what} takes one alpha, found {len(options.alphas)}")
    return options.alphas[0]
