"""How much the differences of pairs of runs vary over topics, and what tests of them will see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import PopulationRule, is_virtual
from riskcli.core.limits import refuse_many_pairs
from riskcli.core.messages import UsageError
from riskcli.risk.baselines import Baseline
from riskcli.risk.comparison import Comparison
from riskcli.risk.inference import Inference
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import statistics
from riskcli.risk.population import Members
from riskcli.risk.power import smallest_loss, topics_needed
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.risk.significance import Significance
from riskcli.scores.comparisons import Options, frozen_members, named_rows
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

Question = Literal["loss", "margin", "topics"]
"""How many topics show a loss, or settle a margin; which loss so many topics show."""

SHARES = (0.5, 0.9)
"""For these shares of the pairs of runs, in order of their spread, an answer is enough."""


@dataclass(frozen=True)
class Answer:
    """A loss (or margin) and a number of topics that belong together; None: beyond all bounds."""

    question: Question
    size: float | None
    count: int | None


@dataclass(frozen=True)
class Prospect:
    """The answers by one measure and risk measure, enough for a share of the pairs."""

    measure: str
    of: RiskMeasure
    alpha: float | None
    pairs: int
    left_out: int
    """Pairs of equal runs, and such as cannot be tested."""
    topics: int
    share: float
    spread: float
    """A difference's standard error times the root of the number of topics."""
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Asked:
    """Losses to see, margins to settle, numbers of topics; at which level, how often of all."""

    losses: tuple[float, ...]
    margins: tuple[float, ...]
    counts: tuple[int, ...]
    level: float
    power: float

    def answers(self, spread: float) -> Iterator[Answer]:
        """What holds for differences of that spread.

        A candidate that loses nothing passes a test with a margin as often as a test without one
        shows a loss of the margin's size: the distance from what is tested is the same.
        """
        for loss in self.losses:
            yield Answer("loss", loss, topics_needed(loss, spread, self.level, self.power))
        for margin in self.margins:
            yield Answer("margin", margin, topics_needed(margin, spread, self.level, self.power))
        for count in self.counts:
            yield Answer("topics", smallest_loss(spread, count, self.level, self.power), count)


def paired_rows(matrix: ScoreMatrix, baselines: Sequence[str]) -> Sequence[int]:
    """The runs whose pairs with all others count: the baselines, or every run."""
    if len(matrix.topics) < 2:
        raise UsageError("past scores on one topic do not tell how differences vary")
    for name in baselines:
        if is_virtual(name):
            raise UsageError(f"power compares pairs of runs, found the baseline {name}")
    matrix.check_finite()
    if baselines:
        return named_rows(matrix.runs, baselines)
    refuse_many_pairs(len(matrix.runs), "name a --baseline to pair each run with it")
    return range(len(matrix.runs))


def population_of_pairs(matrix: ScoreMatrix, options: Options) -> Members | None:
    """The members of a frozen population; None for that of each pair alone, as the gate has it."""
    if options.population == "all":
        raise UsageError(
            "power measures each pair of runs alone: its population is baselines, or a frozen one"
        )
    frozen = options.population
    return frozen_members(frozen, matrix) if isinstance(frozen, FrozenPopulation) else None


def pair_spreads(
    matrix: ScoreMatrix,
    of: RiskMeasure,
    alpha: float,
    rows: Sequence[int],
    members: Members | None = None,
) -> Floats:
    """The spread of every pair of a run in `rows` and another run, each pair once.

    Each pair is measured in the matrix of its two runs alone, or within `members`, as the gate
    does. NaN where the test is undefined; scores below 0 give NaN where the risk measure cannot
    take them.
    """
    spreads = [np.empty(0)]
    done: set[int] = set()
    for row in rows:
        done.add(row)
        others = [other for other in range(len(matrix.runs)) if other not in done]
        spreads.append(_spreads_to(matrix, of, alpha, row, members)[others])
    return np.concatenate(spreads)


def _spreads_to(
    matrix: ScoreMatrix, of: RiskMeasure, alpha: float, row: int, members: Members | None
) -> Floats:
    """The spread of each run's difference to the run `row`."""
    values = matrix.values
    if of.plain_mean:
        return np.asarray(np.std(values - values[row], axis=1, ddof=1))
    baseline = Baseline(matrix.runs[row], (row,), values[row])
    rule: PopulationRule = "all" if members else "baselines"
    comparison = Comparison(values, baseline, rule, (row,), members=members)
    inference = Inference(comparison, Significance(), statistics(), (alpha,), ranked=False)
    estimate = of.estimate(comparison, alpha, inference)
    error = None if estimate is None else estimate.difference_error
    if error is None:
        return np.full(len(values), np.nan)
    return np.asarray(error * np.sqrt(comparison.topics))


def prospects(
    matrix: ScoreMatrix,
    of: RiskMeasure,
    alpha: float,
    rows: Sequence[int],
    asked: Asked,
    members: Members | None = None,
) -> list[Prospect]:
    """An object a share of the pairs; none where no pair differs."""
    all_pairs = pair_spreads(matrix, of, alpha, rows, members)
    known = all_pairs[all_pairs > NO_DIFFERENCE]
    if not len(known):
        return []
    return [
        Prospect(
            matrix.measure, of, alpha if of.depends_on_alpha else None, len(known),
            len(all_pairs) - len(known), len(matrix.topics), share, spread,
            tuple(asked.answers(spread)),
        )
        for share in (SHARES if len(known) > 1 else (1.0,))
        for spread in [float(np.quantile(known, share, method="inverted_cdf"))]
    ]  # fmt: skip
