"""Breaks modules on purpose, one token at a time, and names what no test notices.

    python -m tests.bench.mutants riskcli/risk/intervals.py
    python -m tests.bench.mutants riskcli/risk riskcli/trec --most 100 --seed 3

draws so many mutants of the modules at random: a sign, a comparison or a number is another. Each is
tried, in a copy of the checkout, on the tests of its module until one fails: on the files that
mirror it and what is recorded of its room, else on those of its folder; `--tests` names others.
What survives is a test that is missing, or a change without a meaning (a bound that is met by
chance alone, a size of portions); which of the two only a reader can tell.
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
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

    module: str
    line: int
    column: int
    old: str
    new: str
    text: str


def mutants(source: str, module: str = "") -> Iterator[Mutant]:
    """Every mutant of a module that is still Python; not of annotations, imports, decorators.

    Neither of `strict=True`, over which no program trips whose lengths agree.
    """
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
            yield Mutant(module, line, column, token.string, new, text)


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
    """Where annotations, imports, decorators and the strictness of `zip` stand."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            parts = [node]
        if isinstance(node, ast.keyword) and node.arg == "strict":
            parts = [node.value]
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


def drawn(root: Path, places: Sequence[str], most: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of these modules, and of the modules in these folders."""
    modules = [
        path.relative_to(root).as_posix()
        for place in map(root.joinpath, places)
        for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]
    every = [
        mutant
        for module in modules
        for mutant in mutants((root / module).read_text(encoding="utf-8"), module)
    ]
    random.Random(seed).shuffle(every)
    return every[:most]


def mirror_of(root: Path, module: str) -> list[str]:
    """The test files that mirror a module and what is recorded of its room, or else its folder."""
    path = Path("tests", *Path(module).parts[1:]).with_suffix("")
    recorded = sorted((root / "tests" / path.parts[1]).glob("test_recorded.py"))
    while len(path.parts) > 1:
        own = sorted((root / path.parent).glob(f"test_{path.name}.py"))
        own += sorted((root / path.parent).glob(f"test_{path.name}_*.py"))
        own += [root / path] * (root / path).is_dir()
        if own:
            return [each.relative_to(root).as_posix() for each in own + recorded]
        path = path.parent
    return ["."]


def tried(
    root: Path, chosen: Sequence[Mutant], tests: Sequence[str] = ()
) -> Iterator[tuple[Mutant, bool]]:
    """Mutants, and whether these tests let them pass; without any, the tests of each's module."""
    sound: set[tuple[str, ...]] = set()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "main"
        shutil.copytree(root, copy, ignore=lambda _, names: _LEFT_OUT & set(names), symlinks=True)
        if (root.parent / "shared").is_dir():
            (copy.parent / "shared").symlink_to((root.parent / "shared").resolve())
        for mutant in chosen:
            asked = tuple(tests or mirror_of(root, mutant.module))
            if asked not in sound and not _passes(copy, asked):
                raise SystemExit(f"{' '.join(asked)}: fails, or finds nothing, without any change")
            sound.add(asked)
            (copy / mutant.module).write_text(mutant.text, encoding="utf-8")
            yield mutant, _passes(copy, asked)
            shutil.copyfile(root / mutant.module, copy / mutant.module)


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
    parser.add_argument("modules", nargs="+", help="modules, or folders of them")
    parser.add_argument("--tests", nargs="+", default=())
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after so long")
    given = parser.parse_args()
    began, count, survived = time.monotonic(), 0, 0
    for mutant, passed in tried(
        ROOT, drawn(ROOT, given.modules, given.most, given.seed), given.tests
    ):
        count, survived = count + 1, survived + passed
        if passed:
            line = (ROOT / mutant.module).read_text(encoding="utf-8").splitlines()[mutant.line - 1]
            place = f"{mutant.module}:{mutant.line}:{mutant.column}"
            print(f"{place}: {mutant.old!r} -> {mutant.new!r}: {line.strip()}", flush=True)
        if time.monotonic() - began > 60 * given.minutes:
            break
    print(f"{survived} of {count} survived")


if __name__ == "__main__":
    main()
