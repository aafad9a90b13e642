"""The registry of risk measures: one module a measure, each declaring a `MEASURE`.

A module dropped into this folder is a measure of the program: it gets its columns, a rank, a place
in the tables, in `--sort`, in the help and in the docs. Nothing else needs to know of it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from riskcli.risk.columns import COLUMNS, Column
from riskcli.risk.measure import RiskMeasure


@cache
def measures() -> tuple[RiskMeasure, ...]:
    """All risk measures, in the order of the tables."""
    found = [
        import_module(f"{__name__}.{module.name}").MEASURE for module in iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda measure: (measure.place, measure.id)))


@cache
def all_columns() -> tuple[Column, ...]:
    """The contract's columns, then those that only a measure of the registry declares."""
    known = {column.name: column for column in COLUMNS}
    for measure in measures():
        for column in measure.all_columns:
            known.setdefault(column.name, column)
    return tuple(known.values())


def measure_ids() -> tuple[str, ...]:
    """The ids of all risk measures."""
    return tuple(measure.id for measure in measures())
