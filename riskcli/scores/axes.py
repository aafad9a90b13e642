"""What is known of the topics and runs of a score matrix beside their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from riskcli.core.arrays import Floats


@dataclass(frozen=True)
class Replicates:
    """The runs that a system is the mean of, and what each scores."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    scores: Floats
    """A row a run, a column a topic."""

    def on(self, topics: Sequence[str]) -> Floats:
        """The scores on these topics."""
        if tuple(topics) == self.topics:
            return self.scores
        index = {topic: number for number, topic in enumerate(self.topics)}
        return self.scores[:, [index[topic] for topic in topics]]


@dataclass(frozen=True)
class Axes:
    """Labels of topics and runs, by their names, so that they serve any part of a matrix."""

    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By grouping, the group of each topic that has one."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much each topic counts; empty where all count the same."""
    replicates: Mapping[str, Replicates] = field(default_factory=dict)
    """By system, the runs that it is the mean of; empty where runs are systems."""

    def weights_of(self, topics: Sequence[str]) -> Floats | None:
        """The weights of these topics, with a mean of 1; None where all count the same."""
        if not self.weights:
            return None
        weights = np.array([self.weights[topic] for topic in topics], dtype=np.float64)
        return None if (weights == weights[0]).all() else weights / weights.mean()

    def repeats_of(self, systems: Sequence[str], topics: Sequence[str]) -> list[Floats]:
        """By system, the scores of its replicates on these topics; no row where none are known."""
        none = np.zeros((0, len(topics)))
        each = map(self.replicates.get, systems)
        return [none if own is None else own.on(topics) for own in each]

    def renamed(self, shown: Mapping[str, str]) -> Axes:
        """The same with other names for systems."""
        systems = {shown.get(name, name): each for name, each in self.replicates.items()}
        return replace(self, replicates=systems)
