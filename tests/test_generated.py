"""Documentation that is made from the program, the JSON Schema, and a measure added in one file."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jsonschema
import pytest

from riskcli.app import COMMANDS
from tests.console import ROOT, terminal_environment
from tests.program import SAMPLES, riskeval

GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate.py"))
MADE_WITH_CLICK = "8.5"
"""Other versions of click lay out help texts otherwise."""


@pytest.mark.parametrize("name", sorted(GENERATOR["GENERATED"]))
def test_generated_documents_are_up_to_date(name: str) -> None:
    if name in ("commands.md", "riskeval.1") and not version("click").startswith(MADE_WITH_CLICK):
        pytest.skip(f"help texts are laid out by click {MADE_WITH_CLICK}")
    shown = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert shown == GENERATOR["GENERATED"][name](), "run: python docs/generate.py"


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == list(COMMANDS)


def test_every_document_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for document in (ROOT / "docs").glob("*.md"):
        assert f": {document.name}\n" in navigation, document.name


@pytest.mark.parametrize(
    "arguments",
    [
        ("-b", "indriCASP"),
        ("-b", "@max", "-a", "0:10:5", "--correction", "none"),
        ("-b", "c*", "--pool", "each", "-m", "P@5"),
    ],
)
def test_real_output_keeps_the_schema(arguments: tuple[str, ...]) -> None:
    schema = json.loads((ROOT / "docs" / "riskeval.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(riskeval("score", SAMPLES, *arguments, "-f", "json").out)
    jsonschema.validate(document, schema)


def test_skipped_files_keep_the_schema(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "riskeval.schema.json").read_text(encoding="utf-8"))
    (tmp_path / "bad.run").write_text("101 Q0 d 1 high bad\n")
    call = ("score", SAMPLES, tmp_path / "bad.run", "-q", "qrels", "--on-error", "skip")
    document = json.loads(riskeval(*call, "-f", "json").out)
    assert document["skipped"]
    jsonschema.validate(document, schema)


@pytest.fixture(scope="module")
def with_toy_measure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch copy with the measure of CONTRIBUTING.md, copied from there as it stands."""
    folder = tmp_path_factory.mktemp("scratch")
    shutil.copytree(ROOT / "riskcli", folder / "riskcli")
    shutil.copytree(ROOT / "docs", folder / "docs")
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```text\n(\"\"\"Worst loss.*?)^```", text, re.MULTILINE | re.DOTALL)
    (folder / "riskcli" / "risk" / "measures" / "worst.py").write_text(code, encoding="utf-8")
    return folder


def toy(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={**terminal_environment(), "PYTHONPATH": str(folder), "PYTHONSAFEPATH": ""},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_a_measure_is_one_file(with_toy_measure: Path) -> None:
    runs = (str(SAMPLES), "-q", str(ROOT / "qrels"), "-b", "indriCASP", "-m", "ERR@20", "--quiet")
    score = ("-m", "riskcli", "score", *runs)
    header, *rows = toy(with_toy_measure, *score, "--sort", "worst").splitlines()
    columns = header.split("\t")
    assert columns[-2:] == ["worst", "rank_worst"]
    values = [float(row.split("\t")[-2]) for row in rows if row.split("\t")[-2]]
    assert len(values) == 8 and values == sorted(values, reverse=True)
    table = toy(with_toy_measure, *score, "-f", "table")
    assert re.search(r"\bWorst +#", table)
    assert "min_q w_q" in toy(with_toy_measure, "-m", "riskcli", "help", "worst")
    rule = ("--policy", "none", "--require", "worst >= -0.01", "-f", "json")
    verdict = json.loads(toy(with_toy_measure, "-m", "riskcli", "check", *runs, *rule))
    assert verdict["passed"] is False
    toy(with_toy_measure, "docs/generate.py")
    reference = (with_toy_measure / "docs" / "reference.md").read_text(encoding="utf-8")
    assert "### Worst (`worst`)" in reference and "`rank_worst`" in reference
