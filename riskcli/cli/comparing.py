"""What the options about baselines and tests ask for, as the library's options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from riskcli.cli.alphas import as_alpha
from riskcli.cli.asked import AskedAgainst, AskedComparing
from riskcli.core.choices import PopulationRule, words
from riskcli.core.messages import UsageError
from riskcli.risk.significance import Significance
from riskcli.scores.comparisons import Options
from riskcli.scores.frozen import FrozenPopulation, read_population


def options_of(against: AskedAgainst, swept: bool) -> Options:
    """The library's options; `swept` alphas belong to the linear loss."""
    if not swept and against.loss != "linear" and (against.alphas or against.alpha_hats):
        raise UsageError(f"--loss {against.loss} has no alpha: leave out --alpha or --loss")
    return Options(
        baselines=against.baselines,
        pool=against.pool,
        population=chosen_population(against.population),
        alphas=_chosen_alphas(against) or (1.0,),
        significance=_significance(against),
        loss=against.loss,
        convention=against.convention,
    )


def _significance(against: AskedAgainst) -> Significance:
    if not isinstance(against, AskedComparing):
        return Significance(gamma=against.gamma)
    return Significance(
        gamma=against.gamma,
        test=against.test,
        correction=against.correction,
        family=against.family,
        swaps=against.swaps,
        seed=against.seed,
    )


def chosen_population(given: Sequence[str]) -> PopulationRule | FrozenPopulation | None:
    """The rule that was named, or the population of a file."""
    chosen = dict.fromkeys(given)
    if len(chosen) > 1:
        raise UsageError(
            f"one population at a time, found {' and '.join(chosen)}: figures from different "
            "populations cannot be in one table"
        )
    for rule in (rule for rule in words(PopulationRule) if rule in chosen):
        return cast(PopulationRule, rule)
    for name in chosen:
        if not Path(name).is_file():
            known = ", ".join(words(PopulationRule))
            raise UsageError(f"--population is {name!r}, expected {known}, or a file")
        return read_population(name)
    return None


def frozen_population(given: Sequence[str]) -> FrozenPopulation | None:
    """The population of a file, or None for that of the two runs that are compared."""
    chosen = chosen_population(given)
    if chosen == "all":
        raise UsageError(
            "two runs are compared whatever others there are: --population is baselines, or a file"
        )
    return chosen if isinstance(chosen, FrozenPopulation) else None


def options_of_pairs(
    baselines: tuple[str, ...], population: Sequence[str], alpha: float, gamma: float
) -> Options:
    """The library's options where pairs of runs are measured, each whatever others there are."""
    return Options(
        baselines=baselines,
        population=frozen_population(population),
        alphas=(alpha,),
        significance=Significance(gamma=gamma),
    )


def _chosen_alphas(against: AskedAgainst) -> tuple[float, ...]:
    if against.alpha_hats and against.alphas:
        raise UsageError("--alpha and --alpha-hat say the same thing: give one of them")
    if against.alpha_hats and against.convention != "minus":
        raise UsageError("--alpha-hat belongs to --convention minus; plain takes --alpha")
    hats = [as_alpha(hat) for group in against.alpha_hats for hat in group]
    return tuple(dict.fromkeys([alpha for group in against.alphas for alpha in group] + hats))
