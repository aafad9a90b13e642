"""Do two versions of the program print the same? Run before and after a change of the code's shape.

usage: python benchmarks/same_bytes.py OLD NEW [--runs FOLDER --qrels FILE] [--added NAMES]

OLD and NEW are two `riskeval` programs. Every command of the list below is run by both in the same
folder, over the sample runs and, where named, over a folder of real runs; what differs in stdout,
in a file that was written, or in the exit code is shown, and the exit code is 1 if anything does.
Standard error is compared only where both ended with an error. Columns and keys that NEW has on
purpose are left out of the comparison with --added, as in shortfall,rank_shortfall.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORMATS = ("table", "tsv", "csv", "json", "jsonl", "markdown", "latex", "html")
SHOWN_LINES = 6

BEFORE = {
    "sweep --over baseline": "bias",
    "sweep --over measure": "agree",
    "sweep --over population": "bias --population",
    "help settings": "config",
    "help cite": "cite",
    "help rules": "check --list-rules",
}
"""By command: its name in versions that do not know it yet."""


@dataclass(frozen=True)
class Printed:
    """What one version made of one command."""

    code: int
    out: bytes
    written: bytes
    err: bytes


def commands(runs: str, qrels: str) -> Iterator[list[str]]:
    """Every command over a folder of runs, in its formats and with its main options."""
    given = [runs, "-q", qrels]
    against = [*given, "-b", "indriCASP"]
    for format in FORMATS:
        yield ["score", *against, "-a", "1,5", "-f", format]
        yield ["significance", *given, "-m", "ERR@20", "-f", format]
        yield ["sweep", *against, "-m", "ERR@20", "-f", format]
        yield ["topics", *against, "-m", "nDCG@20", "--top", "5", "-f", format]
        yield ["sweep --over baseline", *given, "-m", "ERR@20", "-f", format]
        yield ["sweep --over measure", *given, "-f", format]
        yield ["sweep --over population", *given, "-m", "ERR@20", "-f", format]
        yield ["explain", *against, "-m", "ERR@20", "--run", "{run}", "-f", format]
    yield ["score", *given, "--convention", "minus", "-f", "csv"]
    yield ["score", *against, "--loss", "smooth", "-f", "csv"]
    yield ["score", *against, "-b", "{run}", "--pool", "each", "-f", "csv"]
    yield ["score", *against, "--correction", "bh", "-a", "0:5", "-f", "csv"]
    yield ["score", *given, "-b", "@max", "-m", "AP", "-m", "P@10", "-f", "csv"]
    yield ["score", *given, "--topics", "judged", "--score-precision", "double", "-f", "csv"]
    for format in ("csv", "tsv", "json"):
        yield ["matrix", *given, "-m", "ERR@20", "-f", format]
    yield ["matrix", *given, "--long", "-f", "csv"]
    for format in ("table", "tsv", "json", "markdown", "junit", "github"):
        yield ["check", *against, "-m", "ERR@20", "--policy", "strict", "-f", format]
    yield ["validate", *given, "-f", "json"]
    yield ["report", *against, "-o", "{file}.html"]
    for kind in ("alpha", "box", "heatmap", "power", "profile", "topics", "tradeoff", "wins"):
        yield ["plot", kind, *against, "-m", "ERR@20", "-o", "{file}.json"]
    yield ["score", *given, "-b", "nobody"]
    yield ["score", *given, "-m", "nDGC@20"]
    yield ["score", "nowhere"]
    yield ["help", "georisk"]
    yield ["help settings"]
    yield ["help cite"]
    yield ["help rules"]


def knows(program: str, command: str) -> bool:
    """Whether the program has a command of that name, and the options after it."""
    asked = [program, *command.split(), "--help"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, check=False, text=True)
    usage = f"Usage: riskeval {command.partition(' --')[0]} "
    return done.returncode == 0 and done.stdout.startswith(usage)


def without(text: bytes, added: Sequence[str]) -> bytes:
    """A machine format without these columns or keys; other text as it is."""
    if not added:
        return text
    name = rb'"(?:' + b"|".join(re.escape(each.encode()) for each in added) + rb')"'
    text = re.sub(rb",\s*" + name + rb"(?:: (?:[^][,{}\n]*|\[[^]]*\]))?(?=[],}\n])", b"", text)
    head = text.partition(b"\n")[0].decode(errors="replace")
    for separator in ("\t", ","):
        if not set(added) & set(head.split(separator)):
            continue
        rows = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=separator))
        shown = [index for index, column in enumerate(rows[0]) if column not in added]
        out = io.StringIO()
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        writer.writerows([row[index] for index in shown] for row in rows)
        text = out.getvalue().encode()
    return text


def run(program: str, command: list[str], names: dict[str, str]) -> Printed:
    """What the program prints for the command, by its former name where it has only that."""
    first, *options = command
    if first in BEFORE and not knows(program, first):
        first = BEFORE[first]
    command = [*first.split(), *options]
    with tempfile.TemporaryDirectory() as folder:
        fillings = {**names, "file": f"{folder}/file"}
        arguments = [argument.format(**fillings) for argument in command]
        done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, check=False)
        written = b"".join(file.read_bytes() for file in sorted(Path(folder).iterdir()))
    return Printed(done.returncode, done.stdout, written, done.stderr if done.returncode else b"")


def difference(old: Printed, new: Printed) -> list[str]:
    """The first lines that differ; none where all is the same."""
    if old == new:
        return []
    lines = [f"exit code {old.code} -> {new.code}"] if old.code != new.code else []
    for before, after in ((old.out, new.out), (old.written, new.written), (old.err, new.err)):
        first, second = (part.decode(errors="replace").splitlines() for part in (before, after))
        whole = unified_diff(first, second, lineterm="", n=0)
        changed = [line for line in whole if line[:2] != "@@"]
        lines += [line[:160] for line in changed[2 : 2 + SHOWN_LINES]]
    return lines


def main() -> None:
    """Compare, and show what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs")
    parser.add_argument("--qrels")
    parser.add_argument("--added", default="")
    given = parser.parse_args()
    wanted = [(c, {"run": "caspPlus"}) for c in commands("sample_runs", "qrels")]
    if given.runs and given.qrels:
        wanted += [(c, {"run": "indriCB"}) for c in commands(given.runs, given.qrels)]
    differing = 0
    for command, names in wanted:
        old, new = run(given.old, command, names), run(given.new, command, names)
        added = [name for name in given.added.split(",") if name]
        new = replace(new, out=without(new.out, added), written=without(new.written, added))
        found = difference(old, new)
        differing += bool(found)
        if found:
            print(" ".join(command), *found, "", sep="\n")
    print(f"{len(wanted)} commands, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
