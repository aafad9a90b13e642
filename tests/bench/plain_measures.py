"""Measures of one topic by their definitions, in plain Python: every family under its name.

What the papers of risk need too is in `tests/helpers/reference.py`; here is the rest, and the table
by which the differential fuzzer finds both. Nothing here is shared with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tests.helpers import reference

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


def interpolated_precision(ranked: Ranking, grades: Grades, recall: float, rel: int) -> float:
    """The highest precision at any rank with a recall of at least this (0.9 is added, then cut)."""
    needed = int(recall * reference.relevant_count(grades, rel) + 0.9)
    found, best = 0, 0.0
    for rank, doc in enumerate(ranked, start=1):
        found += grades.get(doc, rel - 1) >= rel
        if found >= needed:
            best = max(best, found / rank)
    return best


def eleven_points(ranked: Ranking, grades: Grades) -> float:
    """Interpolated precision, averaged over the recalls 0, 0.1, ... 1."""
    return sum(interpolated_precision(ranked, grades, tenths / 10, 1) for tenths in range(11)) / 11


def log_of(value: float) -> float:
    """What a geometric mean averages; nothing counts as 0.00001."""
    return math.log(max(value, 0.00001))


def _gains(ranked: Ranking, grades: Grades) -> list[int]:
    return [max(0, grades.get(doc, 0)) for doc in ranked]


def g(ranked: Ranking, grades: Grades) -> float:
    """Gain / log2(2 + the best gain to here - the gain to here), over all gain; from rank to rank
    the best gain grows by at least 1.
    """
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    total, cost, had = 0.0, 0.0, 0.0
    for index, gain in enumerate(_gains(ranked, grades)):
        cost += best[index] if index < len(best) else 1
        had += gain
        total += gain / math.log2(2 + cost - had)
    return total / sum(best) if best else 0.0


def bin_g(ranked: Ranking, grades: Grades) -> float:
    """1 / log2(2 + documents that are not relevant above), over the relevant documents."""
    above, total = 0, 0.0
    for doc in ranked:
        if grades.get(doc, 0) >= 1:
            total += 1 / math.log2(2 + above)
        else:
            above += 1
    relevant = reference.relevant_count(grades, 1)
    return total / relevant if relevant else 0.0


def r_ndcg(ranked: Ranking, grades: Grades) -> float:
    """nDCG averaged over the ranks at which the grade of the ideal list changes, and the last rank.

    trec_eval looks at the last rank only where two documents or more lie below the ideal list.
    """
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    gains = _gains(ranked, grades)

    def dcg(values: Sequence[int]) -> float:
        return math.fsum(gain / math.log2(i + 2) for i, gain in enumerate(values))

    ends = [i for i in range(1, len(best) + 1) if i == len(best) or best[i] != best[i - 1]]
    values = [dcg(gains[:end]) / dcg(best[:end]) for end in ends]
    if best and len(gains) > len(best) + 1:
        values.append(dcg(gains) / dcg(best))
    return sum(values) / len(values) if values else 0.0


def inferred_ap(ranked: Ranking, grades: Grades, rel: int) -> float:
    """Yilmaz and Aslam (CIKM 2006): at relevant rank k, 1/k + (k-1)/k |pool above|/(k-1) times
    the share of relevant among the judged above, smoothed. Grades below 0: in the pool, unjudged.
    """
    good = bad = unknown = 0
    total = 0.0
    for rank, doc in enumerate(ranked, start=1):
        grade = grades.get(doc)
        if grade is None:
            continue
        if grade >= rel:
            share = (good + 0.00001) / (good + bad + 0.00002)
            total += 1 / rank + (good + bad + unknown) / rank * share if rank > 1 else 1.0
            good += 1
        elif grade >= 0:
            bad += 1
        else:
            unknown += 1
    relevant = reference.relevant_count(grades, rel)
    return total / relevant if relevant else 0.0


def relative_precision(ranked: Ranking, grades: Grades, k: int) -> float:
    """Relevant of the first k, over as many as could be."""
    possible = min(k, reference.relevant_count(grades, 1))
    return hits(ranked[:k], grades, 1) / possible if possible else 0.0


def utility(ranked: Ranking, grades: Grades) -> float:
    """Relevant less other documents in the list."""
    good = hits(ranked, grades, 1)
    return good - (len(ranked) - good)


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
        f"SetAP{at}": lambda r, g: set_precision(r, g, rel) * set_recall(r, g, rel),
        f"infAP{at}": lambda r, g: inferred_ap(r, g, rel),
        f"IPrec{at}@{p}": lambda r, g: interpolated_precision(r, g, p, rel),
        "11pt_avg": eleven_points,
        "gm_map": lambda r, g: log_of(reference.average_precision(r, g)),
        "gm_bpref": lambda r, g: log_of(bpref(r, g, 1)),
        "G": g,
        "binG": bin_g,
        "Rndcg": r_ndcg,
        "set_relative_P": lambda r, g: relative_precision(r, g, len(r)),
        "utility": utility,
        "num_nonrel_judged_ret": lambda r, g: sum(g.get(doc, -1) == 0 for doc in r),
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
        f"relative_P@{k}": lambda r, g: relative_precision(r, g, k),
    }


def graded(k: int, max_grade: int) -> dict[str, Measured]:
    """The measures whose gain doubles with each grade."""
    return {
        f"ERR@{k}": lambda r, g: reference.err(r, g, k, max_grade),
        f"nDCG(dcg='exp-log2')@{k}": lambda r, g: reference.ndcg_exp(r, g, k),
        "nDCG(dcg='exp-log2')": reference.ndcg_exp,
    }
