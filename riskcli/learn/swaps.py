"""What swapping two documents of a ranking changes in an effectiveness measure: nDCG, ERR or AP.

The measures themselves are computed here from grades, best rank first: training asks for them after
every tree, where `Scorer`, which has pytrec_eval compute them from names of documents, would take a
third of its time. They are the same numbers but for rounding (tested).

Every array here holds queries of one size: `worth` is queries × ranks, best rank first. A swap
concerns rank i (the first axis of pairs) and a lower rank j (the second); it is 0 where j <= i.
Ranks count from 0 in the arrays and from 1 in the formulas.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from riskcli.core.arrays import Floats, discounts, divided
from riskcli.core.choices import check_words
from riskcli.core.messages import UsageError
from riskcli.effectiveness.measures import Measure, parse_measure
from riskcli.effectiveness.measures.err import err_of_stops, stop_probability
from riskcli.effectiveness.scoring import MAX_EXPONENTIAL_GRADE, WEB_TRACK_MAX_GRADE
from riskcli.learn.choices import DEFAULT_MEASURE, Discount

TRAINABLE = ("nDCG", "ERR", "AP")
_UNCUT_ROWS = 30
"""Ranks whose swaps are learned where the measure has no cutoff: LightGBM's own default."""
_BEYOND_CUTOFF = 3


@dataclass(frozen=True)
class SwapMeasure(ABC):
    """A measure with a cutoff (None: the whole list).

    With discount "full" a swap counts as if there were no cutoff, as LightGBM has it: documents
    below the cutoff are still pulled up. With "cut" it is exactly the change of the measure.
    """

    name: str
    cutoff: int | None
    discount: Discount = "full"

    @property
    def rows(self) -> int:
        """The ranks whose swaps with lower ones are learned, unless another number is given."""
        return _UNCUT_ROWS if self.cutoff is None else self.cutoff + _BEYOND_CUTOFF

    @property
    def swap_cutoff(self) -> int | None:
        """The rank below which swaps change nothing."""
        return None if self.discount == "full" else self.cutoff

    @abstractmethod
    def worth(self, grades: Floats) -> Floats:
        """What a document of that grade is worth; equal worth makes a swap change nothing."""

    @abstractmethod
    def scale(self, worth: Floats) -> Floats:
        """What each query's sum is multiplied by; 0 where no document is relevant."""

    @abstractmethod
    def values(self, worth: Floats, scale: Floats) -> Floats:
        """The measure of each query."""

    @abstractmethod
    def changes(self, worth: Floats, scale: Floats, rows: int) -> Floats:
        """What swapping each of the first ranks with each lower one adds to the measure."""


@dataclass(frozen=True)
class NDCG(SwapMeasure):
    """Sum of gain(grade) / log2(1 + rank), over that of the ideal ranking.

    Swap: (gain_j - gain_i) (1 / log2(1 + i) - 1 / log2(1 + j)) / ideal.
    """

    exponential: bool = True

    def worth(self, grades: Floats) -> Floats:
        if self.exponential and grades.max(initial=0) > MAX_EXPONENTIAL_GRADE:
            raise UsageError(
                f"a document has grade {grades.max():g}, above the highest that "
                f"dcg='exp-log2' can take ({MAX_EXPONENTIAL_GRADE})"
            )
        relevant = np.maximum(grades, 0)  # grades below 0 count as 0
        return np.asarray(np.exp2(relevant) - 1 if self.exponential else relevant)

    def scale(self, worth: Floats) -> Floats:
        return divided(1.0, _dcg(-np.sort(-worth, axis=1), self.cutoff))

    def values(self, worth: Floats, scale: Floats) -> Floats:
        return _dcg(worth, self.cutoff) * scale

    def changes(self, worth: Floats, scale: Floats, rows: int) -> Floats:
        scaled = worth * scale[:, None]
        change = scaled[:, None, :] - scaled[:, :rows, None]
        change *= _differences(self, worth.shape[1], rows)
        return np.asarray(change)


def _dcg(gain: Floats, cutoff: int | None) -> Floats:
    return np.asarray(gain @ _discounts(gain.shape[1], cutoff))


def _discounts(ranks: int, cutoff: int | None) -> Floats:
    """Those of DCG, 0 below the cutoff."""
    return _cut(discounts(ranks), cutoff)


def _inverse_ranks(ranks: int, cutoff: int | None) -> Floats:
    """1 / rank for the first so many ranks, 0 below the cutoff."""
    return _cut(1 / np.arange(1, ranks + 1, dtype=np.float64), cutoff)


def _cut(weights: Floats, cutoff: int | None) -> Floats:
    if cutoff is not None:
        weights[cutoff:] = 0.0
    return weights


