"""What is compared with what: score matrices, their baselines, and populations, some from files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core import choices
from riskcli.core.arrays import Floats
from riskcli.core.content_hash import content_sha256
from riskcli.core.inputs import note_input
from riskcli.core.limits import MOST_ALPHA
from riskcli.core.messages import TEXT_HASH, InputError, UsageError, listed, nearest, short_repr
from riskcli.core.version import __version__
from riskcli.risk.comparison import POOLS, VIRTUAL, Baseline, Comparison, with_loss
from riskcli.risk.estimate import Significance
from riskcli.risk.losses import SMOOTH_FIT
from riskcli.risk.population import Members
from riskcli.scores.axes import Axes
from riskcli.scores.bookkeeping import scoring_settings
from riskcli.scores.files.registry import JUDGEMENTS
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.plausibility import refuse_percent
from riskcli.scores.replicates import with_noise
from riskcli.scores.teams import Teams
from riskcli.trec.names import refuse_virtual_names

_FORMAT = 1
_SHOWN = 12


@dataclass(frozen=True)
class FrozenPopulation:
    """The members of a population by measure, and what their scores rest on."""

    matrices: tuple[ScoreMatrix, ...]
    totals: Mapping[str, tuple[float, ...]]
    """By measure, the topic totals: of the runs, or of the teams where there are any."""
    teams: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    source: str = "population"
    """The file that it came from, for messages."""

    @property
    def hash(self) -> str:
        """The SHA-256 of all that the figures of a run can depend on, and of who is in it."""
        return content_sha256(self._content())

    @property
    def name(self) -> str:
        """What the population is called in results."""
        return f"frozen:{self.hash[:_SHOWN]}"

    def matrix_for(self, scores: ScoreMatrix) -> ScoreMatrix:
        """The members by the measure of these scores, over the very same topics."""
        by_measure = {matrix.measure: matrix for matrix in self.matrices}
        if scores.measure not in by_measure:
            raise UsageError(
                f"{self.source} holds {', '.join(by_measure)}, the scores are {scores.measure}: "
                "choose with --measure, or freeze that measure too"
            )
        members = by_measure[scores.measure]
        missing = [topic for topic in members.topics if topic not in scores.topics]
        extra = [topic for topic in scores.topics if topic not in members.topics]
        if missing or extra:
            differences = [f"missing here: {listed(missing)}"] if missing else []
            differences += [f"not in the population: {listed(extra)}"] if extra else []
            raise UsageError(
                f"{self.source} was frozen on {len(members.topics)} topics, the {scores.measure} "
                f"scores have {len(scores.topics)} ({'; '.join(differences)})"
            )
        if not members.axes.weigh_alike(scores.axes, scores.topics):
            raise UsageError(
                f"{self.source} was frozen with other weights of topics (or none): give the same "
                "--weights, or freeze it again"
            )
        order = [members.topics.index(topic) for topic in scores.topics]
        # Laid out as scores are, so that their sums agree with those of the runs at hand exactly.
        values = np.ascontiguousarray(members.values[:, order])
        axes = members.axes
        return ScoreMatrix(members.measure, members.runs, scores.topics, values, axes=axes)

    def check_settings(
        self, settings: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]
    ) -> None:
        """Refuse scores that were made with other settings or judgements, saying which."""
        now = scoring_settings(settings)
        for name, value in scoring_settings(self.settings).items():
            if now.get(name, value) != value:
                raise UsageError(
                    f"{self.source} was frozen with {name} {value}, the scores here "
                    f"have {now[name]}"
                )
        frozen, here = _judgements(self.inputs, self.settings), _judgements(inputs, settings)
        if frozen and here and frozen != here:
            raise UsageError(
                f"{self.source} was frozen with other judgements: qrels of SHA-256 "
                f"{listed(sorted(frozen))}, here {listed(sorted(here))}"
            )

    def to_json(self) -> str:
        """The file."""
        head = {
            "riskeval_population": _FORMAT,
            "riskeval": __version__,
            "hash": self.hash,
        }
        return json.dumps({**head, **self._content()}, indent=1, ensure_ascii=False) + "\n"

    def _content(self) -> dict[str, Any]:
        return {
            "settings": dict(self.settings),
            "inputs": [dict(each) for each in self.inputs],
            "teams": dict(sorted(self.teams.items())),
            "measures": [
                {
                    "measure": matrix.measure,
                    "topics": list(matrix.topics),
                    **({} if matrix.weights is None else {"weights": matrix.weights.tolist()}),
                    "topic_totals": list(self.totals[matrix.measure]),
                    "grand_total": float(np.sum(self.totals[matrix.measure])),
                    "runs": dict(zip(matrix.runs, matrix.values.tolist(), strict=True)),
                }
                for matrix in self.matrices
            ],
        }


def _judgements(inputs: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> set[str]:
    """The checksums of the judgements that were read, or that files of scores name."""
    read = {
        str(each.get(TEXT_HASH) or each["sha256"])
        for each in inputs
        if each["kind"] == "qrels" and each["sha256"]
    }
    return read | set(map(str, settings.get(JUDGEMENTS, ())))


def read_population(path: Path | str) -> FrozenPopulation:
    """A population file; one that was changed by hand, or is of another version, is refused."""
    path = Path(path)
    document = _document(path)
    try:
        matrices = tuple(_matrix(entry) for entry in document["measures"])
        population = FrozenPopulation(
            matrices,
            {entry["measure"]: tuple(map(float, entry["topic_totals"]))
             for entry in document["measures"]},
            dict(document["teams"]),
            dict(document["settings"]),
            tuple(document["inputs"]),
            str(path),
        )  # fmt: skip
        same = population.hash == document["hash"] and all(
            entry["grand_total"] == float(np.sum(population.totals[entry["measure"]]))
            for entry in document["measures"]
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, UsageError) as error:
        raise InputError(
            path, "bad-population", f"the file is incomplete or damaged ({error}); freeze it again"
        ) from error
    if not same:
        raise InputError(
            path,
            "changed-population",
            f"the content does not fit its hash {str(document['hash'])[:_SHOWN]}: the file was "
            "changed after it was frozen; freeze it again",
        )
    return population


def _document(path: Path) -> dict[str, Any]:
    line = None
    document: Any = None
    note_input(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(path, "unreadable", error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        line = getattr(error, "lineno", None)
    if not isinstance(document, dict) or "riskeval_population" not in document:
        message = (
            "not a population file: expected the JSON that `riskeval population freeze` writes"
        )
        raise InputError(path, "bad-population", message, line)
    if document["riskeval_population"] != _FORMAT:
        raise InputError(
            path,
            "population-version",
            f"the file has format {document['riskeval_population']!r}, this riskeval reads "
            f"{_FORMAT}; freeze it again",
        )
    return document


def _matrix(entry: Mapping[str, Any]) -> ScoreMatrix:
    runs = tuple(entry["runs"])
    values = np.array([entry["runs"][run] for run in runs], dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"the scores by {entry['measure']} are not a matrix of numbers")
    topics, weights = tuple(entry["topics"]), entry.get("weights")
    axes = Axes(weights=dict(zip(topics, map(float, weights), strict=True)) if weights else {})
    return ScoreMatrix(entry["measure"], runs, topics, values, axes=axes)


# What is compared with what: score matrices against baselines, as the options have it.


POOL_EACH = "each"
"""How a set of baselines is pooled: not at all, each is compared with in turn."""


@dataclass(frozen=True)
class Options:
    """What is compared with what, and how it is tested."""

    baselines: tuple[str, ...] = ()
    """Names of runs, globs, or one virtual baseline; none stands for @mean."""
    pool: choices.Pool = "mean"
    population: choices.PopulationRule | FrozenPopulation | None = None
    """Which runs expected scores come from: all, the baselines, or those of a file."""
    teams: Teams = field(default_factory=Teams)
    """The team of each run that has one: a team weighs one in the population."""
    alphas: tuple[float, ...] = (1.0,)
    significance: Significance = field(default_factory=Significance)
    loss: choices.Loss = "linear"
    convention: choices.Convention = "plain"

    def __post_init__(self) -> None:
        object.__setattr__(self, "baselines", as_names(self.baselines))
        object.__setattr__(self, "alphas", _as_alphas(self.alphas))
        if isinstance(self.teams, Mapping):
            object.__setattr__(self, "teams", Teams(dict(self.teams)))
        choices.check_words(
            pool=(self.pool, choices.Pool),
            loss=(self.loss, choices.Loss),
            convention=(self.convention, choices.Convention),
        )
        if self.population is not None and not isinstance(self.population, FrozenPopulation):
            choices.check_words(population=(self.population, choices.PopulationRule))

    __repr__ = short_repr

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """The baselines named, or the default."""
        return self.baselines or (choices.DEFAULT_BASELINE,)

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The alphas to compute at: one, that nothing looks at, where the loss is smooth."""
        return self.alphas if self.loss == "linear" else (0.0,)


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def _as_alphas(alphas: Any) -> tuple[float, ...]:
    """One alpha or several, each a number of at least 0."""
    values = (alphas,) if isinstance(alphas, int | float) else tuple(alphas)
    for alpha in values:
        if not (isinstance(alpha, int | float) and 0 <= alpha <= MOST_ALPHA):
            raise UsageError(f"alpha is {alpha}, expected a number from 0 to {MOST_ALPHA:g}")
    return tuple(float(alpha) for alpha in values)


