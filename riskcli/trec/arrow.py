"""Arrow's reader of Parquet."""

from __future__ import annotations

from typing import Any


def parquet() -> Any:
    """The module, loaded late: few files are Parquet, and its reader takes long to load."""
    from pyarrow import parquet

    return parquet
