"""The functions of scipy.special that are used here, and nothing that they do not need.

Its import makes scipy take all that numpy offers, which loads numpy's tools for Fortran and for
tests: an eighth of what a small table takes. They are put off until somebody uses them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType

import numpy as np

__all__ = ["chdtrc", "erfcx", "log_ndtr", "nctdtr", "ndtr", "ndtri", "stdtr", "stdtrit"]

_NOT_NEEDED = ("f2py", "testing")


@contextmanager
def _put_off(names: tuple[str, ...]) -> Iterator[None]:
    """Modules of numpy that load when they are used; those that nobody used are taken back."""
    put_off = [name for name in names if f"numpy.{name}" not in sys.modules and _stand_in(name)]
    try:
        yield
    finally:
        for name in put_off:
            if type(sys.modules.get(f"numpy.{name}")) is not ModuleType:  # not loaded meanwhile
                del sys.modules[f"numpy.{name}"]
                delattr(np, name)


def _stand_in(name: str) -> bool:
    """Put a module in place of numpy's that becomes it when it is used; whether there is one."""
    spec = find_spec(f"numpy.{name}")
    if spec is None or spec.loader is None:
        return False
    spec.loader = LazyLoader(spec.loader)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    setattr(np, name, module)
    return True


with _put_off(_NOT_NEEDED):
    from scipy.special import chdtrc, erfcx, log_ndtr, nctdtr, ndtr, ndtri, stdtr, stdtrit