def combined(
    options: Options | None,
    baseline: str | Sequence[str] | None = None,
    alpha: float | Sequence[float] | None = None,
    default: Options | None = None,
) -> Options:
    """The options with the baseline and alpha that were given beside them; never both of one."""
    names = None if baseline is None else as_names(baseline)
    if names is not None and options is not None and options.baselines not in ((), names):
        raise UsageError(
            f"two baselines are named: {baseline!r}, and {options.baselines!r} in options"
        )
    chosen = options or default or Options()
    if names is not None:
        chosen = replace(chosen, baselines=names)
    if alpha is not None:
        chosen = replace(chosen, alphas=_as_alphas(alpha))
    return chosen


def comparisons(matrix: ScoreMatrix, options: Options) -> list[Comparison]:
    """The matrix against each baseline, in the population and under the loss that were chosen."""
    if not matrix.runs or not matrix.topics:
        raise UsageError("the score matrix is empty")
    matrix.check_finite()
    matrix.check_logarithms()
    refuse_percent(matrix)
    refuse_virtual_names(matrix.runs)
    named = named_rows(matrix.runs, options.wanted)
    rule, members = _population(matrix, options, named)
    rows = None if members is None else members.rows
    baselines = choose_baselines(matrix.runs, matrix.values, options.wanted, options.pool, rows)
    logs, weights = matrix.has_logarithms, matrix.weights
    compared = (
        Comparison(
            matrix.values, baseline, rule, named, members=members, logarithms=logs,
            weights=weights,
        )
        for baseline in baselines
    )  # fmt: skip
    noisy = (
        with_noise(each, matrix, options.pool, options.significance.gamma) for each in compared
    )
    return [with_loss(comparison, options.loss) for comparison in noisy]


