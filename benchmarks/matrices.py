"""What large score matrices take: processor time and peak memory, each job in its own process.

    python benchmarks/matrices.py [JOB...]

Prints Markdown; jobs are named in its first column, and all are done where none is named. Scores
are random. The memory of a job is what its process had at most, with the program and the matrix.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program has it

import numpy as np

import riskcli
from riskcli import ScoreMatrix
from riskcli.core.parallel import keep_freed_memory
from riskcli.output.formats import Analysis

MEGABYTE = 2**20


class Job(NamedTuple):
    """A matrix, and what is done with it."""

    about: str
    runs: int
    topics: int
    work: Callable[[ScoreMatrix], Analysis]


JOBS = {
    "score": Job("`score -b RUN`", 10_000, 7000, lambda m: riskcli.risk_table(m, "r0")),
    "virtual": Job("`score -b @mean`", 10_000, 7000, lambda m: riskcli.risk_table(m, "@mean")),
    "mean": Job(
        "`significance --of mean -b RUN`", 10_000, 7000,
        lambda m: riskcli.compare_pairs(m, "r0", of="mean"),
    ),
    "ranks": Job("`score -b RUN`, ranks too", 2000, 7000, lambda m: riskcli.risk_table(m, "r0")),
    "table": Job("`score -b RUN`", 16_000, 50, lambda m: riskcli.risk_table(m, "r0")),
    "gate": Job("`check -b RUN`", 16_000, 50, lambda m: riskcli.judge(m, "r0")),
    "pairs": Job(
        "`significance --of mean`, all pairs", 2000, 50,
        lambda m: riskcli.compare_pairs(m, of="mean"),
    ),
    "bias": Job("`sweep --over baseline`", 2000, 50, riskcli.baseline_bias),
    "near": Job("`sweep --over baseline`, shuffled", 300, 50, riskcli.baseline_bias),
}  # fmt: skip


def random_matrix(runs: int, topics: int) -> ScoreMatrix:
    """Scores that look a little like those of runs."""
    generator = np.random.default_rng(1)
    values = np.empty((runs, topics))
    for row in values:
        row[:] = generator.random(topics) ** 2
    names = tuple(f"r{row}" for row in range(runs))
    return ScoreMatrix("AP", names, tuple(map(str, range(topics))), values)


def do(job: Job) -> None:
    """Do it here, write its rows, and print the cost."""
    keep_freed_memory()
    matrix = random_matrix(job.runs, job.topics)
    before = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        job.work(matrix).write(Path(folder) / "rows.tsv")
    seconds = time.process_time() - before
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = matrix.values.nbytes / MEGABYTE
    print(
        f"| {job.about} | {job.runs:,} × {job.topics:,} | {size:,.0f} MB | {seconds:.1f} s "
        f"| {most:,.0f} MB |",
        flush=True,
    )


def main() -> None:
    """Each job in a process of its own."""
    if sys.argv[1:2] == ["--do"]:
        do(JOBS[sys.argv[2]])
        return
    print("| job | runs × topics | matrix | processor time | peak memory |")
    print("|:--|--:|--:|--:|--:|", flush=True)
    for name in sys.argv[1:] or JOBS:
        subprocess.run([sys.executable, __file__, "--do", name], check=True)


if __name__ == "__main__":
    main()
