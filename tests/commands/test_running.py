"""How the program ends when something is wrong that no reader of files can see coming."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from riskcli.__main__ import LEAST_FILES
from riskcli.analyses import (
    baseline_bias,
    churn_distances,
    diff_topics,
    doubts,
    pairwise,
    power_questions,
)
from riskcli.analyses.check import case
from riskcli.analyses.matrix import Matrices
from riskcli.commands import COMMANDS, load_command
from riskcli.core.version import __version__
from riskcli.organise.pack import Pack
from riskcli.page import document
from riskcli.risk import population as population_model
from riskcli.scores.frozen import FrozenPopulation
from tests.helpers.console import PROGRAMS, ROOT, terminal_environment
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES, limited, python, riskeval

SCORE = ["score", str(SAMPLES), "-q", str(QRELS), "-b", "indriCASP", "-m", "P@5", "-f", "csv"]
RUN = "1 Q0 a 1 2 t\n"


def program(
    *arguments: str | Path,
    limit: tuple[str, int] | None = None,
    code: str = "",
    shell: str = "",
) -> subprocess.CompletedProcess[str]:
    """The program, started in some other way than usual; never with a traceback."""
    call = [str(PROGRAMS / "riskeval"), *map(str, arguments)]
    if code:
        start = "from riskcli.__main__ import start\nstart()\n"
        call = [sys.executable, "-c", f"{code}\n{start}", *map(str, arguments)]
    if shell:
        call = ["bash", "-c", shell if "$0" in shell else f'"$0" "$@" {shell}', *call]
    return subprocess.run(
        limited(*limit, *call) if limit else call,
        cwd=ROOT,
        env=terminal_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@cache
def plain() -> str:
    """What the program prints where nothing is in its way."""
    return riskeval(*SCORE).out


def test_what_to_do_where_pytrec_eval_is_missing() -> None:
    ran = program(*SCORE, code="import sys; sys.modules['pytrec_eval'] = None")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("riskeval: pytrec_eval cannot be imported (")
    assert "install pytrec-eval-terrier" in ran.stderr and len(ran.stderr.splitlines()) == 1


# ---------------------------------------------------------------- what nobody foresaw

FAULT = """
import riskcli.scores.evaluation as evaluation
def broken(*arguments, **options):
    raise {error}
evaluation.evaluate = broken
"""


def test_a_fault_is_one_line_with_the_version_and_where_the_traceback_is(tmp_path: Path) -> None:
    code = f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\n"
    ran = program(*SCORE, code=code + FAULT.format(error="ZeroDivisionError('by\\nnothing')"))
    assert (ran.returncode, ran.stdout) == (70, "")
    assert ran.stderr.count("\n") == 1
    assert f"a fault in riskeval {__version__}, please report it" in ran.stderr
    assert "(ZeroDivisionError: by)" in ran.stderr
    (kept,) = tmp_path.iterdir()
    assert str(kept) in ran.stderr
    assert "Traceback (most recent call last)" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_in_any_command_is_no_answer_and_no_wrong_input(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError(f"in {name}")

    command = load_command(name)
    monkeypatch.setattr(command, "parse_args", lambda _ctx, _arguments: [])
    monkeypatch.setattr(command, "invoke", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = run_inside(name)
    assert (ran.code, ran.out) == (70, "") and ran.err.count("\n") == 1
    assert f"please report it (ZeroDivisionError: in {name})" in ran.err
    assert len(list(tmp_path.iterdir())) == 1


SCORES = ("-q", QRELS, "-m", "P@5", "--quiet")
TWO = (SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run")
DEEP: dict[str, tuple[tuple[object, str], tuple[str | Path, ...]]] = {
    "score": ((population_model, "standardised"), (SAMPLES, *SCORES)),
    "explain": ((population_model, "standardised"), (SAMPLES, *SCORES, "--run", "oldTFIDF")),
    "significance": ((pairwise, "two_sided_p"), (SAMPLES, *SCORES)),
    "sweep": ((population_model, "standardised"), (SAMPLES, *SCORES)),
    "sweep --over baseline": ((baseline_bias, "friedman"), (SAMPLES, *SCORES)),
    "sweep --over measure": ((population_model, "standardised"), (SAMPLES, *SCORES)),
    "topics": ((population_model, "standardised"), (SAMPLES, *SCORES)),
    "topics --columns churn": (
        (churn_distances, "inversions"),
        (SAMPLES, *SCORES, "-b", "indriCASP"),
    ),
    "diff": ((diff_topics, "kendall_distance"), (*TWO, *SCORES)),
    "population freeze": ((FrozenPopulation, "to_json"), (SAMPLES, *SCORES)),
    "check": ((case, "smallest_loss"), (SAMPLES, *SCORES, "-b", "indriCASP")),
    "power": ((power_questions, "topics_needed"), (SAMPLES, *SCORES, "--loss", "0.1")),
    "validate": ((doubts, "note_topics"), (SAMPLES, "-q", QRELS)),
    "matrix": ((Matrices, "result"), (SAMPLES, *SCORES)),
    "organise": ((Pack, "contents"), (SAMPLES, *SCORES, "-o", "pack")),
    "report": ((document, "as_page"), (SAMPLES, *SCORES, "-o", "page.html")),
}
"""By command: something far down in what it does, and a call that is right."""


@pytest.mark.parametrize("name", DEEP)
def test_a_fault_far_down_is_caught_by_nobody_on_its_way(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What readers, threads and renderers take for wrong input must not be a fault of ours."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("far down")

    (holder, attribute), call = DEEP[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(holder, attribute, broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = run_inside(*name.split(), *call)
    assert (ran.code, ran.out) == (70, ""), ran.err
    assert "please report it (ZeroDivisionError: far down)" in ran.err.splitlines()[-1]
    (kept,) = tmp_path.glob("riskeval-*.traceback.txt")
    assert "far down" in kept.read_text()


def test_debug_prints_the_traceback(tmp_path: Path) -> None:
    code = f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\n"
    ran = program("--debug", *SCORE, code=code + FAULT.format(error="ZeroDivisionError"))
    assert ran.returncode == 70
    assert "Traceback (most recent call last)" in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("MemoryError", "out-of-memory: "),
        ("OSError(12, 'Cannot allocate memory')", "out-of-memory: "),
        ('RuntimeError("can\'t start new thread")', "no-thread: "),
        ("OSError(24, 'Too many open files', 'some.run')", "some.run: unusable: Too many open"),
        ("OSError(28, 'No space left on device')", "stdout: cannot-write: No space left on"),
    ],
)
def test_what_the_machine_cannot_do_is_no_fault_of_ours(error: str, said: str) -> None:
    ran = program(*SCORE, code=FAULT.format(error=error))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"riskeval: {said}") and ran.stderr.count("\n") == 1


# ---------------------------------------------------------------- interrupts

INTERRUPT = """
import os, signal, sys
from riskcli.__main__ import start  # what comes before it is imported in a few milliseconds
class Interrupting:
    countdown = {imports}
    def find_spec(self, name, path=None, target=None):
        self.countdown -= 1
        if self.countdown == 0:
            os.kill(os.getpid(), signal.{name})
