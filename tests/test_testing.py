"""`assert_no_regression` in tests of others: run by pytest, with the plug-in as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from riskcli import InputError, UsageError, evaluate, read_qrels
from riskcli.testing import assert_no_regression
from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

NEW, WORSE, OLD = (SAMPLES / f"{name}.run" for name in ("boldRerank", "oldTFIDF", "indriCASP"))
ERR = "ERR@20"


def message(error: pytest.ExceptionInfo[AssertionError]) -> list[str]:
    lines = str(error.value).splitlines()
    assert len(lines) <= 40
    return lines


def test_a_pass_gives_the_gate_and_a_failure_is_the_verdict_of_the_program() -> None:
    gate = assert_no_regression(NEW, OLD, QRELS, measures=ERR)
    assert gate.passed and gate.verdicts[0].candidate == "boldRerank"
    with pytest.raises(AssertionError) as error:
        assert_no_regression(WORSE, OLD, QRELS, measures=ERR, policy="strict")
    call = ("check", WORSE, "-b", OLD, "-q", QRELS, "-m", ERR, "--policy", "strict", "--quiet")
    assert message(error) == riskeval(*call).out.splitlines()
    many = [f"loss({topic}) <= -1" for topic in range(101, 151)]
    with pytest.raises(AssertionError) as error:
        assert_no_regression(str(WORSE), str(OLD), str(QRELS), measures=[ERR], rules=many)
    assert message(error)[0].startswith("FAIL: for oldTFIDF ")


def test_scores_in_memory_in_files_and_kept_give_the_same_verdict(tmp_path: Path) -> None:
    kept = tmp_path / "old.json"
    assert riskeval("matrix", OLD, "-q", QRELS, "-m", ERR, "-o", kept).code == 0
    runs = [as_dictionary(path) for path in (NEW, OLD)]
    held = evaluate([NEW, OLD], qrels=QRELS)
    qrels = read_qrels(QRELS)
    gates = [
        assert_no_regression(NEW, OLD, QRELS, measures=ERR, queries={"138": "jax"}),
        assert_no_regression(NEW, kept, QRELS, measures=ERR),
        assert_no_regression(runs[0], runs[1], qrels, measures=ERR),
        assert_no_regression(runs[0], OLD, QRELS, measures=ERR),
        assert_no_regression(held[ERR], "indriCASP"),
    ]
    values = {tuple(finding.value for finding in gate.verdicts[0].findings) for gate in gates}
    assert len(values) == 1
    assert str(gates[0].verdicts[0].losses[0]) == "138 jax (0.592 to 0.003)"


def as_dictionary(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        topic, _, docno, _, score, _ = line.split()
        found.setdefault(topic, {})[docno] = float(score)
    return found


def test_what_is_not_decided_and_what_is_wrong() -> None:
    near = (SAMPLES / "plainBM25.run", OLD, QRELS)
    with pytest.raises(AssertionError, match="inconclusive"):
        assert_no_regression(*near, measures=ERR, policy="lenient", margin=0.001)
    gate = assert_no_regression(
        *near, measures=ERR, policy="lenient", margin=0.001, inconclusive="pass"
    )
    assert gate.verdicts[0].outcome == "inconclusive"
    with pytest.raises(InputError, match="nowhere"):
        assert_no_regression(SAMPLES / "nowhere.run", OLD, QRELS)
    with pytest.raises(UsageError, match="policy"):
        assert_no_regression(NEW, OLD, QRELS, policy="nosuch")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that tells Python of the plug-in, as an installation does."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    folder = tmp_path / "site" / "riskeval_plugin-1.dist-info"
    folder.mkdir(parents=True)
    lines = [f"{name} = {value}\n" for name, value in points["pytest11"].items()]
    (folder / "entry_points.txt").write_text("[pytest11]\n" + "".join(lines))
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: riskeval-plugin\nVersion: 1\n")
    modules = (path.relative_to(ROOT) for path in (ROOT / "riskcli").rglob("*.py"))
    (folder / "RECORD").write_text("".join(f"{path},,\n" for path in modules))
    return folder.parent


def run_pytest(folder: Path, installed: Path, *more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *more, str(folder)],
        cwd=folder, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "80"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


TESTS = f"""
from riskcli.testing import assert_no_regression

def test_good():
    assert_no_regression("{NEW}", "{OLD}", "{QRELS}", measures="ERR@20")

def test_bad():
    assert_no_regression("{WORSE}", "{OLD}", "{QRELS}", measures="ERR@20")
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("-n", "1")])
def test_pytest_shows_the_verdict_and_says_what_passed(
    tmp_path: Path, installed: Path, more: tuple[str, ...]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_ranking.py").write_text(TESTS)
    done = run_pytest(folder, installed, *more)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: FAIL: for oldTFIDF Mean is significantly lower" in done.stdout
    assert "riskcli/testing.py" not in done.stdout  # no traceback of ours
    said = "test_ranking.py::test_good: pass: for boldRerank neither Mean nor GeoRisk"
    (line,) = [line for line in done.stdout.splitlines() if line.startswith(said)]
    assert "It loses over a fifth on 11 of 50 topics, most on 138" in line


@pytest.mark.slow
def test_the_plug_in_takes_no_time_where_it_is_not_used(tmp_path: Path, installed: Path) -> None:
    """It imports nothing of the library but its version, within 20 ms beside the rest of pytest."""
    code = "import pytest, sys; before = {*sys.modules}; import riskcli.testing; "
    code += "print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["riskcli", "riskcli.core", "riskcli.core.version",
                                   "riskcli.testing"]  # fmt: skip
    empty = tmp_path / "empty"
    empty.mkdir()
    none = tmp_path / "none"
    none.mkdir()
    times: dict[Path, list[float]] = {installed: [], none: []}
    for _ in range(12):
        for site, taken in times.items():
            start = time.perf_counter()
            assert run_pytest(empty, site, "--co", "-q", "-p", "no:xdist").returncode == 5
            taken.append(time.perf_counter() - start)
    more = min(times[installed]) - min(times[none])
    print(f"{more * 1000:.1f} ms more")
    assert more < 0.1  # a machine may be busy
