"""The examples of docs/ci.md, each executed as far as that goes without the service it is for."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.console import PROGRAMS, ROOT, terminal_environment
from tests.program import QRELS, SAMPLES

pytestmark = pytest.mark.slow

TEXT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a candidate, a baseline and judgements, as the examples name them."""
    shutil.copy(SAMPLES / "neuralMix.run", tmp_path / "candidate.run")
    shutil.copy(SAMPLES / "indriCASP.run", tmp_path / "prod.run")
    judgements = QRELS.read_text().replace("\n138 ", "\n151 ")
    (tmp_path / "qrels.txt").write_text(judgements)
    for name in ("candidate.run", "prod.run"):
        file = tmp_path / name
        file.write_text(file.read_text().replace("\n138 ", "\n151 "))
    (tmp_path / "riskeval.toml").write_text(blocks("toml")[0])
    shell(tmp_path, "riskeval matrix prod.run -q qrels.txt -m ERR@20 -o prod.json")
    return tmp_path


def shell(folder: Path, command: str) -> str:
    done = subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=terminal_environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def commands_in(node: Any) -> list[str]:
    """Every command of riskeval in a service's YAML."""
    if isinstance(node, dict):
        return [command for value in node.values() for command in commands_in(value)]
    if isinstance(node, list):
        return [command for value in node for command in commands_in(value)]
    return [node] if isinstance(node, str) and node.startswith("riskeval ") else []


@pytest.mark.parametrize("block", blocks("yaml"), ids=["github", "gitlab", "pre-commit"])
def test_services_run_a_command_that_works(project: Path, block: str) -> None:
    (command,) = commands_in(yaml.safe_load(block))
    shell(project, command)
    if "junit" in command:
        assert (project / "riskeval.xml").read_text().startswith("<?xml")


@pytest.mark.parametrize("block", blocks("sh"))
def test_shell_examples_work(project: Path, block: str) -> None:
    if block.startswith("eval"):
        block += "complete -p riskeval\n"
    shell(project, block)


def test_makefile_works(project: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    (project / "Makefile").write_text(blocks("make")[0])
    (project / "prod.json").unlink()
    assert "pass: neuralMix" not in shell(project, "make -s gate 2>/dev/null | head -0")
    assert (project / "prod.json").exists()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts_are_offered(name: str) -> None:
    script = shell(ROOT, f"_RISKEVAL_COMPLETE={name}_source {PROGRAMS}/riskeval")
    assert "_RISKEVAL_COMPLETE" in script


def test_completion_knows_the_commands() -> None:
    words = "COMP_WORDS='riskeval sc' COMP_CWORD=1 _RISKEVAL_COMPLETE=bash_complete riskeval"
    assert shell(ROOT, words) == "plain,score\n"
