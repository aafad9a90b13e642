"""Pairs of rankings as lists of names, and what the bounds of unjudged documents see of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from riskcli.core.arrays import Counts
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.unjudged import RankedPair


class Topic(NamedTuple):
    """A topic's rankings and judgements."""

    run: list[str]
    baseline: list[str]
    grades: dict[str, int]


def random_topic(rng: random.Random, highest: int, unjudged: int, longest: int = 7) -> Topic:
    """Rankings that share some documents, of any length; at most so many are unjudged."""
    documents = [f"d{number}" for number in range(longest + 2)]
    run = rng.sample(documents, rng.randint(0, longest))
    baseline = rng.sample(documents, rng.randint(0, longest))
    if rng.random() < 0.1:
        baseline = list(run)
    drawn = rng.choice([range(-2, highest + 1), (0, 0, 1), (0, highest), (-1, 0), (0,)])
    grades = {f"e{number}": rng.choice(drawn) for number in range(rng.randint(0, 4))}
    seen = sorted({*run, *baseline})
    rng.shuffle(seen)
    graded = seen[rng.randint(0, unjudged) :]
    return Topic(run, baseline, grades | {document: rng.choice(drawn) for document in graded})


def completions(topic: Topic, depth: int | None, highest: int) -> Iterator[dict[str, int]]:
    """The judgements with every grade that the unjudged documents of either top may have."""
    top = dict.fromkeys([*topic.run[:depth], *topic.baseline[:depth]])
    unjudged = [document for document in top if document not in topic.grades]
    for given in product(range(highest + 1), repeat=len(unjudged)):
        yield topic.grades | dict(zip(unjudged, given, strict=True))


def ranked(
    rankings: Sequence[Sequence[str]], grades: Sequence[dict[str, int]], max_grade: int
) -> RankedGrades:
    """The rankings as measures see them."""
    shape = len(rankings), max(map(len, rankings), default=0)
    found, judged = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    for row, (ranking, given) in enumerate(zip(rankings, grades, strict=True)):
        for rank, document in enumerate(ranking):
            found[row, rank] = given.get(document, 0)
            judged[row, rank] = document in given
    return RankedGrades(found, judged, np.array([len(r) for r in rankings], np.intp), max_grade)


def levels_of(grades: Sequence[dict[str, int]], highest: int) -> Counts:
    """How many are of grade 1 or more, and so on."""
    counts = [
        [sum(grade >= level for grade in given.values()) for level in range(1, highest + 1)]
        for given in grades
    ]
    return np.array(counts, dtype=np.int64).reshape(len(grades), highest)


def pair_of(topics: Sequence[Topic], highest: int, max_grade: int = 4) -> RankedPair:
    """The topics below each other."""
    grades = [topic.grades for topic in topics]
    run = ranked([topic.run for topic in topics], grades, max_grade)
    places = np.full(run.grades.shape, -1, dtype=np.intp)
    for row, topic in enumerate(topics):
        there = {document: rank for rank, document in enumerate(topic.baseline)}
        places[row, : len(topic.run)] = [there.get(document, -1) for document in topic.run]
    baseline = ranked([topic.baseline for topic in topics], grades, max_grade)
    return RankedPair(run, baseline, places, levels_of(grades, highest))
