"""The memory that commands take, beside the estimate by which they are refused.

    python -m benchmarks.memory [--runs 10 1000 5000] [--topics 50] [--seconds 600]

Each command runs by itself on a matrix of random scores; a call that takes longer than so many
seconds is stopped and said to be. Exits with 1 where a command took over 1.5 times the estimate.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from riskcli.core.limits import BASE, COSTS, IN_HAND, OTHERWISE, READING
from tests.helpers.console import PROGRAMS

WORST = 1.5
SHUFFLED = "score against a virtual baseline"
COMMANDS = {
    "score -b r1": "score",
    "score": SHUFFLED,
    "score -b r1 -a 0:20": "score",
    "topics -b r1": "topics",
    "topics -b r1 --run r2": "topics",
    "explain -b r1 --run r2": "score",
    "significance -b r1": "score",
    "significance --of mean": "significance",
    "significance --of mean -f json": "significance",
    "significance --of mean -f parquet": "significance",
    "check -b r1 -f table": "score",
    "report -b r1 -o x.html": "score",
    "population freeze -o x.json": "score",
    "power -b r1": "score",
    "matrix -f json": "score",
    "sweep --over measure -m score": "score",
    "validate": "score",
    "sweep -b r1": "sweep",
    "sweep -b r1 -f json": "sweep",
    "sweep --over baseline": "sweep --over baseline",
    "sweep --over baseline -f json": "sweep --over baseline",
    "sweep --over population": "sweep --over population",
    "plot tradeoff -b r1 -o x.svg": "plot",
    "plot heatmap -b r1 -o x.svg": "plot heatmap",
    "plot alpha -b r1 -o x.svg": "plot alpha",
}

PAIRS = {"significance": 1, "sweep": 1, "sweep --over baseline": 1, "sweep --over population": 2}
"""How often each pair of runs counts."""


def matrix(path: Path, runs: int, topics: int) -> None:
    """A matrix of random scores as CSV."""
    rng = random.Random(runs)
    lines = [f"run,{','.join(map(str, range(1, topics + 1)))}"]
    lines += [
        f"r{run},{','.join(f'{rng.random():.4f}' for _ in range(topics))}" for run in range(runs)
    ]
    path.write_text("\n".join(lines) + "\n")


def run_file(folder: Path, topics: int, documents: int) -> None:
    """A run with many documents, and judgements for it."""
    rng = random.Random(7)
    with (folder / "a.run").open("w") as run, (folder / "q").open("w") as qrels:
        for topic in range(1, topics + 1):
            for rank in range(documents):
                docno = f"clueweb09-en{rank % 100:04d}-{rank % 97:02d}-{rank:05d}"
                run.write(
                    f"{topic} Q0 {docno} {rank + 1} {documents - rank + rng.random():.6f} a\n"
                )
                if rank % 30 == 0:
                    qrels.write(f"{topic} 0 {docno} {rank % 4}\n")


def peak(command: str, folder: Path, seconds: float) -> int | None:
    """The most memory that the call had, in bytes; None where it took too long."""
    words = command.split()
    process = subprocess.Popen(
        [str(PROGRAMS / "riskeval"), *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    started = time.monotonic()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - started > seconds:
            process.kill()
            os.wait4(process.pid, 0)
            return None
        time.sleep(0.05)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        print(f"    {command}: {said.splitlines()[-1]}")
        return None
    return usage.ru_maxrss * 1024


def estimate(command: str, runs: int, topics: int) -> int:
    """What the command is taken to need."""
    work = COMMANDS[command]
    alphas = 21 if "0:20" in command or work == "sweep" else 1
    rows = runs * alphas
    if work == "topics":
        rows = (1 if "--run" in command else runs) * topics
    pairs = runs * (runs - 1) // 2 * PAIRS.get(work, 0)
    return COSTS[work].bytes(runs * topics, rows, pairs)


def on_matrices(folder: Path, sizes: list[int], topics: int, seconds: float) -> Iterator[float]:
    """The ratio of each command's memory to its estimate."""
    for runs in sizes:
        matrix(folder / "m.csv", runs, topics)
        for command in COMMANDS:
            words = command.split()
            at = 2 if words[0] in ("plot", "population") else 1
            found = peak(" ".join([*words[:at], "m.csv", *words[at:]]), folder, seconds)
            yield from told(f"{runs:>6} runs  {command}", found, estimate(command, runs, topics))


def on_files(folder: Path, seconds: float) -> Iterator[float]:
    """The same for reading large files."""
    run_file(folder, 50, 10_000)
    matrix(folder / "m.csv", 2000, 1000)
    matrix(folder / "small.csv", 1000, 500)
    for name, options in (
        ("json", "-f json"),
        ("parquet", "-f parquet"),
        ("long", "--long -f csv"),
    ):
        peak(f"matrix small.csv {options} -o m.{name}", folder, seconds)
    calls = {
        "matrix a.run -q q -m ERR@20 --jobs 1": ("a.run", READING["run to a cutoff"]),
        "matrix a.run -q q -m AP --jobs 2": ("a.run", READING["run"]),
        "matrix m.csv": ("m.csv", READING["csv"]),
        "matrix m.parquet": ("m.parquet", READING["parquet"]),
        "matrix m.json": ("m.json", OTHERWISE),
        "matrix m.long": ("m.long", OTHERWISE),
    }
    for command, (name, rate) in calls.items():
        size = (folder / name).stat().st_size
        yield from told(command, peak(command, folder, seconds), BASE + IN_HAND + rate * size)


def told(what: str, found: int | None, expected: int) -> Iterator[float]:
    """Print a line, and give the ratio."""
    if found is None:
        print(f"{what:<50} estimate {expected / 1e6:8,.0f} MB, not measured", flush=True)
        return
    ratio = found / expected
    print(
        f"{what:<50} estimate {expected / 1e6:8,.0f} MB, took {found / 1e6:8,.0f} MB: {ratio:.2f}",
        flush=True,
    )
    yield ratio


def main() -> int:
    """Measure all, and say which ratio was the worst."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[10, 1000, 5000])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        ratios = list(on_files(Path(name), given.seconds))
        ratios += on_matrices(Path(name), given.runs, given.topics, given.seconds)
    print(f"the worst ratio is {max(ratios):.2f}, at most {WORST} is promised")
    return 1 if max(ratios) > WORST else 0


if __name__ == "__main__":
    sys.exit(main())
