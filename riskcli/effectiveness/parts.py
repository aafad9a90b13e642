"""What each document of a ranking adds to its score, for the measures that are such sums."""

import numpy as np

from riskcli.core.arrays import Counts, Floats, discounts, divided
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.measures.err import stop_probability, terms_of_stops
from riskcli.effectiveness.measures.rbp import persistence_weights


def parts(measure: Measure, ranked: RankedGrades, levels: Counts) -> Floats | None:
    """The parts of each score by topic (row) and rank (column); None where there are none.

    Each row adds up to the topic's score. The documents below the measure's cutoff add nothing.
    `levels` holds how many of a topic's judged documents are of grade 1 or more, 2 or more, ...
    """
    part = _PARTS.get(measure.family.name)
    if part is None:
        return None
    ranks = np.arange(ranked.grades.shape[1])
    within = ranks < np.minimum(ranked.counts, measure.cutoff or len(ranks))[:, None]
    shown = np.where(within, ranked.grades, 0)
    found = RankedGrades(shown, ranked.judged & within, ranked.counts, ranked.max_grade)
    return part(measure, found, levels)


def row_sums(values: Floats) -> Floats:
    """The sum of each row, one number after another: columns of 0 at its end change no digit."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1] if values.size else np.zeros(len(values)))


def relevant_of(levels: Counts, relevance: int) -> Counts:
    """How many judged documents of each topic are of that grade or more."""
    if relevance > levels.shape[1]:
        return np.zeros(len(levels), dtype=np.int64)
    return levels[:, relevance - 1]


def binary_weights(measure: Measure, ranked: RankedGrades) -> Floats:
    """What a relevant document at each rank adds to P, RBP or SetP."""
    shape = ranked.grades.shape
    if measure.family.name == "RBP":
        return np.broadcast_to(persistence_weights(measure, shape[1]), shape)
    of = np.full(shape[:1], measure.cutoff) if measure.cutoff else ranked.counts
    return np.broadcast_to(divided(1.0, of)[:, None], shape)


def gains(measure: Measure, grades: Counts) -> Floats:
    """nDCG's gain of each grade; none for a grade below 0."""
    positive = np.maximum(grades, 0).astype(np.float64)
    return np.exp2(positive) - 1 if measure.exponential else positive


def ideal(measure: Measure, levels: Counts) -> Floats:
    """The DCG of the best ranking of so many documents of each level: its layers added up."""
    steps = np.diff(gains(measure, np.arange(levels.shape[1] + 1)))
    return row_sums(of_best_ranks(measure, levels) * steps)


def of_best_ranks(measure: Measure, counts: Counts) -> Floats:
    """The sums of the discounts of so many ranks, of those down to the cutoff."""
    most = int(counts.max(initial=0))
    ranks = min(most, measure.cutoff or most)
    sums = np.append(0.0, np.cumsum(discounts(ranks)))
    return np.asarray(sums[np.minimum(counts, ranks)])


def _of_ndcg(measure: Measure, ranked: RankedGrades, levels: Counts) -> Floats:
    """Gain x discount / ideal."""
    gained = gains(measure, ranked.grades) * discounts(ranked.grades.shape[1])
    return divided(gained, ideal(measure, levels)[:, None])


def _of_err(_measure: Measure, ranked: RankedGrades, _levels: Counts) -> Floats:
    """The chance that the reader stops here, over the rank."""
    return terms_of_stops(stop_probability(ranked.grades, ranked.max_grade))


def _of_ap(measure: Measure, ranked: RankedGrades, levels: Counts) -> Floats:
    """The precision at a relevant document, over the number of relevant documents."""
    relevant = ranked.grades >= measure.relevance
    precision = relevant.cumsum(axis=1) / np.arange(1, relevant.shape[1] + 1)
    return divided(relevant * precision, relevant_of(levels, measure.relevance)[:, None])


def _of_weights(measure: Measure, ranked: RankedGrades, _levels: Counts) -> Floats:
    return np.asarray((ranked.grades >= measure.relevance) * binary_weights(measure, ranked))


def _of_recall(measure: Measure, ranked: RankedGrades, levels: Counts) -> Floats:
    relevant = ranked.grades >= measure.relevance
    return divided(relevant.astype(float), relevant_of(levels, measure.relevance)[:, None])


def _of_success(measure: Measure, ranked: RankedGrades, _levels: Counts) -> Floats:
    """The first relevant document has all."""
    relevant = ranked.grades >= measure.relevance
    return np.asarray(relevant & (relevant.cumsum(axis=1) == 1), dtype=np.float64)


def _of_reciprocal_rank(measure: Measure, ranked: RankedGrades, levels: Counts) -> Floats:
    return _of_success(measure, ranked, levels) / np.arange(1, ranked.grades.shape[1] + 1)


_PARTS = {
    "nDCG": _of_ndcg,
    "ERR": _of_err,
    "AP": _of_ap,
    "P": _of_weights,
    "RBP": _of_weights,
    "SetP": _of_weights,
    "R": _of_recall,
    "SetR": _of_recall,
    "RR": _of_reciprocal_rank,
    "Success": _of_success,
}
