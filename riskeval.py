"""The library and the program under the command's name: `import riskeval`, `python -m riskeval`."""

from __future__ import annotations

from typing import Any

import riskcli
from riskcli import __version__ as __version__
from riskcli.__main__ import start


def __getattr__(name: str) -> Any:
    return getattr(riskcli, name)


def __dir__() -> list[str]:
    return dir(riskcli)


if __name__ == "__main__":
    start()
