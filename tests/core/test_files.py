"""Output files: whoever looks finds the old one whole or the new one whole, whatever happens."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.console import PROGRAMS, ROOT, terminal_environment
from tests.helpers.program import QRELS, SAMPLES, limited, riskeval

OLD = "the old one\n" * 1000
WAITING = """
import os, pathlib, sys, time
marker = pathlib.Path(sys.argv.pop())
def wait(handle):
    marker.touch()
    time.sleep(60)
os.fsync = wait
from riskcli.__main__ import start
start()
"""
"""The program, stopped when all is written and nothing is renamed yet."""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    file = folder / "result.csv"
    file.write_text(OLD)
    return file


def names(target: Path) -> list[str]:
    return sorted(entry.name for entry in target.parent.iterdir())


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        (signal.SIGINT, 130, "riskeval: interrupted\n"),
        (signal.SIGTERM, 143, "riskeval: terminated\n"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_a_signal_in_the_middle_of_writing(
    target: Path, tmp_path: Path, sent: signal.Signals, code: int, said: str
) -> None:
    marker = tmp_path / "written"
    arguments = ["matrix", SAMPLES, "-q", QRELS, "--long", "--quiet", "-o", target, marker]
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *map(str, arguments)],
        cwd=ROOT,
        env=terminal_environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(sent)
    _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert err.endswith(said) and "Traceback" not in err
    assert target.read_text() == OLD
    left = [name for name in names(target) if name != target.name]
    assert len(left) == (sent == signal.SIGKILL)
    assert all(name.startswith(".result.csv.") and name.endswith(".part") for name in left)


def test_sigterm_while_reading(tmp_path: Path) -> None:
    fifo = tmp_path / "slow.run"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [str(PROGRAMS / "riskeval"), "score", str(fifo), "-q", str(QRELS)],
        stderr=subprocess.PIPE,
        text=True,
        env=terminal_environment(),
    )
    with fifo.open("w"):
        time.sleep(0.1)
        process.terminate()
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (143, "riskeval: terminated\n")


@pytest.mark.parametrize("existing", [True, False])
def test_a_full_disk(target: Path, existing: bool) -> None:
    """A limit on the size of files stands in for it: writing fails half-way."""
    if not existing:
        target.unlink()
    call = [str(PROGRAMS / "riskeval"), "matrix", str(SAMPLES), "--long", "--quiet"]
    done = subprocess.run(
        limited("RLIMIT_FSIZE", 5000, *call, "-o", target),
        cwd=ROOT,
        env=terminal_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"{target}: cannot-write: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert names(target) == ([target.name] if existing else [])
    assert not existing or target.read_text() == OLD


def test_what_a_killed_program_left_is_no_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.run").write_text("101 Q0 sim12-en0000-01-24662 1 1.0 a\n")
    (runs / ".a.run.x1y2.part").write_text("101 Q0")
    assert riskeval("score", runs, "-q", QRELS, "-m", "P@5").code == 0
    assert riskeval("validate", runs).code == 0


def test_a_link_is_kept_and_what_it_points_to_replaced(tmp_path: Path, target: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    target.chmod(0o640)
    assert riskeval("matrix", SAMPLES, "-m", "P@5", "-o", link).code == 0
    assert link.is_symlink() and target.read_text().startswith("run,")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    ran = riskeval("matrix", SAMPLES, "-m", "P@5", "-o", tmp_path / "no" / "x.csv")
    assert (ran.code, ran.out) == (2, "")
    assert "x.csv: cannot-write: No such file or directory" in ran.err


OTHERS = {"analyses/check/files.py", "commands/__init__.py", "__main__.py", "output/binary.py"}
"""GitHub's job summary, which is appended to; a traceback, in a new file; stdout; a workbook in
memory."""


def test_nothing_else_writes_files() -> None:
    """`replace_file` is the one door."""
    found: set[str] = set()
    for file in (ROOT / "riskcli").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _writes(node):
                found.add(file.relative_to(ROOT / "riskcli").as_posix())
    assert found - OTHERS == {"core/files.py"}


def _writes(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in ("write_text", "write_bytes", "fdopen", "mkstemp", "NamedTemporaryFile", "to_csv"):
        return True
    modes = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    return name == "open" and any(
        isinstance(mode, str) and mode[:1] in "wax" and len(mode) < 4 for mode in modes
    )


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no such device")
def test_a_pipe_under_a_name_is_written_to() -> None:
    """`-o /dev/stdout`, and `-o >(cat)` of a shell."""
    call = ("matrix", SAMPLES, "-q", QRELS, "-m", "AP", "-f", "csv", "--quiet")
    assert riskeval(*call, "-o", "/dev/stdout") == riskeval(*call)
