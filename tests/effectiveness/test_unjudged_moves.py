"""What judging one document more does to a range, against the range once it is judged."""

from __future__ import annotations

import random

import numpy as np
import pytest

from riskcli.effectiveness.measures import parse_measure
from riskcli.effectiveness.unjudged import difference_bounds
from riskcli.effectiveness.unjudged.moves import GradeMoves, moves
from tests.helpers.pairs import Topic, pair_of, random_topic

HIGHEST = 3


def some_topics(seed: int, count: int = 40) -> list[Topic]:
    rng = random.Random(seed)
    return [random_topic(rng, HIGHEST, 5) for _ in range(count)]


def found_in(measure: str, topics: list[Topic]) -> GradeMoves:
    found = moves(parse_measure(measure), pair_of(topics, HIGHEST, HIGHEST))
    assert found is not None
    return found


def docno(found: GradeMoves, topics: list[Topic], each: int) -> str:
    topic, first, second = (
        int(ranks[each]) for ranks in (found.topics, found.in_run, found.in_baseline)
    )
    name = topics[topic].run[first] if first >= 0 else topics[topic].baseline[second]
    assert second < 0 or topics[topic].baseline[second] == name
    return name


def ends(measure: str, topics: list[Topic]) -> tuple[np.ndarray, np.ndarray]:
    bounds = difference_bounds(parse_measure(measure), pair_of(topics, HIGHEST, HIGHEST))
    assert bounds is not None
    return bounds.low, bounds.high


@pytest.mark.parametrize("measure", ["nDCG@4", "ERR@3", "P@3", "RR", "AP", "R@3"])
def test_ends_move_as_they_do_once_the_document_is_judged(measure: str) -> None:
    topics = some_topics(1)
    found = found_in(measure, topics)
    low, high = ends(measure, topics)
    assert len(found.topics) > 20
    for grade in range(HIGHEST + 1):
        judged = [
            topics[row]._replace(grades=topics[row].grades | {docno(found, topics, each): grade})
            for each, row in enumerate(found.topics.tolist())
        ]
        least, most = ends(measure, judged)
        np.testing.assert_allclose(found.up[grade], least - low[found.topics], atol=1e-12)
        np.testing.assert_allclose(found.down[grade], high[found.topics] - most, atol=1e-12)
    assert (np.stack([found.up, found.down]) > -1e-12).all()


@pytest.mark.parametrize("measure", ["nDCG@4", "ERR@3", "P@3", "RBP(p=0.8)", "RR", "Success@3"])
def test_judging_all_that_are_named_leaves_nothing_open(measure: str) -> None:
    """None is judged already, and each is named once."""
    rng = random.Random(3)
    topics = some_topics(2, 200)
    found = found_in(measure, topics)
    graded = [dict(topic.grades) for topic in topics]
    for each, row in enumerate(found.topics.tolist()):
        name = docno(found, topics, each)
        assert name not in graded[row]
        graded[row][name] = rng.choice([0, 0, *range(HIGHEST + 1)])
    judged = [topic._replace(grades=own) for topic, own in zip(topics, graded, strict=True)]
    low, high = ends(measure, judged)
    np.testing.assert_allclose(low, high, atol=1e-12)


def test_what_precision_cannot_see_is_not_named() -> None:
    """A document among the first of both; one below the cutoff; a topic that is judged."""
    shared = Topic(["a", "b"], ["b", "a"], {"b": 1})
    below = Topic(["c", "d", "e"], ["d", "c", "f"], {"c": 0, "d": 1})
    own = Topic(["g", "h"], ["h", "i"], {"h": 1, "i": 0})
    found = found_in("P@2", [shared, below, own])
    assert (found.topics.tolist(), found.in_run.tolist()) == ([2], [0])


def test_the_end_nearer_to_0_decides() -> None:
    """A run that is ahead for sure but for what its baseline's documents may be."""
    topic = Topic(["a", "b", "c"], ["x", "y", "c"], {"a": 3, "b": 3, "c": 0, "y": 0})
    two = [topic, topic._replace(baseline=["y", "x", "c"], run=["a", "z", "c"])]
    found = found_in("nDCG@3", two)
    order, weight = found.order()
    first = docno(found, two, int(order[0]))
    assert first == "x" and (np.diff(weight[order]) <= 0).all()


def test_deep_documents_come_last_by_rank() -> None:
    run = [f"r{rank}" for rank in range(60)]
    topics = [Topic(run, ["b"], {"b": 1, "r0": 0})]
    found = found_in("AP", topics)
    order, _ = found.order()
    ranks = found.in_run[order].tolist()
    assert sorted(ranks) == list(range(1, 60))
    assert ranks[29:] == list(range(30, 60))


def test_a_measure_without_bounds_has_none() -> None:
    assert moves(parse_measure("NumRet"), pair_of(some_topics(1), HIGHEST)) is None
