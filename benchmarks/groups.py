"""How often groups of topics are said to differ where they do not, and where they do.

    python benchmarks/groups.py [--draws N] [--runs FOLDER --qrels FILE]

Prints the table of docs/labels.md as Markdown. Topics are drawn with replacement from a matrix, of
real runs where a folder of them is given, else made to resemble average precision. An error is a
mark in any group where none of its kind is true; the test of run x group, which comes first, errs
at least as often, and in every column of the table alike. The seed is fixed: the same call prints
the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

import riskcli
from benchmarks.calibration import robust_like
from riskcli.risk.estimate import holm
from riskcli.risk.interaction import LEAST_GROUP, interaction

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Draw = Callable[[Floats, Counts, np.random.Generator], Floats]

SEED, GAMMA = 20163, 0.05
RUNS = (1, 7, 30)
SIZES = ((25, 15, 10), (30, 12, 8))
EFFECTS = (0.5, 1.0, 1.5)


def equal(scores: Floats, _groups: Counts, rng: np.random.Generator) -> Floats:
    """Differences of runs that are shuffled within topics, the baseline too."""
    shuffled = rng.permuted(scores, axis=0)
    return np.asarray(shuffled[1:] - shuffled[0])


def unlike(scores: Floats, _groups: Counts, _rng: np.random.Generator) -> Floats:
    """Differences as they are, whatever the group."""
    return np.asarray(scores[1:] - scores[0])


def wide(scores: Floats, groups: Counts, rng: np.random.Generator) -> Floats:
    """Differences without a mean, twice as large in the last group that is tested."""
    sizes = np.bincount(groups)
    last = int(np.flatnonzero(sizes >= LEAST_GROUP)[-1])
    signs = np.where(rng.random(groups.shape) < 0.5, -1, 1)
    return np.asarray((scores[1:] - scores[0]) * signs * np.where(groups == last, 2, 1))


NULLS: dict[str, Draw] = {
    "no run differs": equal,
    "runs differ, alike in all groups": unlike,
    "no run differs, one group varies twice as much": wide,
}


def marked(delta: Floats, groups: Counts, p: float) -> NDArray[np.bool_]:
    """By run and group, what is flagged; nothing unless the test of all is significant."""
    sizes = np.bincount(groups)
    large = [group for group in range(len(sizes)) if sizes[group] >= LEAST_GROUP]
    found = np.zeros((len(delta), len(sizes)), dtype=np.bool_)
    if p < GAMMA:
        each = [ttest_1samp(delta[:, groups == group], 0, axis=1).pvalue for group in large]
        raw = np.nan_to_num(np.array(each).T, nan=1.0)
        found[:, large] = holm(raw.ravel()).reshape(raw.shape) < GAMMA
    return found


def null_rates(truth: Floats, sizes: tuple[int, ...], null: Draw, draws: int) -> tuple[float, ...]:
    """How often the test of all rejects, and how often anything is marked."""
    rng = np.random.default_rng(SEED)
    groups, reached = np.repeat(np.arange(len(sizes)), sizes), np.zeros(2)
    for draw in range(draws):
        topics = rng.integers(truth.shape[1], size=len(groups))
        delta = null(truth[:, topics], groups, rng)
        found = interaction(delta, groups, draw)
        flags = marked(delta, groups, found)
        reached += np.array([found < GAMMA, flags.any()])
    return tuple(reached / draws)


def power(truth: Floats, sizes: tuple[int, ...], size: float, draws: int) -> float:
    """How often a run is marked that gains `size` standard deviations in the second group alone."""
    rng, reached = np.random.default_rng(SEED), 0
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for draw in range(draws):
        topics = rng.integers(truth.shape[1], size=len(groups))
        delta = equal(truth[:, topics], groups, rng)
        delta[0] += size * (truth[1:] - truth[0]).std() * (groups == 1)
        found = interaction(delta, groups, draw)
        reached += bool(marked(delta, groups, found)[0, 1])
    return reached / draws


def truth_of(chosen: argparse.Namespace, runs: int) -> Floats:
    """Scores of the baseline (first) and the runs."""
    if chosen.runs is None:
        return robust_like(runs + 1, 250, SEED)
    scores = riskcli.evaluate(
        chosen.runs,
        qrels=chosen.qrels,
        rules=riskcli.Rules(measures=("ERR@20",), run_names="file"),
    )
    return scores.matrices[0].values[: runs + 1]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--qrels", type=Path)
    chosen = parser.parse_args()
    counts = [runs for runs in RUNS if chosen.runs is None or runs < 8]
    print("| nothing to find | sizes |", " | ".join(f"{n} run{'s' * (n > 1)}" for n in counts), "|")
    print("|:--|:--" + "|--:" * len(counts) + "|")
    for name, null in NULLS.items():
        for sizes in SIZES:
            rates = [null_rates(truth_of(chosen, n), sizes, null, chosen.draws) for n in counts]
            cells = " | ".join(f"{test:.3f} ({flags:.3f})" for test, flags in rates)
            print(f"| {name} | {'/'.join(map(str, sizes))} | {cells} |", flush=True)
    print(
        "\n| one run gains in one group | sizes |",
        " | ".join(f"{n} run{'s' * (n > 1)}" for n in counts),
        "|",
    )
    print("|:--|:--" + "|--:" * len(counts) + "|")
    for size in EFFECTS:
        for sizes in SIZES:
            found = [power(truth_of(chosen, n), sizes, size, chosen.draws // 4) for n in counts]
            cells = " | ".join(f"{share:.2f}" for share in found)
            print(f"| {size:g} SD | {'/'.join(map(str, sizes))} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
