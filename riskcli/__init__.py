"""Risk-sensitive evaluation of search systems: URisk, TRisk, ZRisk and GeoRisk.

    import riskcli

    evaluation = riskcli.evaluate(["sample_runs/"], qrels="qrels/simulated.qrels")
    table = riskcli.risk_table(evaluation, "indriCASP")
    table.to_frame()

`riskcli.api` lists what there is. Importing this package is quick: that list is imported when a
name is first used.
"""

from __future__ import annotations

from riskcli.core.version import __version__ as __version__

TYPE_CHECKING = False  # typing takes milliseconds, in which an interrupt would end in a traceback
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from riskcli.api import *  # noqa: F403


def _api() -> ModuleType:
    """Loaded late: the command line imports this package, and needs none of it."""
    import riskcli.api

    return riskcli.api


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in _api().__all__:
        raise AttributeError(f"module 'riskcli' has no attribute {name!r}")
    return getattr(_api(), name)


def __dir__() -> list[str]:
    return sorted(_api().__all__)
