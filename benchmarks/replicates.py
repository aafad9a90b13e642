"""What replicates do to tests and to URisk: systems of one recipe, that differ by noise alone.

Topics are hard or easy (Beta(1, 2.5)); a replicate's score on a topic lies about that of the topic
with a standard deviation of 0.08, as those of LightGBM models of different seeds do. No system is
better than another, so each mark is an error.

    python -m benchmarks.replicates [--trials 1000] [--only errors|floor|lost]
    python -m benchmarks.replicates --write seeds.csv

The second call writes an example: two systems of one recipe with five seeds, and a single run.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from riskcli import Options, ScoreMatrix
from riskcli.analyses.blocks import risk_blocks
from riskcli.risk.estimate import Significance
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import comparisons

Floats = NDArray[np.float64]
NOISE, TOPICS, GAMMA = 0.08, 50, 0.05
SYSTEMS = ("a", "b", "c", "d", "e", "f")
DESIGNS: dict[str, tuple[int, ...]] = {
    "one each": (1, 1, 1, 1, 1, 1),
    "five each": (5, 5, 5, 5, 5, 5),
    "five and three": (5, 3, 5, 3, 5, 3),
    "five and one": (5, 1, 5, 1, 5, 1),
}
"""By name, how many replicates each system has; of the last rows one is a single run."""
BEST = "best of five, taken as one"
TESTED = ("mean", "zrisk", "georisk")


def field(rng: np.random.Generator, sizes: Sequence[int], spread: float = 0.0) -> ScoreMatrix:
    """Systems of so many replicates; with `spread`, some topics are noisier than others."""
    topics = rng.beta(1, 2.5, TOPICS)
    noise = NOISE * np.exp(spread * rng.normal(size=TOPICS) - spread**2)
    names = [f"{system}-{n}" for system, size in zip(SYSTEMS, sizes, strict=False)
             for n in range(1, size + 1)]  # fmt: skip
    values = np.clip(topics + noise * rng.normal(size=(len(names), TOPICS)), 0, 1)
    return ScoreMatrix("score", tuple(names), tuple(map(str, range(TOPICS))), values)


def systems_of(rng: np.random.Generator, design: str) -> ScoreMatrix:
    """One sample: averages, or of each system the replicate with the best mean."""
    if design != BEST:
        matrix = field(rng, DESIGNS[design])
        return matrix if design == "one each" else matrix.of_systems("^.")
    matrix = field(rng, DESIGNS["five each"])
    means = matrix.values.mean(axis=1).reshape(-1, 5)
    # of the first system any replicate is taken: who tunes the new one rarely tunes the baseline
    rows = [0, *(5 * row + int(best) for row, best in enumerate(means.argmax(axis=1)) if row)]
    return matrix.of_runs(rows)


def errors(
    design: str, trials: int, seed: int = 1, baselines: Sequence[str] = ("a", "@mean")
) -> list[float]:
    """Of single tests against a run, and of any mark against a run and against the mean."""
    rng = np.random.default_rng(seed)
    single, marked = [], []
    chosen = [measure for measure in measures() if measure.id in TESTED]
    for _ in range(trials):
        matrix, found = systems_of(rng, design), []
        for baseline in baselines:
            name = matrix.runs[0] if baseline == "a" else baseline
            plan = Significance(shuffles=999)
            options = Options(baselines=(name,), alphas=(1.0,), significance=plan)
            (block,), _notes = risk_blocks(matrix, options, chosen)
            estimates = [block.estimates[name] for name in TESTED]
            if baseline == "a":
                single.append([np.nanmean(p_of(e)[1:] < GAMMA) for e in estimates])
            found += [bool((e.flag != "").any()) for e in estimates if e.flag is not None]
        marked.append(found)
    return [*np.mean(single, axis=0).tolist(), *np.mean(marked, axis=0).tolist()]


def p_of(estimate: object) -> Floats:
    """The p-values of single tests."""
    p = getattr(estimate, "p", None)
    assert isinstance(p, np.ndarray)
    return p


def below_floor(sizes: Sequence[int], alpha: float, trials: int, seed: int = 2) -> list[float]:
    """How often URisk of a system of the same recipe is below its floor, and mean URisk, floor."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(trials):
        matrix = field(rng, sizes).of_systems("^.")
        options = Options(baselines=("a",), alphas=(alpha,))
        (block,), _notes = risk_blocks(matrix, options, [m for m in measures() if m.id == "urisk"])
        urisk, floor = block.estimates["urisk"].value[1], np.asarray(block.beside["floor"])[1]
        found.append([urisk < floor, urisk, floor])
    return list(np.mean(found, axis=0).tolist())


