"""ERR: the highest difference of all completions.

ERR is linear in each stop probability R_i, so that only the grades 0 and G matter, and rises in
each: its derivative by R_i is P_i (1/i - T_i), where P_i is the chance to get to rank i and T_i the
ERR of what follows for who does not stop there, which is at most 1/(i+1). So the run's own
documents are of grade G, the baseline's own of grade 0. A shared document's derivative is that in
the run less that in the baseline: P falls and T rises in every other R, which bounds it while other
documents are undecided. Where it cannot be below 0, or above, the document is decided.

For those that are left, `sweeps` goes down both rankings at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats, Rows
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.measures.err import stop_probability
from riskcli.effectiveness.unjudged.pairs import End, Side, TwoSides
from riskcli.effectiveness.unjudged.sweeps import ROUNDING, Found, Stops, sweep, tails


def highest_err(_measure: Measure, case: TwoSides) -> End:
    """The scores where the difference is highest."""
    stops = _decided(_stops(case))
    ranks, topics, least, largest = _derivatives(stops)
    guess = stops.decided(ranks, topics, least + largest > 0)
    scores = tails(guess.values)[0]
    reached = scores[0] - scores[1]
    # From the guess to any completion, one R after the other changes by `most`.
    wrong = stops.most * np.maximum(np.minimum(largest, -least), 0.0)
    bound = np.minimum(1.0, reached + np.bincount(topics, wrong, minlength=len(reached)))
    found = Found(scores[0], scores[1], np.full(len(reached), -np.inf), bound)
    rows = np.flatnonzero(bound > reached + ROUNDING)
    if len(rows):
        sweep(stops.of(rows), rows, found)
    return found.end()


def _stops(case: TwoSides) -> Stops:
    """What is known of both rankings, the documents of one ranking alone decided."""
    sides = case.run, case.baseline
    ranks = max(1, *(side.elsewhere.shape[1] for side in sides))
    max_grade = case.run.ranked.max_grade
    most = float(stop_probability(np.array([max_grade]), max_grade)[0])
    values = np.stack([_by_rank(_judged(side), ranks) for side in sides], axis=1)
    values[:, 0][_by_rank(case.run.alone, ranks)] = most
    undecided = np.stack([_by_rank(side.shared, ranks) for side in sides], axis=1)
    places = [_by_rank(np.maximum(side.elsewhere, 0), ranks) for side in sides]
    return Stops(values, undecided, np.stack(places, axis=1), most)


def _judged(side: Side) -> Floats:
    return stop_probability(side.ranked.grades, side.ranked.max_grade)


def _by_rank(values: NDArray[Any], ranks: int) -> NDArray[Any]:
    """The values of each rank side by side, which is quick to go through; 0 beyond the last."""
    padded = np.zeros((ranks, len(values)), dtype=values.dtype)
    padded[: values.shape[1]] = values.T
    return padded


def _decided(stops: Stops) -> Stops:
    """The same with every document decided of which the derivatives tell the sign."""
    while True:
        ranks, topics, least, largest = _derivatives(stops)
        sure = (least >= 0) | (largest <= 0)
        if not sure.any():
            return stops
        stops = stops.decided(ranks[sure], topics[sure], least[sure] >= 0)


def _derivatives(stops: Stops) -> tuple[Rows, Rows, Floats, Floats]:
    """Ranks (in the run) and topics of the undecided, and their least and largest derivatives."""
    ranks, topics = np.nonzero(stops.undecided[:, 0])
    places = stops.places[ranks, 0, topics]
    low, high = _by_each(stops)
    least = low[ranks, 0, topics] - high[places, 1, topics]
    largest = high[ranks, 0, topics] - low[places, 1, topics]
    return ranks, topics, least, largest


def _by_each(stops: Stops) -> tuple[Floats, Floats]:
    """The least and the largest derivative of a ranking's ERR by each of its R."""
    ranks = np.arange(1, len(stops.values) + 1)[:, None, None]
    all_relevant = np.where(stops.undecided, stops.most, stops.values)
    low = _reached(all_relevant) * (1 / ranks - tails(all_relevant)[1:])
    high = _reached(stops.values) * (1 / ranks - tails(stops.values)[1:])
    return low, high


def _reached(stops: Floats) -> Floats:
    """The chance to get to each rank."""
    reached = np.ones_like(stops)
    np.cumprod(1 - stops[:-1], axis=0, out=reached[1:])
    return reached
