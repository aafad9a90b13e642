"""What is compared with what: score matrices, their baselines, and populations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from riskcli.core import choices
from riskcli.core.arrays import Floats
from riskcli.core.limits import MOST_ALPHA
from riskcli.core.messages import UsageError, nearest, short_repr
from riskcli.risk.comparison import POOLS, VIRTUAL, Baseline, Comparison, with_loss
from riskcli.risk.estimate import Significance
from riskcli.risk.losses import SMOOTH_FIT
from riskcli.risk.population import Members
from riskcli.risk.replicates import Repeats, pulls_of
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.plausibility import refuse_percent
from riskcli.scores.teams import Teams
from riskcli.trec.names import refuse_virtual_names

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
    own_baselines: Mapping[str, str] = field(default_factory=dict)
    """By run the baseline that it declares itself, beside the common one; for the risk table."""

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


def refuse_own(options: Options) -> None:
    """Refuse baselines of single runs where they would be without effect."""
    if options.own_baselines:
        raise UsageError("only the risk table (riskeval score) knows own baselines: leave them out")


def comparisons(matrix: ScoreMatrix, options: Options) -> list[Comparison]:
    """The matrix against each baseline, in the population and under the loss that were chosen."""
    refuse_own(options)
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
    logs, weights, gamma = matrix.has_logarithms, matrix.weights, options.significance.gamma
    compared = (
        Comparison(
            matrix.values, baseline, rule, named, members=members, logarithms=logs, weights=weights
        )
        for baseline in baselines
    )
    noisy = (with_noise(each, matrix, options.pool, gamma) for each in compared)
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


# The replicates behind a score matrix, and how far their noise reaches into its differences.


def repeats_of(matrix: ScoreMatrix) -> Repeats | None:
    """The replicates of the matrix's systems; None where runs are no systems."""
    known = matrix.axes.replicates
    if not known:
        return None
    systems = zip(matrix.runs, matrix.values[:, None], strict=True)
    return Repeats([
        known[name].on(matrix.topics) if name in known else row for name, row in systems
    ])  # fmt: skip


def with_noise(comparison: Comparison, matrix: ScoreMatrix, pool: str, gamma: float) -> Comparison:
    """The same where it is known which differences are no more than noise of replicates."""
    repeats = repeats_of(matrix)
    if repeats is None:
        return comparison
    return replace(comparison, noise=repeats.half_widths(pulls_of(comparison, pool), gamma))
