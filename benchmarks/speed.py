"""How long `riskeval score` takes, and how much memory, against what others take in the same go.

    python benchmarks/speed.py [--folder FOLDER] [--repeat N]

Makes the files (about 1.4 GB, kept if a folder is given), runs each program in turn, several times
over, and prints Markdown: for each job the best times and the ratio of the two, and peak memory.
ir_measures is installed into an environment of its own, which is thrown away, if that works;
trec_eval takes part where it is on the PATH. All times are from start to exit, imports included.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from riskcli.core.parallel import available_cores

PYTREC_EVAL = """
import os, sys
import pytrec_eval
folder, qrels, measure = sys.argv[1:]
with open(qrels) as file:
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {measure})
for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name)) as file:
        found = evaluator.evaluate(pytrec_eval.parse_run(file))
    key = measure.replace(".", "_")
    print(name, sum(values[key] for values in found.values()) / len(found))
"""
IR_MEASURES = """
import os, sys
import ir_measures
folder, qrels, measure = sys.argv[1:]
measures = [ir_measures.parse_measure(measure)]
judged = list(ir_measures.read_trec_qrels(qrels))
evaluator = ir_measures.evaluator(measures, judged)
for name in sorted(os.listdir(folder)):
    run = ir_measures.read_trec_run(os.path.join(folder, name))
    print(name, evaluator.calc_aggregate(run))
