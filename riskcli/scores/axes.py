"""What is known of the topics and runs of a score matrix beside their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from riskcli.core.arrays import Floats


@dataclass(frozen=True)
class HumanScores:
    """Scores of runs (rows) under humans' judgements, on the topics that humans judged."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: Floats

    def of_runs(self, runs: Sequence[str]) -> "HumanScores":
        """The scores of these runs, in this order."""
        rows = [self.runs.index(run) for run in runs]
        return replace(self, runs=tuple(runs), values=self.values[rows])


@dataclass(frozen=True)
class Axes:
    """Labels of topics and runs, by their names, so that they serve any part of a matrix."""

    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By grouping, the group of each topic that has one."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much each topic counts; empty where all count the same."""
    judge: str = ""
    """Whose judgements the scores rest on, where runs are scored under several."""
    human: HumanScores | None = None
    """The scores under humans' judgements, where they judged some of the topics."""

    def weights_of(self, topics: Sequence[str]) -> Floats | None:
        """The weights of these topics, with a mean of 1; None where all count the same."""
        if not self.weights:
            return None
        weights = np.array([self.weights[topic] for topic in topics], dtype=np.float64)
        return None if (weights == weights[0]).all() else weights / weights.mean()
