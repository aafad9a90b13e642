"""What a score depends on, apart from the run: judgements, measure, rules and what computes it."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

SCORES_VERSION = 1
"""Raised whenever a change to riskeval changes a score, or what is kept with it."""


@dataclass(frozen=True)
class Key:
    """Scores with the same key may be compared: they differ in their runs only."""

    qrels: str
    """Checksum of the judgements' file."""
    measure: str
    """Canonical name."""
    rules: str
    """All settings that a score can depend on, as JSON."""
    engine: str
    """What computes the scores, in which version, as JSON."""

    @property
    def digest(self) -> str:
        """A name for the key."""
        return hashlib.sha256(as_json(asdict(self)).encode()).hexdigest()[:32]


def engine() -> dict[str, Any]:
    """What computes scores here: the last bits of a number can depend on each of these."""
    return {
        "scores": SCORES_VERSION,
        "pytrec_eval": version("pytrec-eval-terrier"),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def as_json(values: Mapping[str, Any]) -> str:
    """The values in one spelling."""
    return json.dumps(dict(values), sort_keys=True, separators=(",", ":"))
