"""How often the gate fails equal systems, and how often it sees one that ruins topics.

    python benchmarks/gate.py [--simulations N]

Prints two Markdown tables for 50 topics: false alarms of each policy for two exchangeable runs, and
alarms for a candidate that gains 0.05 on average everywhere but loses nearly everything on 2, 5 or
10 topics. The seed is fixed: the same call prints the same tables.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from riskcli.analyses.check.gate import judge
from riskcli.scores.matrix import ScoreMatrix

Floats = NDArray[np.float64]

SEED = 20168
TOPICS = 50
PRESETS = ("lenient", "standard", "strict")


def scores(generator: np.random.Generator, runs: int) -> Floats:
    """Logistic-normal scores of equally good runs that share each topic's difficulty."""
    difficulty = generator.standard_normal((1, TOPICS))
    noise = generator.standard_normal((runs, TOPICS))
    return np.asarray(1 / (1 + np.exp(1 - difficulty - 0.6 * noise)))


def ruining(generator: np.random.Generator, ruined: int) -> Floats:
    """A baseline, and a candidate that gains a little but ruins that many topics."""
    values = scores(generator, 2)
    values[1] = np.minimum(values[1] + 0.05, 1.0)
    # Failures are noticed where the baseline was of use: among the better half of its topics.
    useful = np.argsort(values[0])[TOPICS // 2 :]
    values[1, generator.choice(useful, ruined, replace=False)] = 0.0
    return values


def failing(policy: str, values: Floats) -> bool:
    """Whether the policy fails any of the candidates (rows from 1) against row 0."""
    runs = tuple(f"r{row}" for row in range(len(values)))
    matrix = ScoreMatrix("score", runs, tuple(map(str, range(TOPICS))), values)
    return not judge(matrix, "r0", policy=policy).passed


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    simulations = parser.parse_args().simulations
    print(f"{simulations} simulations a cell, {TOPICS} topics, γ = 0.05.\n")
    print("| candidates equal to the baseline | " + " | ".join(PRESETS) + " |")
    print("|:--|--:|--:|--:|")
    for candidates in (1, 5):
        generator = np.random.default_rng(SEED)
        drawn = [scores(generator, candidates + 1) for _ in range(simulations)]
        print_row(f"{candidates}", drawn)
    print("\n| topics ruined, gains elsewhere | " + " | ".join(PRESETS) + " | mean difference |")
    print("|:--|--:|--:|--:|--:|")
    for ruined in (0, 2, 5, 10):
        generator = np.random.default_rng(SEED)
        drawn = [ruining(generator, ruined) for _ in range(simulations)]
        difference = float(np.mean([values[1].mean() - values[0].mean() for values in drawn]))
        print_row(f"{ruined}", drawn, f" {difference:+.3f} |")


def print_row(title: str, drawn: list[Floats], more: str = "") -> None:
    """The share of failures under each policy."""
    shares = [float(np.mean([failing(policy, values) for values in drawn])) for policy in PRESETS]
    shown = " | ".join(f"{share:.3f}" for share in shares)
    print(f"| {title} | {shown} |{more}", flush=True)


if __name__ == "__main__":
    main()
