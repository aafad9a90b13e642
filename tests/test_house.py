"""The house: imports go down one list of rooms, and no module is named in a string."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.console import ROOT

PACKAGE = ROOT / "riskcli"
ROOMS = (
    "core",
    "risk",
    "trec",
    "effectiveness",
    "scores",
    "output",
    "cli",
    "analyses",
    "page",
    "plots",
    "learn",
    "organise",
    "commands",
)
"""A room may import those before it; the modules beside the rooms may import all of them."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package, by its dotted name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def room_of(module: str) -> str | None:
    """The room that a module stands in; None beside them."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else None


def imported(tree: ast.AST) -> set[str]:
    """The modules of the package that a tree imports, wherever it does so."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] == "riskcli"}


def test_every_room_is_listed() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == set(ROOMS)


def test_imports_go_down_the_list() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, tree in modules().items()
        for name in imported(tree)
        if (room := room_of(module)) is not None
        and ((other := room_of(name)) is None or ROOMS.index(other) > ROOMS.index(room))
        and name != "riskcli"
    ]
    assert wrong == []


ANNEXES = {"page", "plots", "learn", "organise"}
"""The rooms that the others do without. `commands` names them to load the command asked for."""


def test_the_core_knows_no_annex_and_each_has_one_door() -> None:
    """Only annexes and the library's list of names enter one, through its package itself."""
    wrong = [
        f"{module} imports {name}"
        for module, tree in modules().items()
        for name in imported(tree) & modules().keys()
        if room_of(name) in ANNEXES - {room_of(module)}
        and (name.count(".") > 1 or room_of(module) not in {None, *ANNEXES})
    ]
    assert wrong == []


def test_the_library_s_names_load_no_annex() -> None:
    code = "import sys, riskcli.api; print([m for m in sys.modules if m.startswith('riskcli.')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(ran.stdout)
    assert not {name for name in loaded if name.split(".")[1] in ANNEXES}


def test_risk_is_arrays_in_and_arrays_out() -> None:
    """Formulas know numpy, scipy and the core: no files, no score matrices, no tables."""
    allowed = {"numpy", "scipy", "riskcli.core", "riskcli.risk", *sys.stdlib_module_names}
    files = {"io", "os", "pathlib", "shutil", "tempfile", "csv", "json", "sys"}
    wrong = [
        f"{module} imports {name}"
        for module, tree in modules().items()
        if room_of(module) == "risk"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in _names(node)
        if not any(f"{name}.".startswith(f"{known}.") for known in allowed - files)
    ]
    assert wrong == []


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that a statement imports."""
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]


def test_no_module_is_named_in_a_string() -> None:
    wrong = [
        f"{module}: {node.value}"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"riskcli(\.\w+)+", node.value)
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports within functions and for types count, too."""
    trees = modules()
    below = {name: {other for other in imported(tree) if other in trees} - {name}
             for name, tree in trees.items()}  # fmt: skip
    while free := [name for name, others in below.items() if not others & below.keys()]:
        for name in free:
            del below[name]
    assert below.keys() <= set(), "in a circle, or above one"


_AT_THE_TOP = (
    ".ci .gitattributes .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE README.md "
    "SECURITY.md action.yml benchmarks docs mkdocs.yml pyproject.toml qrels riskcli riskeval.py "
    "sample_runs templates tests"
)


def test_nothing_that_an_example_wrote_lies_at_the_top() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    assert {name.split("/")[0] for name in listed.stdout.splitlines()} == set(_AT_THE_TOP.split())


def test_arrow_reads_memory_of_its_own() -> None:
    """Its threads let go of Python's bytes late: while Python ends, that aborts the program."""
    own = {"riskcli/trec/arrow.py"}
    found = {
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*.py")
        if "BufferReader(" in path.read_text(encoding="utf-8")
    }
    assert found == own


MIRRORED = ("core", "trec", "effectiveness", "scores", "risk", "output", "analyses")


def test_tests_lie_where_their_module_lies() -> None:
    """`risk/test_losses.py` for `risk/losses.py`; `trec/test_fields_pairs.py` for a part of it.

    `test_recorded.py` is about its whole room.
    """
    stray = [
        str(path.relative_to(ROOT))
        for room in MIRRORED
        for path in (ROOT / "tests" / room).rglob("test_*.py")
        if path.name != "test_recorded.py"
        and not any(of_module(path, other) for other in (PACKAGE / room).rglob("*"))
    ]
    assert stray == []


def of_module(test: Path, module: Path) -> bool:
    """Whether these are tests of this module, or of this folder."""
    here, there = test.parent.relative_to(ROOT / "tests"), module.parent.relative_to(PACKAGE)
    named = f"{test.stem}_".startswith(f"test_{module.stem}_")
    return here == there and named and (module.suffix == ".py" or module.is_dir())
