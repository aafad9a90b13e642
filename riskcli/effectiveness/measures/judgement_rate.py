"""Judged@k: how much of the top of a ranking is judged at all, whatever the grade."""

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.measures import Family, Measure


def judgement_rate(_measure: Measure, ranked: RankedGrades) -> Floats:
    """The judged documents of the first k; of a shorter ranking, of as many as there are."""
    return np.asarray(ranked.judged.sum(axis=1) / np.maximum(ranked.counts, 1))


FAMILIES = (
    Family(
        "Judged",
        "share of the documents that are judged",
        "optional cutoff",
        of_subtopics=None,
        computed_by=judgement_rate,
        position=200,
    ),
)
