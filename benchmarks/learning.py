"""What training for risk costs beside LightGBM's own lambdarank, measured in the same go.

    python -m benchmarks.learning [--queries 2917] [--documents 120] [--features 136] [--growth]

Prints Markdown: CPU seconds an iteration on one thread, tree of 50 leaves included, as a ratio to
lambdarank's; memory on top of the data, each in a process of its own (on Linux); with --growth, the
objective alone on up to 1.2 million documents in queries of 5 to 960.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.make_features import Made, make_features
from riskcli.learn import GeoRisk, Objective, Plain, TFaro, TSaro, URisk

TREE: dict[str, Any] = {
    "num_leaves": 50, "num_threads": 1, "verbosity": -1, "metric": "None", "force_row_wise": True,
    "learning_rate": 0.075, "min_data_in_leaf": 100,
}  # fmt: skip
ROWS = 13
"""Truncation of all: nDCG@10 and three ranks beyond it, as by default."""
LAMBDARANK = "lambdarank"


def _several(made: Made) -> dict[str, Any]:
    return {f"b{column}": made.features[:, column] for column in (0, 1, made.bm25)}


CONTENDERS: dict[str, Callable[[Made], Any]] = {
    LAMBDARANK: lambda _: LAMBDARANK,
    "plain": lambda made: Plain(baseline=made.baseline),
    "U-CRO": lambda made: URisk(baseline=made.baseline),
    "T-SARO": lambda made: TSaro(baseline=made.baseline),
    "T-FARO": lambda made: TFaro(baseline=made.baseline),
    "GeoRisk, 3 baselines": lambda made: GeoRisk(baseline=_several(made)),
    "GeoRisk, 3 baselines, exact": lambda made: GeoRisk(baseline=_several(made), marginals="exact"),
}


def _dataset(made: Made) -> Any:
    import lightgbm

    return lightgbm.Dataset(made.features, made.grades, group=made.sizes).construct()


def _booster(made: Made, data: Any, name: str) -> tuple[Any, Any]:
    import lightgbm

    objective = CONTENDERS[name](made)
    own = objective == LAMBDARANK
    told = {"objective": LAMBDARANK if own else "none", "lambdarank_truncation_level": ROWS}
    return lightgbm.Booster({**TREE, **told}, data), None if own else objective


def times(made: Made, iterations: int, repeat: int) -> dict[str, float]:
    """CPU seconds an iteration: the least of `repeat` goes, all contenders taking turns."""
    data = _dataset(made)
    boosters = {name: _booster(made, data, name) for name in CONTENDERS}
    for booster, objective in boosters.values():
        booster.update(fobj=objective)  # what is done once is not part of an iteration
    best = dict.fromkeys(boosters, float("inf"))
    for _ in range(repeat):
        for name, (booster, objective) in boosters.items():
            start = time.process_time()
            for _ in range(iterations):
                booster.update(fobj=objective)
            best[name] = min(best[name], (time.process_time() - start) / iterations)
    return best


def peak(size: tuple[int, int, int], name: str) -> float:
    """The memory, in MB, that training takes on top of the data, in a process of its own."""
    arguments = [sys.executable, "-m", "benchmarks.learning", "--alone", name]
    for option, value in zip(("--queries", "--documents", "--features"), size, strict=True):
        arguments += [option, str(value)]
    return float(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def alone(made: Made, name: str) -> float:
    """Train for three iterations; how far memory rose above what the data took (Linux only)."""
    data = _dataset(made)
    ctypes.CDLL(None).malloc_trim(0)  # or what making the data freed would be used again unseen
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _kilobytes("VmRSS")
    booster, objective = _booster(made, data, name)
    for _ in range(3):
        booster.update(fobj=objective)
    return (_kilobytes("VmHWM") - before) / 1024


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0])


def growth(repeat: int) -> None:
    """The objective alone on more and more documents, in queries of many sizes."""
    click.echo("\n| documents | queries | sizes | " + " | ".join(list(CONTENDERS)[1:]) + " |")
    click.echo("|" + "--:|" * (len(CONTENDERS) + 2))
    for queries in (1250, 2500, 5000, 10000):
        made = make_features(queries, 120, 4, seed=2, vary=True)
        scores = np.random.default_rng(1).normal(size=len(made.grades))
        shown = []
        for name in list(CONTENDERS)[1:]:
            objective: Objective = CONTENDERS[name](made)
            known = objective.prepare(made.grades, made.sizes, objective.baseline)
            best = float("inf")
            for _ in range(repeat):
                start = time.process_time()
                objective.derivatives(scores, known)
                best = min(best, time.process_time() - start)
            shown.append(f"{best:.2f}")
        cells = [f"{len(made.grades):,}", str(queries), str(len(np.unique(made.sizes))), *shown]
        click.echo("| " + " | ".join(cells) + " |")


@click.command()
@click.option("--queries", default=2917, show_default=True)
@click.option("--documents", default=120, show_default=True)
@click.option("--features", default=136, show_default=True)
@click.option("--iterations", default=5, show_default=True)
@click.option("--repeat", default=4, show_default=True)
@click.option("--growth", "grows", is_flag=True, help="Also the objective alone, up to 1.2 M.")
@click.option("--memory/--no-memory", default=True, show_default=True)
@click.option("--alone", "name", hidden=True)
def main(
    queries: int,
    documents: int,
    features: int,
    iterations: int,
    repeat: int,
    grows: bool,
    memory: bool,
    name: str | None,
) -> None:
    """Train with every objective and print what each costs."""
    made = make_features(queries, documents, features)
    if name is not None:
        click.echo(alone(made, name))
        return
    click.echo(f"{len(made.grades):,} documents × {features} features, {queries:,} queries\n")
    found = times(made, iterations, repeat)
    peaks = {
        one: peak((queries, documents, features), one) if memory else 0.0 for one in CONTENDERS
    }
    click.echo("| objective | CPU s an iteration | to lambdarank | MB | more than lambdarank |")
    click.echo("|:--|--:|--:|--:|--:|")
    for one, seconds in found.items():
        ratio = seconds / found[LAMBDARANK]
        more = peaks[one] - peaks[LAMBDARANK]
        click.echo(f"| {one} | {seconds:.3f} | {ratio:.2f} | {peaks[one]:.0f} | {more:+.0f} |")
    if grows:
        growth(repeat)


if __name__ == "__main__":
    main()