sys.meta_path.insert(0, Interrupting())
"""
ENDINGS = {"SIGINT": (130, "interrupted"), "SIGTERM": (143, "terminated")}


@pytest.mark.parametrize("imports", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 300, 377])
def test_an_interrupt_within_the_imports_is_quiet(imports: int) -> None:
    name = list(ENDINGS)[imports % 2]
    ran = program(*SCORE, code=INTERRUPT.format(imports=imports, name=name))
    code, word = ENDINGS[name]
    assert (ran.returncode, ran.stdout, ran.stderr.splitlines()[-1]) == (
        code,
        "",
        f"riskeval: {word}",
    )


def test_little_is_imported_before_interrupts_are_quiet() -> None:
    """What takes a while to import is a while in which they end in a traceback."""
    ran = python(
        "import sys\nbefore = set(sys.modules)\nimport riskcli.__main__\n"
        "print(*sorted(name for name in set(sys.modules) - before if 'riskcli' not in name))"
    )
    assert set(ran.out.split()) <= {"__future__", "atexit", "gc"}


def test_an_ignored_signal_stays_ignored() -> None:
    """As under `nohup`, or in the background of a script."""
    ignored = 'trap \'\' INT; exec "$0" "$@"'
    ran = program(*SCORE, code=INTERRUPT.format(imports=40, name="SIGINT"), shell=ignored)
    assert ran.returncode == 0 and ran.stdout.startswith("run,")


def test_an_interrupt_is_not_held_up_by_threads(tmp_path: Path) -> None:
    """Two files are read at once; neither of the pipes ever ends."""
    pipes = [tmp_path / "a.run", tmp_path / "b.run"]
    for pipe in pipes:
        os.mkfifo(pipe)
    call = [str(PROGRAMS / "riskeval"), "score", *map(str, pipes), "-q", str(QRELS), "--jobs", "2"]
    process = subprocess.Popen(
        call, stderr=subprocess.PIPE, text=True, env=terminal_environment(), cwd=ROOT
    )
    with pipes[0].open("w"):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err.splitlines()[-1]) == (130, "riskeval: interrupted")


# ---------------------------------------------------------------- standard streams

CLOSED = [
    closed for count in range(4) for closed in itertools.combinations(("<&-", ">&-", "2>&-"), count)
]


@pytest.mark.slow
@pytest.mark.parametrize("closed", CLOSED, ids=" ".join)
def test_closed_streams(tmp_path: Path, closed: tuple[str, ...]) -> None:
    ran = program(*SCORE, shell=" ".join(closed))
    if ">&-" in closed:
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ("2>&-" in closed) or ran.stderr.splitlines()[-1] == (
            "riskeval: stdout: cannot-write: Bad file descriptor"
        )
    else:
        assert (ran.returncode, ran.stdout) == (0, plain())
    target = tmp_path / "c.csv"
    ran = program(*SCORE, "-o", target, shell=" ".join(closed))
    assert (ran.returncode, ran.stdout, target.read_text()) == (0, "", plain())
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "2> >(true)"])
def test_notes_that_nobody_reads_cost_no_result(closed: str) -> None:
    assert program(*SCORE, shell=closed).stdout == plain()


@pytest.mark.parametrize("arguments", [["--help"], ["help"], ["score", "--help"], ["--version"]])
def test_help_on_a_full_or_closed_stdout(arguments: list[str]) -> None:
    for where, code in ((">/dev/full", 2), (">&-", 2), ("| true", 0)):
        ran = program(*arguments, shell=f"{where}; exit ${{PIPESTATUS[0]}}")
        assert ran.returncode == code, where
        assert code == 0 or ran.stderr.startswith("riskeval: stdout: cannot-write: ")
        assert "Traceback" not in ran.stderr and "Exception" not in ran.stderr


# ---------------------------------------------------------------- files and limits

LONG_NAME = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        [LONG_NAME, "-q", str(QRELS)],
        [str(SAMPLES), "-q", LONG_NAME],
        [str(SAMPLES), "-q", str(QRELS), "-b", LONG_NAME],
        [str(SAMPLES), "-q", str(QRELS), "-o", f"{LONG_NAME}.csv"],
        [str(SAMPLES), "-q", str(QRELS), "-o", f"{LONG_NAME}/x.csv"],
    ],
    ids=["runs", "qrels", "baseline", "output", "output folder"],
)
def test_names_that_are_too_long_are_named(arguments: list[str]) -> None:
    ran = program("score", *arguments)
    assert ran.returncode == 2 and "stdout" not in ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert LONG_NAME in last
    assert "File name too long" in last or "no run and no file is named" in last


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 251 + ".csv")
    assert program(*SCORE, "-o", target).returncode == 0
    assert target.read_text() == plain()


def test_folders_and_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    folder, file = tmp_path / "locked", tmp_path / "locked.run"
    (folder / "runs").mkdir(parents=True)
    file.write_text(RUN)
    file.chmod(0)
    folder.chmod(0)
    powerless = ""
    if os.getuid() == 0:  # who may read everything, unless that right is given up
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not installed")
        powerless = "setpriv --bounding-set -dac_override,-dac_read_search "
    for runs in (folder, folder / "runs", file):
        ran = program("score", runs, "-q", str(QRELS), shell=f'{powerless}"$0" "$@"')
        last = ran.stderr.splitlines()[-1]
        assert ran.returncode == 2 and str(runs) in last and "stdout" not in last
        assert "Permission denied" in last or "is not readable" in last
    folder.chmod(0o700)


def test_loops_of_links_are_named(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    ran = program("score", loop, "-q", str(QRELS))
    assert ran.returncode == 2 and str(loop) in ran.stderr
    ran = program(*SCORE, "-o", loop)
    assert ran.returncode == 2 and f"{loop}: cannot-write: " in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("most", range(3, 21))
def test_a_low_limit_of_open_files_is_refused_before_anything_is_imported(most: int) -> None:
    limit = ("RLIMIT_NOFILE", most)
    first_line = "import riskcli.__main__, sys; sys.stderr.write('here')"
    if program(code=first_line + "\nraise SystemExit(0)", limit=limit).stderr != "here":
        pytest.skip("Python does not come to the first line of riskeval with so few")
    ran = program(*SCORE, limit=limit)
    if most < 3 + LEAST_FILES:
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr == (
            f"riskeval: no-file: riskeval opens up to {LEAST_FILES} files: Too many open files "
            "(ulimit -n)\n"
        )
    else:
        assert (ran.returncode, ran.stdout) == (0, plain())


def test_a_library_that_cannot_be_opened_is_no_fault_of_ours() -> None:
    said = "libx.so: cannot open shared object file: Too many open files"
    ran = program(*SCORE, code=FAULT.format(error=f"ImportError({said!r})"))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"riskeval: no-file: {said} (ulimit -n)\n"


@pytest.mark.parametrize("mib", [80, 150, 500, 767, 768, 1000])
def test_little_memory(mib: int) -> None:
    """A result or one line: the libraries under us would print tracebacks, or abort."""
    ran = program(*SCORE, limit=("RLIMIT_AS", mib * 2**20))
    assert "Traceback" not in ran.stderr
    if ran.returncode:
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith("riskeval: out-of-memory: ")
    else:
        assert ran.stdout == plain()
