"""Start-up, memory and progress, where a busy machine can tell: loose bounds that still bite."""

from __future__ import annotations

import io
import math
import os
import resource
import shlex
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.make_runs import Size, make
from riskcli import Options, ScoreMatrix, risk_table
from riskcli.cli import progress
from tests.helpers.console import PROGRAMS, on_terminal
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

pytestmark = pytest.mark.slow
PROGRAM = str(PROGRAMS / "riskeval")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 runs of 1.5 MB each."""
    folder = tmp_path_factory.mktemp("many")
    make(folder, Size(runs=24, topics=30, depth=1000), "clueweb", seed=1, compress=False)
    return folder


def usage(command: Sequence[str | Path]) -> resource.struct_rusage:
    """What a call takes of the machine."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_start_up_takes_at_most_twice_as_long_as_clicks(option: str) -> None:
    """By CPU time, which other programs lengthen less; the two take turns."""
    least = [math.inf, math.inf]
    for _ in range(9):
        for i, call in enumerate(([PROGRAM, option], [sys.executable, "-c", "import click"])):
            used = usage(call)
            least[i] = min(least[i], used.ru_utime + used.ru_stime)
    assert least[0] <= 2 * least[1]


def peak(arguments: Sequence[str | Path]) -> int:
    """The most memory that a call takes, in kilobytes."""
    return usage([PROGRAM, *arguments]).ru_maxrss


def test_memory_does_not_grow_with_the_number_of_runs(many: Path) -> None:
    runs = sorted((many / "runs").iterdir())
    common: list[str | Path] = ["score", "-q", many / "qrels.txt", "--jobs", "2"]
    assert peak([*common, *runs]) <= 1.15 * peak([*common, *runs[:4]])


@pytest.mark.parametrize("measure", ["ERR@20", "AP"])
def test_the_same_bytes_for_any_number_of_jobs(many: Path, measure: str) -> None:
    for count in (1, 5):  # one file alone is read by several cores
        runs = sorted((many / "runs").iterdir())[:count]
        common: list[str | Path] = ["matrix", *runs, "-q", many / "qrels.txt", "-m", measure]
        outputs = {riskeval(*common, "--jobs", str(jobs)).out for jobs in (1, 2, 7)}
        assert len(outputs) == 1


# ---------------------------------------------------------------- progress


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the time."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def set_to(seconds: float) -> None:
        now[0] = 100.0 + seconds

    return set_to


def test_progress_appears_after_a_second_and_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.on_terminal(quiet=False) as show:
        assert show is not None
        for seconds in (0.2, 0.6, 0.99):
            clock(seconds)
            show(1, 170)
        assert terminal.getvalue() == ""
        clock(2.0)
        show(20, 170)
        assert terminal.getvalue() == "\r20 of 170 runs, 10 a second, 0:15 left"
        clock(2.05)
        show(21, 170)
        assert "21 of" not in terminal.getvalue()
    last = "20 of 170 runs, 10 a second, 0:15 left"
    assert terminal.getvalue() == f"\r{last}\r{' ' * len(last)}\r"


def test_no_progress_where_quiet_is_asked_for_or_nobody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    with progress.on_terminal(quiet=True) as show:
        assert show is None
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress.on_terminal(quiet=False) as show:
        assert show is None


IMPATIENT = """
import sys
import riskcli.cli.progress as progress
progress.PATIENCE = progress.INTERVAL = 0.0
from riskcli.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("options", "redirection", "expected"),
    [((), "", True), (("--quiet",), "", False), ((), " 2>&1 | cat", False)],
    ids=["terminal", "quiet", "pipe"],
)
def test_progress_on_a_real_terminal(
    options: Sequence[str], redirection: str, expected: bool
) -> None:
    arguments = ["score", SAMPLES, "-q", QRELS, "--jobs", "1", "-f", "tsv", *options]
    call = [sys.executable, "-c", IMPATIENT, *map(str, arguments)]
    code, shown = on_terminal(shlex.join(call) + redirection)
    assert code == 0
    assert (" of 9 runs, " in shown) == expected
    assert "\x1b" not in shown, "a progress line of a terminal that knows no orders"


# ---------------------------------------------------------------- large matrices


def scratch(runs: int, topics: int, alphas: int) -> float:
    """The most memory that a risk table takes at a time, in sizes of its matrix."""
    scores = np.random.default_rng(1).beta(1.5, 4, (runs, topics))
    names = tuple(f"run{place}" for place in range(runs))
    matrix = ScoreMatrix("AP", names, tuple(map(str, range(topics))), scores)
    options = Options(alphas=tuple(map(float, range(alphas))))
    tracemalloc.start()
    try:
        risk_table(matrix, "run0", options=options)
        return tracemalloc.get_traced_memory()[1] / scores.nbytes
    finally:
        tracemalloc.stop()


def test_memory_of_the_risk_table_is_linear_in_cells_and_free_of_alpha() -> None:
    small, large = scratch(100, 2000, 1), scratch(400, 2000, 1)
    assert large <= 1.1 * small
    assert scratch(400, 2000, 7) <= 1.1 * large
    assert large <= 12
