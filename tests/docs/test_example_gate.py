"""The example project, from an empty folder to a change that its gate refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from riskcli.output.problems import MARKER
from tests.helpers.console import PROGRAMS, ROOT

EXAMPLE = ROOT / "docs" / "examples" / "gate"
HARMLESS = ("K1, B, DEPTH = 1.2, 0.75, 20", "K1, B, DEPTH = 1.1, 0.7, 20")
HARMFUL = ("return math.log(1 + (len(docs) - found_in[word] + 0.5) / (found_in[word] + 0.5))",
           "return 1.0")  # fmt: skip


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(PROGRAMS), "/usr/bin", "/bin"])
    return subprocess.run(
        command, cwd=folder.parent, env={"PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def change(folder: Path, before: str, after: str) -> None:
    file = folder / "rank.py"
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))


@pytest.mark.slow
def test_from_an_empty_folder_to_a_gated_change(tmp_path: Path) -> None:
    start, folder = time.monotonic(), tmp_path / "project"
    shutil.copytree(EXAMPLE, folder)
    gate = ("sh", "project/gate.sh")
    tests = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
             "-p", "riskcli.testing", "project")  # fmt: skip
    first = run(folder, *gate)
    assert first.returncode == 0, first.stderr  # the first build is the anchor
    kept = (folder / "state.json").read_bytes()

    change(folder, *HARMLESS)
    tried = run(folder, *gate)
    assert tried.returncode == 0 and (folder / "state.json").read_bytes() == kept
    passed = run(folder, *gate, "--accept")
    assert passed.returncode == 0 and passed.stdout == tried.stdout, passed.stderr
    assert passed.stdout.startswith("pass: for bm25 ")
    assert "1 accepted change, mean" in " ".join(passed.stdout.split())
    assert (accepted := (folder / "state.json").read_bytes()) != kept

    change(folder, *HARMFUL)
    comment = folder / "comment.md"
    failed = run(folder, *gate, "--accept", "--report", "markdown=comment.md")
    assert failed.returncode == 1 and failed.stdout.startswith("FAIL: for bm25 Mean is ")
    assert (folder / "state.json").read_bytes() == accepted
    lines = comment.read_text().splitlines()
    assert lines[:2] == [MARKER, "### FAIL: bm25 against bm25 (baseline), nDCG@10"]
    assert any(re.match(r"\| \d+ [a-z ]+ \| 0\.\d+ \| 0\.\d+ \|", line) for line in lines)
    ran = run(folder, *tests)
    assert ran.returncode == 1 and "AssertionError: FAIL: for bm25 Mean is" in ran.stdout, ran
    assert time.monotonic() - start < 60


def test_its_pipelines_name_what_the_action_and_the_component_have() -> None:
    workflow = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "gate.yml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    steps = workflow["jobs"]["gate"]["steps"]
    used = [each["with"] for each in steps if each.get("uses", "").startswith("OWNER/")]
    assert [*used[0]] == ["runs", "ratchet"] and {*used[0]} <= {*action}
    pipeline = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text())
    component, job = yaml.safe_load_all((ROOT / "templates" / "check.yml").read_text())
    (include,) = pipeline["include"]
    inputs = component["spec"]["inputs"]
    assert {*include["inputs"]} <= {*inputs}
    assert {name for name, each in inputs.items() if "default" not in each} <= {*include["inputs"]}
    assert {*pipeline} - {"include"} == {inputs["job"]["default"]} and len(job) == 1
    for file in ("candidate.run", "state.json"):
        assert file in (EXAMPLE / "gate.sh").read_text()
        assert file in used[0].values() and file in include["inputs"].values()


def test_it_is_small() -> None:
    assert len((EXAMPLE / "rank.py").read_text().splitlines()) < 60
    assert len((EXAMPLE / "queries.tsv").read_text().splitlines()) >= 30
    rules = re.findall(r"^[^#\n]+", (EXAMPLE / "rules.txt").read_text(), re.MULTILINE)
    tests = (EXAMPLE / "test_ranking.py").read_text()
    assert all(f'"{rule.strip()}"' in tests for rule in rules)
