"""Measures of diversity, from judgements by subtopic: those that ndeval computes for TREC.

A document is relevant to a subtopic or not. Subtopics without a relevant document do not count, the
others count the same; S is their number. What a document adds is its novelty: 1 for each of its
subtopics, times 1 - alpha for each earlier document on that one (Clarke et al., SIGIR 2008).
"""

from collections.abc import Callable
from functools import partial
from math import ceil, e, log2

import numpy as np

from riskcli.core.arrays import Counts, Floats, discounts, divided
from riskcli.effectiveness.grades import RankedGrades, RankedSubtopics
from riskcli.effectiveness.measures import REL, Family, Measure, Parameter

Discount = Callable[[Measure, int], Floats]
"""What a rank counts, for so many ranks from 1 on."""


def _by_log(_measure: Measure, ranks: int) -> Floats:
    return discounts(ranks)


def _by_rank(_measure: Measure, ranks: int) -> Floats:
    return np.asarray(1 / np.arange(1, ranks + 1))


def _by_patience(measure: Measure, ranks: int) -> Floats:
    return np.asarray(float(measure["beta"]) ** np.arange(ranks))


def _rankings(ranked: RankedGrades) -> RankedSubtopics:
    assert ranked.subtopics is not None, "the scorer gives them to every measure of subtopics"
    return ranked.subtopics


def _relevant(measure: Measure, ranked: RankedGrades) -> Counts:
    """By topic and subtopic, how many judged documents are relevant."""
    on = _rankings(ranked)
    return on.judged.relevant(measure.relevance)[on.topics]


def _number(measure: Measure, ranked: RankedGrades) -> Counts:
    """S of each topic."""
    return np.asarray((_relevant(measure, ranked) > 0).sum(axis=1))


def _gain(measure: Measure, ranked: RankedGrades, discount: Discount) -> Floats:
    """Sum over ranks of discount x novelty."""
    novelty = _rankings(ranked).novelty(measure.relevance, float(measure["alpha"]))
    return np.asarray(novelty @ discount(measure, novelty.shape[1]))


def over_any(measure: Measure, ranked: RankedGrades, discount: Discount) -> Floats:
    """The gain over that of documents which are on all subtopics, whether there are such or not."""
    kept = 1 - float(measure["alpha"])
    if measure.cutoff is None:  # NRBP: of endlessly many documents
        whole = 1 / (1 - kept * float(measure["beta"]))
    else:
        whole = float(discount(measure, measure.cutoff) @ kept ** np.arange(measure.cutoff))
    return divided(_gain(measure, ranked, discount), np.asarray(_number(measure, ranked) * whole))


def over_best(measure: Measure, ranked: RankedGrades, discount: Discount) -> Floats:
    """The gain over that of the best ranking of the judged documents that is known (see `ideal`).

    A ranking may be better still, and its score above 1.
    """
    on, alpha = _rankings(ranked), float(measure["alpha"])
    # Without a cutoff, down to where beta^(i - 1) changes no digit of the sum.
    depth = measure.cutoff or 1 + ceil(54 / -log2(float(measure["beta"])))
    best = on.judged.ideal(measure.relevance, alpha, depth)[on.topics]
    whole = np.asarray(best @ discount(measure, best.shape[1]), dtype=np.float64)
    return divided(_gain(measure, ranked, discount), whole)


def average_precision(measure: Measure, ranked: RankedGrades) -> Floats:
    """AP by each subtopic, on average."""
    hit = _rankings(ranked).grades >= measure.relevance
    found = hit.cumsum(axis=1) / np.arange(1, hit.shape[1] + 1)[:, None]
    by_subtopic = divided(np.asarray((hit * found).sum(axis=1)), _relevant(measure, ranked))
    return divided(np.asarray(by_subtopic.sum(axis=1)), _number(measure, ranked))


def precision(measure: Measure, ranked: RankedGrades) -> Floats:
    """P@k by each subtopic, on average."""
    hits = (_rankings(ranked).grades >= measure.relevance).sum(axis=(1, 2))
    return divided(hits, _number(measure, ranked) * int(measure.cutoff or 1))


def recall(measure: Measure, ranked: RankedGrades) -> Floats:
    """The share of the subtopics that a document is on."""
    covered = (_rankings(ranked).grades >= measure.relevance).any(axis=1).sum(axis=1)
    return divided(covered, _number(measure, ranked))


def _share(name: str, text: str, below_1: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (0 < value < 1 if below_1 else 0 <= value <= 1) or "e" in repr(value):
        wanted = "between 0 and 1" if below_1 else "from 0 to 1"
        raise ValueError(f"{name} is {text!r}, expected a number {wanted}, as 0.5")
    return value


_ALPHA = Parameter(
    "alpha",
    0.5,
    "alpha in brackets: how much less a subtopic counts with each document on it (default 0.5).",
    partial(_share, "alpha"),
)
_BETA = Parameter(
    "beta",
    0.5,
    "beta in brackets: how probably the user goes on to the next document (default 0.5).",
    partial(_share, "beta", below_1=True),
)
_ABOVE_BEST = e / (e - 1)
"""No ranking gains more than so many times the gain of the best known one (it is submodular)."""
_family = partial(Family, of_subtopics=True, position=150)
_of_gain = partial(_family, parameters=(_ALPHA, REL))
_of_best = partial(_of_gain, most=_ABOVE_BEST)
_of_patience = partial(_family, parameters=(_ALPHA, _BETA, REL))

FAMILIES = (
    _of_gain("ERR_IA", "ERR of subtopics, over that of documents on all of them", "cutoff",
             ndeval="ERR-IA", computed_by=partial(over_any, discount=_by_rank)),
    _of_best("nERR_IA", "ERR of subtopics, over that of the best ranking", "cutoff",
             ndeval="nERR-IA", computed_by=partial(over_best, discount=_by_rank)),
    _of_gain("alpha_DCG", "DCG of novelty, over that of documents on all subtopics", "cutoff",
             ndeval="alpha-DCG", computed_by=partial(over_any, discount=_by_log)),
    _of_best("alpha_nDCG", "DCG of novelty, over that of the best ranking", "cutoff",
             ndeval="alpha-nDCG", computed_by=partial(over_best, discount=_by_log)),
    _of_patience("NRBP", "novelty- and rank-biased precision",
                 computed_by=partial(over_any, discount=_by_patience)),
    _of_patience("nNRBP", "NRBP over that of the best ranking",
                 computed_by=partial(over_best, discount=_by_patience), most=_ABOVE_BEST),
    _family("AP_IA", "average precision by each subtopic, on average", parameters=(REL,),
            ndeval="MAP-IA", computed_by=average_precision),
    _family("P_IA", "precision by each subtopic, on average", "cutoff", parameters=(REL,),
            ndeval="P-IA", computed_by=precision),
    _family("StRecall", "share of the subtopics that are found", "cutoff", parameters=(REL,),
            ndeval="strec", computed_by=recall),
)  # fmt: skip
