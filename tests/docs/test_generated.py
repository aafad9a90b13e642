"""Documentation that is made from the program, the JSON Schema, and a measure added in one file."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import jsonschema
import pytest

import riskcli
from riskcli.cli.option import LazyGroup
from riskcli.commands import COMMANDS, load_command
from riskcli.core.limits import COSTS, READING
from riskcli.trec.codes import CODES
from tests.helpers.console import ROOT, terminal_environment
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES

GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate.py"))


def options_of(command: click.Command) -> Iterator[click.Option]:
    """Every option of a command, and of those within it, that its help shows."""
    context = click.Context(command)
    if isinstance(command, LazyGroup):
        for name in command.summaries:
            yield from options_of(command.get_command(context, name))
    for option in (*command.get_params(context), *getattr(command, "keys", ())):
        if isinstance(option, click.Option) and not option.hidden:
            yield option


@pytest.mark.parametrize("name", sorted(GENERATOR["PAGES"]))
def test_a_page_says_where_its_content_goes(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert text.count(GENERATOR["MARK"]) == 1
    assert len(GENERATOR["PAGES"][name]()) > 20 * len(text)


@cache
def described(page: str) -> str:
    """What is generated of all commands."""
    text: str = GENERATOR[page]()
    return text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_site_and_the_manual_page_describe_every_option(command: str) -> None:
    page, manual = described("commands"), described("man")
    (section,) = re.findall(rf"^## {command}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    shown = re.sub(r"\s+", "", section)
    for option in options_of(load_command(command)):
        name = max(option.opts, key=len)
        assert (f"{name[2:]}=" if getattr(option, "key_only", False) else name) in shown
        text = "".join((option.help or "").split())
        assert text in shown
        assert text in re.sub(r"\s+", "", manual).replace("\\-", "-").replace("\\e", "\\")


def test_every_command_is_documented() -> None:
    assert re.findall(r"^## (\w+)$", GENERATOR["commands"](), re.MULTILINE) == list(COMMANDS)


def test_the_site_has_every_code_and_what_work_takes() -> None:
    """Bytes a cell, a row and a pair, of each kind of work."""
    page = GENERATOR["reference"]()
    for code in CODES.values():
        assert f"| `{code.name}` | {code.severity} | {code.meaning} |" in page
    for name, work in COSTS.items():
        amounts = f"{work.cell:,} | {work.row:,} | {work.pair:,}"
        assert f"| {name} | {work.base / 1e6:.0f} MB | {amounts} |" in page
    for name, rate in READING.items():
        assert f"| {name} | {rate} |" in page


@pytest.mark.parametrize("name", dir(riskcli))
def test_every_name_of_the_library_has_a_docstring(name: str) -> None:
    """The site's page of the library is made of these."""
    assert inspect.getdoc(getattr(riskcli, name))


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
    schema = json.loads(GENERATOR["schema"]())
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(riskeval("score", SAMPLES, *arguments, "-f", "json").out)
    jsonschema.validate(document, schema)


def test_skipped_files_keep_the_schema(tmp_path: Path) -> None:
    schema = json.loads(GENERATOR["schema"]())
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


@pytest.mark.slow
def test_a_measure_is_one_file(with_toy_measure: Path) -> None:
    runs = (str(SAMPLES), "-q", str(ROOT / "qrels"), "-b", "indriCASP", "-m", "ERR@20", "--quiet")
    score = ("-m", "riskcli", "score", *runs)
    header, *rows = toy(with_toy_measure, *score, "--sort", "worst").splitlines()
    columns = header.split("\t")
    assert columns[-2:] == ["worst", "rank_worst"]
    values = [float(row.split("\t")[-2]) for row in rows if row.split("\t")[-2]]
    assert len(values) == 8 and values == sorted(values, reverse=True)
    assert "worst" not in toy(with_toy_measure, *score, "-f", "table")
    table = toy(with_toy_measure, *score, "-f", "table", "--columns", "mean,worst")
    assert re.search(r"\bworst +#", table)
    assert "min_q w_q" in toy(with_toy_measure, "-m", "riskcli", "help", "worst")
    rule = ("--policy", "none", "--require", "worst >= -0.01", "-f", "json")
    verdict = json.loads(toy(with_toy_measure, "-m", "riskcli", "check", *runs, *rule))
    assert verdict["passed"] is False
    for command in (("explain", "--run", "neuralMix"), ("sweep",), ("significance",)):
        shown = (command[0], *runs, *command[1:], "--of", "worst", "-f", "table")
        assert "worst" in toy(with_toy_measure, "-m", "riskcli", *shown)
    toy(with_toy_measure, "docs/generate.py", "made")
    reference = (with_toy_measure / "made" / "reference.md").read_text(encoding="utf-8")
    assert "### worst (`worst`)" in reference and "`rank_worst`" in reference


def test_what_the_program_explains_names_no_option_that_is_gone() -> None:
    options = {
        name
        for command in COMMANDS
        for option in options_of(load_command(command))
        for name in (*option.opts, *option.secondary_opts)
    } | {"--version", "--debug"}
    for make in GENERATOR["PAGES"].values():
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]", make())) <= options
