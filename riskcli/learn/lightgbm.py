"""LightGBM, which only training and ranking need: the extra `learn`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from riskcli.core.messages import UsageError

_PLACE = re.compile(r"\s+at \S+, line \d+\s*\.?\s*$")
_NOTHING_SPLITS = "num_features()) > (0)"


def lightgbm() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import lightgbm  # late: it is an extra, and takes long
    except ImportError as error:
        raise UsageError(
            "training and ranking need LightGBM: install riskeval with the extra `learn` (in a "
            "checkout: pip install '.[learn]')"
        ) from error
    return lightgbm


@contextmanager
def failures_told() -> Iterator[None]:
    """What LightGBM cannot do is an error about the request."""
    try:
        yield
    except lightgbm().basic.LightGBMError as error:
        raise UsageError(f"LightGBM: {_in_words(str(error))}") from error


def _in_words(message: str) -> str:
    if _NOTHING_SPLITS in message:
        return (
            "no feature splits the training documents into two leaves of min_data_in_leaf "
            "documents: lower it (--param min_data_in_leaf=5) or give more data"
        )
    return _PLACE.sub("", message.strip())
