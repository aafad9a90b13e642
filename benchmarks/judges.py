"""How far the corrected difference of docs/labels.md holds what it says, on made judgements.

    python benchmarks/judges.py [--draws N] [--seed N]

Documents of a topic have a chance to be relevant; two runs rank them by what they see of that, and
are scored by humans' grades and by a model's. Of N topics, drawn from many, humans judge n. Prints
how often the interval holds the mean over all topics that could have been drawn, and its width over
that of the humans' topics alone. The error of the test is 1 less the coverage: a constant added to
all differences by humans moves estimate and truth alike. The seed is fixed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

from riskcli.risk.human import corrected_mean, mean_of

Floats = NDArray[np.float64]

SEED = 20163
POOL = 20_000
"""Topics that could be drawn."""
DOCUMENTS, DEPTH = 30, 10
GAMMA = 0.05
HUMANS, TOPICS = (10, 25, 50), (50, 100, 200)
MODELS = {"unbiased": 0.1, "favours a run by .05": 0.1, "noisy": 0.35, "blind": 1.0}
"""The share of grades that the model guesses."""
FAVOUR = 0.05
WORLDS = ("P@10, binary", "nDCG@10, graded", "nDCG@10, skewed")


@dataclass(frozen=True)
class World:
    """The differences of two runs on many topics, by humans and by a model."""

    human: Floats
    model: Floats

    @classmethod
    def of(cls, name: str, model: str, rng: np.random.Generator) -> World:
        """Grades, rankings and what a model makes of the grades."""
        binary = name.startswith("P@")
        chance = rng.beta(1.2, 4, POOL)[:, None]
        truth = _grades(chance, rng, binary)
        guessed = rng.random(truth.shape) < MODELS[model]
        guess = _grades(np.full_like(chance, 0.25) if model == "blind" else chance, rng, binary)
        judged = np.where(guessed, guess, truth)
        sees = 0.6 * rng.standard_normal((POOL, 1))
        noise = rng.normal(0, 1.2, (2, *truth.shape))
        if name.endswith("skewed"):  # a run that is another but on a fifth of the topics
            sees = np.where(rng.random((POOL, 1)) < 0.2, 1.5, 0.0)
            noise[1] = noise[0] + noise[1] / 4
        rankings = [
            np.argsort(-(truth * seen + other), axis=1)[:, :DEPTH]
            for seen, other in zip((np.full((POOL, 1), 0.9), 0.9 + sees), noise, strict=True)
        ]
        by_humans, by_model = (
            [_scores(grades, ranking, binary) for ranking in rankings] for grades in (truth, judged)
        )
        if model.startswith("favours"):
            by_model[1] = np.minimum(by_model[1] + FAVOUR, 1.0)
        return cls(by_humans[1] - by_humans[0], by_model[1] - by_model[0])


def _grades(chance: Floats, rng: np.random.Generator, binary: bool) -> Floats:
    drawn = rng.random((POOL, DOCUMENTS))
    levels = (1.0,) if binary else (1.0, 0.5, 0.2)
    return np.asarray(sum((drawn < chance * level).astype(float) for level in levels))


def _scores(grades: Floats, ranking: NDArray[np.intp], binary: bool) -> Floats:
    top = np.take_along_axis(grades, ranking, axis=1)
    if binary:
        return np.asarray(top.mean(axis=1))
    discount = 1 / np.log2(np.arange(DEPTH) + 2)
    ideal = (-np.sort(-grades, axis=1)[:, :DEPTH] * discount).sum(axis=1)
    return np.asarray((top * discount).sum(axis=1) / np.where(ideal > 0, ideal, 1.0))


def measured(
    world: World, humans: int, topics: int, draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Coverage, that of the humans' topics alone, and the mean width over that of these."""
    drawn = rng.integers(0, POOL, (draws, topics))
    human, model = world.human[drawn[:, :humans]], world.model[drawn]
    truth = world.human.mean()
    (low, high), (low_alone, high_alone) = (
        tested.interval(GAMMA)
        for tested in (corrected_mean(human, model, np.arange(topics) < humans), mean_of(human))
    )
    holds, alone = (
        float(np.mean((lo <= truth) & (truth <= hi)))
        for lo, hi in ((low, high), (low_alone, high_alone))
    )
    return holds, alone, float(np.nanmean(high - low) / np.nanmean(high_alone - low_alone))


def cells(draws: int, seed: int) -> Iterator[tuple[str, str, int, int, tuple[float, float, float]]]:
    """What is measured in each world, by each model, with so many topics of so many."""
    rng = np.random.default_rng(seed)
    for name in WORLDS:
        for model in MODELS:
            world = World.of(name, model, rng)
            for humans in HUMANS:
                for topics in (each for each in TOPICS if each > humans):
                    found = measured(world, humans, topics, draws, rng)
                    yield name, model, humans, topics, found


def main() -> None:
    """Print a table of the usual worlds, and one of the skewed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10_000, help="samples a cell")
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args()
    found = list(cells(chosen.draws, chosen.seed))
    for names in (WORLDS[:2], WORLDS[2:]):
        worlds = (World.of(name, "blind", np.random.default_rng(chosen.seed)) for name in names)
        skewness = " and ".join(f"{skew(world.human):.1f}" for world in worlds)
        print(f"### {' and '.join(names)} (skewness of the differences {skewness})\n")
        print(f"| model |{''.join(f' {humans} topics judged |' for humans in HUMANS)}")
        print("|:--" * (1 + len(HUMANS)) + "|")
        for model in MODELS:
            row = [_cell([c for w, m, n, _, c in found if w in names and (m, n) == (model, humans)])
                   for humans in HUMANS]  # fmt: skip
            print(f"| {model} | {' | '.join(row)} |")
        alone = [
            min(c[1] for w, _, n, _, c in found if w in names and n == humans) for humans in HUMANS
        ]
        print(f"| humans alone | {' | '.join(f'{each:.3f}' for each in alone)} |\n")


def _cell(found: list[tuple[float, float, float]]) -> str:
    """The lowest coverage, and from the narrowest to the widest."""
    widths = [cell[2] for cell in found]
    return f"{min(cell[0] for cell in found):.3f}, {min(widths):.2f}–{max(widths):.2f}"


if __name__ == "__main__":
    main()
