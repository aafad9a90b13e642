"""The tool that breaks code on purpose: what it changes, and what it lets pass as noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.mutants import mutants, survivors

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


def test_what_no_test_notices_is_named_and_the_checkout_left_alone(tmp_path: Path) -> None:
    root = project(tmp_path, WEAK)
    found = {(each.old, each.new, each.column) for each in survivors(root, "few.py", ["."], 99, 1)}
    assert found == {("+", "-", 23), (">", ">=", 42), ("0", "1", 51)}
    assert (root / "few.py").read_text() == FEW
    strong = WEAK + "    assert total([7]) == 0\n"
    found = {(each.old, each.new, each.column) for each in survivors(
        project(tmp_path, strong), "few.py", ["."], 99, 1)}  # fmt: skip
    assert found == {("+", "-", 23)}, "0 added or taken away is the same"


def test_tests_that_fail_by_themselves_tell_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, WEAK.replace("== 3", "== 4"))
    with pytest.raises(SystemExit, match="the tests fail, or find nothing"):
        list(survivors(root, "few.py", ["."], 99, 1))
