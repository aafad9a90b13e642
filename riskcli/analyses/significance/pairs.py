"""Every pair of runs: difference, interval and test; and groups that cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from scipy.special import stdtrit

from riskcli.core.arrays import Flags, Floats, Rows
from riskcli.core.choices import Correction
from riskcli.risk.correction import adjust
from riskcli.risk.estimate import flags
from riskcli.risk.paired import ratio_to_error, two_sided_p
from riskcli.risk.rounding import EQUAL_STATISTIC, NO_DIFFERENCE, NO_VARIANCE

_CELLS_AT_ONCE = 200_000


@dataclass(frozen=True)
class Pairs:
    """All pairs (first, second) of runs, the difference of the first to the second, its test."""

    first: Rows
    second: Rows
    difference: Floats
    error: Floats
    low: Floats
    high: Floats
    p: Floats
    p_adjusted: Floats
    flag: Flags
    family: int

    def significant(self) -> list[tuple[int, int]]:
        """The pairs that are flagged."""
        told_apart = np.flatnonzero(self.flag != "")
        return [(int(self.first[place]), int(self.second[place])) for place in told_apart]


def compare_all(values: Floats, deviations: Floats, gamma: float, correction: Correction) -> Pairs:
    """Each run against each later one, from what every topic adds to each run's value.

    `deviations` are a statistic's deviations by topic (rows sum to 0): x - mean for a mean, the
    jackknife's or the influence function's for others; SE^2 = sum (d_i - d_j)^2 / (c (c - 1)).
    """
    runs, topics = deviations.shape
    first, second = np.triu_indices(runs, k=1)
    error = np.concatenate([_errors_to_later(deviations, row) for row in range(runs)])
    difference = values[first] - values[second]
    p = _p_values(difference, error, topics, float(np.abs(deviations).max(initial=0.0)))
    critical = stdtrit(topics - 1, 1 - gamma / 2) if topics > 1 else np.nan
    margin = np.where(np.isnan(p), np.nan, critical * error)
    adjusted, family = adjust(p, correction)
    return Pairs(
        first, second, difference, error, difference - margin, difference + margin, p, adjusted,
        flags(difference, adjusted, gamma), family,
    )  # fmt: skip


def _errors_to_later(deviations: Floats, row: int) -> Floats:
    topics = deviations.shape[1]
    if topics < 2:
        return np.full(len(deviations) - row - 1, np.nan)
    apart = deviations[row + 1 :] - deviations[row]
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", apart, apart) / (topics * (topics - 1))))


def _p_values(difference: Floats, error: Floats, topics: int, scale: float) -> Floats:
    noise = NO_DIFFERENCE * scale
    nothing = (np.abs(difference) <= noise) & (error <= noise)
    t = ratio_to_error(np.where(nothing, 0.0, difference), np.where(error <= noise, 0.0, error))
    return two_sided_p(t, topics - 1)


def randomised_tukey_hsd(scores: Floats, permutations: int, seed: int) -> Floats:
    """The randomised Tukey HSD p-value of each pair of means (Carterette, TOIS 2012), studentised.

    In each replicate the runs' scores are shuffled within every topic; p is the share of replicates
    whose largest t of a pair is at least the pair's t, (count + 1) / (B + 1). With plain ranges of
    means, as published, one run of high variance decides for all pairs; t has each pair's own.
    """
    observed = _sizes_of_t(scores.T[None])[0]
    cells = np.sort(scores.T, axis=1)
    cells = cells[np.lexsort(cells.T)]
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // max(scores.size, 1))
    largest = []
    for start in range(0, permutations, at_once):
        many = min(at_once, permutations - start)
        shuffled = generator.permuted(np.broadcast_to(cells, (many, *cells.shape)), axis=2)
        largest.append(_sizes_of_t(shuffled).max(axis=1, initial=0.0))
    sizes = np.sort(np.concatenate(largest))
    count = permutations - np.searchsorted(sizes, observed * (1 - EQUAL_STATISTIC), side="left")
    return np.where(np.isinf(observed), np.nan, (count + 1) / (permutations + 1))


def _sizes_of_t(scores: Floats) -> Floats:
    """|t| of each pair of means, by replicate; scores are by replicate, topic and run."""
    _, topics, runs = scores.shape
    first, second = np.triu_indices(runs, k=1)
    mean = scores.mean(axis=1)
    centred = scores - mean[:, None]
    products = centred.swapaxes(1, 2) @ centred
    squares = np.einsum("mii->mi", products)
    size = squares[:, first] + squares[:, second]
    variance = size - 2 * products[:, first, second]
    variance = np.where(variance <= NO_VARIANCE * size, 0.0, variance) / (topics * (topics - 1))
    difference = np.abs(mean[:, first] - mean[:, second])
    t = np.where(difference <= NO_DIFFERENCE * np.abs(scores).max(initial=0.0), 0.0, np.inf)
    np.divide(difference, np.sqrt(variance), out=t, where=variance > 0)
    return np.asarray(t)


def letters(runs: int, order: Sequence[int], significant: Iterable[tuple[int, int]]) -> list[str]:
    """Letters for each run, such that two runs share one unless they are significantly different.

    The insert-and-absorb algorithm (Piepho 2004); `order` lists the runs from best to worst, and
    the best run's group is called `a`. After `z` come `aa`, `ab`, ..., then parted by commas.
    """
    groups: list[frozenset[int]] = [frozenset(range(runs))]
    for one, other in significant:
        split = [group - {member} for group in groups if {one, other} <= group
                 for member in (one, other)]  # fmt: skip
        groups = [group for group in groups if not {one, other} <= group]
        for group in split:
            if not any(group <= known for known in groups):
                groups = [known for known in groups if not known <= group]
                groups.append(group)
    place = {run: position for position, run in enumerate(order)}
    groups.sort(key=lambda group: sorted(place[run] for run in group))
    names = [_letter(number) for number in range(len(groups))]
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    return [
        separator.join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(runs)
    ]


def _letter(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    head, last = divmod(number, len(ascii_lowercase))
    return (_letter(head - 1) if head else "") + ascii_lowercase[last]
