"""The registry of effectiveness measures: one module a measure, or several of a kind.

Each module declares its `FAMILIES`. A module dropped into this folder is known to the program: its
names are accepted wherever a measure is, and the help and the docs list it. A family that
pytrec_eval does not compute brings a function of its own (`computed_by`).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from riskcli.effectiveness.measure import Family


@cache
def families() -> tuple[Family, ...]:
    """All families of measures, in the order of lists."""
    declared = [
        family
        for module in iter_modules(__path__)
        for family in import_module(f"{__name__}.{module.name}").FAMILIES
    ]
    return tuple(sorted(declared, key=lambda family: family.position))