def _population(
    matrix: ScoreMatrix, options: Options, named: tuple[int, ...]
) -> tuple[choices.PopulationRule, Members | None]:
    """By which rule a run's population is made up, and its members where they are not the runs."""
    if isinstance(options.population, FrozenPopulation):
        if options.loss == SMOOTH_FIT:
            raise UsageError(
                "smooth:fit is fitted to the runs given, so a run's figures would depend on "
                "them: with a frozen population take --loss smooth"
            )
        return "all", frozen_members(options.population, matrix)
    # By default the baselines are the population where two or more runs are named.
    rule = options.population or ("baselines" if len(named) > 1 else "all")
    chosen = range(len(matrix.runs)) if rule == "all" else named
    if not options.teams or not chosen:
        return rule, None
    teams = options.teams.of(matrix.runs)
    runs, scores = [matrix.runs[row] for row in chosen], matrix.values[list(chosen)]
    name = "teams" if rule == "all" else "baseline teams"
    return rule, Members.of_teams(scores, runs, [teams[row] for row in chosen], name)


def frozen_members(population: FrozenPopulation, matrix: ScoreMatrix) -> Members:
    """The members of a frozen population by the measure of this matrix."""
    runs = population.matrix_for(matrix)
    if not population.teams:
        return Members.of_runs(runs.values, population.name)
    teams = Teams(population.teams).of(runs.runs)
    return Members.of_teams(runs.values, runs.runs, teams, population.name)


def named_rows(runs: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...]:
    """The rows of all runs that the baselines name."""
    names = [name for name in wanted if not choices.is_virtual(name)]
    return tuple(sorted({row for name in names for row in matching_runs(runs, name)}))


def choose_baselines(
    runs: Sequence[str],
    scores: Floats,
    wanted: Sequence[str],
    pool: str = "mean",
    population_rows: Floats | None = None,
) -> list[Baseline]:
    """The baselines that `wanted` (names, globs, or one of @mean @median @max @min) stand for.

    Several named runs make one baseline, pooled per topic, or with pool "each" one baseline each.
    Virtual ones are made from the rows of the population, where these are not the runs themselves.
    """
    if any(map(choices.is_virtual, wanted)):
        return [_virtual(scores if population_rows is None else population_rows, wanted)]
    members = named_rows(runs, wanted)
    if pool == POOL_EACH or len(members) == 1:
        return [Baseline(runs[row], (row,), scores[row]) for row in members]
    name = f"{pool}({','.join(runs[row] for row in members)})"
    return [Baseline(name, members, POOLS[pool](scores[list(members)]))]


def matching_runs(runs: Sequence[str], pattern: str) -> list[int]:
    """The rows of the run of that name, or of all runs that the glob pattern fits."""
    if pattern in runs:
        return [list(runs).index(pattern)]
    rows = [row for row, run in enumerate(runs) if fnmatchcase(run, pattern)]
    if not rows:
        raise UsageError(
            f"no run and no file is named {pattern!r}{nearest(pattern, [*runs, *VIRTUAL])}"
        )
    return rows


def _virtual(scores: Floats, wanted: Sequence[str]) -> Baseline:
    if len(set(wanted)) > 1:
        raise UsageError(
            f"a virtual baseline cannot be combined with others, found {', '.join(wanted)}; "
            "give one virtual baseline or any number of runs"
        )
    name = wanted[0]
    if name not in VIRTUAL:
        known = ", ".join(VIRTUAL)
        raise UsageError(f"unknown virtual baseline {name!r}, expected one of {known}")
    return Baseline(name, (), VIRTUAL[name](scores))
