"""p-values of a family of tests, adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.choices import Correction, Family


def holm(p: Floats) -> Floats:
    """Holm (1979): step-down; the chance of any false flag; never worse than Bonferroni."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def bonferroni(p: Floats) -> Floats:
    """Each p times the number of tests."""
    return np.minimum(p * len(p), 1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg (1995): controls the expected share of false flags."""
    order = np.argsort(p)
    stepped = p[order] * (len(p) / np.arange(1, len(p) + 1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


def uncorrected(p: Floats) -> Floats:
    """The p-values as they are, as in the papers' tables."""
    return p


CORRECTIONS: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": uncorrected,
}
CORRECTION_TITLES: dict[str, str] = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "none": "no correction",
}


def correction_title(correction: Correction, family: Family, by_shuffles: bool) -> str:
    """What takes care of the number of tests; shuffled runs are corrected by their largest t."""
    if by_shuffles and correction == "holm" and family == "column":
        return "max-t over runs, step-down; TRisk: Holm"
    return CORRECTION_TITLES[correction]


def adjust(p: Floats, method: Correction) -> tuple[Floats, int]:
    """The adjusted p-values and the size of the family; a NaN is no test and stays NaN."""
    tested = np.isfinite(p)
    adjusted = np.full_like(p, np.nan)
    if tested.any():
        adjusted[tested] = CORRECTIONS[method](p[tested])
    return adjusted, int(np.count_nonzero(tested))