@lru_cache(maxsize=2048)
def _differences(measure: NDCG, size: int, rows: int) -> Floats:
    """The rank's weight less that of each lower rank; 0 for those that are not lower."""
    weights = _discounts(size, measure.swap_cutoff)
    return np.maximum(weights[:rows, None] - weights, 0.0)


@dataclass(frozen=True)
class ERR(SwapMeasure):
    """Sum over ranks r of R_r P_r / r, where P_r = prod over s < r of (1 - R_s).

    A swap multiplies the terms between by (1 - R_j) / (1 - R_i); those below j stay as they are:
    P_i (R_j - R_i) / i + (sum between) (R_i - R_j) / (1 - R_i) + P_j (R_i - R_j) / ((1 - R_i) j).
    """

    max_grade: int = WEB_TRACK_MAX_GRADE

    def worth(self, grades: Floats) -> Floats:
        if grades.max(initial=0) > self.max_grade:
            raise UsageError(
                f"a document has grade {grades.max():g}, above the highest that ERR expects "
                f"({self.max_grade})"
            )
        return stop_probability(grades.astype(np.int64), self.max_grade)

    def scale(self, worth: Floats) -> Floats:
        return np.asarray(worth.max(axis=1) > 0, dtype=np.float64)

    def values(self, worth: Floats, scale: Floats) -> Floats:
        return err_of_stops(worth[:, : self.cutoff]) * scale

    def changes(self, worth: Floats, scale: Floats, rows: int) -> Floats:
        weights = _inverse_ranks(worth.shape[1], self.swap_cutoff)
        reached = _before(np.asarray(np.cumprod(1 - worth, axis=1)), first=1.0)
        terms = np.cumsum(worth * reached * weights, axis=1)
        upper, passed = worth[:, :rows, None], 1 - worth[:, :rows, None]
        between = _before(terms, first=0.0)[:, None, :] - terms[:, :rows, None]
        lower = (between + (reached * weights)[:, None, :]) / passed
        first = (reached * weights)[:, :rows, None]
        change = (worth[:, None, :] - upper) * (first - lower) * scale[:, None, None]
        return np.asarray(change * _lower(worth.shape[1], rows))


@dataclass(frozen=True)
class AP(SwapMeasure):
    """The sum of precision at the ranks of relevant documents, over the number of relevant ones.

    Swap, with N_r the relevant documents down to rank r and d = rel_j - rel_i:
    d [(N_i + 1 - rel_i) / i + sum between of rel_s / s - N_j / j] / relevant.
    """

    relevance: int = 1

    def worth(self, grades: Floats) -> Floats:
        return np.asarray(grades >= self.relevance, dtype=np.float64)

    def scale(self, worth: Floats) -> Floats:
        return divided(1.0, worth.sum(axis=1))

    def values(self, worth: Floats, scale: Floats) -> Floats:
        found = np.cumsum(worth, axis=1)
        return np.asarray((worth * found) @ _inverse_ranks(worth.shape[1], self.cutoff)) * scale

    def changes(self, worth: Floats, scale: Floats, rows: int) -> Floats:
        weights = _inverse_ranks(worth.shape[1], self.swap_cutoff)
        count = np.cumsum(worth, axis=1)
        sums = np.cumsum(worth * weights, axis=1)
        upper = worth[:, :rows]
        of_upper = (count[:, :rows] + 1 - upper) * weights[:rows] - sums[:, :rows]
        of_lower = _before(sums, first=0.0) - count * weights
        change = (worth[:, None, :] - upper[:, :, None]) * scale[:, None, None]
        change *= of_upper[:, :, None] + of_lower[:, None, :]
        return np.asarray(change * _lower(worth.shape[1], rows))


def _before(sums: Floats, first: float) -> Floats:
    """What a running sum or product was one rank above."""
    shifted = np.full_like(sums, first)
    shifted[:, 1:] = sums[:, :-1]
    return shifted


@lru_cache(maxsize=2048)
def _lower(size: int, rows: int) -> Floats:
    """1 for a rank below that of the row, else 0."""
    return np.triu(np.ones((rows, size)), k=1)


def swap_measure(
    name: str = DEFAULT_MEASURE, discount: Discount = "full", max_grade: int = WEB_TRACK_MAX_GRADE
) -> SwapMeasure:
    """The measure of that name, in ir_measures' or trec_eval's words, if it can be trained for."""
    measure: Measure = parse_measure(name)
    check_words(discount=(discount, Discount))
    shared = (str(measure), measure.cutoff, discount)
    match measure.family.name:
        case "nDCG":
            return NDCG(*shared, exponential=measure.exponential)
        case "ERR":
            return ERR(*shared, max_grade=max_grade)
        case "AP":
            return AP(*shared, relevance=measure.relevance)
    raise UsageError(f"{measure} cannot be trained for, expected one of {', '.join(TRAINABLE)}")
