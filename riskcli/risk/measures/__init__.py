"""The registry of risk measures: one module a measure, each declaring a `MEASURE`.

A module dropped into this folder is a measure of the program: it gets its columns, a rank, a place
in the tables, in `--sort`, in the help and in the docs. Nothing else needs to know of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from riskcli.risk.columns import KEYS, ORDER, Column
from riskcli.risk.jackknife import Statistic
from riskcli.risk.measure import RiskMeasure


@cache
def measures() -> tuple[RiskMeasure, ...]:
    """All risk measures, in the order of the tables."""
    declared = [
        import_module(f"{__name__}.{module.name}").MEASURE for module in iter_modules(__path__)
    ]
    return tuple(sorted(declared, key=lambda measure: (measure.position, measure.id)))


@cache
def all_columns() -> tuple[Column, ...]:
    """The columns that the contract orders, in its order; then all others, measure by measure."""
    declared = [column for measure in measures() for column in measure.all_columns]
    return tuple(
        sorted((*KEYS, *declared), key=lambda column: _order().get(column.name, len(ORDER)))
    )


@cache
def _order() -> Mapping[str, int]:
    return {name: index for index, name in enumerate(ORDER)}


@cache
def columns_by_name() -> Mapping[str, Column]:
    """All columns by their names."""
    return {column.name: column for column in all_columns()}


def measure_ids() -> tuple[str, ...]:
    """The ids of all risk measures."""
    return tuple(measure.id for measure in measures())


@cache
def statistics() -> tuple[Statistic, ...]:
    """What is tested of the runs in their population."""
    return tuple(m.statistic for m in measures() if m.statistic is not None)
