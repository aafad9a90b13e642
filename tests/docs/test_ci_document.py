"""The recipes of docs/ci.md and docs/settings.md, run as far as that goes without the services.

The shell parts are run word for word, in an empty environment, without HOME and without a terminal,
in a checkout in which only `reports` may be written to. `pip` is a stand-in that looks whether the
file that it is to install exists.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.helpers.console import PROGRAMS, ROOT, terminal_environment
from tests.helpers.program import QRELS, SAMPLES

pytestmark = pytest.mark.slow

PIP = """#!/bin/sh
[ "$1" = install ] && [ $# = 2 ] && [ -f "$2" ] || { echo "pip: no such file: $*" >&2; exit 9; }
"""


def blocks(language: str, page: str = "ci") -> list[str]:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


GITHUB, GITLAB, PRE_COMMIT = map(yaml.safe_load, blocks("yaml"))


@dataclass(frozen=True)
class Checkout:
    """A repository as a service checks it out, and a folder of programs beside it."""

    folder: Path
    programs: Path

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A shell's line or script, with nothing in the environment but what is given."""
        path = os.pathsep.join([str(self.programs), str(PROGRAMS), "/usr/bin", "/bin"])
        given = [f"{name}={value}" for name, value in {"PATH": path, **environment}.items()]
        return subprocess.run(
            ["env", "-i", *given, "sh", "-ec", command],
            cwd=self.folder, stdin=subprocess.DEVNULL, start_new_session=True,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def contents(self) -> dict[str, bytes]:
        """What lies in it, but for the reports."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "reports" not in path.parts
        }

    def spoil(self) -> None:
        """Let the candidate be one that is clearly worse."""
        path = self.folder / "candidate.run"
        lines = [line.split() for line in path.read_text().splitlines()]
        text = "".join(
            f"{topic} Q0 {docno} {rank} {-float(score)!r} mine\n"
            for topic, _, docno, rank, score, _ in lines
        )
        path.chmod(0o644)
        path.write_text(text)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A candidate, a baseline and judgements, as the recipes name them; nothing is writable."""
    folder, programs = tmp_path / "project", tmp_path / "bin"
    for each in (folder, programs, folder / "wheels", folder / "reports"):
        each.mkdir()
    for name, source in (
        ("candidate.run", SAMPLES / "neuralMix.run"),
        ("prod.run", SAMPLES / "indriCASP.run"),
        ("qrels.txt", QRELS),
    ):
        (folder / name).write_text(source.read_text().replace("\n138 ", "\n151 "))
    (folder / "wheels" / "riskeval-0.1.0-py3-none-any.whl").write_bytes(b"")
    (programs / "pip").write_text(PIP)
    (programs / "pip").chmod(0o755)
    made = Checkout(folder, programs)
    assert made.run("riskeval matrix prod.run -q qrels.txt -m ERR@20 -o prod.json").returncode == 0
    for path in (*folder.rglob("*"), folder):
        if path.name != "reports":
            path.chmod(0o555 if path.is_dir() else 0o444)
    return made


def arguments(given: dict[str, str]) -> list[str]:
    """What the action and the component call the program with, from the inputs of a recipe."""
    options = [f"--{name}={given[name]}" for name in ("baseline", "qrels", "measure")]
    return [*options, *given.get("args", "").splitlines(), "--", *given["runs"].splitlines()]


def test_github_and_gitlab_give_the_action_and_the_component_what_they_take(
    checkout: Checkout,
) -> None:
    """`tests/test_post.py` runs the shell of both."""
    steps = GITHUB["jobs"]["gate"]["steps"]
    (given,) = [step["with"] for step in steps if step.get("id") == "gate"]
    (include,) = GITLAB["include"]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    spec, _ = yaml.safe_load_all((ROOT / "templates" / "check.yml").read_text(encoding="utf-8"))
    assert {*given} <= {*action["inputs"]} and {*include["inputs"]} <= {*spec["spec"]["inputs"]}
    assert steps[-1]["with"]["sarif_file"] == "${{ steps.gate.outputs.sarif }}"
    assert "sarif" in action["outputs"]
    for inputs in (given, include["inputs"]):
        command = shlex.join(["riskeval", "check", *arguments(inputs)])
        assert checkout.run(command).returncode == 0
    checkout.spoil()
    failed = checkout.run(command.replace(" -- ", " -f sarif -- "))
    results = json.loads(failed.stdout)["runs"][0]["results"]
    location = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert failed.returncode == 1 and location["uri"] == "candidate.run" and len(results) == 2


def both_ways(checkout: Checkout, command: str) -> None:
    """It passes and writes nothing; a worse candidate fails."""
    before = checkout.contents()
    passed = checkout.run(command)
    assert passed.returncode == 0 and "pass: " in passed.stdout, passed.stderr
    assert checkout.contents() == before
    checkout.spoil()
    assert "FAIL: " in (failed := checkout.run(command)).stdout and failed.returncode != 0


def test_pre_commit(checkout: Checkout) -> None:
    (hook,) = PRE_COMMIT["repos"][0]["hooks"]
    both_ways(checkout, hook["entry"])


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_makefile(checkout: Checkout) -> None:
    checkout.folder.chmod(0o755)
    (checkout.folder / "Makefile").write_text(blocks("make")[0])
    (checkout.folder / "prod.json").unlink()
    assert checkout.run("make -s prod.json").returncode == 0
    both_ways(checkout, "make -s gate")


def test_script(checkout: Checkout) -> None:
    (script,) = [block for block in blocks("bash") if block.startswith("#!/bin/sh")]
    checkout.folder.chmod(0o755)
    (checkout.folder / "gate.sh").write_text(script)
    both_ways(checkout, 'cd / && sh "$OLDPWD/gate.sh"')
    (checkout.folder / "qrels.txt").unlink()
    done = checkout.run("sh gate.sh")
    assert done.returncode == 2 and "the gate could not judge: exit code 2" in done.stderr


SHELL = [("ci", block) for block in blocks("sh")] + [
    ("settings", block) for block in blocks("sh", "settings")
]


@pytest.mark.parametrize(("page", "block"), SHELL)
def test_shell_examples_work(checkout: Checkout, page: str, block: str) -> None:
    for path in (*checkout.folder.rglob("*"), checkout.folder):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (checkout.folder / "riskeval.toml").write_text(blocks("toml", "settings")[0])
    command = f"{block}complete -p riskeval\n" if block.startswith("eval") else block
    shell = ["bash", "-ec", command]
    done = subprocess.run(
        shell, cwd=checkout.folder, env=terminal_environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout


def test_a_file_for_editors_is_one_of_settings(checkout: Checkout) -> None:
    checkout.folder.chmod(0o755)
    (checkout.folder / "riskeval.toml").write_text(blocks("toml", "settings")[1])
    assert "measure\tERR@20\triskeval.toml" in checkout.run("riskeval help settings").stdout


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts_are_offered(name: str) -> None:
    script = shell(f"_RISKEVAL_COMPLETE={name}_source {PROGRAMS}/riskeval")
    assert "_RISKEVAL_COMPLETE" in script


def test_completion_knows_the_commands() -> None:
    words = "COMP_WORDS='riskeval sc' COMP_CWORD=1 _RISKEVAL_COMPLETE=bash_complete riskeval"
    assert shell(words) == "plain,score\n"


def shell(command: str) -> str:
    done = subprocess.run(
        ["bash", "-ec", command], cwd=ROOT, env=terminal_environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
