"""What is known of the topics and runs of a score matrix beside their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from riskcli.core.arrays import NEARLY_NOTHING, Floats
from riskcli.core.messages import Note, UsageError, counted, listed
from riskcli.risk.rounding import NO_DIFFERENCE

GROUP = "group"
"""What a grouping without a name is called."""
ALL_TOPICS = "all"
"""What stands for a group in rows about all topics."""
NO_GROUP = "(none)"
"""The group of topics without one."""


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
    judge: str = ""
    """Whose judgements the scores rest on, where runs are scored under several."""

    def weights_of(self, topics: Sequence[str]) -> Floats | None:
        """The weights of these topics, with a mean of 1; None where all count the same."""
        if not self.weights:
            return None
        weights = np.array([self.weights[topic] for topic in topics], dtype=np.float64)
        if (weights == weights[0]).all():
            return None
        weights /= weights.max()
        if weights.sum() - 1 <= NEARLY_NOTHING:
            heaviest = topics[int(weights.argmax())]
            raise UsageError(f"topic {heaviest} has all the weight: no other topic would count")
        return np.asarray(weights / weights.mean())

    def weigh_alike(self, other: Axes, topics: Sequence[str]) -> bool:
        """Whether these topics count the same by both, but for rounding."""
        found = (axes.weights_of(topics) for axes in (self, other))
        mine, theirs = (1.0 if weights is None else weights for weights in found)
        return bool(np.allclose(mine, theirs, rtol=NO_DIFFERENCE, atol=0.0))

    def groups_of(self, topics: Sequence[str]) -> dict[str, list[str]]:
        """By grouping, the group of each of these topics."""
        return {
            grouping: [by_topic.get(topic, NO_GROUP) for topic in topics]
            for grouping, by_topic in self.groups.items()
        }

    def parts_of(self, topics: Sequence[str]) -> dict[str, list[int]]:
        """By GROUPING=GROUP, where among these topics those of the group are."""
        parts: dict[str, list[int]] = {}
        for grouping, labels in self.groups_of(topics).items():
            for index, label in enumerate(labels):
                parts.setdefault(f"{grouping}={label}", []).append(index)
        return parts

    def settings(self) -> dict[str, Any]:
        """The labels in force, as a result records them."""
        found = {"groups": [*self.groups], "weights": bool(self.weights)}
        return {name: value for name, value in found.items() if value}

    def labelled(
        self,
        topics: Sequence[str],
        groups: Mapping[str, Any] | None,
        weights: Mapping[str, float] | None,
    ) -> tuple[Axes, list[Note]]:
        """With these groups ({topic: group}, or so by grouping) and weights; and notes on them."""
        axes, notes = self, list[Note]()
        if groups is not None:
            parts = _items("groups", groups)
            many = parts and all(hasattr(each, "items") for each in parts.values())
            given = parts if many else {GROUP: parts}
            texts = {str(grouping): _texts(by_topic) for grouping, by_topic in given.items()}
            axes = replace(axes, groups={**axes.groups, **texts})
            for each in texts.items():
                notes += _notes_on_groups(topics, *each)
        if weights is not None:
            weights = _items("weights", weights)
            axes = replace(axes, weights=_checked_weights(topics, weights))
            notes += not_evaluated(topics, "weights", weights)
        return axes, notes

    def renamed(self, shown: Mapping[str, str]) -> Axes:
        """The same with other names for systems."""
        systems = {shown.get(name, name): each for name, each in self.replicates.items()}
        return replace(self, replicates=systems)


def _items(what: str, given: Any) -> dict[Any, Any]:
    """As a dictionary, of a mapping or a frame's column or columns."""
    if not hasattr(given, "items"):
        raise UsageError(f"{what} are a mapping by topic, found {type(given).__name__}")
    return dict(given.items())


def _texts(by_topic: Mapping[Any, Any]) -> dict[str, str]:
    """Topics and groups as texts; programs have numbers for both, and gaps where none is known."""
    known = ((topic, group) for topic, group in by_topic.items() if group is not None)
    texts = {str(topic): str(group) for topic, group in known if group == group}
    if ALL_TOPICS in texts.values():
        raise UsageError(f"a group is called {ALL_TOPICS!r}, as all topics are: rename it")
    return texts


def _notes_on_groups(
    topics: Sequence[str], grouping: str, by_topic: Mapping[str, str]
) -> list[Note]:
    lacking = [topic for topic in topics if topic not in by_topic]
    if len(lacking) == len(topics):
        raise UsageError(
            f"no topic to evaluate has a group by {grouping!r}: the groups are of "
            f"{listed(by_topic, 3) or 'none'}, evaluated are {listed(topics, 3)}"
        )
    notes = not_evaluated(topics, f"{grouping!r}", by_topic)
    if lacking:
        message = f"{counted(len(lacking), 'topic')} without a group by {grouping!r}"
        notes.append(Note("no-group", f"{message}, shown as {NO_GROUP}: {listed(lacking)}"))
    return notes


def not_evaluated(topics: Sequence[str], what: str, given: Mapping[str, Any]) -> list[Note]:
    """A note on topics that something is given for, but that are not evaluated."""
    known = set(topics)
    others = [str(topic) for topic in given if str(topic) not in known]
    if not others:
        return []
    message = f"{what}: {counted(len(others), 'topic')} not evaluated: {listed(others)}"
    return [Note("labels-not-evaluated", message, warning=False)]


def _checked_weights(topics: Sequence[str], given: Mapping[Any, Any]) -> dict[str, float]:
    """The weights of these topics, each of which must have one, as numbers above 0."""
    by_topic = {str(topic): weight for topic, weight in given.items()}
    missing = [topic for topic in topics if topic not in by_topic]
    if missing:
        raise UsageError(
            f"{counted(len(missing), 'topic')} to evaluate without a weight: {listed(missing)}; "
            "give them one, or leave them out with --only-topics"
        )
    return {topic: _checked_weight(topic, by_topic[topic]) for topic in topics}


def _checked_weight(topic: str, given: Any) -> float:
    try:
        weight = float(given)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not 0 < weight < math.inf or isinstance(given, bool):
        raise UsageError(
            f"the weight of topic {topic} is {given!r:.60}, expected a number above 0; to leave "
            "it out, name the others with --only-topics"
        )
    return weight