"""
TREC_EVAL = 'for run in "$0"/*; do trec_eval -m "$2" "$1" "$run"; done'
COUNT, COUNT_GZIP = 'cat "$0"/* | wc -l', 'zcat "$0"/* | wc -l'


@dataclass
class Cost:
    """The best of several calls: seconds on the clock and of all cores; and the most memory."""

    wall: float = float("inf")
    cpu: float = float("inf")
    megabytes: float = 0.0

    def add(self, command: Sequence[str | Path]) -> None:
        """One more call."""
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise click.ClickException(f"exit code {process.returncode}: {command}")
        self.wall = min(self.wall, time.perf_counter() - start)
        self.cpu = min(self.cpu, usage.ru_utime + usage.ru_stime)
        self.megabytes = max(self.megabytes, usage.ru_maxrss / 1024)


@dataclass(frozen=True)
class Data:
    """A folder that `make_runs.py` made."""

    folder: Path

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def qrels(self) -> Path:
        return self.folder / "qrels.txt"


@dataclass(frozen=True)
class Job:
    """What riskeval does, what is done instead, and the ratio that it must not exceed."""

    title: str
    other: str
    mine: Sequence[str | Path]
    theirs: Sequence[str | Path]
    at_most: float | None


def riskeval(data: Data, *measures: str) -> list[str | Path]:
    """The call that is measured: the whole risk table."""
    program = Path(sys.executable).parent / "riskeval"
    chosen = [part for measure in measures for part in ("-m", measure)]
    return [program, "score", data.runs, "-q", data.qrels, "--quiet", *chosen]


def script(python: Path | str, text: str, data: Data, measure: str) -> list[str | Path]:
    """A call of one of the plain scripts."""
    return [python, "-c", text, data.runs, data.qrels, measure]


def shell(text: str, data: Data, *arguments: str) -> list[str | Path]:
    """A call of a line of shell."""
    return ["sh", "-c", text, data.runs, data.qrels, *arguments]


def jobs(many: Data, packed: Data, large: Data, ir_measures: Path | None) -> Iterator[Job]:
    """All that is compared."""
    default, full = riskeval(many), riskeval(many, "AP")
    name = "170 runs, ERR@20 + nDCG@20 + risk"
    plain = script(sys.executable, PYTREC_EVAL, many, "ndcg_cut.20")
    yield Job(name, "pytrec_eval script, nDCG@20", default, plain, 0.15)
    if ir_measures is not None:
        theirs = script(ir_measures, IR_MEASURES, many, "nDCG@20")
        yield Job(name, "ir_measures, nDCG@20", default, theirs, 0.08)
    if shutil.which("trec_eval"):
        theirs = shell(TREC_EVAL, many, "ndcg_cut.20")
        yield Job(name, "trec_eval, one run after another", default, theirs, None)
    yield Job(name, "`cat * | wc -l`", default, shell(COUNT, many), 3.0)
    yield Job(
        "the same, gzip", "`zcat * | wc -l`", riskeval(packed), shell(COUNT_GZIP, packed), 1.2
    )
    plain = script(sys.executable, PYTREC_EVAL, many, "map")
    yield Job("170 runs, AP + risk", "pytrec_eval script, AP", full, plain, 0.6)
    theirs, mine = riskeval(many, "ERR@20"), riskeval(many, "ERR_IA@20")
    mine[mine.index(many.qrels)] = many.folder / "subtopics.txt"
    yield Job("170 runs, ERR_IA@20 + risk, by subtopic", "the same, ERR@20", mine, theirs, 2.0)
    plain = script(sys.executable, PYTREC_EVAL, large, "ndcg_cut.20")
    yield Job(
        "1 run of 6,980 topics, ERR@20 + nDCG@20",
        "pytrec_eval script, nDCG@20",
        riskeval(large),
        plain,
        0.18,
    )


def compare(all_jobs: Sequence[Job], repeat: int) -> None:
    """Run everything `repeat` times, each round all of it, and print the table."""
    costs: dict[tuple[str, ...], Cost] = {}
    calls = [call for job in all_jobs for call in (job.mine, job.theirs)]
    for _ in range(repeat):
        for key, call in {tuple(map(str, call)): call for call in calls}.items():
            costs.setdefault(key, Cost()).add(call)
    print("| job | riskeval | against | theirs | ratio | at most | processor time | its ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for job in all_jobs:
        mine, theirs = (costs[tuple(map(str, call))] for call in (job.mine, job.theirs))
        limit = "" if job.at_most is None else f"{job.at_most:g}"
        print(
            f"| {job.title} | {mine.wall:.2f} s | {job.other} | {theirs.wall:.2f} s "
            f"| {mine.wall / theirs.wall:.2f} | {limit} | {mine.cpu:.2f} s "
            f"| {mine.cpu / theirs.cpu:.2f} |"
        )


def memory(sizes: Sequence[tuple[str, Data]], repeat: int) -> None:
    """Print the peak of each size."""
    print("\n| riskeval score | peak memory |\n|---|---|")
    for title, data in sizes:
        cost = Cost()
        for _ in range(repeat):
            cost.add(riskeval(data))
        print(f"| {title} | {cost.megabytes:.0f} MB |")


def made(folder: Path, runs: int, *options: str) -> Data:
    """Run files by `make_runs.py`, made unless they are there."""
    if not (folder / "subtopics.txt").exists() or len(list((folder / "runs").iterdir())) != runs:
        click.echo(f"making {folder}", err=True)
        maker = Path(__file__).with_name("make_runs.py")
        command = [sys.executable, str(maker), str(folder), "--runs", str(runs), *options]
        subprocess.run(command, check=True)
    return Data(folder)


@contextmanager
def with_ir_measures(wanted: bool) -> Iterator[Path | None]:
    """The interpreter of an environment that has ir_measures, or None."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        steps = (
            [sys.executable, "-m", "venv", folder],
            [str(python), "-m", "pip", "install", "ir_measures"],
        )
        try:
            for step in steps if wanted else ():
                subprocess.run(step, check=True, capture_output=True)
        except subprocess.CalledProcessError:
            click.echo("ir_measures cannot be installed here: left out", err=True)
            wanted = False
        yield python if wanted else None


@contextmanager
def workplace(folder: Path | None) -> Iterator[Path]:
    """The folder given, or one that is thrown away."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


@click.command()
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1))
@click.option("--ir-measures/--no-ir-measures", "rival", default=True)
def main(folder: Path | None, repeat: int, rival: bool) -> None:
    """Measure and print."""
    print(f"{available_cores()} cores, best of {repeat}\n")
    with workplace(folder) as place, with_ir_measures(rival) as python:
        many = made(place / "many", 170)
        few = made(place / "few", 17)
        packed = made(place / "packed", 170, "--gzip")
        large = made(place / "large", 1, "--topics", "6980", "--ids", "msmarco")
        compare(list(jobs(many, packed, large, python)), repeat)
        memory([("17 runs", few), ("170 runs", many), ("1 run of 6,980 topics", large)], 2)


if __name__ == "__main__":
    main()
