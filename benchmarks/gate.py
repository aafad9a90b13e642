"""How often the gate fails equal systems, and how often it sees one that loses.

    python benchmarks/gate.py [--simulations N] [--pairs RUNS QRELS]...

Prints Markdown tables for 25, 50 and 100 topics: false alarms of each policy for two exchangeable
runs (made ones, and real ones whose two scores are swapped topic by topic at random), alarms for
true losses of the mean and for candidates that ruin topics and gain elsewhere, and how often the
rule `loss_share(0.1) <= 0.1` is wrong or decides. The seed is fixed: the same call prints the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from riskcli import Significance
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.rules import POLICIES
from riskcli.risk.estimate import adjust
from riskcli.scores.evaluation import evaluate
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Rules

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
"""Makes the scores of a baseline and its candidates on so many topics."""

SEED = 20168
SIZES = (25, 50, 100)
SWAPS = 20_000
PRESETS = ("lenient", "standard", "strict")
GAMMA = 0.05
RULE = "loss_share(0.1) <= 0.1"
SAMPLES = Path(__file__).parents[1]
PAIRS = [SAMPLES / "sample_runs", SAMPLES / "qrels" / "simulated.qrels"]


def scores(generator: np.random.Generator, topics: int, runs: int = 2) -> Floats:
    """Logistic-normal scores of equally good runs that share each topic's difficulty."""
    difficulty = generator.standard_normal((1, topics))
    noise = generator.standard_normal((runs, topics))
    return np.asarray(1 / (1 + np.exp(1 - difficulty - 0.6 * noise)))


MEAN = float(scores(np.random.default_rng(SEED), 1_000_000, 1).mean())


def lower(generator: np.random.Generator, topics: int, loss: float) -> Floats:
    """A candidate whose true mean is lower by `loss`: each score is by the same share."""
    return np.asarray(scores(generator, topics) * np.array([[1], [1 - loss / MEAN]]))


