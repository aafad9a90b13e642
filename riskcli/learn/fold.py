"""One fold of an experiment, and whether its parts know of each other what they should not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskcli.core.messages import Note, UsageError, counted
from riskcli.core.provenance import Input
from riskcli.learn.baselines import Source
from riskcli.learn.features import Features


@dataclass(frozen=True)
class Fold:
    """Training, validation and test queries."""

    train: Features
    valid: Features
    test: Features
    inputs: tuple[Input, ...] = ()
    """The files that they were read from."""


def refuse_shared_topics(fold: Fold, number: int, seen: dict[str, int]) -> None:
    """Test queries are of one fold only, and neither learned nor validated on."""
    for topic in fold.test.topics:
        if seen.setdefault(topic, number) != number:
            raise UsageError(
                f"query {topic} is a test query of folds {seen[topic] + 1} and {number + 1}: "
                "pooled test queries must be distinct"
            )
    both = set(fold.test.topics) & {*fold.train.topics, *fold.valid.topics}
    if both:
        raise UsageError(
            f"{fold.test.path}: test query {min(both)} is a training or validation query too"
        )


def shared_by_validation(fold: Fold) -> list[Note]:
    """Validation queries that are trained on: stopping and choices then look at learned ones."""
    both = set(fold.train.topics) & set(fold.valid.topics)
    if not both:
        return []
    message = (
        f"{fold.valid.path.name} shares {counted(len(both), 'query', 'queries')} with the training "
        f"data, such as {min(both)}: when to stop is then told by what was learned"
    )
    return [Note("validation-in-sample", message)]


def seen_by_baselines(sources: Sequence[Source], fold: Fold) -> list[Note]:
    """What baselines that were learned have learned from themselves."""
    return [
        Note(
            "baseline-in-sample",
            f"{source} was trained on queries of {file.path.name}: there it looks better than it "
            "is, and training for risk holds on to it; take a model of other queries",
        )
        for source in sources
        for file in fold.inputs
        if file.sha256 in source.trained_on
    ]
