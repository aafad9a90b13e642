"""How often intervals hold the truth, and tests err, where topics count differently.

    python benchmarks/weights.py [--samples N] [--only WORD]

Prints the tables of docs/labels.md as Markdown. The weight of the k-th topic is 1 / k^exponent, as
of queries by their frequency. Topics are a sample, their weights are given: the truth is what many
samples of topics with these weights have on average. The seed is fixed: the same call prints the
same tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtr

from riskcli.risk.comparison import VIRTUAL, Baseline, Comparison
from riskcli.risk.estimate import Estimate, Significance
from riskcli.risk.inference import Inference
from riskcli.risk.measure import estimates_of
from riskcli.risk.measures import measures, statistics
from riskcli.risk.weights import degrees, effective_topics, leveraged

Floats = NDArray[np.float64]

SEED = 20163
ALPHAS = (1.0, 5.0)
GAMMA = 0.05
LEVELS = (0.0, 0.25, -0.2, 0.4, -0.4)
"""By how much the runs differ, on the scale of the logit; the first is the baseline."""
SPREAD = (0.9, 0.9, 0.6, 1.2, 0.9)
MANY = 4000
"""Samples of topics that the truth is made of."""


@dataclass(frozen=True)
class World:
    """Topics of Zipfian weights; `head` says whether those that count more are easier, and vary."""

    topics: int
    exponent: float
    head: bool

    @property
    def weights(self) -> Floats:
        """1 on average."""
        weights = np.arange(1, self.topics + 1.0) ** -self.exponent
        return np.asarray(weights / weights.mean())

    @property
    def key(self) -> tuple[int, int, int]:
        """What makes its random numbers its own."""
        return self.topics, int(10 * self.exponent), int(self.head)

    def __str__(self) -> str:
        effective = effective_topics(self.topics, self.weights)
        share = self.weights[0] / self.topics
        kind = "easier where they count" if self.head else "as hard as others"
        return f"{self.topics} | {self.exponent:g} | {effective:.0f} | {share:.0%} | {kind}"

    def scores(self, generator: np.random.Generator, samples: int, equal: bool) -> Floats:
        """By sample, run and topic: skewed, with zeros and with losses that are seldom large."""
        runs = len(LEVELS)
        level = np.zeros((runs, 1)) if equal else np.array(LEVELS)[:, None]
        spread = np.full((runs, 1), 0.9) if equal else np.array(SPREAD)[:, None]
        rank = np.linspace(1, -1, self.topics) if self.head else np.zeros(self.topics)
        easy = generator.normal(-1.2 + rank, 1.1, (samples, 1, self.topics))
        noise = generator.gumbel(0, 1, (samples, runs, self.topics))
        scores = expit(easy + level - (spread + 0.4 * rank) * (noise - 0.577))
        return np.where(generator.random(scores.shape) < 0.06, 0.0, scores)

    def compared(self, scores: Floats, virtual: bool = False) -> Comparison:
        """Against the first run, or the mean of all."""
        baseline = Baseline("r0", (0,), scores[0])
        if virtual:
            baseline = Baseline("@mean", (), VIRTUAL["@mean"](scores))
        return Comparison(scores, baseline, weights=self.weights)

    def truth(self, generator: np.random.Generator) -> dict[str, Floats]:
        """Of all samples of topics together."""
        many = self.scores(generator, MANY, equal=False)
        everything = many.transpose(1, 0, 2).reshape(len(LEVELS), -1)
        weights = np.tile(self.weights, MANY)
        comparison = Comparison(
            everything, Baseline("r0", (0,), everything[0]), weights=weights / weights.mean()
        )
        gain, departures = comparison.paired.gain, comparison.population.departures
        found = {"mean": comparison.mean(everything), "mean_diff": gain}
        for alpha in ALPHAS:
            zrisk = departures.zeta(1 + alpha) * self.topics
            georisk = departures.georisk(1 + alpha)
            found |= {
                f"urisk@{alpha:g}": comparison.paired.urisk(alpha),
                f"zrisk@{alpha:g}": zrisk, f"zrisk_diff@{alpha:g}": zrisk - zrisk[0],
                f"georisk@{alpha:g}": georisk, f"georisk_diff@{alpha:g}": georisk - georisk[0],
            }  # fmt: skip
        return found


WORLDS = [
    World(topics, exponent, head)
    for topics in (50, 200)
    for exponent in (0.5, 1.0)
    for head in (False, True)
]


def estimates(comparison: Comparison, shuffles: int | None = None) -> dict[str, Estimate]:
    """By measure and alpha."""
    plan = Significance(shuffles=shuffles)
    inference = Inference(comparison, plan, statistics(), ALPHAS, ranked=False)
    chosen = [m for m in measures() if m.id in ("mean", "urisk", "zrisk", "georisk")]
    found = estimates_of(inference, chosen, ALPHAS)
    return {f"{name}@{alpha:g}": each for (name, alpha), each in found.items()}


def _ends(found: dict[str, Estimate]) -> Iterator[tuple[str, Floats | None, Floats | None]]:
    for key, each in found.items():
        name, at = key.split("@")
        own, difference = (name, "mean_diff") if name == "mean" else (key, f"{name}_diff@{at}")
        yield own, each.low, each.high
        if each.difference_low is not None:
            yield difference, each.difference_low, each.difference_high


def coverage(world: World, samples: int) -> dict[str, float]:
    """The share of intervals of all runs but the first that hold the truth."""
    generator = np.random.default_rng([SEED, *world.key])
    truth = world.truth(generator)
    held: dict[str, list[float]] = {name: [] for name in truth}
    for scores in world.scores(generator, samples, equal=False):
        for name, low, high in _ends(estimates(world.compared(scores))):
            assert low is not None and high is not None
            known = np.isfinite(low) & (np.arange(len(low)) > 0)
            inside = (low <= truth[name]) & (truth[name] <= high)
            held[name] += inside[known].astype(float).tolist()
    return {name: float(np.mean(cells)) for name, cells in held.items()}


TESTED = ("mean@1", "zrisk@1", "zrisk@5", "georisk@1", "georisk@5")


def errors(world: World, samples: int) -> dict[str, float]:
    """How often equal runs are told apart: each from the first, by itself."""
    generator = np.random.default_rng([SEED + 1, *world.key])
    found: dict[str, list[float]] = {name: [] for name in TESTED}
    for scores in world.scores(generator, samples, equal=True):
        each = estimates(world.compared(scores))
        for name in TESTED:
            p = each[name].p
            assert p is not None
            found[name] += (p[1:] < GAMMA).astype(float).tolist()
    return {name: float(np.mean(cells)) for name, cells in found.items()}


def families(world: World, samples: int) -> dict[str, float]:
    """How often any of the equal runs is told from the mean of all, runs being shuffled."""
    generator = np.random.default_rng([SEED + 2, *world.key])
    found: dict[str, list[float]] = {name: [] for name in TESTED}
    for scores in world.scores(generator, samples, equal=True):
        each = estimates(world.compared(scores, virtual=True), 999)
        for name in TESTED:
            p = each[name].p_stepped
            assert p is not None
            found[name].append(float((p < GAMMA).any()))
    return {name: float(np.mean(cells)) for name, cells in found.items()}


def of_errors(world: World, samples: int) -> dict[str, float]:
    """The error of the test of two equal means, by kind of standard error and degrees of freedom.

    The jackknife's (as HC3) or HC2's; Kish's effective topics - 1, Satterthwaite's, and those of
    the mean of the third power of the weights.
    """
    generator = np.random.default_rng([SEED + 3, *world.key])
    scores = world.scores(generator, samples, equal=True)
    delta, weights = scores[:, 1] - scores[:, 0], world.weights
    topics, share = world.topics, weights / world.topics
    means = (delta * weights).mean(axis=1)
    centred = delta - means[:, None]
    kish = effective_topics(topics, weights) - 1
    freedom = {
        "Kish": kish,
        "third power": (share**3).sum() ** -0.5 - 1,
        "Satterthwaite": (share**2).sum() ** 2 / (share**4).sum() - 1,
    }
    kinds = {
        "jackknife": leveraged(centred, weights),
        "HC2": centred * weights * np.sqrt((topics - 1) / topics / (1 - share)),
    }
    found = {}
    for kind, deviations in kinds.items():
        error = np.sqrt((deviations**2).sum(axis=1) / (topics * (topics - 1)))
        for name, df in freedom.items():
            p = 2 * stdtr(df, -np.abs(means / error))
            found[f"{kind}, {name}"] = float((p < GAMMA).mean())
    return found


def one_sided(world: World, samples: int) -> dict[str, float]:
    """The error of the test of means where one topic in seven loses six times what others gain."""
    generator = np.random.default_rng([SEED + 4, *world.key])
    size = generator.exponential(1, (samples, world.topics))
    gains = generator.random(size.shape) < 0.85
    delta = np.where(gains, 0.3 * size, -1.7 * size)  # 0 on average
    found = {}
    for name, weights in (("weights", world.weights), ("all the same", np.ones(world.topics))):
        means = (delta * weights).mean(axis=1)
        off = leveraged(delta - means[:, None], weights)
        error = np.sqrt((off**2).sum(axis=1) / (world.topics * (world.topics - 1)))
        p = 2 * stdtr(degrees(world.topics, weights), -np.abs(means / error))
        found[name] = float((p < GAMMA).mean())
    return found


TABLES = {
    "coverage": coverage,
    "errors": errors,
    "families": families,
    "degrees": of_errors,
    "one-sided": one_sided,
}


def table(name: str, samples: int) -> Iterator[str]:
    """The lines of one table, a world each."""
    header = "topics | exponent | count as | heaviest | hard"
    for number, world in enumerate(WORLDS):
        found = TABLES[name](world, samples)
        if not number:
            columns = " | ".join([header, *found])
            yield f"\n{name}\n\n| {columns} |"
            yield "|" + "--:|" * (columns.count("|") + 1)
        yield f"| {world} | " + " | ".join(f"{value:.3f}" for value in found.values()) + " |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--only", choices=TABLES)
    given = parser.parse_args()
    for name in TABLES if given.only is None else [given.only]:
        many = {
            "families": given.samples // 5,
            "degrees": 20 * given.samples,
            "one-sided": 20 * given.samples,
        }
        for line in table(name, many.get(name, given.samples)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
