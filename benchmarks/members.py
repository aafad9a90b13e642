"""How often equal runs are flagged against a virtual baseline, in teams and in frozen populations.

    python -m benchmarks.members [--simulations N]

Prints a table of docs/appendix-calibration.md as Markdown: the share of samples in which any of
twelve equal runs is flagged, by Student's t and Holm. Every sample draws topics from a matrix that
resembles those of TREC's Robust tracks and shuffles the runs on every topic, so that none differs
from the others. The seed is fixed: the same call prints the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from benchmarks.calibration import ALPHAS, GAMMA, SEED, TOPICS, drawn, robust_like
from riskcli import Options, ScoreMatrix, freeze
from riskcli.analyses.blocks import risk_blocks
from riskcli.scores.teams import Teams

RUNS, FROZEN = 12, 8
TEAMS = "a" * 6 + "b" * 3 + "c" * 2 + "d"
ZEROS = (0.0, 0.25)
MEASURES = ("mean", "zrisk", "georisk")


def populations(matrix: ScoreMatrix) -> Mapping[str, Options]:
    """What the runs are measured in."""
    some = ScoreMatrix(
        matrix.measure, matrix.runs[:FROZEN], matrix.topics, matrix.values[:FROZEN].copy()
    )
    teams = Teams(dict(zip(matrix.runs, TEAMS, strict=True)))
    return {
        "teams of 6, 3, 2 and 1": Options(alphas=ALPHAS, teams=teams),
        "all 12 frozen": Options(alphas=ALPHAS, population=freeze(matrix)),
        "8 of the 12 frozen": Options(alphas=ALPHAS, population=freeze(some)),
    }


def flagged(matrix: ScoreMatrix, options: Options) -> dict[tuple[str, float], bool]:
    """Whether any run is, by measure and alpha."""
    blocks, _ = risk_blocks(matrix, options)
    found = {}
    for block in blocks:
        for name in MEASURES:
            adjusted = block.estimates[name].p_adjusted
            assert adjusted is not None and block.alpha is not None
            found[name, block.alpha] = bool((adjusted < GAMMA).any())
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400)
    count = parser.parse_args().simulations
    heads = [f"{name}, α = {alpha:g}" for name in ("ZRisk", "GeoRisk") for alpha in ALPHAS]
    print("| scores of 0 | topics | population | mean |", " | ".join(heads), "|")
    print("|:--|--:|:--" + "|--:" * (1 + len(heads)) + "|")
    for zeros in ZEROS:
        truth = robust_like(RUNS, 400, SEED, zeros)
        for topics in TOPICS:
            generator = np.random.default_rng(SEED)
            shares: dict[str, dict[tuple[str, float], int]] = {}
            for _ in range(count):
                values = generator.permuted(drawn(generator, truth, topics), axis=0)
                names = tuple(f"run{row:02d}" for row in range(RUNS))
                matrix = ScoreMatrix("AP", names, tuple(map(str, range(topics))), values)
                for title, options in populations(matrix).items():
                    counts = shares.setdefault(title, {})
                    for key, any_run in flagged(matrix, options).items():
                        counts[key] = counts.get(key, 0) + any_run
            for title, counts in shares.items():
                keys = [("mean", 1.0), *((name, a) for name in MEASURES[1:] for a in ALPHAS)]
                cells = " | ".join(f"{counts[key] / count:.3f}" for key in keys)
                print(f"| {zeros:.0%} | {topics} | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
