"""What a store of scores and a cluster save, measured in one go on this machine.

    python benchmarks/scale.py [--folder FOLDER] [--repeat N] [--large N]

Prints Markdown tables: 2,000 runs of 50 topics × 100 documents without a store, with a new one,
with a warm one (every byte hashed again, or not) and with one run more, from start to exit of the
program; then runs read by one thread here and by two worker processes of Dask that are up already;
and what a file costs a cluster at the least. A large run is one of 6,980 topics × 1,000
documents; of the N large ones only two differ, the others are links to them, so that a disk and a
page cache of usual size hold them.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

import riskcli
from benchmarks.speed import Cost, Data, made, riskeval, workplace
from riskcli.core.parallel import available_cores, keep_freed_memory
from riskcli.scores.remote import Workers

DISTINCT = 2


def linked(folder: Path, source: Data, count: int) -> Data:
    """So many runs, which are links to those of the source in turn."""
    data = Data(folder)
    data.runs.mkdir(parents=True, exist_ok=True)
    originals = sorted(source.runs.iterdir())
    for i in range(count):
        path = data.runs / f"linked{i:04d}.run"
        if not path.exists():
            path.hardlink_to(originals[i % len(originals)])
    shutil.copy(source.qrels, data.qrels)
    return data


def _rehashing(place: Path) -> Path:
    """Settings that have every byte hashed again."""
    file = place / "rehash.toml"
    file.write_text("rehash = true\n")
    return file


def store_table(two_thousand: Data, one_more: Data, place: Path, repeat: int) -> None:
    """Cold, filling, warm, plus one."""
    store = place / "store"
    (more,) = map(str, one_more.runs.iterdir())
    calls: dict[str, Sequence[str]] = {
        "no store": (),
        "a new store": ("--store", str(store)),
        "a warm store, every byte hashed again": (
            "--store",
            str(store),
            "--config",
            str(_rehashing(place)),
        ),
        "a warm store": ("--store", str(store)),
        "a warm store and one run more": (more, "--store", str(store)),
    }
    costs = {name: Cost() for name in calls}
    for _ in range(repeat):
        shutil.rmtree(store, ignore_errors=True)
        for name, options in calls.items():
            costs[name].add([*riskeval(two_thousand), "--baseline", "run0000", *options])
    cold = costs["no store"]
    print("| 2,000 runs, `riskeval score` | time | of cold | processor time | of cold | memory |")
    print("|:--|--:|--:|--:|--:|--:|")
    for name, cost in costs.items():
        print(
            f"| {name} | {cost.wall:.2f} s | {cost.wall / cold.wall:.3f} | {cost.cpu:.2f} s "
            f"| {cost.cpu / cold.cpu:.3f} | {cost.megabytes:.0f} MB |"
        )


def seconds(work: Callable[[], object], repeat: int) -> float:
    """The best of several calls."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


@contextmanager
def two_workers() -> Iterator[Workers]:
    """Two processes of Dask on this machine, up and warm."""
    from riskcli.scores.dask import cluster

    with cluster("local:2") as workers:
        yield workers


def cluster_table(jobs: Sequence[tuple[str, Data, int]], tiny: Data) -> None:
    """One thread here against two workers, in turn."""
    print(
        "\n| read and scored | 1 thread here | 2 threads here | 2 workers | 1 thread / 2 workers |"
    )
    print("|:--|--:|--:|--:|--:|")
    with two_workers() as workers:

        def read(data: Data, jobs: int | None = None, by: Workers | None = None) -> None:
            riskcli.evaluate([data.runs], qrels=data.qrels, jobs=jobs, executor=by)

        for name, data, repeat in jobs:
            read(data, by=workers)  # judgements are there, modules imported
            alone = seconds(lambda d=data: read(d, jobs=1), repeat)  # type: ignore[misc]
            threads = seconds(lambda d=data: read(d, jobs=2), repeat)  # type: ignore[misc]
            both = seconds(lambda d=data: read(d, by=workers), repeat)  # type: ignore[misc]
            print(
                f"| {name} | {alone:.2f} s | {threads:.2f} s | {both:.2f} s | {alone / both:.2f} |"
            )
        read(tiny, by=workers)
        files = len(list(tiny.runs.iterdir()))
        cost = seconds(lambda: read(tiny, by=workers), 5) - seconds(lambda: read(tiny, jobs=1), 5)
        print(f"\nOverhead a file ({files} files of ten lines): {1000 * cost / files:.2f} ms")


@click.command()
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--large", default=100, show_default=True, type=click.IntRange(min=DISTINCT))
def main(folder: Path | None, repeat: int, large: int) -> None:
    """Measure and print."""
    keep_freed_memory()
    load = os.getloadavg()[0]
    print(f"{available_cores()} cores, best of {repeat}, load before the start {load:.1f}\n")
    with workplace(folder) as place:
        shape = ("--topics", "50", "--depth", "100")
        two_thousand = made(place / "two", 2000, *shape)
        one_more = made(place / "new", 1, *shape, "--seed", "7")
        store_table(two_thousand, one_more, place, repeat)
        distinct = made(place / "distinct", DISTINCT, "--topics", "6980", "--ids", "msmarco")
        tiny = made(place / "tiny", 1000, "--topics", "2", "--depth", "5")
        jobs = [
            (f"{large} runs of 243 MB", linked(place / "large", distinct, large), 1),
            ("170 runs of 5 MB", made(place / "many", 170), repeat),
        ]
        cluster_table(jobs, tiny)


if __name__ == "__main__":
    main()
