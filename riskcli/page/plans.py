"""What a page compares: the comparison asked for, further baselines, and the other population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riskcli.core.choices import PopulationRule
from riskcli.core.errors import UsageError
from riskcli.risk.options import Options
from riskcli.scores.frozen import FrozenPopulation


def plans(options: Options, further: Sequence[str], both_populations: bool) -> list[Options]:
    """What is compared: as asked for, with each further baseline, and in the other population."""
    kept = None if isinstance(options.population, str) else options.population
    plans = [options]
    plans += [
        replace(options, baselines=(name,), population=kept)
        for name in further
        if (name,) != options.wanted
    ]
    if not both_populations:
        return plans
    return [
        replace(plan, population=population) for plan in plans for population in _populations(plan)
    ]


def _populations(plan: Options) -> tuple[PopulationRule | FrozenPopulation | None, ...]:
    """Both, the plan's own first; a virtual baseline has no population of its own.

    A frozen population stands alone: its figures are not put beside those of another.
    """
    if plan.population is not None and not isinstance(plan.population, str):
        raise UsageError(
            "--both-populations is for the runs given, not for a population from a file"
        )
    if plan.wanted[0].startswith("@"):
        return (plan.population,)
    own = plan.population or ("baselines" if len(plan.wanted) > 1 else "all")
    return ("all", "baselines") if own == "all" else ("baselines", "all")
