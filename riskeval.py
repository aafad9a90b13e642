"""The library and the program under the command's name: `import riskeval`, `python -m riskeval`.

`riskeval` is the package `riskcli` itself, and `riskeval.scores.matrix` the module
`riskcli.scores.matrix`: no module is loaded twice, so classes and errors are the same under both
names.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from typing import TYPE_CHECKING

import riskcli

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from riskcli import *  # noqa: F403
    from riskcli import __version__ as __version__


class _Alias(Loader):
    """Loads a module as the one of the same name in `riskcli`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        """The module itself, imported under its own name."""
        module = import_module(self._name)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module back its own spec; its code has run already."""
        module.__spec__ = self._own_spec


class _Aliases(MetaPathFinder):
    """Finds `riskeval.x.y` as `riskcli.x.y`."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """The spec of an alias, if there is a module of that name in `riskcli`."""
        package, dot, rest = name.partition(".")
        own_name = f"riskcli.{rest}"
        if package != "riskeval" or not dot or find_spec(own_name) is None:
            return None
        return spec_from_loader(name, _Alias(own_name))


if __name__ == "__main__":
    from riskcli.__main__ import start

    start()
else:
    sys.meta_path.insert(0, _Aliases())
    sys.modules[__name__] = riskcli
