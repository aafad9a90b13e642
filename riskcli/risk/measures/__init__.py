"""The registry of risk measures: one module a measure, each declaring a `MEASURE`.

A module dropped into this folder is a measure of the program: it gets its columns, a rank, a place
in `--sort`, `--columns` and `--of`, in the rules of the gate, in the help and in the docs. Nothing
else needs to know of it.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from riskcli.risk.jackknife import Statistic
from riskcli.risk.measure import RiskMeasure

_FIRST = ("mean", "urisk", "trisk", "zrisk", "georisk")


@cache
def measures() -> tuple[RiskMeasure, ...]:
    """All risk measures: those of the papers in their order, then the others by id."""
    declared = {
        module.name: import_module(f"{__name__}.{module.name}").MEASURE
        for module in iter_modules(__path__)
    }
    return tuple(declared[name] for name in dict.fromkeys([*_FIRST, *sorted(declared)]))


def measure_ids() -> tuple[str, ...]:
    """The ids of all risk measures."""
    return tuple(measure.id for measure in measures())


@cache
def statistics() -> tuple[Statistic, ...]:
    """What is tested of the runs in their population."""
    return tuple(m.statistic for m in measures() if m.statistic is not None)