def ruining(generator: np.random.Generator, topics: int, ruined: int) -> Floats:
    """A baseline, and a candidate that gains a little but ruins that many topics."""
    values = scores(generator, topics)
    values[1] = np.minimum(values[1] + 0.05, 1.0)
    # Failures are noticed where the baseline was of use: among the better half of its topics.
    useful = np.argsort(values[0])[topics // 2 :]
    values[1, generator.choice(useful, ruined, replace=False)] = 0.0
    return values


def swapping(matrix: ScoreMatrix) -> Draw:
    """Pairs of real runs on topics drawn from theirs, made exchangeable by swaps."""
    pairs = list(combinations(range(len(matrix.runs)), 2))

    def draw(generator: np.random.Generator, topics: int) -> Floats:
        pair = matrix.values[list(pairs[generator.integers(len(pairs))])]
        more = topics > pair.shape[1]
        values = pair[:, generator.choice(pair.shape[1], topics, replace=more)]
        return np.where(generator.random(topics) < 0.5, values, values[::-1])

    return draw


def of_single_pairs(matrix: ScoreMatrix, topics: int) -> list[float]:
    """How often `lenient`, a paired t test, fails each pair: the mean, the least and the most."""
    generator, found = np.random.default_rng(SEED), []
    for pair in combinations(range(len(matrix.runs)), 2):
        delta = matrix.values[pair[0]] - matrix.values[pair[1]]
        size = (SWAPS, len(delta))
        drawn = np.argsort(generator.random(size), axis=1)[:, :topics]
        if topics > len(delta):
            drawn = generator.integers(len(delta), size=(SWAPS, topics))
        signed = delta[drawn] * generator.choice([-1, 1], drawn.shape)
        error = signed.std(axis=1, ddof=1) / np.sqrt(topics)
        mean = signed.mean(axis=1)
        t = np.divide(mean, error, out=np.zeros(SWAPS), where=error > 0)
        found.append(float((stdtr(topics - 1, t) < GAMMA).mean()))
    return [float(np.mean(found)), min(found), max(found)]


def losing(generator: np.random.Generator, topics: int, share: float) -> Floats:
    """A candidate of which that share of all topics loses more than 0.1; as many lose just 0.1."""
    base = generator.integers(3, 10, topics) / 10
    kind = generator.random(topics)
    loss = np.where(kind < share, 0.3, np.where(kind < 2 * share, 0.1, -0.05))
    return np.array([base, base - loss])


def named(values: Floats) -> ScoreMatrix:
    """The scores as a matrix; row 0 is the baseline."""
    runs = tuple(f"r{row}" for row in range(len(values)))
    return ScoreMatrix("score", runs, tuple(map(str, range(values.shape[1]))), values)


def failing(values: Floats) -> list[bool]:
    """Whether each policy fails a candidate (rows from 1), from the strictest's p-values."""
    plain = Significance(correction="none")
    verdicts = judge(named(values), "r0", "strict", significance=plain).verdicts
    answers = []
    for name in PRESETS:
        tests, rules = POLICIES[name].tests, {rule.text for rule in POLICIES[name].rules}
        own = [[f for f in verdict.findings if f.test in tests] for verdict in verdicts]
        p = np.array(
            [[f.p if (f.value or 0) < 0 else 1.0 for f in row] for row in own], dtype=float
        )
        broken = any(f.rule in rules and not f.passed for v in verdicts for f in v.findings)
        answers.append(broken or bool((adjust(p.ravel(), "holm")[0] < GAMMA).any()))
    return answers


def rates(draw: Draw, topics: int, simulations: int) -> list[float]:
    """How often each policy fails; some of the answers are checked against the gate's own."""
    generator, found = np.random.default_rng(SEED), []
    for number in range(simulations):
        values = draw(generator, topics)
        found.append(failing(values))
        if number % 100 == 0:
            own = [not judge(named(values), "r0", name).passed for name in PRESETS]
            assert own == found[-1], (own, found[-1])
    return [float(rate) for rate in np.mean(found, axis=0)]


def decided(share: float, topics: int, simulations: int) -> list[float]:
    """How often the rule passes and fails."""
    generator = np.random.default_rng(SEED)
    drawn = (named(losing(generator, topics, share)) for _ in range(simulations))
    found = [judge(each, "r0", "none", rules=[RULE]).verdicts[0].outcome for each in drawn]
    return [found.count("pass") / simulations, found.count("fail") / simulations]


def printed(title: str, names: tuple[str, ...], cells: Iterator[tuple[str, list[float]]]) -> None:
    """A table whose columns are policies or outcomes at each number of topics."""
    heads = [f"{name}, {size}" for size in SIZES for name in names]
    print(f"\n| {title} | {' | '.join(heads)} |\n|:--|{'--:|' * len(heads)}")
    for label, row in cells:
        print(f"| {label} | {' | '.join(f'{rate:.3f}' for rate in row)} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--pairs", nargs=2, type=Path, action="append", default=[])
    given = parser.parse_args()
    number = given.simulations
    equal: dict[str, Draw] = {
        "made, 1 candidate": scores,
        "made, 5 candidates": lambda generator, topics: scores(generator, topics, 6),
    }
    real: dict[str, ScoreMatrix] = {}
    for runs, qrels in [PAIRS, *given.pairs]:
        label = runs.parent.name if runs.name == "runs" else runs.name
        rules = Rules(measures=("ERR@20", "nDCG@20"))
        for matrix in evaluate(runs, qrels=qrels, rules=rules).matrices:
            equal[f"{label}, {matrix.measure}"] = swapping(matrix)
            real[f"{label}, {matrix.measure}"] = matrix
    worse: dict[str, Draw] = {
        f"mean lower by {loss}": partial(lower, loss=loss) for loss in (0.01, 0.02, 0.05)
    }
    worse |= {f"{n} topics ruined, gains elsewhere": partial(ruining, ruined=n) for n in (2, 5, 10)}
    print(f"{number} simulations a cell, γ = {GAMMA}.")
    for title, draws in (("equal to the baseline", equal), ("worse", worse)):
        cells = ((n, [r for s in SIZES for r in rates(d, s, number)]) for n, d in draws.items())
        printed(title, PRESETS, cells)
    pairs = ((n, [r for s in SIZES for r in of_single_pairs(m, s)]) for n, m in real.items())
    printed("equal, lenient, by pair", ("mean", "least", "most"), pairs)
    shares = (0.01, 0.05, 0.1, 0.2, 0.3)
    rows = ((f"{s}", [r for size in SIZES for r in decided(s, size, number)]) for s in shares)
    printed(f"true share, {RULE}", ("pass", "fail"), rows)


if __name__ == "__main__":
    main()
