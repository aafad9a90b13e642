"""The installed program and the function within the tests' process are the same, by command."""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from tests.bench.faults import CALLS, FILES, PREPARED
from tests.helpers import inprocess, program

ONE_EACH = {call.split()[0]: name for name, call in reversed(CALLS.items())}
"""The first call of each command."""


def folder(path: Path, name: str) -> Path:
    """What the call needs, in a folder of its own."""
    for file, text in FILES.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text(text)
    if name in PREPARED:
        assert inprocess.riskeval(*PREPARED[name].split(), cwd=path).code == 0
    return path


@pytest.mark.parametrize("command", ONE_EACH)
def test_the_installed_program_does_what_the_function_does(tmp_path: Path, command: str) -> None:
    name = ONE_EACH[command]
    here = folder(tmp_path / "here", name)
    there = shutil.copytree(here, tmp_path / "there")  # a store knows when it was written
    call = CALLS[name].split()
    assert program.riskeval(*call, cwd=there) == inprocess.riskeval(*call, cwd=here)
    written = {path.name: path.read_bytes() for path in here.glob("out.*")}
    assert written == {path.name: path.read_bytes() for path in there.glob("out.*")}


def test_variables_and_input_reach_both(tmp_path: Path) -> None:
    with chdir(folder(tmp_path, "score")):
        for run in (program.riskeval, inprocess.riskeval):
            ran = run("matrix", "runs", "-m", "AP", cwd=tmp_path, RISKEVAL_QRELS="q", NO_COLOR="1")
            assert ran.code == 0
            assert ran.out.startswith("run\t1\t2\t3\n")
