"""Breaks a module on purpose, one token at a time, and names what no test notices.

    python -m tests.bench.mutants riskcli/risk/ranks.py tests/risk/test_permutation.py

takes a copy of the checkout, turns a sign, a comparison or a number of the module, and runs the
tests given until one fails. What survives is a test that is missing, or a change without a meaning
(a bound that is met by chance alone, a size of portions); which of the two only a reader can tell.
`--most 40 --seed 3` takes another sample.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.console import ROOT

_OPPOSITES = (
    ("<", "<="), (">", ">="), ("==", "!="), ("+", "-"), ("*", "/"), ("&", "|"), ("+=", "-="),
    ("and", "or"), ("True", "False"), ("minimum", "maximum"), ("min", "max"), ("any", "all"),
    ("argmin", "argmax"), ("floor", "ceil"), ("sum", "mean"), ("left", "right"),
)  # fmt: skip
INSTEAD = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])} | {"not": ""}
_LEFT_OUT = {".git", ".venv", "build", ".mypy_cache", ".ruff_cache", ".hypothesis"}
LONGEST = 300
"""Seconds after which a mutant counts as noticed: it never ends."""


@dataclass(frozen=True)
class Mutant:
    """A module with one token changed."""

    line: int
    column: int
    old: str
    new: str
    text: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module that is still Python; not of annotations, imports, decorators."""
    lines = source.splitlines(keepends=True)
    untouched = set(_untouched(ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (line, column), (_, end) = token.start, token.end
        new = _instead(token, lines)
        if new is None or (line, column) in untouched:
            continue
        changed = lines[line - 1][:column] + new + lines[line - 1][end:]
        text = "".join([*lines[: line - 1], changed, *lines[line:]])
        if _is_python(text):
            yield Mutant(line, column, token.string, new, text)


def _instead(token: tokenize.TokenInfo, lines: Sequence[str]) -> str | None:
    if token.type == tokenize.NUMBER:
        value = ast.literal_eval(token.string)
        return str(value + 1) if isinstance(value, int) else repr(value * 1.5 + 0.01)
    if token.type not in (tokenize.OP, tokenize.NAME):
        return None
    behind = lines[token.start[0] - 1][token.end[1] : token.end[1] + 1]
    if token.string == "-" and behind != " ":
        return ""  # a sign
    return None if token.string in "*&" and behind != " " else INSTEAD.get(token.string)


def _untouched(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Where annotations, imports and decorators stand."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            parts = [node]
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts = list(node.decorator_list)
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        for part in filter(None, parts):
            for inner in ast.walk(part):
                if isinstance(inner, ast.expr | ast.stmt):
                    ends = range(inner.col_offset, (inner.end_col_offset or 0) + 1)
                    yield from ((inner.lineno, column) for column in ends)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def survivors(
    root: Path, module: str, tests: Sequence[str], most: int, seed: int
) -> Iterator[Mutant]:
    """The mutants of a sample that the tests of the checkout let pass."""
    chosen = list(mutants((root / module).read_text(encoding="utf-8")))
    random.Random(seed).shuffle(chosen)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "main"
        shutil.copytree(root, copy, ignore=lambda _, names: _LEFT_OUT & set(names), symlinks=True)
        if (root.parent / "shared").is_dir():
            (copy.parent / "shared").symlink_to((root.parent / "shared").resolve())
        if not _passes(copy, tests):
            raise SystemExit("the tests fail, or find nothing, without any change")
        for mutant in chosen[:most]:
            (copy / module).write_text(mutant.text, encoding="utf-8")
            if _passes(copy, tests):
                yield mutant


def _passes(root: Path, tests: Sequence[str]) -> bool:
    call = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return not subprocess.run(
            call, cwd=root, env=environment, capture_output=True, check=False, timeout=LONGEST
        ).returncode
    except subprocess.TimeoutExpired:
        return False


def main() -> None:
    """Print a line for every survivor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    lines = (ROOT / asked.module).read_text(encoding="utf-8").splitlines()
    count = 0
    for mutant in survivors(ROOT, asked.module, asked.tests, asked.most, asked.seed):
        count += 1
        place = f"{asked.module}:{mutant.line}:{mutant.column}"
        shown = f"{mutant.old!r} -> {mutant.new!r}: {lines[mutant.line - 1].strip()}"
        print(f"{place}: {shown}", flush=True)
    print(f"{count} survived")


if __name__ == "__main__":
    main()
