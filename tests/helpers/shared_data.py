"""Real runs and judgements that are not ours to ship, and where to find them.

They are looked for in the folder named by RISKEVAL_SHARED, else in `../shared` beside the project;
where that folder is absent, the tests that need it are skipped and say so.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[3] / "shared"
SHARED = Path(os.environ.get("RISKEVAL_SHARED", _BESIDE))


def shared(*parts: str) -> Path:
    """A file of the shared folder; skips the test where the folder is absent."""
    if not SHARED.is_dir():
        pytest.skip("the real TREC data are absent: set RISKEVAL_SHARED to their folder")
    return SHARED.joinpath(*parts)
