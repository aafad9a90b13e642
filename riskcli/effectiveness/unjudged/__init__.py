"""How far a difference may be from the one judged: bounds over all grades of unjudged documents.

An unjudged document in either ranking, down to the measure's cutoff, may have any grade from 0 to
the highest; one that both rankings have is graded once. All others stay as they are: a relevant
document that neither ranking has changes nothing but what nDCG, R and AP divide by, which brings a
difference nearer to 0, perhaps out of its bounds, and never to the other side of 0.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from riskcli.core.arrays import Counts, Floats, Mask, divided, row_blocks
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.parts import ideal, parts, relevant_of, row_sums
from riskcli.effectiveness.unjudged import counting
from riskcli.effectiveness.unjudged.err import highest_err
from riskcli.effectiveness.unjudged.ndcg import highest_ndcg
from riskcli.effectiveness.unjudged.pairs import End, RankedPair, TwoSides, cut, rows_of

__all__ = ["Bounds", "RankedPair", "any_unjudged", "difference_bounds", "parts", "with_others"]

_CELLS = 2**20
"""Numbers held at a time for each kind of array."""


@dataclass(frozen=True)
class Bounds:
    """The least and the largest difference, run less baseline, of each topic."""

    low: Floats
    high: Floats
    scores_low: Floats
    """The scores at the low end: the baseline's (row 0) and the run's (row 1)."""
    scores_high: Floats
    exact: bool
    """Whether the ends are reached by completions; else they are proved, but may be too far out."""


def difference_bounds(measure: Measure, pair: RankedPair) -> Bounds | None:
    """The bounds of each topic's difference; None for a measure of which nothing is proved.

    Scores as judged (`pair.scores`, else what is computed here) always lie within. Where nothing
    is unjudged, both ends are the difference as judged.
    """
    way = _way(measure)
    if way is None:
        return None
    scores = _as_judged(measure, pair)
    pair = cut(pair, measure.cutoff)
    ends = np.stack([scores, scores])
    open_rows = np.flatnonzero(_undecided(measure, pair) | np.isnan(scores).any(axis=0))
    width = pair.run.grades.shape[1] + pair.baseline.grades.shape[1]
    exact = True
    for block in row_blocks(len(open_rows), width * max(1, pair.levels.shape[1]), _CELLS):
        rows = open_rows[block]
        case = rows_of(pair, rows)
        for end, sides in enumerate((case.reversed, case)):
            best = way(measure, sides)
            there = np.stack([best.baseline, best.run] if end else [best.run, best.baseline])
            ends[end, :, rows] = _farther(there, scores[:, rows], 1 if end else -1).T
            exact &= best.exact
    low, high = ends[:, 1] - ends[:, 0]
    return Bounds(low, high, ends[0], ends[1], exact)


def with_others(measure: Measure, bounds: Bounds, levels: Counts, others: Counts) -> Bounds:
    """The bounds where so many further documents, of neither ranking, may be of any grade, too.

    They change what nDCG, R and AP divide by, at most as they do where they alone are relevant:
    nDCG's ideal DCG grows the less, the more documents it has. A difference is brought nearer to 0.
    """
    if measure.family.name in _DIVIDED:
        whole = _divisor(measure, levels + others[:, None])
        least = np.where(others > 0, divided(_divisor(measure, levels), whole), 1.0)
        low = np.where(bounds.low > 0, bounds.low * least, bounds.low)
        high = np.where(bounds.high < 0, bounds.high * least, bounds.high)
    elif measure.family.name in _WAYS:
        return bounds
    else:  # of what else is between 0 and 1, nothing more is known
        low = np.where(others > 0, -1.0, bounds.low)
        high = np.where(others > 0, 1.0, bounds.high)
    return replace(bounds, low=low, high=high, exact=False)


def _divisor(measure: Measure, levels: Counts) -> Floats:
    """What a topic's score is divided by."""
    if measure.family.name == "nDCG":
        return ideal(measure, levels)
    return relevant_of(levels, measure.relevance).astype(np.float64)


def any_unjudged(measure: Measure, pair: RankedPair) -> bool:
    """Whether grades of unjudged documents can change a score of either ranking."""
    return bool(_undecided(measure, cut(pair, measure.cutoff)).any())


def _undecided(measure: Measure, pair: RankedPair) -> Mask:
    """The topics of which a document is unjudged, and may be of a grade that counts."""
    if measure.relevance > pair.levels.shape[1] and not measure.family.bounded:
        return np.zeros(len(pair.levels), dtype=np.bool_)
    case = rows_of(pair, slice(None))
    return np.asarray(case.run.unjudged.any(axis=1) | case.baseline.unjudged.any(axis=1))


def _farther(found: Floats, judged: Floats, sign: int) -> Floats:
    """The found scores, or those as judged where rounding leaves these farther out."""
    is_judged = sign * (judged[1] - judged[0]) >= sign * (found[1] - found[0])
    return np.where(is_judged, judged, found)


def _as_judged(measure: Measure, pair: RankedPair) -> Floats:
    """The baseline's and the run's scores with nothing unjudged relevant; NaN: not known."""
    if pair.scores is not None:
        return pair.scores
    sides = [parts(measure, ranked, pair.levels) for ranked in (pair.baseline, pair.run)]
    sums = [np.full(len(pair.levels), np.nan) if s is None else row_sums(s) for s in sides]
    return np.stack(sums)


# How each family is bounded.

_DIVIDED = ("nDCG", "R", "SetR", "AP")
"""The families whose scores are parts of all that is relevant."""

_Way = Callable[[Measure, TwoSides], End]

_WAYS: dict[str, _Way] = {
    "nDCG": highest_ndcg,
    "ERR": highest_err,
    "P": counting.weighted,
    "RBP": counting.weighted,
    "SetP": counting.weighted,
    "R": counting.recall,
    "SetR": counting.recall,
    "RR": counting.reciprocal_rank,
    "Success": counting.success,
    "AP": counting.average_precision,
}


def _way(measure: Measure) -> _Way | None:
    """How a measure's difference is bounded.

    What trec_eval computes, but for logarithms and counts, is between 0 and 1. Of what else is
    computed here (shares of judged documents among it) nothing is known.
    """
    family = measure.family
    if family.name in _WAYS:
        return _WAYS[family.name]
    within_1 = family.computed_by is None and family.most == 1 and not family.logarithm
    return _anything if within_1 else None


def _anything(_measure: Measure, case: TwoSides) -> End:
    """The widest difference of scores between 0 and 1; a run without documents has 0."""
    run = (case.run.ranked.counts > 0).astype(float)
    return End(baseline=np.zeros(len(run)), run=run, exact=False)
