"""A signal is answered at once, whatever is being read: native code looks at none by itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.helpers.console import terminal_environment

pytestmark = pytest.mark.slow
ROWS = 3_000_000
AFTER = 1.2
AT_MOST = 2.0
"""Seconds to answer in; on a quiet machine it is less than half a second."""


def _table(path: Path) -> None:
    codes = np.arange(ROWS)
    columns = {"qid": pa.array(codes // 1000), "docno": pa.array(codes), "score": pa.array(-codes)}
    parquet.write_table(pa.table(columns), path)


def _wide(path: Path) -> None:
    rows = {f"{topic}": pa.array(np.full(40, 0.5)) for topic in range(20_000)}
    parquet.write_table(pa.table({"run": [f"r{n}" for n in range(40)], **rows}), path)


def _cells() -> dict[str, dict[str, float]]:
    topics = (range(start, start + 1000) for start in range(0, ROWS // 3, 1000))
    return {f"{topic[0]}": {f"d{n}": n % 5 for n in topic} for topic in topics}


def _json(path: Path) -> None:
    path.write_text(json.dumps(_cells()))


def _ranks(path: Path) -> None:
    path.write_text("".join(f"{n // 1000}\td{n}\t{n % 1000 + 1}\n" for n in range(ROWS // 2)))


def _letor(path: Path) -> None:
    path.write_text(
        "".join(f"{n % 3} qid:{n // 100} 1:{n} 2:0.5 # d{n}\n" for n in range(ROWS // 2))
    )


@pytest.mark.parametrize(
    ("write", "call"),
    [
        (_table, ("matrix", "FILE", "-q", "qrels")),
        (_wide, ("matrix", "FILE")),
        (_json, ("matrix", "FILE", "-q", "qrels")),
        (_ranks, ("matrix", "FILE", "-q", "qrels")),
        (_json, ("matrix", "good.run", "-q", "FILE")),
        (_letor, ("matrix", "good.run", "-q", "FILE")),
    ],
    ids=lambda given: given.__name__ if callable(given) else given[1],
)
def test_a_signal_is_answered_whatever_is_read(
    tmp_path: Path, write: Callable[[Path], None], call: tuple[str, ...]
) -> None:
    write(tmp_path / "FILE")
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    (tmp_path / "good.run").write_text("1 Q0 d1 1 1 t\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "riskcli", *call, "-m", "AP"], cwd=tmp_path,
        env=terminal_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(AFTER)
    process.send_signal(signal.SIGTERM)
    sent = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, "", "riskeval: terminated\n")
    assert time.monotonic() - sent < AT_MOST
    print(f"{time.monotonic() - sent:.2f} s")
