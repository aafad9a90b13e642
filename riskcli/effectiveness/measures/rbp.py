"""Rank-biased precision and its residual (Moffat and Zobel, TOIS 2008), which trec_eval lacks.

The user goes on from a document to the next one with probability p.
"""

from dataclasses import replace

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.limits import LEAST_SCORE
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.measures import REL, Family, Measure, Parameter


def _persistence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1 or "e" in repr(value):
        raise ValueError(f"p is {text!r}, expected a number between 0 and 1, as 0.8")
    return value


_P = Parameter(
    "p",
    0.8,
    "p in brackets: how probably the user goes on to the next document (default 0.8).",
    _persistence,
    always_shown=True,
)
_REL = replace(REL, always_shown=True)  # to ir_measures, RBP without rel would be of graded gains


def persistence_weights(measure: Measure, ranks: int) -> Floats:
    """(1 - p) p^(i - 1) of each rank i."""
    p = float(measure["p"])
    return np.asarray((1 - p) * p ** np.arange(ranks))


def rank_biased_precision(measure: Measure, ranked: RankedGrades) -> Floats:
    """RBP = (1 - p) sum over ranks i of r_i p^(i - 1), r_i = 1 where document i is relevant."""
    relevant = ranked.grades >= measure.relevance
    return _scores(relevant @ persistence_weights(measure, relevant.shape[1]))


def residual(measure: Measure, ranked: RankedGrades) -> Floats:
    """What RBP could gain if everything not judged were relevant, beyond the last rank as well.

    With d the last rank that is looked at: p^d + (1 - p) sum over unjudged i <= d of p^(i - 1).
    """
    ranks = ranked.judged.shape[1]
    unjudged = ~ranked.judged & (np.arange(ranks) < ranked.counts[:, None])
    beyond = float(measure["p"]) ** ranked.counts
    return _scores(beyond + unjudged @ persistence_weights(measure, ranks))


def _scores(values: Floats) -> Floats:
    """The values, 0 for those that are smaller than any score."""
    return np.where(values < LEAST_SCORE, 0.0, values)


FAMILIES = (
    Family(
        "RBP",
        "rank-biased precision",
        "optional cutoff",
        parameters=(_P, _REL),
        computed_by=rank_biased_precision,
        position=200,
    ),
    Family(
        "RBPres",
        "residual of RBP: its share that unjudged documents decide",
        "optional cutoff",
        parameters=(_P,),
        unanswered=1.0,
        computed_by=residual,
        position=200,
    ),
)
