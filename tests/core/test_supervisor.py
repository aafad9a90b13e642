"""The process that waits for the program: what native code does to one leaves the other whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.console import ROOT, terminal_environment

START = """
import itertools, os, pathlib, signal, sys, time
from riskcli.core import stopping, supervisor
from riskcli.__main__ import start
import riskcli.__main__ as entry
def deaf():
    sum(itertools.repeat(0, 10**12))  # holds the interpreter's lock, and looks at no signal
def main():
    pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
    {work}
entry.main = main
start()
"""


def begun(tmp_path: Path, work: str) -> tuple[subprocess.Popen[str], int]:
    """A program that does that, and the process of it that does."""
    marker = tmp_path / "marker"
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(work=work), str(marker), "some.run"],
        cwd=ROOT, env=terminal_environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(2000):
        if marker.exists() and marker.read_text():
            return process, int(marker.read_text())
        time.sleep(0.01)
    raise AssertionError(process.communicate())


@pytest.mark.parametrize(
    ("sent", "code", "word"),
    [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated"), ("SIGHUP", 129, "terminated")],
)
def test_a_signal_is_answered_while_native_code_listens_to_none(
    tmp_path: Path, sent: str, code: int, word: str
) -> None:
    process, _ = begun(tmp_path, "deaf()")
    process.send_signal(getattr(signal, sent))
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (code, f"riskeval: {word}\n")


def test_a_signal_of_the_terminal_is_answered_once(tmp_path: Path) -> None:
    """It reaches both processes."""
    process, child = begun(tmp_path, "time.sleep(60)")
    os.kill(child, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "riskeval: interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not tell")
def test_nothing_goes_on_where_the_program_was_killed(tmp_path: Path) -> None:
    process, _ = begun(tmp_path, "deaf()")
    process.kill()
    process.communicate(timeout=20)  # whoever goes on holds its stderr open
    assert process.returncode == -signal.SIGKILL


def test_what_is_unfinished_is_removed_however_long_it_takes(tmp_path: Path) -> None:
    part = tmp_path / "some.part"
    part.touch()
    work = f"stopping.UNFINISHED.add({str(part)!r}); sum(itertools.repeat(0, 3 * 10**8))"
    process, _ = begun(tmp_path, work)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (143, "riskeval: terminated\n")
    assert not part.exists()


@pytest.mark.parametrize("crash", ["SIGSEGV", "SIGABRT"])
def test_a_crash_is_one_line_about_the_file_that_was_read(tmp_path: Path, crash: str) -> None:
    kill = f"os.kill(os.getpid(), signal.{crash})"
    work = f"with supervisor.Natively('a\\x1b.bin', 'bad-model', 'LightGBM crashes'): {kill}"
    process, _ = begun(tmp_path, work)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert err == f"riskeval: a\\x1b.bin: bad-model: LightGBM crashes ({crash})\n"


def test_a_crash_that_no_file_is_to_blame_for_is_a_fault(tmp_path: Path) -> None:
    work = "with supervisor.Natively('a.bin', 'x', 'y'): pass\n    os.abort()"
    process, _ = begun(tmp_path, work)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 70 and "please report it" in err and "a.bin" not in err


@pytest.mark.parametrize(("words", "times"), [(("check", "a"), 2), (("matrix", "check"), 1)])
def test_only_a_gate_goes_on_to_tell_its_reports(
    tmp_path: Path, words: tuple[str, str], times: int
) -> None:
    """A file may be called check: nothing is run once more for that."""
    marker = tmp_path / "marker"
    work = f"open({str(marker)!r} + '.ran', 'a').write('x'); os.abort()"
    code = START.format(work=work).replace("sys.argv[1]", repr(str(marker)))
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=ROOT, env=terminal_environment(),
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 70
    assert (tmp_path / "marker.ran").read_text() == "x" * times


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGUSR1])
def test_another_end_is_passed_on(tmp_path: Path, number: int) -> None:
    process, child = begun(tmp_path, "time.sleep(60)")
    os.kill(child, number)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (-number, "riskeval: killed\n")


def test_whoever_ignores_the_end_of_children_is_told_the_exit_code(tmp_path: Path) -> None:
    ignoring = "import signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); import os; "
    code = f"{ignoring}os.execv(sys.executable, [sys.executable, '-m', 'riskcli', *sys.argv[1:]])"
    call = [sys.executable, "-c", code, "matrix", str(tmp_path / "missing.run"), "-m", "AP"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_a_closed_stdin_is_an_empty_file() -> None:
    call = [sys.executable, "-m", "riskcli", "matrix", "-", "-q", "qrels", "-m", "AP"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *call], capture_output=True, text=True, check=False,
        cwd=ROOT, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and "empty-file" in done.stderr
