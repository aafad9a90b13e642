"""LightGBM, which only training and ranking need: the extra `learn`."""

from __future__ import annotations

from typing import Any

from riskcli.core.errors import UsageError


def lightgbm() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import lightgbm  # late: it is an extra, and takes long
    except ImportError as error:
        raise UsageError(
            "training and ranking need LightGBM: pip install 'riskeval[learn]' brings it"
        ) from error
    return lightgbm
