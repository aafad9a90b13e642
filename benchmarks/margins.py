"""How often the gate passes a candidate whose true loss is 0, half the margin, or the margin.

    python benchmarks/margins.py [--simulations N] [--gamma G]

Prints a Markdown table: the share of passes and failures with a margin of 0.02 of the mean (policy
lenient), for differences of standard deviation 0.1 on 25, 50 and 200 topics. The
differences are normal; or skewed as those of real systems: most topics hardly change, and a few
lose, or gain, much; or mostly 0. The last row of each shape is the share that passes without a
margin at a true loss of the margin. The seed is fixed: the same call prints the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from riskcli import Significance, policy
from riskcli.analyses.check.losses import Difference, judge_losses
from riskcli.risk.estimate import Estimate

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

SEED = 20165
SPREAD, MARGIN = 0.1, 0.02
TOPICS = (25, 50, 200)
LOSSES = {"0": 0.0, "half the margin": MARGIN / 2, "the margin": MARGIN}


def normal(generator: np.random.Generator, topics: int) -> Floats:
    """Standard normal differences."""
    return generator.standard_normal(topics)


def few_large_gains(generator: np.random.Generator, topics: int) -> Floats:
    """Mean 0, deviation 1, skewness 2.8: the logarithm is normal."""
    sigma = 0.7
    mean, variance = np.exp(sigma**2 / 2), np.exp(2 * sigma**2) - np.exp(sigma**2)
    drawn = np.exp(sigma * generator.standard_normal(topics))
    return np.asarray((drawn - mean) / np.sqrt(variance))


def few_large_losses(generator: np.random.Generator, topics: int) -> Floats:
    """The same, turned round."""
    return -few_large_gains(generator, topics)


def mostly_equal(generator: np.random.Generator, topics: int) -> Floats:
    """Seven topics of ten do not differ; the others are normal."""
    differs = generator.random(topics) < 0.3
    return np.asarray(differs * generator.standard_normal(topics) / np.sqrt(0.3))


SHAPES: dict[str, Draw] = {
    "normal": normal,
    "few large losses": few_large_losses,
    "few large gains": few_large_gains,
    "mostly equal": mostly_equal,
}


def outcome(differences: Floats, margin: float | None, gamma: float) -> str:
    """What the gate makes of these differences: its own decision, of a paired t test."""
    topics = len(differences)
    mean, error = differences.mean(), differences.std(ddof=1) / np.sqrt(topics)
    p = 2 * stdtr(topics - 1, -abs(mean / error))
    cells = [np.array([0.0, float(value)]) for value in (mean, error, p)]
    estimate = Estimate(cells[0], difference=cells[0], difference_error=cells[1], p=cells[2])
    (test,) = policy("lenient").tests
    row = [Difference(test, margin, topics, topics - 1).measured(estimate, 1)]
    ((tested,),) = judge_losses([row], Significance(gamma=gamma))
    return tested.outcome


def shares(
    draw: Draw, loss: float, topics: int, margin: float | None, count: int, gamma: float
) -> list[float]:
    """The shares of passes and of failures."""
    generator = np.random.default_rng(SEED)
    found = [outcome(SPREAD * draw(generator, topics) - loss, margin, gamma) for _ in range(count)]
    return [found.count(word) / count for word in ("pass", "fail")]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=10000)
    parser.add_argument("--gamma", type=float, default=0.05)
    asked = parser.parse_args()
    count, gamma = asked.simulations, asked.gamma
    print(f"{count} simulations a cell, margin {MARGIN}, deviation {SPREAD}, γ = {gamma:g}.\n")
    heads = [f"{topics} topics: passes / fails" for topics in TOPICS]
    print(f"| differences | true loss | {' | '.join(heads)} |")
    print("|:--|:--|" + "--:|" * len(TOPICS))
    for shape, draw in SHAPES.items():
        rows = [
            *((name, loss, MARGIN) for name, loss in LOSSES.items()),
            ("the margin, no `--margin`", MARGIN, None),
        ]
        for name, loss, margin in rows:
            cells = [shares(draw, loss, topics, margin, count, gamma) for topics in TOPICS]
            shown = " | ".join(f"{passes:.3f} / {fails:.3f}" for passes, fails in cells)
            print(f"| {shape} | {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
