"""What is compared with what, and how it is tested: the options of every analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from riskcli.core.choices import (
    DEFAULT_BASELINE,
    Convention,
    Correction,
    Family,
    Loss,
    Pool,
    PopulationRule,
    Test,
    check_words,
)
from riskcli.core.limits import MOST_ALPHA
from riskcli.core.messages import UsageError
from riskcli.core.text import short_repr
from riskcli.risk.members import Teams
from riskcli.scores.frozen import FrozenPopulation

LEAST_SWAPS = 9_999
LEAST_SHUFFLES = 999
DEFAULT_SEED = 20161


@dataclass(frozen=True)
class Significance:
    """How differences are tested: level, test of ZRisk and GeoRisk, correction and its family."""

    gamma: float = 0.05
    """The significance level."""
    test: Test = "jackknife"
    correction: Correction = "holm"
    family: Family = "column"
    swaps: int = LEAST_SWAPS
    shuffles: int | None = None
    """Of the test against virtual baselines; None: 999, or 9,999 where the whole table is one
    family, whose correction needs finer p-values."""
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 0 < self.gamma < 1:
            raise UsageError(f"gamma is {self.gamma}, expected a number between 0 and 1")
        check_words(
            test=(self.test, Test),
            correction=(self.correction, Correction),
            family=(self.family, Family),
        )
        if self.swaps < LEAST_SWAPS:
            raise UsageError(f"found {self.swaps} swaps, expected at least {LEAST_SWAPS}")
        if self.shuffles is not None and self.shuffles < LEAST_SHUFFLES:
            raise UsageError(f"found {self.shuffles} shuffles, expected at least {LEAST_SHUFFLES}")

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def number_of_shuffles(self) -> int:
        """Of the test against virtual baselines."""
        return self.shuffles or (LEAST_SHUFFLES if self.family == "column" else LEAST_SWAPS)


@dataclass(frozen=True)
class Options:
    """What is compared with what, and how it is tested."""

    baselines: tuple[str, ...] = ()
    """Names of runs, globs, or one virtual baseline; none stands for @mean."""
    pool: Pool = "mean"
    population: PopulationRule | FrozenPopulation | None = None
    """Which runs expected scores come from: all, the baselines, or those of a file."""
    teams: Teams = field(default_factory=Teams)
    """The team of each run that has one: a team weighs one in the population."""
    alphas: tuple[float, ...] = (1.0,)
    significance: Significance = field(default_factory=Significance)
    loss: Loss = "linear"
    convention: Convention = "plain"

    def __post_init__(self) -> None:
        object.__setattr__(self, "baselines", as_names(self.baselines))
        object.__setattr__(self, "alphas", _as_alphas(self.alphas))
        if isinstance(self.teams, Mapping):
            object.__setattr__(self, "teams", Teams(dict(self.teams)))
        check_words(
            pool=(self.pool, Pool),
            loss=(self.loss, Loss),
            convention=(self.convention, Convention),
        )
        if self.population is not None and not isinstance(self.population, FrozenPopulation):
            check_words(population=(self.population, PopulationRule))

    def __repr__(self) -> str:
        return short_repr(self)

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """The baselines named, or the default."""
        return self.baselines or (DEFAULT_BASELINE,)

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
