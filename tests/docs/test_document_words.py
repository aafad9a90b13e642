"""Every command, option and settings key that a document names is one of the program's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from riskcli.cli.option import LazyGroup
from riskcli.cli.settings import settings_schema
from riskcli.commands import COMMANDS, load_command
from tests.helpers.console import ROOT

DOCUMENTS = [
    pytest.param(path, id=path.name)
    for path in (ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md")))
    if not path.name.startswith("appendix-calibration")
]
ELSEWHERE = {"--no-deps", "--wheel-dir", "--count", "--documents", "--features", "--queries"}
"""Options of other programs in the recipes."""


def inside(command: click.Command) -> Iterator[click.Command]:
    """A command, and the commands within it."""
    yield command
    if isinstance(command, LazyGroup):
        for name in command.summaries:
            yield command.get_command(click.Context(command), name)


OPTIONS = {
    name
    for command in COMMANDS
    for each in inside(load_command(command))
    for option in each.get_params(click.Context(each))
    for name in (*option.opts, *option.secondary_opts)
} | {"--version", "--debug"}
KEYS = set(json.loads(settings_schema(map(load_command, COMMANDS)))["properties"])


def code(document: Path) -> str:
    """What a document shows as code: commands in blocks, and what stands in backticks."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown = [line for block in blocks for line in block.splitlines() if "riskeval " in line]
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return "\n".join([*shown, *re.findall(r"`([^`]+)`", plain)])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_options_exist(document: Path) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", code(document)))
    assert named - OPTIONS - ELSEWHERE == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_exist(document: Path) -> None:
    named = set(re.findall(r"\briskeval ([a-z]+)\b", code(document)))
    assert named - set(COMMANDS) == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_settings_keys_exist(document: Path) -> None:
    text = " ".join(document.read_text(encoding="utf-8").split())
    phrases = re.findall(r"settings keys? ((?:`[\w-]+`(?: \([^)]*\))?(?:, | and )?)+)", text)
    named = {key for phrase in phrases for key in re.findall(r"`([\w-]+)`", phrase)}
    assert {key.replace("-", "_") for key in named} <= {key.replace("-", "_") for key in KEYS}


def test_the_page_of_settings_lists_every_key_that_is_no_option() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    table = text.split("## Keys that are not options")[1].split("## ")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = re.findall(r"`([\w-]+)`", " ".join(first))
    keys = {key.name for command in COMMANDS for key in getattr(load_command(command), "keys", ())}
    assert sorted(name.replace("-", "_") for name in listed) == sorted(keys)


@pytest.mark.parametrize("document", [*DOCUMENTS, pytest.param(ROOT / "CONTRIBUTING.md", id="C")])
def test_files_and_modules_of_the_project_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"\b(?:tests|riskcli|benchmarks)/[\w/.-]*\w", text)
    modules = re.findall(r"-m ((?:tests|benchmarks)(?:\.\w+)+)", text)
    named += [f"{module.replace('.', '/')}.py" for module in modules]
    assert [name for name in named if not (ROOT / name).exists()] == []
