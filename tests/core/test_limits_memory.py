"""Memory is asked for before work begins, and what the machine lacks is refused with figures."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from riskcli.core import limits as memory
from riskcli.core.limits import COSTS, obtainable, refuse_beyond
from riskcli.core.messages import UsageError
from riskcli.learn.feature_files import read_features
from tests.conftest import Write
from tests.helpers.console import PROGRAMS, ROOT, terminal_environment
from tests.helpers.inprocess import run_inside
from tests.helpers.program import limited

GB = 10**9
KB = 1024


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with 8,000,000 KiB left, on which this process has 100 pages of memory."""
    system(tmp_path, "proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    8000000 kB\n")
    system(tmp_path, "proc/self/statm", "500 100 30 5 0 123 0\n")
    return tmp_path


def system(root: Path, name: str, content: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


RESIDENT = 100 * os.sysconf("SC_PAGE_SIZE")


def test_what_the_machine_has(machine: Path) -> None:
    assert obtainable(machine) == (8_000_000 * KB + RESIDENT, "this machine has {}")


@pytest.mark.parametrize("group", ["/", "/a/b"])
def test_what_control_groups_of_version_2_allow(machine: Path, group: str) -> None:
    system(machine, "proc/self/cgroup", f"0::{group}\n")
    system(machine, "sys/fs/cgroup/memory.max", f"{3 * GB}\n")
    system(machine, "sys/fs/cgroup/memory.current", f"{2 * GB}\n")
    system(machine, "sys/fs/cgroup/memory.stat", f"anon 5\ninactive_file {GB // 2}\n")
    system(machine, "sys/fs/cgroup/a/b/memory.max", "max\n")
    expected = 3 * GB - 2 * GB + GB // 2 + RESIDENT
    assert obtainable(machine) == (expected, "the control group of this process has {}")


def test_what_control_groups_of_version_1_allow(machine: Path) -> None:
    system(machine, "proc/self/cgroup", "5:devices:/x\n4:memory:/jobs/1\n0::/\n")
    folder = "sys/fs/cgroup/memory/jobs/1"
    system(machine, f"{folder}/memory.limit_in_bytes", f"{GB}\n")
    system(machine, f"{folder}/memory.usage_in_bytes", "1000000\n")
    system(machine, f"{folder}/memory.stat", "total_inactive_file 4000\n")
    system(machine, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    system(machine, "sys/fs/cgroup/memory/memory.usage_in_bytes", "9000000000\n")
    known = obtainable(machine)
    assert known is not None and known[0] == GB - 1_000_000 + 4000 + RESIDENT


def test_a_system_that_tells_nothing_refuses_nothing(tmp_path: Path) -> None:
    assert obtainable(tmp_path) is None
    refuse_beyond(10**30, "anything", tmp_path)


def test_both_figures_are_told(machine: Path) -> None:
    refuse_beyond(8 * GB, "score", machine)
    with pytest.raises(UsageError) as caught:
        refuse_beyond(12 * GB, "score of 9 runs", machine)
    assert str(caught.value) == (
        "out-of-memory: score of 9 runs would take about 12.0 GB; this machine has 8.2 GB "
        "(to go beyond this estimate: RISKEVAL_MEMORY=BYTES or unlimited)"
    )


def test_an_estimate_can_be_overridden(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISKEVAL_MEMORY", "unlimited")
    refuse_beyond(10**30, "score", machine)
    monkeypatch.setenv("RISKEVAL_MEMORY", f"{12 * GB}")
    refuse_beyond(12 * GB, "score", machine)
    with pytest.raises(UsageError, match=r"13\.0 GB; RISKEVAL_MEMORY allows 12\.0 GB"):
        refuse_beyond(13 * GB, "score", machine)


@pytest.mark.parametrize("value", ["", "8G", "-1", "1e9"])
def test_a_wrong_override_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISKEVAL_MEMORY", value)
    with pytest.raises(UsageError, match="expected a number of bytes or unlimited"):
        refuse_beyond(1, "score")


def test_an_override_reaches_the_program(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("m.csv", "run,1,2\na,0.5,1\nb,0.25,1\n")
    monkeypatch.setenv("RISKEVAL_MEMORY", "1000")
    ran = run_inside("score", path, "-f", "csv")
    assert ran.code == 2 and "RISKEVAL_MEMORY allows 0.0 GB" in ran.err
    monkeypatch.setattr(memory, "obtainable", lambda root: (0, "this machine has {}"))
    monkeypatch.setenv("RISKEVAL_MEMORY", "unlimited")
    assert run_inside("score", path, "-f", "csv").code == 0


CALLS = {
    "score -b r1": "score of 40 runs and 3 topics",
    "score": "score against a virtual baseline of 40 runs and 3 topics",
    "score -b r* --pool each": "score of 40 runs and 3 topics",
    "topics -b r1": "topics of 40 runs and 3 topics",
    "sweep -b r1": "sweep of 40 runs and 3 topics",
    "significance": "significance of 40 runs and 3 topics",
    "sweep --over baseline": "sweep --over baseline of 40 runs and 3 topics",
    "sweep --over population": "sweep --over population of 40 runs and 3 topics",
}


@pytest.mark.parametrize("call", CALLS)
def test_commands_refuse_what_the_machine_lacks(
    call: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"r{i},0.{i + 1},0.{i + 2},0.5" for i in range(40)]
    path = write("m.csv", "\n".join(["run,1,2,3", *rows, ""]))
    command, *options = call.split()
    monkeypatch.setattr(memory, "obtainable", lambda root: (memory.BASE, "this machine has {}"))
    ran = run_inside(command, path, *options, "-f", "csv")
    assert (ran.code, ran.out) == (2, "")
    said = re.escape(f"riskeval: out-of-memory: {CALLS[call]} would take about ")
    assert re.match(said + r"[\d.]+ GB; this machine has 0\.1 GB \(", ran.err.splitlines()[-1])
    monkeypatch.undo()
    assert run_inside(command, path, *options, "-f", "csv").code == 0


def test_a_pack_is_refused(here: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("q", "1 0 a 1\n")
    for name in "xy":
        write(f"runs/{name}.run", f"1 Q0 a 1 2 {name}\n")
    monkeypatch.setattr(memory, "obtainable", lambda root: (memory.BASE, "this machine has {}"))
    ran = run_inside("organise", "runs", "-q", "q", "-m", "AP", "-o", "out")
    assert ran.code == 2 and not Path("out").exists()
    assert "out-of-memory: organise of 2 runs and 1 topic would take about 0.2 GB" in ran.err


def test_each_baseline_and_alpha_counts() -> None:
    score = COSTS["score"]
    assert score.bytes(0, 2) - score.bytes(0, 1) == score.row
    assert score.bytes(10, 20, 30) == score.base + 10 * score.cell + 20 * score.row


def riskeval_within(gigabytes: float, *call: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        limited("RLIMIT_AS", int(gigabytes * GB), PROGRAMS / "riskeval", *call),
        cwd=ROOT, env=terminal_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("w") as stream:
        stream.write("run,1,2\na,0.5,1\n")
        stream.truncate(300_000_000)  # holes, which take no place on the disk
    ran = riskeval_within(1.5, "matrix", path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"out-of-memory: reading {path} (csv, 300,000,000 bytes) would take about " in ran.stderr
    assert "this process may have " in ran.stderr and "(ulimit -v)" in ran.stderr


@pytest.mark.slow
def test_a_figure_is_refused_where_its_engine_would_abort(write: Write) -> None:
    pytest.importorskip("vl_convert", reason="the extra plots is not installed")
    path = write("m.csv", "run,1,2,3\na,0.1,0.2,0.3\nb,0.2,0.3,0.7\n")
    ran = riskeval_within(3, "plot", "box", path, "-o", path.with_suffix(".svg"))
    assert ran.returncode == 2
    assert "what draws figures reserves 100 GB of address space" in ran.stderr
    ran = riskeval_within(3, "plot", "box", path, "-o", path.with_suffix(".html"))
    assert ran.returncode == 0 and path.with_suffix(".html").exists()


def test_few_lines_with_a_large_feature_number_are_refused(write: Write) -> None:
    path = write("f.txt", "".join(f"{i % 3} qid:1 1000000:1\n" for i in range(5000)))
    with pytest.raises(UsageError, match=r"out-of-memory: 5,000 by 1,000,000 features would take"):
        read_features(path)
