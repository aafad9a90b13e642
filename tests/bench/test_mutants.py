"""The tool that breaks code on purpose: what it changes, and what it lets pass as noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.mutants import drawn, mirror_of, mutants, tried

pytestmark = pytest.mark.slow

SOURCE = '''"""Adds 1 < 2."""
from a import b  # 3 + 4


@cached(size=1)
def scaled(x: "int | None" = 5) -> float | None:
    return -x * 2 if x > 0 and not b else min(x, 1.5)
'''
WEAK = "from few import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FEW = "def total(values):\n    return sum(values) + 0 if len(values) > 1 else 0\n"


def test_each_token_that_counts_is_changed_once() -> None:
    found = [(each.old, each.new) for each in mutants(SOURCE)]
    assert found == [
        ("5", "6"), ("-", ""), ("*", "/"), ("2", "3"), (">", ">="), ("0", "1"), ("and", "or"),
        ("not", ""), ("min", "max"), ("1.5", "2.26"),
    ]  # fmt: skip
    (comparison,) = (each for each in mutants(SOURCE) if each.old == ">")
    assert "if x >= 0 and" in comparison.text and (comparison.line, comparison.column) == (7, 23)


def project(folder: Path, test: str) -> Path:
    (folder / "few.py").write_text(FEW)
    (folder / "test_few.py").write_text(test)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def surviving(root: Path) -> set[tuple[str, str, int]]:
    chosen = drawn(root, ["few.py"], 99, 1)
    found = tried(root, chosen, ["."])
    return {(each.old, each.new, each.column) for each, passed in found if passed}


def test_what_no_test_notices_is_named_and_the_checkout_left_alone(tmp_path: Path) -> None:
    root = project(tmp_path, WEAK)
    assert surviving(root) == {("+", "-", 23), (">", ">=", 42), ("0", "1", 51)}
    assert (root / "few.py").read_text() == FEW
    project(tmp_path, WEAK + "    assert total([7]) == 0\n")
    assert surviving(root) == {("+", "-", 23)}, "0 added or taken away is the same"


def test_tests_that_fail_by_themselves_tell_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, WEAK.replace("== 3", "== 4"))
    with pytest.raises(SystemExit, match="fails, or finds nothing"):
        surviving(root)


def test_a_sample_is_of_all_modules_and_each_has_its_tests(tmp_path: Path) -> None:
    (tmp_path / "riskcli" / "risk" / "measures").mkdir(parents=True)
    (tmp_path / "tests" / "risk").mkdir(parents=True)
    modules = ("riskcli/risk/ranks.py", "riskcli/risk/measures/mean.py", "riskcli/risk/new.py")
    for module in modules:
        (tmp_path / module).write_text(FEW)
    for name in ("ranks", "ranks_of_parts", "measures", "rank"):
        (tmp_path / "tests" / "risk" / f"test_{name}.py").write_text("")
    chosen = drawn(tmp_path, ["riskcli/risk"], 9, 1)
    assert len(chosen) == 9 and {each.module for each in chosen} == set(modules)
    assert chosen == drawn(tmp_path, ["riskcli/risk"], 9, 1) != drawn(tmp_path, ["riskcli"], 9, 2)
    (tmp_path / "tests" / "risk" / "measures").mkdir()
    ranks, mean, new = (mirror_of(tmp_path, module) for module in modules)
    assert ranks == ["tests/risk/test_ranks.py", "tests/risk/test_ranks_of_parts.py"]
    assert mean == ["tests/risk/test_measures.py", "tests/risk/measures"]
    assert new == ["tests/risk"]
