"""Measures of one topic by their definitions, in plain Python: every family under its name.

What the papers of risk need too is in `tests/reference.py`; here is the rest, and the table by
which the differential fuzzer finds both. Nothing here is shared with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tests import reference

Grades = Mapping[str, int]
Ranking = Sequence[str]


def rbp(ranked: Ranking, grades: Grades, k: int | None, p: float, rel: int) -> float:
    """(1 - p) sum over relevant ranks i of p^(i - 1) (Moffat and Zobel, TOIS 2008)."""
    hits = [i for i, doc in enumerate(ranked[:k]) if grades.get(doc, 0) >= rel]
    return (1 - p) * math.fsum(p**i for i in hits)


def rbp_residual(ranked: Ranking, grades: Grades, k: int | None, p: float) -> float:
    """What RBP would gain if all that nobody judged were relevant, below the last rank too."""
    seen = ranked[:k]
    unjudged = [i for i, doc in enumerate(seen) if doc not in grades]
    return p ** len(seen) + (1 - p) * math.fsum(p**i for i in unjudged)


def judged(ranked: Ranking, grades: Grades, k: int | None) -> float:
    """The share of the first k, or of as many as there are, that is judged."""
    seen = ranked[:k]
    return sum(doc in grades for doc in seen) / len(seen) if seen else 0.0


def bpref(ranked: Ranking, grades: Grades, rel: int) -> float:
    """trec_eval's: each relevant document loses min(n, R) / min(N, R), n judged worse above it.

    Grades below 0 are to trec_eval documents that nobody judged.
    """
    relevant = reference.relevant_count(grades, rel)
    others = sum(0 <= grade < rel for grade in grades.values())
    total, above = 0.0, 0
    for doc in ranked:
        grade = grades.get(doc, -1)
        if grade >= rel:
            total += 1 - (min(above, relevant) / min(others, relevant) if above else 0)
        elif grade >= 0:
            above += 1
    return total / relevant if relevant else 0.0


def hits(ranked: Ranking, grades: Grades, rel: int) -> int:
    """The relevant documents of the whole list."""
    return sum(grades.get(doc, rel - 1) >= rel for doc in ranked)


def set_precision(ranked: Ranking, grades: Grades, rel: int) -> float:
    """Relevant in the list over its length."""
    return hits(ranked, grades, rel) / len(ranked) if ranked else 0.0


def set_recall(ranked: Ranking, grades: Grades, rel: int) -> float:
    """Relevant in the list over all that are relevant."""
    relevant = reference.relevant_count(grades, rel)
    return hits(ranked, grades, rel) / relevant if relevant else 0.0


def set_f(ranked: Ranking, grades: Grades, rel: int) -> float:
    """The harmonic mean of both."""
    precision, recall = set_precision(ranked, grades, rel), set_recall(ranked, grades, rel)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


Measured = Callable[[Ranking, Grades], float]


def whole(rel: int, p: float) -> dict[str, Measured]:
    """The measures without a cutoff, at this least relevant grade and this persistence."""
    at = f"(rel={rel})"
    return {
        f"AP{at}": lambda r, g: reference.average_precision(r, g, rel=rel),
        f"RR{at}": lambda r, g: reference.reciprocal_rank(r, g, rel=rel),
        "nDCG": reference.ndcg,
        f"Rprec{at}": lambda r, g: reference.r_precision(r, g, rel),
        f"Bpref{at}": lambda r, g: bpref(r, g, rel),
        f"RBP(p={p},rel={rel})": lambda r, g: rbp(r, g, None, p, rel),
        f"RBPres(p={p})": lambda r, g: rbp_residual(r, g, None, p),
        "Judged": lambda r, g: judged(r, g, None),
        f"SetP{at}": lambda r, g: set_precision(r, g, rel),
        f"SetR{at}": lambda r, g: set_recall(r, g, rel),
        f"SetF{at}": lambda r, g: set_f(r, g, rel),
        f"NumRel{at}": lambda r, g: reference.relevant_count(g, rel) if r else 0,  # 0: unanswered
        f"NumRelRet{at}": lambda r, g: hits(r, g, rel),
        "NumRet": lambda r, g: len(r),
    }


def cut(k: int, rel: int, p: float) -> dict[str, Measured]:
    """The measures of the first k documents."""
    at = f"(rel={rel})@{k}"
    return {
        f"AP{at}": lambda r, g: reference.average_precision(r, g, k, rel),
        f"P{at}": lambda r, g: reference.precision(r, g, k, rel),
        f"R{at}": lambda r, g: reference.recall(r, g, k, rel),
        f"RR{at}": lambda r, g: reference.reciprocal_rank(r, g, k, rel),
        f"Success{at}": lambda r, g: reference.success(r, g, k, rel),
        f"nDCG@{k}": lambda r, g: reference.ndcg(r, g, k),
        f"RBP(p={p},rel={rel})@{k}": lambda r, g: rbp(r, g, k, p, rel),
        f"RBPres(p={p})@{k}": lambda r, g: rbp_residual(r, g, k, p),
        f"Judged@{k}": lambda r, g: judged(r, g, k),
    }


def graded(k: int, max_grade: int) -> dict[str, Measured]:
    """The measures whose gain doubles with each grade."""
    return {
        f"ERR@{k}": lambda r, g: reference.err(r, g, k, max_grade),
        f"nDCG(dcg='exp-log2')@{k}": lambda r, g: reference.ndcg_exp(r, g, k),
        "nDCG(dcg='exp-log2')": reference.ndcg_exp,
    }
