"""How often equal runs are flagged against a virtual baseline, in teams and in frozen populations.

    python -m benchmarks.members [--simulations N] [--topics N] [--zeros SHARE] [--baseline NAME]

Prints a table of docs/appendix-calibration.md as Markdown: the share of samples in which any of 17
equal runs is flagged, by shuffles (max-t) and by Student's t and Holm, which larger matrices get.
Every sample draws topics from a matrix that resembles those of TREC's Robust tracks and shuffles
the runs on every topic, so that none differs from the others. The seed is fixed: the same call
prints the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import ALPHAS, GAMMA, SEED, Floats, drawn, robust_like
from riskcli import Options, ScoreMatrix, Significance, freeze
from riskcli.risk.inference import MOST_SHUFFLED_CELLS, Inference
from riskcli.risk.measures import statistics
from riskcli.scores.comparisons import comparisons
from riskcli.scores.teams import Teams

RUNS, FROZEN = 17, 9
ZEROS = (0.0, 0.1)
SHUFFLES = 199
TESTS = {"shuffles": MOST_SHUFFLED_CELLS, "t and Holm": 0}
"""The tests, by the most scores that are shuffled."""
KEYS = [None, *((statistic, alpha) for statistic in statistics() for alpha in ALPHAS)]


class FewShuffles(Significance):
    """Fewer than the program has, for speed: they have the same chance of a false flag."""

    @property
    def number_of_shuffles(self) -> int:
        """As many as it takes."""
        return SHUFFLES


def matrix_of(scores: Floats) -> ScoreMatrix:
    """Runs and topics by number."""
    names = tuple(f"run{row:02d}" for row in range(len(scores)))
    return ScoreMatrix("AP", names, tuple(map(str, range(scores.shape[1]))), scores)


def in_teams(scores: Floats, of_runs: str) -> tuple[ScoreMatrix, Options]:
    """As many runs as there are letters, the team of each."""
    matrix = matrix_of(scores[: len(of_runs)])
    return matrix, Options(teams=Teams(dict(zip(matrix.runs, of_runs, strict=True))))


def beside_frozen(scores: Floats, at_hand: slice) -> tuple[ScoreMatrix, Options]:
    """Some of the runs, the first of all frozen."""
    frozen = freeze(matrix_of(scores[:FROZEN].copy()))
    return matrix_of(scores[at_hand]), Options(population=frozen)


POPULATIONS: Mapping[str, Callable[[Floats], tuple[ScoreMatrix, Options]]] = {
    "teams of 6, 4, 3, 2, 1, 1": lambda scores: in_teams(scores, "aaaaaabbbbcccddef"),
    "teams of 4, 4, 4, 4": lambda scores: in_teams(scores, "aaaabbbbccccdddd"),
    "9 frozen, all 17 at hand": lambda scores: beside_frozen(scores, slice(None)),
    "9 frozen, 8 others at hand": lambda scores: beside_frozen(scores, slice(FROZEN, None)),
}


def flagged(matrix: ScoreMatrix, options: Options, baseline: str, seed: int) -> list[list[bool]]:
    """By test, measure and alpha: whether any run is."""
    (comparison,) = comparisons(matrix, replace(options, baselines=(baseline,)))
    found = []
    for most in TESTS.values():
        with patch("riskcli.risk.inference.MOST_SHUFFLED_CELLS", most):
            plan = FewShuffles(gamma=GAMMA, seed=seed)
            by = Inference(comparison, plan, statistics(), ALPHAS, ranked=False)
            known = [by.of_means if key is None else by.of_statistic(*key) for key in KEYS]
        flags = [estimate.corrected("holm", GAMMA).flag for estimate in known]
        found.append([flag is not None and bool((flag != "").any()) for flag in flags])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--topics", type=int, action="append", help="by default 25 and 50")
    parser.add_argument("--zeros", type=float, action="append", help="by default 0 and 0.1")
    parser.add_argument("--baseline", default="@mean", help="@mean, @median, @max or @min")
    chosen = parser.parse_args()
    heads = [f"{name} α {alpha:g}" for name in ("ZRisk", "GeoRisk") for alpha in ALPHAS]
    print("| scores of 0 | topics | population | test | mean |", " | ".join(heads), "|")
    print("|:--|--:|:--|:--" + "|--:" * (1 + len(heads)) + "|")
    for zeros in chosen.zeros or ZEROS:
        truth = robust_like(RUNS, 400, SEED, zeros)
        for topics in chosen.topics or (25, 50):
            for title in POPULATIONS:
                samples = []
                generator = np.random.default_rng(SEED)
                for number in range(chosen.simulations):
                    scores = generator.permuted(drawn(generator, truth, topics), axis=0)
                    samples.append(flagged(*POPULATIONS[title](scores), chosen.baseline, number))
                for test, shares in zip(TESTS, np.mean(samples, axis=0), strict=True):
                    cells = " | ".join(f"{share:.3f}" for share in shares)
                    print(f"| {zeros:.0%} | {topics} | {title} | {test} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
