"""How often the tests err where nothing differs, and how often the intervals cover the truth.

    python benchmarks/calibration.py [--simulations N] [--runs FOLDER --qrels FILE]

Prints Markdown tables for 25, 50 and 100 topics and alpha 0 and 5: on scores from a generator
(ten runs, two of them exchangeable by construction), on real runs if a folder of them is given
(topics drawn with replacement, two runs swapped at random on every topic), and the family-wise
error of the randomised Tukey HSD. The seed is fixed: the same call prints the same tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import riskcli
from riskcli.analyses.significance.pairs import compare_all, randomised_tukey_hsd
from riskcli.risk.baselines import Baseline
from riskcli.risk.comparison import Comparison
from riskcli.risk.inference import Inference
from riskcli.risk.measures import georisk, zrisk
from riskcli.risk.options import Significance

Floats = NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int], Floats]

TOPICS = (25, 50, 100)
ALPHAS = (0.0, 5.0)
GAMMA = 0.05
SEED = 20161


def generated(generator: np.random.Generator, topics: int) -> Floats:
    """Ten runs of logistic-normal scores that share each topic's difficulty."""
    difficulty = generator.standard_normal((1, topics))
    noise = generator.standard_normal((10, topics))
    return np.asarray(1 / (1 + np.exp(1 - difficulty - 0.9 * noise)))


def resampled(scores: Floats) -> Sampler:
    """Topics of a real matrix drawn with replacement, with runs 0 and 1 swapped at random."""

    def sample(generator: np.random.Generator, topics: int) -> Floats:
        drawn = scores[:, generator.integers(0, scores.shape[1], topics)].copy()
        exact = (drawn == 0) | (drawn == 1)
        inner = np.clip(drawn, 1e-6, 1 - 1e-6)
        noise = 0.25 * generator.standard_normal(drawn.shape)
        blurred = 1 / (1 + np.exp(-(np.log(inner / (1 - inner)) + noise)))
        blurred[exact] = drawn[exact]
        swapped = generator.random(topics) < 0.5
        blurred[:2, swapped] = blurred[1::-1, swapped]
        return np.asarray(blurred)

    return sample


def truth(sample: Sampler, alpha: float) -> tuple[float, float]:
    """ZRisk/c and GeoRisk of run 0 on 200,000 topics."""
    scores = sample(np.random.default_rng(SEED + 1), 200_000)
    population = Comparison(scores, Baseline("0", (0,), scores[0])).population
    zeta = float(population.zrisk(alpha)[0]) / scores.shape[1]
    return zeta, float(population.georisk(alpha)[0])


def one_cell(sample: Sampler, topics: int, alpha: float, simulations: int) -> dict[str, float]:
    """Shares of rejections of run 1 = run 0, and of own intervals that hold the truth."""
    generator = np.random.default_rng(SEED)
    goals = dict(zip(("zrisk", "georisk"), truth(sample, alpha), strict=True))
    counts = dict.fromkeys(
        ["mean", "zrisk", "georisk", "zrisk covers", "georisk covers", "trisk"], 0
    )
    for _ in range(simulations):
        scores = sample(generator, topics)
        comparison = Comparison(scores, Baseline("0", (0,), scores[0]))
        inference = Inference(comparison, Significance(gamma=GAMMA))
        for name, statistic in (("zrisk", zrisk.STATISTIC), ("georisk", georisk.STATISTIC)):
            known, scale = inference.of_statistic(statistic, alpha), statistic.scale(topics)
            assert known.p is not None and known.low is not None and known.high is not None
            counts[name] += bool(known.p[1] < GAMMA)
            low, high = known.low[0] / scale, known.high[0] / scale
            counts[f"{name} covers"] += bool(low <= goals[name] <= high)
        counts["mean"] += bool(abs(comparison.paired.trisk(0.0)[1]) > inference.critical)
        counts["trisk"] += bool(abs(comparison.paired.trisk(alpha)[1]) > inference.critical)
    return {name: count / simulations for name, count in counts.items()}


def print_table(title: str, sample: Sampler, simulations: int) -> None:
    """Type I error and coverage for every number of topics and alpha."""
    print(f"### {title}\n")
    print(
        "| topics | α | mean | ZRisk | GeoRisk | ZRisk covered | GeoRisk covered | TRisk flagged |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for topics in TOPICS:
        for alpha in ALPHAS:
            cell = one_cell(sample, topics, alpha, simulations)
            names = ("mean", "zrisk", "georisk", "zrisk covers", "georisk covers", "trisk")
            shown = " | ".join(f"{cell[name]:.3f}" for name in names)
            print(f"| {topics} | {alpha:g} | {shown} |", flush=True)
    print()


def print_family_wise(simulations: int, runs: int = 8, permutations: int = 499) -> None:
    """The chance of any flag among all pairs of equal runs: Tukey, Holm and uncorrected."""
    print(f"### Any flag among the {runs * (runs - 1) // 2} pairs of {runs} equal runs (means)\n")
    print("| topics | randomised Tukey HSD | Holm | uncorrected |\n|--:|--:|--:|--:|")
    for topics in TOPICS:
        generator = np.random.default_rng(SEED)
        flagged = np.zeros(3)
        for number in range(simulations):
            scores = generated(generator, topics)[:runs]
            deviations = scores - scores.mean(axis=1, keepdims=True)
            tukey = randomised_tukey_hsd(scores, permutations, number)
            pairs = compare_all(scores.mean(axis=1), deviations, GAMMA, "holm")
            flagged += [bool((p < GAMMA).any()) for p in (tukey, pairs.p_adjusted, pairs.p)]
        shown = " | ".join(f"{share:.3f}" for share in flagged / simulations)
        print(f"| {topics} | {shown} |", flush=True)
    print()


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=4000)
    parser.add_argument("--runs", type=Path, help="a folder of real runs")
    parser.add_argument("--qrels", type=Path, help="their judgements")
    chosen = parser.parse_args()
    error = (GAMMA * (1 - GAMMA) / chosen.simulations) ** 0.5
    print(f"{chosen.simulations} simulations a row; Monte Carlo standard error {error:.4f}\n")
    print_table("Scores from a generator", generated, chosen.simulations)
    if chosen.runs:
        found = riskcli.evaluate([chosen.runs], qrels=chosen.qrels)
        for matrix in found.matrices:
            title = f"Real runs, {matrix.measure}: {matrix.runs[0]} and {matrix.runs[1]} swapped"
            print_table(title, resampled(matrix.values), chosen.simulations)
    print_family_wise(min(chosen.simulations, 2000))


if __name__ == "__main__":
    main()