def falsely_lost(size: int, spread: float, trials: int, seed: int = 3) -> float:
    """The share of topics that count as lost though both systems are of one recipe."""
    rng = np.random.default_rng(seed)
    lost = []
    for _ in range(trials):
        matrix = field(rng, (size, size), spread).of_systems("^.")
        (comparison,) = comparisons(matrix, Options(baselines=("a",)))
        lost.append(comparison.paired.lost[1].mean())
    return float(np.mean(lost))


def print_errors(trials: int) -> None:
    """How often tests err, and marks."""
    print("| replicates | mean | ZRisk | GeoRisk | mean, any | ZRisk | GeoRisk "
          "| @mean: mean | ZRisk | GeoRisk |")  # fmt: skip
    print("|:--|" + "--:|" * 9)
    for design in (*DESIGNS, BEST):
        cells = " | ".join(f"{rate:.3f}".lstrip("0") for rate in errors(design, trials))
        print(f"| {design} | {cells} |", flush=True)
    print()


def print_floor(trials: int) -> None:
    """How URisk of the same recipe lies about its floor."""
    print("| replicates | α | below the floor | mean URisk | mean floor |")
    print("|:--|--:|--:|--:|--:|")
    for sizes in ((2, 2), (5, 5), (5, 1), (1, 5)):
        for alpha in (1.0, 5.0):
            rate, urisk, floor = below_floor(sizes, alpha, trials)
            name = " and ".join(map(str, sizes))
            print(f"| {name} | {alpha:g} | {rate:.2f} | {urisk:.4f} | {floor:.4f} |", flush=True)
    print()


def print_lost(trials: int) -> None:
    """How many topics count as lost though none is."""
    print("| replicates | noise | topics lost |")
    print("|--:|:--|--:|")
    for size in (2, 3, 5):
        for spread, name in ((0.0, "the same on all topics"), (0.5, "up to threefold")):
            print(f"| {size} | {name} | {falsely_lost(size, spread, trials):.4f} |", flush=True)
    print()


def write_example(file: Path) -> None:
    """Scores of dense-s1 to -s5, hybrid-s1 to -s5 (of one recipe) and bm25, as CSV."""
    matrix = field(np.random.default_rng(12), (5, 5))
    runs = {run.replace("a-", "dense-s").replace("b-", "hybrid-s"): row
            for run, row in zip(matrix.runs, matrix.values, strict=True)}  # fmt: skip
    runs["bm25"] = 0.8 * matrix.values.mean(axis=0)
    lines = ["run,measure,topic,score"]
    for run, row in runs.items():
        lines += [f"{run},AP,{151 + q},{score:.4f}" for q, score in enumerate(row.tolist())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Print all tables, or those of one kind; or write the example."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000, help="samples of each case")
    kinds = {"errors": print_errors, "floor": print_floor, "lost": print_lost}
    parser.add_argument("--only", choices=kinds, action="append", help="tables of this kind")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write an example, no table")
    chosen = parser.parse_args()
    if chosen.write:
        write_example(chosen.write)
    else:
        for kind, table in kinds.items():
            if not chosen.only or kind in chosen.only:
                table(chosen.trials)


if __name__ == "__main__":
    main()
